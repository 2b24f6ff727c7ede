"""Sizes that calls differ in: what stands for them in a trace, and what they are at a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from treadle.base.errors import DeviceError, ShapeError, explain
from treadle.base.knobs import MEANING
from treadle.base.shapes import Dim
from treadle.base.sizes import Size, evaluator
from treadle.ir.node import COMPILED, Call, Node, Type, placeholder, type_of


def without_sizes(
    args: tuple[Any, ...], options: dict[str, Any], sizes: dict[str, Dim]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments in which unknowns stand for Dims that have a max; sizes notes what they are."""
    if Dim not in map(type, (*args, *options.values())):
        return args, options
    return (
        tuple([_general(x, sizes) for x in args]),
        {name: _general(x, sizes) for name, x in options.items()},
    )


def general_type(type_: Type, sizes: dict[str, Dim]) -> Type:
    """A type in which unknowns stand for Dims that have a max."""
    if Dim not in map(type, type_.shape):
        return type_
    shape = tuple([_general(n, sizes) for n in type_.shape])
    return type_of(shape, type_.dtype, type_.device)


def _general(x: Any, sizes: dict[str, Dim]) -> Any:
    if x.__class__ is not Dim or x.unknown is None or MEANING.watched:
        return x  # who watches looks at values of one size
    known = sizes.setdefault(x.name, x)
    if known != x or known.range != x.range:
        facts = {"one": known, "other": x, "ranges": (known.range, x.range)}
        raise ShapeError(explain("compile", "a Dim has two sizes in one call", **facts))
    return x.unknown


def exact_call(type_: Type, sizes: Mapping[str, Dim]) -> Call:
    """What the result of a call is, where unknowns have become numbers; a Dim stays one."""
    shape = []
    for n in type_.shape:
        if isinstance(n, Size):
            n = sizes[n.text] if n.text in sizes else evaluator([n])(sizes)[0]  # noqa: PLW2901
        shape.append(n)
    return placeholder(type_of(tuple(shape), type_.dtype, type_.device), COMPILED).call


def sized_program(program: Any, sizes: Mapping[str, Dim]) -> Any:
    """A program whose numbers are those of sizes."""
    return program.at(sizes)


def require_sized(program: Any, states: Sequence[Node]) -> None:
    """Refuse a program that has one size only, and states that would have several."""
    if not hasattr(program, "at"):
        hint = "leave max out: then every size is traced"
        wrong = "a Dim with a max needs one device, the CPU or a GPU"
        raise DeviceError(explain("compile", wrong, hint))
    for node in states:
        if any(isinstance(n, Size) for n in node.shape):
            hint = "keep a state of the largest size and assign a part of it: state[:n] = x"
            wrong = "a state would change its size from call to call"
            raise ShapeError(explain("compile", wrong, hint, shape=node.shape))
