"""What the algorithms do with whole rows: their inner loops, for real numbers as vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treadle.backends.cpu.gemm_tiles import Tile, fma, read_vector, tile_for, write_vector
from treadle.backends.cpu.writer import Int, Writer
from treadle.backends.cpu.written import Array, Returning, Scalar, vectorised
from treadle.backends.cpu.written_builtins import (
    conjugate,
    imaginary_part,
    real_part,
    zero_of,
)
from treadle.base.dtypes import DType
from treadle.base.target import Target

VECTORS = 4  # side by side


class Rows:
    """A function under construction whose loops go along rows, some vectors at a time."""

    def __init__(
        self, name: str, params: str, dtype: DType, target: Target, result: str = "void"
    ) -> None:
        self.tile: Tile = tile_for(dtype, target)
        self.scalar = self.tile.scalar
        kinds = {"p": "ptr", "i": "i64", "r": self.scalar}
        given = [f"{kinds[kind]} %{name}" for name, kind in (x.split(":") for x in params.split())]
        self.w = Returning(name, given, self.scalar if result == "r" else result)

    def each(self, count: Int, body: Callable[[Int, str], None]) -> None:
        """body(place, mask) for every vector of a row."""
        lanes = self.tile.lanes

        def columns(at: Int, vectors: int, mask: str) -> None:
            for k in range(vectors):
                body(self.w.add(at, k * lanes), mask)

        self.runs(count, columns)

    def runs(self, count: Int, body: Callable[[Int, int, str], None]) -> None:
        """body(place, vectors, mask): four vectors a turn, then one, then the rest by a mask."""
        w, lanes = self.w, self.tile.lanes
        run = VECTORS * lanes
        most, whole = w.op(f"and i64 {count}, {-run}"), w.op(f"and i64 {count}, {-lanes}")
        with w.loop(0, most, run) as (i, _, _):
            body(i, VECTORS, "")
        with w.loop(most, whole, lanes) as (i, _, _):
            body(i, 1, "")
        with w.when(w.compare("slt", whole, count)):
            body(whole, 1, w.lanes_below(w.sub(count, whole), lanes))

    def load(self, row: str, place: Int, mask: str = "") -> str:
        """A vector of a row; lanes outside the mask are 0."""
        at = self.w.gep(row, place, self.scalar)
        return read_vector(self.w, self.tile, self.tile.dtype, at, mask)

    def store(self, value: str, row: str, place: Int, mask: str = "") -> None:
        """The lanes of the mask."""
        at = self.w.gep(row, place, self.scalar)
        if mask:
            write_vector(self.w, self.tile, value, at, mask)
        else:
            self.w.store(self.tile.vector, value, at, self.tile.dtype.size)

    def splat(self, value: str) -> str:
        """A number in all lanes."""
        return self.w.splat(self.scalar, value, self.tile.lanes)

    def op(self, name: str, a: str, b: str) -> str:
        """One instruction on vectors."""
        return self.w.op(f"{name} {self.tile.vector} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a * b + c."""
        return fma(self.w, self.tile, a, b, c)

    def total(self, value: str) -> str:
        """The sum of the lanes."""
        name = f"llvm.vector.reduce.fadd.{self.tile.suffix}"
        self.w.declared.add(f"declare {self.scalar} @{name}({self.scalar}, {self.tile.vector})")
        start = f"{self.scalar} -0.0"
        return self.w.op(f"call reassoc {self.scalar} @{name}({start}, {self.tile.vector} {value})")


def _copy(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "n:i x:p y:p", dtype, target)
    r.each("%n", lambda at, mask: r.store(r.load("%x", at, mask), "%y", at, mask))
    return [r.w]


@vectorised(_copy)
def copy(n: int, x: Array, y: Array) -> None:
    """y = x."""
    for i in range(n):
        y[i] = x[i]


def _fill(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "n:i value:r y:p", dtype, target)
    value = r.splat("%value")
    r.each("%n", lambda at, mask: r.store(value, "%y", at, mask))
    return [r.w]


@vectorised(_fill)
def fill(n: int, value: Scalar, y: Array) -> None:
    """y = value."""
    for i in range(n):
        y[i] = value


