"""Many lines at once: as many as a vector has lanes are gathered, transformed and scattered."""

from __future__ import annotations

from treadle.backends.cpu.fft_passes import Frame
from treadle.backends.cpu.fft_values import Pair, mixed, parted, transposed
from treadle.backends.cpu.vector import Vec
from treadle.backends.cpu.writer import Int, Writer
from treadle.base.dtypes import DType
from treadle.base.target import Target

NAMES = (
    "points lines inner pieces in_outer in_point in_lane in_imaginary out_outer out_point out_lane "
    "out_imaginary passes plan twiddles folds"
)


class Lanes(Frame):
    """A kernel whose items are vectors of lines.

    - **form**: "complex", or "forward" and "backward" between reals and half a spectrum, where two
      neighbouring reals are the parts of a point
    - **mode**: lines lie "across" (neighbouring elements are of neighbouring lines), "along" (of
      the same line) or "loose" (few, or short: element by element)
    """

    def __init__(
        self, d: DType, radices: tuple[int, ...], form: str, mode: str, inverse: bool,
        symbol: str, target: Target,
    ) -> None:  # fmt: skip
        super().__init__(symbol, d, radices, inverse, NAMES, target)
        self.form, self.mode = form, mode

    def written(self) -> list[Writer]:
        """The functions of the module."""
        self.write_passes(True)
        w, p = self.w, self.p
        plan, twiddles = self.address("plan"), self.address("twiddles")
        near = self.p.scratch()
        far = self.place(near, w.mul(w.add(p["points"], 1), 2 * self.lanes))
        one_more = w.add(p["points"], 1)
        with p.items() as item:
            self.gather(item, near, one_more if self.form == "backward" else p["points"])
            if self.form == "backward":
                self.fold(near)
            made = self.passes(plan, twiddles, 0, p["passes"], (near, far))
            if self.form == "forward":
                self.fold(made)
            self.scatter(item, made, one_more if self.form == "forward" else p["points"])
        return self.functions

    # ---- reals

    def fold(self, place: str) -> None:
        """Between the spectrum of n / 2 points made of neighbouring reals, and half of that of n.

        With Z' the point that mirrors Z, conjugated: even and odd elements have the spectra
        (Z + Z') / 2 and (Z - Z') / 2i, and X = even + exp(-2 pi i k / n) odd. The scale has the
        half. Backwards likewise, with parts exchanged at the end, as inverse transforms want them.
        """
        w, n = self.w, self.p["points"]
        table = self.address("folds")
        last = self.get(place, n) if self.form == "backward" else None
        first = self.get(place, 0)
        if last is None:
            zero = first.re.constant(0.0)
            self.put(Pair((first.re + first.im) * 2.0, zero), place, 0)
            self.put(Pair((first.re - first.im) * 2.0, zero), place, n)
        else:
            self.put(self.turned(Pair(first.re + last.re, first.re - last.re)), place, 0)
        with w.loop(1, w.add(w.div(n, 2), 1)) as (k, _, _):
            other = w.sub(n, k)
            low, high = folded(
                self.get(place, k), self.get(place, other), self.factor(table, k), self.form
            )
            self.put(self.turned(low), place, k)
            self.put(self.turned(high), place, other)

    # ---- memory to points and back

    def gather(self, item: str, place: str, count: Int) -> None:
        """The points of an item's lines."""
        w, p, scale = self.w, self.p, self.scaling()
        turn = (lambda x: x) if self.form == "backward" else self.turned
        if self.mode == "across":
            base = self._first("in", item)
            with w.loop(0, count) as (j, _, _):
                at, source = w.add(base, w.mul(j, p["in_point"])), p.pointers["source"]
                reals = self.form == "forward"
                further = p["in_imaginary"] if reals else self.lanes
                low, high = self.load(source, at), self.load(source, w.add(at, further))
                x = Pair(low, high) if reals else parted(low, high)
                self.put(turn(x.scaled(scale)), place, j)
        elif self.mode == "along":
            self._tiles(item, place, count, "in")
        else:
            self._loosely(item, place, count, "in")

    def scatter(self, item: str, place: str, count: Int) -> None:
        """The points where they belong."""
        w, p = self.w, self.p
        turn = (lambda x: x) if self.form == "forward" else self.turned
        if self.mode == "across":
            base = self._first("out", item)
            with w.loop(0, count) as (j, _, _):
                at, out = w.add(base, w.mul(j, p["out_point"])), p.pointers["out"]
                x, reals = turn(self.get(place, j)), self.form == "backward"
                low, high = (x.re, x.im) if reals else mixed(x)
                self.store(low, out, at)
                further = p["out_imaginary"] if reals else self.lanes
                self.store(high, out, w.add(at, further))
        elif self.mode == "along":
            self._tiles(item, place, count, "out")
        else:
            self._loosely(item, place, count, "out")

    def _first(self, side: str, item: str) -> Int:
        """Where the lines of an item begin; the last vectors overlap rather than being cut."""
        w, p = self.w, self.p
        if self.mode == "along":
            line = w.smaller(w.mul(item, self.lanes), w.sub(p["lines"], self.lanes))
            return w.mul(line, p[f"{side}_outer"])
        outer, piece = w.div(item, p["pieces"]), w.rem(item, p["pieces"])
        lane = w.smaller(w.mul(piece, self.lanes), w.sub(p["inner"], self.lanes))
        return w.add(w.mul(outer, p[f"{side}_outer"]), w.mul(lane, p[f"{side}_lane"]))

    def _swap(self, side: str) -> int:
        """1 if parts are exchanged on this side."""
        plain = {"in": "backward", "out": "forward"}[side]
        return int(self.inverse and self.form != plain)

    def _tiles(self, item: str, place: str, count: Int, side: str) -> None:
        """Squares of numbers of neighbouring lines, turned."""
        w, p, lanes = self.w, self.p, self.lanes
        base, step = self._first(side, item), p[f"{side}_outer"]
        numbers, swap = w.mul(count, 2), self._swap(side)
        memory = p.pointers["source" if side == "in" else "out"]
        align = self.lanes * self.size
        with w.loop(0, numbers, lanes) as (tile, _, _):
            at = w.smaller(tile, w.sub(numbers, lanes))
            line = w.add(base, at)
            starts = [w.add(line, w.mul(step, k)) for k in range(lanes)]
            rows = [w.mul(w.add(at, k ^ swap), lanes) for k in range(lanes)]
            if side == "in":
                found: list[Vec] = [self.load(memory, start) for start in starts]
                scale = self.scaling()
                for x, row in zip(transposed(found), rows, strict=True):
                    self.store(x * scale, place, row, align)
            else:
                found = [self.load(place, row, align) for row in rows]
                for x, start in zip(transposed(found), starts, strict=True):
                    self.store(x, memory, start)

    def _loosely(self, item: str, place: str, count: Int, side: str) -> None:
        """Element by element, for any number of lines; missing ones repeat the last."""
        w, p, swap = self.w, self.p, self._swap(side)
        first = w.mul(item, self.lanes)
        memory = p.pointers["source" if side == "in" else "out"]
        lanes = self.lanes if side == "in" else w.smaller(self.lanes, w.sub(p["lines"], first))
        with w.loop(0, lanes) as (lane, _, _):
            line = w.smaller(w.add(first, lane), w.sub(p["lines"], 1))
            outer, inner = w.div(line, p["inner"]), w.rem(line, p["inner"])
            base = w.add(w.mul(outer, p[f"{side}_outer"]), w.mul(inner, p[f"{side}_lane"]))
            with w.loop(0, count) as (j, _, _):
                at = w.add(base, w.mul(j, p[f"{side}_point"]))
                row = w.add(w.mul(j, 2 * self.lanes), lane)
                for part in (0, 1):
                    there = w.add(at, w.mul(p[f"{side}_imaginary"], part))
                    here = w.add(row, (part ^ swap) * self.lanes)
                    if side == "in":
                        value = w.load(self.type, self.place(memory, there), self.size)
                        value = w.op(f"fmul {self.type} {value}, {self.scale}")
                        w.store(self.type, value, self.place(place, here), self.size)
                    else:
                        value = w.load(self.type, self.place(place, here), self.size)
                        w.store(self.type, value, self.place(memory, there), self.size)


def folded(low: Pair, high: Pair, factor: Pair, form: str) -> tuple[Pair, Pair]:
    """A point and the one that mirrors it, of the other kind of spectrum, twice as large.

    factor: exp(-2 pi i k / n), times -i; its conjugate leads back.
    """
    mirror = high.conjugate()
    even, odd = low + mirror, low - mirror
    turned = odd * (factor if form == "forward" else factor.conjugate())
    return even + turned, (even - turned).conjugate()
