"""Gluon, the layer under Triton's language: who waits for whom is written out.

Its kernels have warps of several kinds. One brings blocks of operands into shared memory, ahead by
as many as there are stages; groups of four compute.
"""

from __future__ import annotations

import re
from functools import cache

from treadle.backends.cuda.launch import Arguments, Tensor
from treadle.backends.cuda.ops import is_minus_zero
from treadle.base.dtypes import DType
from treadle.kernel.loops import Ex, Loops

try:
    from triton import knobs
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.language.nvidia import hopper
except ImportError:  # no Triton, or one that has it elsewhere
    gl = None

HOPPER = 90  # the architecture whose tensor cores work for four warps at once, and no other
GROUPS = 2  # of four warps that compute
LANES = 64  # rows that a group multiplies at once
REGISTERS = 240, 24  # of a thread that computes, at most, and of one that brings operands
FILE = 1 << 16  # registers of a processor
KNOWN = frozenset({
    "tile", "load", "const", "index", "reduced", "where", "cast", "neg", "abs", "add", "sub",
    "mul", "div", "maximum", "minimum", "exp", "log", "tanh", "sigmoid", "sqrt", "eq", "ne", "lt",
    "le", "gt", "ge", "bitwise_and", "bitwise_or",
})  # fmt: skip
"""What Gluon's text was tried with."""
HEAD = """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait,
)

meet = gl.thread_barrier if hasattr(gl, "thread_barrier") else gl.barrier  # by release of Triton


@gluon.jit
def free(barrier):
    meet()
    mbarrier.arrive(barrier)


@gluon.jit
def barriers(COUNT: gl.constexpr, ARRIVALS: gl.constexpr):
    made = gl.allocate_shared_memory(gl.int64, [COUNT, 1], mbarrier.MBarrierLayout())
    for k in gl.static_range(COUNT):
        mbarrier.init(made.index(k), count=ARRIVALS)
    return made

"""
_WITHOUT_LAYOUT = re.compile(r"\btl\.(full|zeros)\(")


@cache
def is_there() -> bool:
    """Does the Triton at hand have Gluon, with what is used of it? Its interpreter has not."""
    if gl is None:
        return False
    used = [
        (hopper, "fence_async_shared mbarrier tma warpgroup_mma warpgroup_mma_wait"),
        (gl, "warp_specialize allocate_shared_memory convert_layout to_tensor static_range"),
        (gl, "NVMMADistributedLayout NVMMASharedLayout DotOperandLayout SliceLayout"),
        (gl, "BlockedLayout"),
    ]
    meets = hasattr(gl, "thread_barrier") or hasattr(gl, "barrier")
    whole = all(hasattr(module, name) for module, names in used for name in names.split())
    return whole and meets and not knobs.runtime.interpret


def in_gluon(line: str) -> str:
    """A line of Triton's: numbers have no layout until they meet a tile, whose layout they take."""
    return _WITHOUT_LAYOUT.sub(r"gl.\1(", line)


def is_known(loops: Loops) -> bool:
    """Is a loop program made of ops that were tried?"""
    return all(_is_known(ex) for ex in loops.order())


def _is_known(ex: Ex) -> bool:
    if ex.op == "const" and is_minus_zero(ex.data):
        return False  # numbers are bare there, and that one is 0.0
    return ex.op in KNOWN and not (ex.op == "load" and ex.data[2])


def add_tensor(add: Arguments, name: str, dtype: DType, tensor: Tensor, swizzle: int = 128) -> None:
    """An argument brought by blocks, which lie as tensor cores read them, or in order (0)."""
    bits, rank = 8 * dtype.size, len(tensor.block)
    layout = f"swizzle_byte_width={swizzle}, element_bitwidth={bits}, rank={rank}"
    add.tensor(name, dtype, tensor, f"NVMMASharedLayout({layout})")


def registers_of(groups: int, residents: int) -> tuple[int, int]:
    """Of a thread when it starts, and of one that computes, with so many programs a processor.

    Those that bring operands have as many threads as a group, and leave it theirs.
    """
    first = FILE // (residents * (groups + 1) * 128) // 8 * 8
    return first, min(REGISTERS[0], (first * (groups + 1) - REGISTERS[1]) // groups // 8 * 8)


def started(given: str, groups: int = GROUPS, registers: int = REGISTERS[0]) -> list[str]:
    """Lines that start the functions `compute` of each group, with its number, and `bring`."""
    computing = [f"(compute, ({given}, {k}))" for k in range(groups)]
    warps, most = [4] * (groups - 1) + [1], [registers] * (groups - 1) + [REGISTERS[1]]
    start = f"[{', '.join(computing)}, (bring, ({given}))], {warps}, {most}"
    return ["fence_async_shared()", f"gl.warp_specialize({start})"]


def grid_of(columns: int, dtype: DType) -> str:
    """How a group holds a tile of so many columns, a product of a dtype, as text."""
    return f"gl.NVMMADistributedLayout([3, 0], [4, 1], [16, {columns}, {32 // dtype.size}])"
