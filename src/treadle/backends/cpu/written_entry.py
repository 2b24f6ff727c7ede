"""How written functions become the steps of a routine.

An entry is a function without a result. Its parameters say what it is given, by name: addresses of
the operands, of `out`, `temporary` and `scratch`, the number `item`, and numbers of the step.
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cpu.emit import KERNEL
from treadle.backends.cpu.routine import Params, Step
from treadle.backends.cpu.writer import Writer, module
from treadle.backends.cpu.written import Function, Module, function_named, parameters_of
from treadle.base.dtypes import DType
from treadle.base.target import Target

ADDRESSES = ("out", "temporary", "scratch")
BLOCKS = "_blocks"  # what the symbol of a kernel has behind the name of its function


def step_of(function: Function, items: int, group: int = 1, **numbers: int) -> Step:
    """A step that calls a function for every item, group of them in a block."""
    given = [numbers[name] for name in parameters_of(function) if name in numbers]
    return Step(f"{function.__name__}{BLOCKS}", -(-items // group), [items, group, *given])


def text(
    place: str, sources: Sequence[str], dtype: DType, is_complex: bool, symbol: str, target: Target
) -> str:
    """The IR module of an entry; place is the module it is written in, below this folder."""
    function = function_named(f"{place}.{symbol.removesuffix(BLOCKS)}")
    names = list(parameters_of(function))
    numbers = [n for n in names if n not in (*sources, *ADDRESSES, "item")]
    w = Writer(symbol, KERNEL)
    p = Params(w, sources, ("total", "group", *numbers), ("total", "group", *numbers))
    scratch = p.scratch()
    with p.items() as item:
        given = p.pointers | {"scratch": scratch, "item": item} | p.loaded
        kinds = ["ptr" if n in (*sources, *ADDRESSES) else "i64" for n in names]
        args = ", ".join(f"{kind} {given[n]}" for kind, n in zip(kinds, names, strict=True))
        written = Module(dtype, target, is_complex)
        w.do(f"call void @{written.named(function)}({args})")
    return module([*written.writers.values(), w])