def _swap(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "n:i x:p y:p", dtype, target)

    def body(at: Int, mask: str) -> None:
        x, y = r.load("%x", at, mask), r.load("%y", at, mask)
        r.store(y, "%x", at, mask)
        r.store(x, "%y", at, mask)

    r.each("%n", body)
    return [r.w]


@vectorised(_swap)
def swap(n: int, x: Array, y: Array) -> None:
    """x and y change places."""
    for i in range(n):
        kept = x[i]
        x[i] = y[i]
        y[i] = kept


def _scale(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "n:i factor:r x:p", dtype, target)
    factor = r.splat("%factor")

    def body(at: Int, mask: str) -> None:
        r.store(r.op("fmul", factor, r.load("%x", at, mask)), "%x", at, mask)

    r.each("%n", body)
    return [r.w]


@vectorised(_scale)
def scale(n: int, factor: Scalar, x: Array) -> None:
    """x times a factor."""
    for i in range(n):
        x[i] = factor * x[i]


def _axpy(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "n:i factor:r x:p y:p", dtype, target)
    factor = r.splat("%factor")

    def body(at: Int, mask: str) -> None:
        value = r.fma(factor, r.load("%x", at, mask), r.load("%y", at, mask))
        r.store(value, "%y", at, mask)

    r.each("%n", body)
    return [r.w]


@vectorised(_axpy)
def axpy(n: int, factor: Scalar, x: Array, y: Array) -> None:
    """y + factor x, in y."""
    for i in range(n):
        y[i] = y[i] + factor * x[i]


def _rotate(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "n:i x:p y:p c:r s:r", dtype, target)
    c, s = r.splat("%c"), r.splat("%s")
    minus = r.w.op(f"fneg {r.tile.vector} {s}")

    def body(at: Int, mask: str) -> None:
        x, y = r.load("%x", at, mask), r.load("%y", at, mask)
        r.store(r.fma(c, x, r.op("fmul", s, y)), "%x", at, mask)
        r.store(r.fma(c, y, r.op("fmul", minus, x)), "%y", at, mask)

    r.each("%n", body)
    return [r.w]


@vectorised(_rotate)
def rotate(n: int, x: Array, y: Array, c: float, s: float) -> None:
    """c x + s y and c y - s x, in their places."""
    for i in range(n):
        kept = x[i]
        x[i] = c * kept + s * y[i]
        y[i] = c * y[i] - s * kept


def _dot(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "n:i x:p y:p", dtype, target, "r")
    w, lanes = r.w, r.tile.lanes
    run = VECTORS * lanes
    whole = w.op(f"and i64 %n, {-run}")
    sums = [(r.tile.vector, "zeroinitializer")] * VECTORS
    with w.loop(0, whole, run, sums) as (i, current, later):
        for k in range(VECTORS):
            at = w.add(i, k * lanes)
            later[k] = r.fma(r.load("%x", at), r.load("%y", at), current[k])
    a, b, c, d = current
    start = r.op("fadd", r.op("fadd", a, b), r.op("fadd", c, d))
    with w.loop(whole, "%n", lanes, [(r.tile.vector, start)]) as (i, current, later):
        mask = w.lanes_below(w.sub("%n", i), lanes)
        later[0] = r.fma(r.load("%x", i, mask), r.load("%y", i, mask), current[0])
    w.do(f"ret {r.scalar} {r.total(current[0])}")
    w.start("unused")
    return [w]


@vectorised(_dot)
def dot(n: int, x: Array, y: Array) -> Scalar:
    """The sum of products of conj(x) and y."""
    total = zero_of(y[0])
    for i in range(n):
        total = total + conjugate(x[i]) * y[i]
    return total


def _combine(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "n:i count:i factor:r x:p step:i rows:p ld:i y:p", dtype, target)
    w, lanes = r.w, r.tile.lanes
    factor = r.splat("%factor")

    def columns(at: Int, vectors: int, mask: str) -> None:
        places = [w.add(at, k * lanes) for k in range(vectors)]
        none = [(r.tile.vector, "zeroinitializer")] * vectors
        with w.loop(0, "%count", 1, [("ptr", "%rows"), ("ptr", "%x"), *none]) as (_, now, later):
            weight = r.splat(w.load(r.scalar, now[1], r.tile.dtype.size))
            for k, place in enumerate(places):
                later[2 + k] = r.fma(weight, r.load(now[0], place, mask), now[2 + k])
            later[0], later[1] = w.gep(now[0], "%ld", r.scalar), w.gep(now[1], "%step", r.scalar)
        for k, place in enumerate(places):
            r.store(r.fma(factor, now[2 + k], r.load("%y", place, mask)), "%y", place, mask)

    r.runs("%n", columns)
    return [w]


