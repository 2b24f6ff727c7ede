"""What a row of the op table is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import cached_property, wraps
from typing import Any, TypeVar

from treadle.base.dtypes import DType
from treadle.base.errors import ArgumentError, OperandError, TreadleError, explain, needed, said_by
from treadle.base.shapes import Shape
from treadle.ops.options import Chosen, positional_only, require_option, shown, whole_options
from treadle.ops.words import NOTHING, translated

TABLE: dict[str, Op] = {}
"""Every op by name, in the order of definition."""
NAMES: dict[str, str] = {}
"""Every name a row is known by, and the row's own."""

PAIRED = "in pairs"
"""Last in the arg of a routine on complex numbers that are pairs of reals: a last axis of 2."""

JUMPS = "its result is not continuous"
AN_INDEX = "its result is an index"
ON_INTEGERS = "it is defined on integers"


class Kind(Enum):
    """How an op relates the elements of its result to those of its operands."""

    SOURCE = "makes elements from nothing"
    ELEMENTWISE = "one element from the elements at the same index, with broadcasting"
    REDUCE = "one element from all elements along some axes"
    MOVEMENT = "the same elements at other indices"
    CONTRACT = "sums of products"
    GATHER = "elements at computed indices"
    SCATTER = "joins elements to others at computed indices"
    SCAN = "running totals and orders along an axis"
    ROUTINE = "whole lines or matrices, in the last axes, by an algorithm"
    TRANSFER = "the same elements on another device"
    COMPOSITE = "defined by other ops"
    REGION = "runs graphs of its own"
    RESULT = "one of the results of such graphs"
    CREATION = "makes a tensor from numbers"
    RANDOM = "makes a tensor from random bits"

    __hash__ = object.__hash__  # that of an Enum runs Python for each look into a set


Typing = Callable[[Sequence[DType]], tuple[tuple[DType, ...], DType]]
"""Dtypes of the operands to (dtypes they are cast to, dtype of the result); raises DtypeError."""


class Samples:
    """How an op is sampled for tests and sized for benchmarks.

    - **low**, **high**: range of the elements
    - **cases**: (operand shapes..., options) for ops that are not elementwise
    - **bench**: shapes worth timing, or whole cases
    - **smooth**: may finite differences check the gradient anywhere in the range?
    - **roles**: what the operands are, where not all are alike: "" has the sampled dtype, "index"
      points along the axis of the first operand, "bool" is a mask
    - **listed**: are the operands passed as one list?
    - **lead**: the option that is passed before the operands, by position
    - **draw**: (rng, NumPy dtype, shapes) to operands, where random ones would not do
    """

    __slots__ = (
        "bench", "cases", "draw", "high", "lead", "listed", "low", "roles", "smooth",
    )  # fmt: skip

    def __init__(
        self,
        low: float = -4.0,
        high: float = 4.0,
        cases: tuple[tuple[Any, ...], ...] = (),
        bench: tuple[tuple[Any, ...], ...] = ((4096, 1024),),
        smooth: bool = True,
        roles: tuple[str, ...] = (),
        listed: bool = False,
        lead: str = "",
        draw: Callable[..., list[Any]] | None = None,
    ) -> None:
        self.low, self.high, self.cases, self.bench, self.smooth = low, high, cases, bench, smooth
        self.roles, self.listed, self.lead, self.draw = roles, listed, lead, draw

    def role(self, k: int) -> str:
        """What operand k is."""
        return self.roles[k] if k < len(self.roles) else ""


def _cause(error: BaseException) -> BaseException | None:
    """What to show beside a refusal: an error that was not meant for users may be a bug of ours."""
    return error.__cause__ if isinstance(error, TreadleError) else error


def _is_number(x: Any) -> bool:
    return isinstance(x, bool | int | float)


class Arrays:
    """How arrays become tensors: the tensor layer, which stands above, fills this in."""

    __slots__ = ("made",)

    made: Callable[..., Any]  # from an array, a tensor beside which it stands or None, a dtype


