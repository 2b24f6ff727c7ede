"""What PyTorch calls operands and options, and what they are called here.

A call in our words never comes by: Python has sorted it out before. Others are translated where
they would be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, TypedDict


class Nothing:
    """What stands for an argument that was not given, or not in our words."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "..."


NOTHING: Any = Nothing()


class Words(TypedDict, total=False):
    """The words that are translated, for type checkers."""

    A: Any
    B: Any
    alpha: Any
    as_tuple: Any
    assume_unique: Any
    attn_mask: Any
    batch1: Any
    batch2: Any
    diagonal: Any
    dim: Any
    dim0: Any
    dim1: Any
    dim2: Any
    dimension: Any
    dims: Any
    dtype: Any
    end: Any
    end_dim: Any
    equation: Any
    exponent: Any
    index: Any
    input: Any
    input1: Any
    input2: Any
    keepdim: Any
    key: Any
    mat: Any
    mat1: Any
    mat2: Any
    other: Any
    p: Any
    query: Any
    right: Any
    shifts: Any
    sorted: Any
    sorted_sequence: Any
    source: Any
    sparse_grad: Any
    split_size: Any
    split_size_or_sections: Any
    src: Any
    start_dim: Any
    steps: Any
    target: Any
    tensor: Any
    tensor1: Any
    tensor2: Any
    test_elements: Any
    unbiased: Any
    value: Any
    vec: Any
    vec1: Any
    vec2: Any


VARARGS = 4  # the flag of a function that takes any number of arguments; inspect costs an import
FIRST, SECOND = ("a",), ("y", "b")
OURS: dict[str, tuple[str, ...]] = {
    "dim": ("axis", "axes"), "dims": ("axes", "axis", "repetitions"), "dimension": ("axis",),
    "dim0": ("axis0",), "dim1": ("axis1",), "dim2": ("axis2",), "keepdim": ("keepdims",),
    "start_dim": ("start",), "end_dim": ("end",), "diagonal": ("k",), "shifts": ("shift",),
    "p": ("ord",), "split_size": ("size",), "split_size_or_sections": ("size",),
    "index": ("indices",), "src": ("values",), "source": ("values",), "value": ("values", "v"),
    "other": SECOND, "exponent": SECOND, "end": ("stop", *SECOND), "mat2": SECOND, "vec": SECOND,
    "vec2": SECOND, "tensor": SECOND, "target": ("labels",), "input1": ("x1",), "input2": ("x2",),
    "query": ("q",), "key": ("k",), "attn_mask": ("mask",), "equation": ("subscripts",),
    "sorted_sequence": ("sorted",), "size": ("shape",), "steps": ("num",),
    "n": ("n_rows",), "m": ("n_cols",), "A": ("x", "a"), "B": ("b", "y"),
    "mat": FIRST, "mat1": FIRST, "batch1": FIRST, "tensor1": FIRST, "vec1": FIRST, "x1": FIRST,
    "batch2": SECOND, "tensor2": SECOND, "x2": SECOND, "split_sizes": ("size",),
    "indices": ("sections",), "tensor_indices_or_sections": ("sections",),
    "indices_or_sections": ("sections",), "LU": ("lu",),
    "random_samples": ("samples",), "num_samples": ("count",), "data": ("obj",),
}  # fmt: skip
"""Words, and the names they stand for: the first that a row has."""

Values = dict[str, Any]
Turn = Callable[[Values, Any], str | None]
"""Enters a word's value into the arguments; may name another row to call instead."""


def _as(name: str, turned: Callable[[Any], Any] = lambda value: value) -> Turn:
    def enter(values: Values, value: Any) -> None:
        values[name] = turned(value)

    return enter


def _nowhere(values: Values, value: Any) -> None:
    """What PyTorch only asks for speed."""


def _scaled(values: Values, value: Any) -> None:
    values["y"] = values["y"] * value


def _as_rows(values: Values, value: Any) -> str | None:
    x = values["x"]
    values["x"] = x if x.shape or not value else x.reshape(1)
    return None if value else "argwhere"


def _among(values: Values, value: Any) -> None:
    if values["x"] is NOTHING:
        values["x"] = values["elements"]
    values["elements"] = value


def _until(values: Values, value: Any) -> None:
    values["start" if values["start"] is NOTHING else "stop"] = value


def _extreme(row: str) -> Turn:
    def enter(values: Values, value: Any) -> str:
        values["y"] = value
        return row

    return enter


def _cast_first(values: Values, value: Any) -> None:
    if value is not None:
        values["x"] = values["x"].cast(value)


