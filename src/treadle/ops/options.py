"""The options of a row: how what was passed is sorted out, and which values are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from treadle.base.errors import ArgumentError, OperandError, explain


class Scalar(Protocol):
    """A number of Python's or NumPy's, which may be complex: td.complex hides the name of those."""

    def conjugate(self) -> Any:
        """With the imaginary part negated."""


class Chosen(tuple[Any, ...]):
    """(names of operands given, options): equal only if numbers read the same, 1 not as 1.0."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chosen) and (self is other or repr(self) == repr(other))


MOST_KNOWN = 1000  # options remembered for each composite


def options_of(define: Callable[..., Any]) -> Callable[..., tuple[tuple[Any, ...], Any]]:
    """Arguments of a composite: what stands before `/` are operands, the rest are options.

    Operands left out (None) are dropped and remembered in the arg as (names of operands, options).
    """
    names = define.__code__.co_varnames[: define.__code__.co_argcount]
    operands = list(positional_only(define))
    order = list(names[len(operands) :])
    values = define.__defaults__ or ()
    optional = dict(zip(names[len(names) - len(values) :], values, strict=True))
    defaults = {name: optional[name] for name in order if name in optional}
    required = [name for name in operands if name not in optional]
    count = len(operands)
    known: dict[tuple[Any, ...], Chosen] = {}

    def arguments(*args: Any, **given: Any) -> tuple[tuple[Any, ...], Any]:
        """Sort out what was passed; all of it by position, as functions do, is a look-up."""
        if given or len(args) != len(names) or _lacks_one(args[:count]):
            return sorted_out(*args, **given)
        options = args[count:]
        key = (options, tuple([repr(v) if v.__class__ is float else type(v) for v in options]))
        try:
            arg = known.get(key)
        except TypeError:  # a list among the options
            return sorted_out(*args)
        if arg is None:
            _, arg = sorted_out(*args)
            if len(known) < MOST_KNOWN:
                known[key] = arg
        return args[:count], arg

    def sorted_out(*args: Any, **given: Any) -> tuple[tuple[Any, ...], Any]:
        for name in operands[len(args) :]:
            args += (given.pop(name, None),)
        chosen = defaults | dict(zip(order, args[count:], strict=False)) | given
        if len(chosen) > len(order) or len(args) > count + len(order):
            wrong = f"takes {operands} and {order}, got {given or len(args)}"
            raise TypeError(f"{define.__name__.rstrip('_')}() {wrong}")
        present = tuple(name for name, x in zip(operands, args, strict=False) if x is not None)
        missing = [name for name in required if name not in present]
        if missing:
            hint = f"it takes {', '.join(names)}"
            wrong = f"{', '.join(missing)} is missing"
            raise OperandError(explain(define.__name__.rstrip("_"), wrong, hint))
        for name, value in chosen.items():
            require_option(define, name, value)
        frozen = tuple((name, _frozen(value)) for name, value in chosen.items())
        return tuple(x for x in args[:count] if x is not None), Chosen((present, frozen))

    return arguments


KINDS = {
    "float": ("a number", "__float__"), "int": ("an integer", "__index__"),
    "Scalar": ("a number", "conjugate"), "str": ("text", "isalpha"),
}  # fmt: skip
"""Annotations of options: what they mean, and what a value has that fits."""


def require_option(define: Callable[..., Any], name: str, value: Any) -> None:
    """Refuse a value that an option cannot have; axes are looked at where the rank is known."""
    wanted = str(define.__annotations__.get(name))
    what, has = KINDS.get(wanted.removesuffix(" | None"), ("no tensor", "__class__"))
    refused = OperandError if hasattr(value, "_apply") else ArgumentError
    left_out = value is None and wanted.endswith("None")
    fits = hasattr(value, has) or left_out or name.startswith("axis")
    if refused is OperandError or not fits:
        row = define.__name__.rstrip("_")
        raise refused(explain(row, f"{name} is {what}", got=shown(value)))


def whole_options(define: Callable[..., Any]) -> list[tuple[int, str]]:
    """Places and names of the arguments that are integers, but for axes."""
    names = define.__code__.co_varnames[: define.__code__.co_argcount]
    kinds = {x: str(define.__annotations__.get(x)) for x in names if not x.startswith("axis")}
    return [(k, x) for k, x in enumerate(names) if kinds.get(x) in ("int", "int | None")]


def positional_only(define: Callable[..., Any]) -> tuple[str, ...]:
    """Names before the `/`. Read off the code: inspect would double the time of the import."""
    code = define.__code__
    return tuple(code.co_varnames[: code.co_posonlyargcount])


def shown(x: Any) -> str:
    """An argument as a message names it."""
    return f"tensor{list(x.shape)}" if hasattr(x, "_apply") else repr(x)


def _lacks_one(operands: tuple[Any, ...]) -> bool:
    for x in operands:  # noqa: SIM110 - faster; `in` would compare tensors
        if x is None:
            return True
    return False


def _frozen(value: Any) -> Any:
    if value.__class__ in (list, tuple):
        return tuple(map(_frozen, value))
    return math.nan if value.__class__ is float and value != value else value