ARRAYS = Arrays()
UNCLEAR = (TreadleError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a call may raise in the words of what the row is made of."""


class Op:
    """One row: everything there is to say about an operation, once."""

    def __init__(
        self,
        name: str,
        kind: Kind,
        doc: str,
        *,
        types: Typing | None = None,
        shape: Callable[[Any, Sequence[Shape]], Shape] | None = None,
        arguments: Callable[..., Any] | None = None,
        define: Callable[..., Any] | None = None,
        grad: Callable[..., Any] | str | None = None,
        reference: Callable[..., Any] | None = None,
        samples: Samples | None = None,
        flops: float = 1.0,
        aliases: tuple[str, ...] = (),
        public: bool = True,
        trace: tuple[str, ...] | None = None,
    ) -> None:
        self.name, self.kind, self.__doc__ = name, kind, doc
        self.public = public  # may users call it by name?
        self.trace = trace  # options that explanations and profiles show; None: all
        self.aliases = aliases  # other names users know it by
        self.types, self.shape, self.define = types, shape, define
        self.arguments, self.grad, self.reference = arguments, grad, reference
        self.samples, self.flops = samples or Samples(), flops
        self.operands = positional_only(define) if define else ()
        self.pairs: Callable[..., Any] | None = None  # on parts of complex numbers: `ops/pairs.py`
        for known in (name, *aliases):
            if NAMES.get(known) in TABLE:
                hint = "choose another, or take that row out of TABLE first"
                wrong = f"the row {NAMES[known]} has this name"
                raise ArgumentError(explain(known, wrong, hint))
            NAMES[known] = name
        TABLE[name] = self

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return (TABLE.__getitem__, (self.name,))

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Record the op on tensors (or on graph nodes: both carry `_apply`)."""
        try:
            operands, arg = args, None
            if self.arguments is not None:
                found = self.arguments(*args, **options)
                if found.__class__ is not tuple:  # an option that other rows stand for
                    return found
                operands, arg = found
            elif options:
                raise TypeError(f"{self.name}() takes no argument {', '.join(options)}")
            for operand in operands:
                if hasattr(operand, "_apply"):
                    return operand._apply(self, operands, arg)
        except UNCLEAR as error:
            return self.retried(error, args, options)
        with_tensors = self.with_tensors(args)
        if with_tensors is not None:
            return self(*with_tensors, **options)
        hint = "make a tensor first: td.tensor(...)"
        got = ", ".join(type(operand).__name__ for operand in operands) or "nothing"
        wrong = OperandError(explain(self.name, "needs a tensor operand", hint, got=got))
        return self.retried(wrong, args, options)

    def retried(self, error: Exception, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The call in our words, or with arrays as tensors, if it was not; else the refusal."""
        source = self.define or self.arguments or self.reference
        meant = source and translated(self.name, source, args, options)
        if meant:
            row, args, options = meant
            return TABLE[row](*args, **options)
        with_tensors = self.with_tensors(args)
        if with_tensors is None:
            raise self.refusal(error, args, options) from _cause(error)
        return self(*with_tensors, **options)

    def with_tensors(self, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The arguments with arrays, and lists of indices, made tensors; None if there are none."""
        if self.kind in (Kind.CREATION, Kind.RANDOM):
            return None
        places = self._tensors(args)
        like = next((x for x in places if hasattr(x, "_apply")), None)
        found = [
            ARRAYS.made(x, like) if self._stands_for_one(k, x) else x for k, x in enumerate(places)
        ]
        if len(places) > 1 and not self.samples.listed and all(map(_is_number, places)):
            found[0] = ARRAYS.made(places[0], None)  # of numbers alone the first is a tensor
        elif all(new is old for new, old in zip(found, places, strict=True)):
            return None
        listed = places is not args and self.samples.listed
        return (found, *args[1:]) if listed else (*found, *args[len(found) :])

    def _stands_for_one(self, k: int, x: Any) -> bool:
        """Is x, operand k, no tensor, but of what tensors are made?"""
        if hasattr(x, "__array_interface__"):
            return not hasattr(x, "_apply")
        of_integers = isinstance(x, list) and bool(x) and all(isinstance(n, int) for n in x)
        return of_integers and self.samples.role(k) == "index"

    def refusal(self, error: Exception, args: tuple[Any, ...], options: Any) -> Exception:
        """The error in words about this row, the one that was called, not what it is made of."""
        if isinstance(error, TreadleError):
            return said_by(self.name, error)
        called, _, said = str(error).partition("() ")
        if isinstance(error, TypeError) and called.strip("_") == self.name:
            return TypeError(f"{self.name}() {said}")  # it has other arguments
        source = self.define or self.arguments
        names = source.__code__.co_varnames[: source.__code__.co_argcount] if source else ()
        needed = len(names) - len(source.__defaults__ or ()) if source else 1
        lost = isinstance(error, AttributeError)  # a shape, or another part of a tensor
        for k, x in enumerate(self._tensors(args) if lost or self.reference is not None else ()):
            left_out = x is None and k >= needed and not self.samples.listed
            number = isinstance(x, bool | int | float) and not lost
            if not (left_out or number or hasattr(x, "_apply")):
                hint = "wrap it with td.tensor(...)"
                wrong = explain(self.name, "not a tensor", hint, got=type(x).__name__)
                return OperandError(wrong).with_traceback(error.__traceback__)
        facts = {name: shown(x) for name, x in (*zip(names, args, strict=False), *options.items())}
        hint = f"it takes {', '.join(names)}"
        wrong = explain(self.name, "cannot use an argument", hint, **facts)
        return ArgumentError(wrong).with_traceback(error.__traceback__)

    @property
    def arity(self) -> int:
        """How many operands a row without a definition takes."""
        return max(1, len(self.samples.roles))

    def _tensors(self, args: tuple[Any, ...]) -> Sequence[Any]:
        """Of the arguments, those that have to be tensors."""
        if self.samples.listed and args and isinstance(args[0], list | tuple):
            return args[0]
        return args[: len(self.operands) if self.define else self.arity]

    def called(self, arg: Any) -> str:
        """The row with its options, as people write it: softmax(axis=-1)."""
        options = arg[1] if isinstance(arg, Chosen) else ()
        if self.trace is not None:
            options = [(name, value) for name, value in options if name in self.trace]
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in options)})"