@vectorised(_combine)
def combine(
    n: int, count: int, factor: Scalar, x: Array, step: int, rows: Array, ld: int, y: Array
) -> None:
    """y + factor times the sum of x[p step] rows[p], in y."""
    for p in range(count):
        axpy(n, factor * x[p * step], rows + p * ld, y)


@vectorised(_combine)
def turned_combine(
    n: int, count: int, factor: Scalar, x: Array, step: int, rows: Array, ld: int, y: Array
) -> None:
    """The same with the conjugates of x."""
    for p in range(count):
        axpy(n, factor * conjugate(x[p * step]), rows + p * ld, y)


def _largest(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "n:i x:p", dtype, target, "i64")
    w, lanes, vector = r.w, r.tile.lanes, r.tile.vector
    places = f"<{lanes} x i64>"
    numbers = "<" + ", ".join(f"i64 {lane}" for lane in range(lanes)) + ">"
    first = [(vector, "splat (" + f"{r.scalar} -1.0)"), (places, numbers), (places, numbers)]
    with w.loop(0, "%n", lanes, first) as (i, now, later):
        mask = w.lanes_below(w.sub("%n", i), lanes)
        size = w.call(vector, f"llvm.fabs.{r.tile.suffix}", f"{vector} {r.load('%x', i, mask)}")
        more = w.op(f"fcmp ogt {vector} {size}, {now[0]}")
        more = w.op(f"and <{lanes} x i1> {more}, {mask}")
        later[0] = w.op(f"select <{lanes} x i1> {more}, {vector} {size}, {vector} {now[0]}")
        later[1] = w.op(f"select <{lanes} x i1> {more}, {places} {now[2]}, {places} {now[1]}")
        later[2] = w.op(f"add {places} {now[2]}, splat (i64 {lanes})")
    best = w.call(r.scalar, f"llvm.vector.reduce.fmax.{r.tile.suffix}", f"{vector} {now[0]}")
    mine = w.op(f"fcmp oeq {vector} {now[0]}, {r.splat(best)}")
    far = w.op(f"select <{lanes} x i1> {mine}, {places} {now[1]}, {places} splat (i64 {1 << 60})")
    found = w.call("i64", f"llvm.vector.reduce.umin.v{lanes}i64", f"{places} {far}")
    w.do(f"ret i64 {found}")
    w.start("unused")
    return [w]


@vectorised(_largest)
def largest(n: int, x: Array) -> int:
    """The index of the element of largest magnitude, the first of several.

    That of a complex number is the sum of those of its parts, as LAPACK has it.
    """
    best = 0
    most = -1.0
    for i in range(n):
        size = abs(real_part(x[i])) + abs(imaginary_part(x[i]))
        if size > most:
            most = size
            best = i
    return best


def _add_outer(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "count:i n:i factor:r x:p step:i y:p rows:p ld:i", dtype, target)
    w, lanes = r.w, r.tile.lanes
    factor = r.splat("%factor")

    def columns(at: Int, vectors: int, mask: str) -> None:
        places = [w.add(at, k * lanes) for k in range(vectors)]
        mine = [r.op("fmul", factor, r.load("%y", place, mask)) for place in places]
        with w.loop(0, "%count", 1, [("ptr", "%rows"), ("ptr", "%x")]) as (_, now, later):
            weight = r.splat(w.load(r.scalar, now[1], r.tile.dtype.size))
            for k, place in enumerate(places):
                value = r.fma(weight, mine[k], r.load(now[0], place, mask))
                r.store(value, now[0], place, mask)
            later[0], later[1] = w.gep(now[0], "%ld", r.scalar), w.gep(now[1], "%step", r.scalar)

    r.runs("%n", columns)
    return [w]


@vectorised(_add_outer)
def add_outer(
    count: int, n: int, factor: Scalar, x: Array, step: int, y: Array, rows: Array, ld: int
) -> None:
    """rows[p] + factor x[p step] y, in rows."""
    for p in range(count):
        axpy(n, factor * x[p * step], y, rows + p * ld)
