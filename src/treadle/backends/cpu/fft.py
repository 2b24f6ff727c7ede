"""How discrete Fourier transforms are cut into steps, and the factors they need.

Lines lie side by side in vectors, one lane each. A long line becomes a matrix: its columns are
transformed, multiplied by factors, and then its rows, which needs lines of the root of its length.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from math import isqrt, prod
from typing import Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.cpu.along import BLOCK
from treadle.backends.cpu.fft_lanes import Lanes
from treadle.backends.cpu.fft_lines import Lines
from treadle.backends.cpu.fft_passes import NUMBERS
from treadle.backends.cpu.routine import Step, Work
from treadle.backends.cpu.writer import module
from treadle.base.dtypes import DType
from treadle.base.sizes import least, most
from treadle.base.target import Target
from treadle.ir.node import Node
from treadle.ops.fourier import LARGEST_PRIME, dft, rdft

FORMS = {dft: "complex", rdft: "forward"}
ALL = (2, 3, 4, 5, 7, 8, 11)  # where 11 stands for every larger prime
FAMILIES = ((2, 4, 8), (2, 3, 4, 5, 8), ALL)
SHORT = 128  # points of lines of which a vector of them is transformed at once
FEW = 4  # lines: with more there is enough to share out
MUCH = 1 << 14  # points of a line that is worth sharing out
FOLDED = 4096  # points of a fold that are one item


def plan(node: Node, target: Target) -> Work:
    """The steps of a transform along an axis."""
    x, d = node.operands[0], node.dtype
    axis = node.arg[0]
    form = FORMS.get(node.op, "backward")
    inverse = form == "backward" or (form == "complex" and node.arg[1])
    real = node if form == "backward" else x
    points = real.shape[axis] if form == "complex" else real.shape[axis] // 2
    rank = x.ndim if form == "forward" else x.ndim - 1
    outer, inner = prod(x.shape[:axis]), prod(x.shape[axis + 1 : rank])
    lanes = target.vector_bytes // d.size
    scale = node.arg[-1] * (0.5 if form == "forward" else 1.0)
    numbers = _steps(form, points, inner) | {
        "points": points, "lines": outer * inner, "inner": inner, "scale": _bits(scale)
    }  # fmt: skip
    split = _split(points, lanes) if inner == 1 else None
    if split and (points > SHORT or most(numbers["lines"]) < lanes):
        return _in_lines(d, form, inverse, numbers, split, lanes)
    return _in_lanes(d, form, inverse, numbers, outer, lanes)


def _step(symbol: str, blocks: int, numbers: dict[str, int], held: object) -> Step:
    return Step(symbol, blocks, [numbers.get(name, 0) for name in NUMBERS], held)


def _steps(form: str, points: int, inner: int) -> dict[str, int]:
    """How far apart elements lie on both sides."""
    spectrum = {"point": 2 * inner, "lane": 2, "imaginary": 1}
    reals = {"point": 2 * inner, "lane": 1, "imaginary": inner}
    source = reals if form == "forward" else spectrum
    out = reals if form == "backward" else spectrum
    found = {f"in_{name}": step for name, step in source.items()}
    found |= {f"out_{name}": step for name, step in out.items()}
    found["in_outer"] = 2 * inner * (points + (form == "backward"))
    found["out_outer"] = 2 * inner * (points + (form == "forward"))
    return found


def _in_lanes(
    d: DType, form: str, inverse: bool, numbers: dict[str, int], outer: int, lanes: int
) -> Work:
    points, lines, inner = numbers["points"], numbers["lines"], numbers["inner"]
    radices = radices_of(points)
    if least(inner) >= lanes:
        mode, pieces = "across", -(-inner // lanes)
        total = outer * pieces
    else:
        mode = "along" if inner == 1 and least(lines) >= lanes and 2 * points >= lanes else "loose"
        pieces, total = 1, -(-lines // lanes)
    words, factors = tables(points, d)
    folds = fold_table(2 * points, d)
    numbers = numbers | {
        "pieces": pieces, "total": total, "group": max(1, BLOCK // (points * lanes)),
        "passes": len(radices), "plan": words.ctypes.data, "twiddles": factors.ctypes.data,
        "folds": folds.ctypes.data,
    }  # fmt: skip
    blocks = -(-total // numbers["group"])
    step = _step("lanes", blocks, numbers, (words, factors, folds))
    parts = (d, _family(radices), form, mode, inverse)
    return Work(text, parts, (step,), 0, 4 * (points + 1) * lanes * d.size)


def _in_lines(
    d: DType, form: str, inverse: bool, numbers: dict[str, int], split: tuple[int, int], lanes: int
) -> Work:  # fmt: skip
    """Line by line, or in blocks of a line's columns and rows where lines are few and long."""
    rows, columns = split
    points, lines = numbers["points"], numbers["lines"]
    plans = [tables(n, d) for n in split]
    corner, edge = corner_table(rows, columns, lanes, d), edge_table(rows, columns, lanes, d)
    folds = fold_table(2 * points, d)
    blocks = {"column_blocks": -(-columns // lanes), "row_blocks": -(-rows // lanes)}
    stride = 2 * lanes * (blocks["column_blocks"] + 1)
    room = -(-(rows * stride + (2 * points if form == "backward" else 0)) // 64) * 64
    numbers = numbers | blocks | {
        "rows": rows, "columns": columns, "stride": stride, "room": room, "total": lines,
        "group": max(1, BLOCK // points), "folds": folds.ctypes.data,
        "column_passes": len(radices_of(rows)), "passes": len(radices_of(columns)),
        "corner": corner.ctypes.data, "edge": edge.ctypes.data,
        "chunk": FOLDED, "chunks": -(-(points // 2 + 1) // FOLDED),
    }  # fmt: skip
    for name, (words, factors) in zip(("column_", ""), plans, strict=True):
        numbers |= {f"{name}plan": words.ctypes.data, f"{name}twiddles": factors.ctypes.data}
    held = (plans, corner, edge, folds)
    radices = _family([*radices_of(rows), *radices_of(columns)])
    parts = (d, radices, form, "lines", inverse)
    near = 4 * max(rows, columns) * lanes * d.size
    if least(lines) >= FEW or points < MUCH:
        step = _step("line", -(-lines // numbers["group"]), numbers, held)
        return Work(text, parts, (step,), 0, near + room * d.size)

    def step_of(symbol: str, count: int) -> Step:
        return _step(symbol, lines * count, numbers | {"total": lines * count, "group": 1}, held)

    steps = [step_of("column", blocks["column_blocks"]), step_of("row", blocks["row_blocks"])]
    fold = step_of("fold", numbers["chunks"])
    if form != "complex":
        steps.insert(0 if form == "backward" else 2, fold)
    return Work(text, parts, tuple(steps), lines * room * d.size, near)


@lru_cache(256)
def _split(n: int, lanes: int) -> tuple[int, int] | None:
    """Rows and columns of a line: neither less than a vector, both of several radices."""
    best, found = None, None
    sides = [k for k in range(lanes, isqrt(n) + 1) if n % k == 0]
    for rows in (*sides, *(n // k for k in sides)):
        columns = n // rows
        if min(len(radices_of(rows)), len(radices_of(columns))) < 2:
            continue
        waste = -(-rows // lanes) * -(-columns // lanes) * lanes * lanes / n
        uneven = max(rows, columns) / min(rows, columns)
        cost = waste * (1 + 0.02 * uneven)
        if best is None or cost < best:
            best, found = cost, (rows, columns)
    return found


def text(
    d: DType, radices: tuple[int, ...], form: str, mode: str, inverse: bool, symbol: str,
    target: Target,
) -> str:  # fmt: skip
    """The IR module of one step."""
    if mode == "lines":
        return module(Lines(d, radices, form, inverse, symbol, target).written())
    return module(Lanes(d, radices, form, mode, inverse, symbol, target).written())


# ---- radices and factors


def radices_of(n: int) -> list[int]:
    """Factors of a length that has no large prime: as few as possible."""
    found = []
    twos = (n & -n).bit_length() - 1
    n >>= twos
    while twos:
        take = 3 if twos == 3 or twos > 4 else 2 if twos >= 2 else 1
        found.append(1 << take)
        twos -= take
    for prime in range(3, LARGEST_PRIME + 1, 2):
        while n % prime == 0:
            found.append(prime)
            n //= prime
    return found


def _family(radices: Sequence[int]) -> tuple[int, ...]:
    """The radices of a kernel that takes some: of few families, so that lengths share kernels."""
    return next(family for family in FAMILIES if set(radices) <= {*family} or family is ALL)


def _turns(steps: Any, whole: int) -> Any:
    """exp(-2 pi i steps / whole), from angles of at most an eighth of a turn."""
    quarters, rest = np.divmod(4 * (steps % whole) + whole // 2, whole)
    angles = (rest - whole // 2) * (np.pi / 2 / whole)
    return (np.cos(angles) - 1j * np.sin(angles)) * (-1j) ** (quarters % 4)


def _interleaved(values: Any, d: DType) -> Any:
    parts = np.stack([values.real, values.imag], -1)
    return np.ascontiguousarray(parts, numpy_dtype(d)).reshape(-1)


@lru_cache(64)
def tables(n: int, d: DType) -> tuple[Any, Any]:
    """(the passes of a length as words, their factors and roots)."""
    words, factors, at, left, s = [], [], 0, n, 1
    for r in radices_of(n):
        m = left // r
        turns = _turns(np.arange(m)[:, None] * np.arange(1, r), left).reshape(-1)
        roots = np.conj(_turns(np.arange(r), r))
        words += [r, m, s, 2 * at, 2 * (at + turns.size)]
        factors += [turns, roots]
        at += turns.size + roots.size
        left, s = m, s * r
    return np.array(words, np.int64), _interleaved(np.concatenate([*factors, [1.0]]), d)


@lru_cache(64)
def fold_table(n: int, d: DType) -> Any:
    """The factors of a fold: exp(-2 pi i k / n) times -i, for k up to n / 4."""
    return _interleaved(-1j * _turns(np.arange(n // 4 + 1), n), d)


@lru_cache(64)
def corner_table(rows: int, columns: int, lanes: int, d: DType) -> Any:
    """The factors between columns and rows for the first vector of columns, as points."""
    turns = _turns(np.arange(rows)[:, None] * np.arange(lanes), rows * columns)
    return aligned(np.stack([turns.real, turns.imag], 1), d)


@lru_cache(64)
def edge_table(rows: int, columns: int, lanes: int, d: DType) -> Any:
    """What makes of these factors those of the other vectors of columns."""
    starts = np.minimum(np.arange(-(-columns // lanes)) * lanes, columns - lanes)
    return _interleaved(_turns(starts[:, None] * np.arange(rows), rows * columns), d)


def aligned(values: Any, d: DType) -> Any:
    """An array that begins at a multiple of 64 bytes."""
    kind = np.dtype(numpy_dtype(d))
    room = np.empty(values.size + 64, kind)
    skip = -room.ctypes.data % 64 // kind.itemsize
    found = room[skip : skip + values.size]
    found[:] = values.reshape(-1)
    return found


def _bits(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])