class Elementwise(Op):
    """A row whose arguments are its operands: the call is kept short."""

    @property
    def arity(self) -> int:
        """How many operands there are: those of the reference, less NumPy itself."""
        reference = needed("row", self.reference, self)
        return int(reference.__code__.co_argcount) - 1

    def __call__(self, *operands: Any, **options: Any) -> Any:
        """Record the op on tensors or nodes; scalars may stand beside them."""
        if not options and self.arguments is None:
            try:
                record = operands[0]._apply
            except (AttributeError, IndexError):
                return super().__call__(*operands)
            try:
                return record(self, operands, None)
            except TypeError as error:
                if not any(x is NOTHING for x in operands):
                    raise
                return self.retried(error, operands, options)
        return super().__call__(*operands, **options)


class Inline(Op):
    """A row that is no node: its definition runs when it is called and may give several results."""

    @cached_property
    def whole(self) -> list[tuple[int, str]]:
        """Places and names of options that are integers; makers of tensors look for themselves."""
        define = needed("row", self.define, self)
        return whole_options(define) if self.kind is Kind.COMPOSITE else []

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Run the definition on tensors or nodes."""
        define = needed("row", self.define, self)
        try:
            for k, name in self.whole:
                value = args[k] if k < len(args) else options.get(name, 0)
                if value.__class__ is not int:
                    require_option(define, name, value)
            return define(*args, **options)
        except UNCLEAR as error:
            return self.retried(error, args, options)


Function = TypeVar("Function", bound=Callable[..., Any])


def makes_tensors(kind: Kind, aliases: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Enter a function that makes tensors into the table; what it refuses names it."""

    def entered(define: Function) -> Function:
        name = define.__name__.rstrip("_")
        row = Inline(name, kind, define.__doc__ or "", define=define, flops=0.0, aliases=aliases)

        @wraps(define)
        def made(*args: Any, **options: Any) -> Any:
            return row(*args, **options)

        return made  # type: ignore[return-value]

    return entered
