"""Random chains in Gluon, run by threads of the host against the reference."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

from test_cuda_gluon import in_gluon, widen
from triton_host import INTERPRETED, check, node_of, plan_of

from treadle.base.dtypes import float32
from treadle.ops.elementwise import cast, exp, maximum, minimum, tanh, where
from treadle.ops.movement import slice_
from treadle.ops.reduce import sum_

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
SEEDS = range(48)
LINES = (np.float32, np.float32, np.float16, np.int32, np.bool_)
TOLERANCES = {np.float16: 5e-3, ml_dtypes.bfloat16: 2.5e-2}


class Maker:
    """One or two products of which tiles are made, and what these are fed to."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.kind = self.one_of([np.float16, np.float16, ml_dtypes.bfloat16])
        self.batch = self.one_of([(), (1,), (3,), (2, 2)])
        self.rows, self.columns = self.one_of([128, 192, 256]), self.one_of([192, 256, 320])

    def one_of(self, choices):
        return choices[self.rng.integers(len(choices))]

    def leaf(self, *shape, kind=np.float32):
        values = self.rng.standard_normal(shape) * 0.5
        return node_of((values > 0 if kind is np.bool_ else values * 2).astype(kind))

    def operand(self, count):
        """A matrix for each item, for all of some axis, of heads in a row, or a piece of one."""
        way, batch = self.rng.integers(4), self.batch
        if way == 0 and batch:
            return self.leaf(*batch[1:], count, 64, kind=self.kind)
        if way == 1 and len(batch) == 2:
            inside = self.leaf(batch[0], count, batch[1], 64, kind=self.kind)
            return inside.permute(0, 2, 1, 3)
        if way == 2:
            first = self.one_of([0, 8])
            whole = [*((0, n, 1) for n in batch), (first, first + count, 1), (64, 128, 1)]
            return slice_(self.leaf(*batch, count + 8, 128, kind=self.kind), whole)
        return self.leaf(*batch, count, 64, kind=self.kind)

    def line(self, count, along):
        """A number for each row or column of tiles, wherever it lies; of each item or of all."""
        shape, start = self.one_of([(), self.batch]), self.one_of([0, 0, 1, 4])
        step = self.one_of([1, 1, 2])
        x = self.leaf(*shape, start + count * step, kind=self.one_of(LINES))
        x = slice_(x, [*((0, n, 1) for n in shape), (start, start + count * step, step)])
        return cast(x.reshape(*shape, *((1, count) if along else (count, 1))), float32)

    def mask(self, tile):
        apart = tile.iota_like(-2) - tile.iota_like(-1)
        least = self.one_of([0, 0, 1, -3, 64, -64])
        ways = [apart >= least, apart <= least, (apart >= least) & (apart < least + 100)]
        return self.one_of(ways)

    def feed(self, one, other):
        """What becomes of tiles."""
        lines = [self.line(self.columns, True), self.line(self.rows, False), 1.0]
        x = self.one_of([tanh(one), exp(minimum(one, 1.0) - self.one_of(lines)), one])
        x = x * self.one_of([other, other - self.one_of(lines), maximum(other, 0.0)])
        return cast(x * self.one_of(lines), self.dtype)

    def roots(self):
        q, r, k, s = map(self.operand, [self.rows] * 2 + [self.columns] * 2)
        self.dtype = q.dtype
        tiles = [cast(x, float32) * 0.1 for x in (q @ k.mT, r @ s.mT)]
        feeds = [self.feed(*tiles), self.feed(*tiles)]
        masks = self.one_of([[None, None], [self.mask(tiles[0])] * 2, [self.mask(tiles[0]), None]])
        feeds = [f if m is None else where(m, f, 0.0) for f, m in zip(feeds, masks, strict=True)]
        first, second = self.one_of([feeds, feeds[:1] * 2])
        roots = self.one_of([[first.mT @ q, second.mT @ r], [first @ s, second @ k]])
        roots = self.one_of([roots, roots, roots[:1]])
        return [*roots, sum_(first, axis=-1)] if self.rng.integers(8) == 0 else roots


@interpreted
@pytest.mark.parametrize("seed", SEEDS)
def test_run_by_threads(seed, monkeypatch):
    widen(monkeypatch)
    maker = Maker(seed)
    check(maker.roots(), TOLERANCES[maker.kind])


@interpreted
def test_many_are_in_gluon(monkeypatch):
    """Of all these, many; and of those whose tiles are fed to two products, some."""
    widen(monkeypatch)
    texts = [[x.source.text for x in in_gluon(plan_of(Maker(seed).roots())[0])] for seed in SEEDS]
    alone = [any("warp_specialize" not in text for text in some) for some in texts]
    assert sum(map(bool, texts)) >= len(SEEDS) // 3
    assert sum(alone) >= len(SEEDS) // 6