TURNED: dict[tuple[str, str], Turn] = {
    **{(row, "alpha"): _scaled for row in ("add", "sub")},
    **{(row, "dtype"): _cast_first for row in (
        "mean", "var", "std", "norm", "logsumexp", "softmax", "log_softmax", "nansum", "nanmean",
    )},
    **{(row, "unbiased"): _as("correction", int) for row in ("std", "var", "std_mean", "var_mean")},
    ("norm", "p"): _as("ord", lambda p: 2 if p == "fro" else p),
    ("searchsorted", "right"): _as("side", lambda right: "right" if right else "left"),
    ("searchsorted", "input"): _as("values"),
    ("atan2", "input"): _as("y"), ("atan2", "other"): _as("x"),
    ("where", "input"): _as("x"), ("embedding", "input"): _as("indices"),
    ("isin", "test_elements"): _among, ("isin", "assume_unique"): _nowhere,
    ("nonzero", "as_tuple"): _as_rows, ("arange", "end"): _until,
    ("max", "other"): _extreme("maximum"), ("min", "other"): _extreme("minimum"),
    ("topk", "sorted"): _nowhere, ("unique", "sorted"): _nowhere,
    ("gather", "sparse_grad"): _nowhere, ("cdist", "compute_mode"): _nowhere,
    ("repeat", "output_size"): _nowhere, ("tensordot", "dims"): _as("axes"),
    ("split", "tensor"): _as("x"),
    ("householder_product", "A"): _as("v"), ("matrix_rank", "tol"): _as("atol"),
    ("pinv", "rcond"): _as("rtol"), ("lstsq", "driver"): _nowhere,
}  # fmt: skip
"""What takes more than another name, by row and word."""


def translated(
    row: str, source: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]
) -> tuple[str, tuple[Any, ...], Values] | None:
    """(row, arguments, options) of a call in our words; None if it was.

    source is what the row is called with: names and defaults are read off it.
    """
    code, values_of = source.__code__, source.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    names = names[1:] if names[:1] == ("np",) else names
    others = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    foreign = [word for word in options if word not in names and word not in others]
    if row in ("max", "min") and len(args) > 1 and hasattr(args[1], "_apply"):
        return f"{row}imum", args[:2], {}  # of two tensors
    if row == "where" and not foreign and _alone(args):
        return "nonzero", args[:1], {}
    if row == "repeat" and not foreign and _only_repeats(args):
        counts = args[0] if args[1] is NOTHING else args[1]
        return row, (counts.iota_like(0).cast(counts.dtype), counts, 0), {}
    if not foreign and not any(x is NOTHING for x in args):
        return None
    needed = (NOTHING,) * (len(names) - len(values_of))
    left_out = dict(zip(names, (*needed, *values_of), strict=True))
    values = left_out | _placed(names, args, options, left_out) | _known(names, options)
    named = {word: options[word] for word in options if word in others}
    rest = args[len(names) :]
    if "size" in foreign and "shape" not in names and code.co_flags & VARARGS:
        foreign.remove("size")
        rest = (options["size"],)
    for word in foreign:
        turn = TURNED.get((row, word))
        if turn is not None:
            row = turn(values, options[word]) or row
            continue
        wanted = names[:1] if word == "input" else OURS.get(word, ())
        name = next((name for name in wanted if name in names), None)
        if name is None:
            raise TypeError(
                f"{row}() has no argument {word!r}: it takes {', '.join(names)}"
            ) from None
        if not _same(values[name], left_out[name]):
            raise TypeError(f"{row}() was given {name} twice: as {word}, too") from None
        values[name] = options[word]
    missing = [name for name in names if values[name] is NOTHING]
    if missing:
        wrong = f"{row}() is missing {', '.join(missing)}: it takes {', '.join(names)}"
        raise TypeError(wrong) from None
    if "y" in values and "y" not in names:  # another row, of two operands
        return row, (values[names[0]], values["y"]), {}
    return row, (*(values[name] for name in names), *rest), named


def _alone(args: tuple[Any, ...]) -> bool:
    return args[0] is not NOTHING and all(x is NOTHING for x in args[1:])


def _only_repeats(args: tuple[Any, ...]) -> bool:
    """Are there numbers of times alone, of which PyTorch repeats the places?"""
    given = [x for x in args[:2] if x is not NOTHING]
    return len(given) == 1 and hasattr(given[0], "_apply") and given[0].ndim == 1


def _placed(
    names: tuple[str, ...], args: tuple[Any, ...], options: Mapping[str, Any], left_out: Values
) -> Values:
    """Arguments by the names of their places; an axis may stand before the index, as in PyTorch."""
    of_index = names[1:2] in (("index",), ("indices",)) and "dim" not in options
    if of_index and len(args) > 1 and isinstance(args[1], int):
        at = names.index("axis")  # whatever stands there was not said
        args = tuple(
            NOTHING if k == at and _same(x, left_out["axis"]) else x for k, x in enumerate(args)
        )
        names = (names[0], "axis", names[1], *(name for name in names[2:] if name != "axis"))
    return dict(zip(names, args, strict=False))


def _known(names: tuple[str, ...], options: Mapping[str, Any]) -> Values:
    return {name: options[name] for name in names if name in options}


def _same(value: Any, default: Any) -> bool:
    """Is an argument what it is if nothing is said?"""
    return value is default or (isinstance(value, tuple | int | float) and value == default)


def accept_words(functions: Iterable[Any], method: bool = False) -> None:
    """Let functions be called without what they need: it may come in other words.

    Their text says what is needed; the row they call misses it.
    """
    for function in functions:
        if isinstance(function, FunctionType) and "words" in function.__code__.co_varnames:
            given = function.__defaults__ or ()
            needed = function.__code__.co_argcount - method - len(given)
            function.__defaults__ = (NOTHING,) * needed + given
