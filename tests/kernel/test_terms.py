"""Sums over numbers packed side by side: what their terms have in common is read once."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import treadle as td

ROWS = 600


def loops_of(function, *given):
    compiled = td.compile(function)
    found = compiled(*given).numpy()
    (traced,) = [t for known in compiled.entries.values() for t in known]
    return found, [built.loops for step in traced.program.steps for built in step.programs()]


def stacked(p, bits):
    parts = [p >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)]
    return td.stack(parts, -1).reshape(p.shape[0], -1)


def joined(p, bits):
    return td.concat([p >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)], 1)


def indexed(p, bits):
    places = td.arange(p.shape[1] * (8 // bits))
    shifts = td.cast(places % (8 // bits) * bits, "uint8")
    return p[:, places // (8 // bits)] >> shifts & (1 << bits) - 1


def unpacked(p, bits, unpack):
    parts = [p >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)]
    whole = np.concatenate(parts, 1) if unpack is joined else np.stack(parts, -1)
    return whole.reshape(len(p), -1).astype(np.float64)


@pytest.mark.parametrize("group", [0, 32], ids=["channel", "group"])
@pytest.mark.parametrize("bits", [4, 2, 1])
@pytest.mark.parametrize("unpack", [stacked, joined, indexed])
def test_a_row_times_packed_numbers_reads_each_byte_once(unpack, bits, group):
    rng = np.random.default_rng(bits)
    n, k = 72, 256
    packed = rng.integers(0, 256, (n, k * bits // 8)).astype(np.uint8)
    scale = rng.random((n, k // group if group else 1, 1)).astype(np.float32)
    x = rng.standard_normal((1, k)).astype(np.float32)

    def product(x, packed, scale):
        centred = td.cast(unpack(packed, bits), "float32") - 2.0**bits / 2
        return x @ (centred.reshape(n, scale.shape[1], -1) * scale).reshape(n, k).T

    found, (loops,) = loops_of(product, *map(td.tensor, (x, packed, scale)))
    whole = unpacked(packed, bits, unpack) - 2.0**bits / 2
    expected = x @ (whole.reshape(n, scale.shape[1], -1) * scale).reshape(n, k).T
    np.testing.assert_allclose(found, expected, 1e-4, 1e-4)
    loads = [ex for ex in loops.order() if ex.op == "load" and ex.dtype.name == "uint8"]
    assert len(loads) == 1
    assert loads[0].data[1].is_affine()
    assert not loads[0].data[2]


@pytest.mark.parametrize("seed", range(24))
def test_reductions_of_joined_and_stacked_parts_are_those_of_the_whole(seed):
    draw, rng = Random(seed), np.random.default_rng(seed)
    kind = draw.choice(["float32", "float64", "int32", "bfloat16", "bool"])
    count, width = draw.choice([1, 2, 3, 4, 8]), draw.choice([1, 7, 24, 40])
    arrays = [rng.integers(-2, 3, (ROWS, width)).astype(np.float32) for _ in range(count)]
    parts = [td.cast(td.tensor(x), kind) for x in arrays]
    name = draw.choice(["sum", "max", "min", "prod"] if kind != "bool" else ["sum", "max"])
    apart = draw.random() < 0.5
    turns = draw.random() < 0.5

    def total(*parts):
        whole = td.stack(parts, -1) if apart else td.concat(parts, 1)
        whole = whole.reshape(ROWS, -1)
        whole = whole[:, td.arange(2 * whole.shape[1]) // 2] if turns else whole
        return getattr(td, name)(whole, axis=1)

    whole = np.stack(arrays, -1) if apart else np.concatenate(arrays, 1)
    whole = np.repeat(whole.reshape(ROWS, -1), 2 if turns else 1, axis=1)
    whole = whole != 0 if kind == "bool" else whole.astype(np.int32 if kind == "int32" else float)
    found = td.compile(total)(*parts)
    expected = getattr(np, name)(whole, axis=1)
    np.testing.assert_allclose(td.cast(found, "float64").numpy(), expected, 4e-3)


@pytest.mark.parametrize("turned", [False, True])
def test_a_row_times_what_is_computed_goes_through_memory_as_it_lies(turned):
    rng = np.random.default_rng(0)
    w = rng.integers(-9, 9, (120, 96)).astype(np.int8)
    x = rng.standard_normal((1, 96 if turned else 120)).astype(np.float32)

    def product(x, w):
        return x @ (td.cast(w.T if turned else w, "float32") * 3.0 - 1.0)

    found, loops = loops_of(product, td.tensor(x), td.tensor(w))
    np.testing.assert_allclose(found, x @ ((w.T if turned else w) * 3.0 - 1.0), 1e-5, 1e-4)
    (position,) = [ex.data[1] for ex in loops[0].order() if ex.op == "load" and ex.dtype.size == 1]
    assert position.coefficient(loops[0].inner[-1]) == 1
    assert not loops[0].across


@pytest.mark.parametrize("rows", [2, 4])
@pytest.mark.parametrize("lies", ["as it is", "turned"])
def test_a_few_rows_times_what_is_computed_compute_it_once(rows, lies):
    rng = np.random.default_rng(rows)
    w = rng.integers(-9, 9, (640, 512)).astype(np.int8)
    x = rng.standard_normal((1, rows, 640 if lies == "as it is" else 512)).astype(np.float32)
    whole = w if lies == "as it is" else w.T

    def product(x, w):
        wide = td.cast(w, "float32") * 3.0 - 1.0
        return x @ (wide if lies == "as it is" else wide.T)

    found, loops = loops_of(product, td.tensor(x), td.tensor(w))
    np.testing.assert_allclose(found, x @ (whole * 3.0 - 1.0), 1e-4, 1e-3)
    reads = [[ex for ex in kernel.order() if ex.dtype.size == 1] for kernel in loops]
    assert sum(map(len, reads)) == 1
    sets = [s for kernel in loops for step in kernel.passes for s in step.stores if s.mode == "set"]
    assert all(s.position.bounds[1] < w.size - 1 for s in sets)  # none writes it out
