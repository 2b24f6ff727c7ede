"""The promotion lattice: which dtype two dtypes meet in."""

from __future__ import annotations

import itertools
import pickle

import pytest

import treadle as td
from treadle.base.dtypes import ALL, FLOATS, INTEGERS, dtype, promote, to_float, weak
from treadle.base.errors import DtypeError

TABLE = {
    ("bool", "uint8"): "uint8",
    ("bool", "float16"): "float16",
    ("uint8", "int8"): "int16",
    ("uint8", "int16"): "int16",
    ("uint16", "int16"): "int32",
    ("uint32", "int32"): "int64",
    ("uint32", "int8"): "int64",
    ("uint64", "int64"): "float32",
    ("int64", "float16"): "float16",
    ("int32", "bfloat16"): "bfloat16",
    ("float16", "bfloat16"): "float32",
    ("float16", "float32"): "float32",
    ("float32", "float64"): "float64",
    ("int64", "float32"): "float32",
}


@pytest.mark.parametrize(("pair", "expected"), TABLE.items(), ids=str)
def test_known_pairs_meet_where_the_table_says(pair, expected):
    assert promote(*map(dtype, pair)) is dtype(expected)


def test_promotion_does_not_depend_on_the_order():
    for a, b in itertools.combinations(ALL, 2):
        assert promote(a, b) is promote(b, a)


def test_promotion_with_itself_changes_nothing():
    assert all(promote(d, d) is d for d in ALL)


def test_promotion_is_associative_among_floats_and_where_integers_fit():
    plain = [d for d in ALL if d.name != "uint64"]  # it has no integer above it with a sign
    for group in (FLOATS, [d for d in plain if d.is_integer or d.kind == "bool"]):
        for a, b, c in itertools.product(group, repeat=3):
            assert promote(promote(a, b), c) is promote(a, promote(b, c)), (a, b, c)


def test_promotion_never_narrows():
    for a, b in itertools.product(ALL, repeat=2):
        met = promote(a, b)
        for d in (a, b):
            if d.is_float:
                assert met.is_float
                assert met.bits >= d.bits
            elif d.is_integer and met.is_integer:
                assert met.bits >= d.bits
                assert met.least <= d.least
                assert met.greatest >= d.greatest


@pytest.mark.parametrize("d", ALL, ids=lambda d: d.name)
def test_tensors_promote_as_dtypes_do(d):
    for other in ALL:
        x, y = td.ones(2, dtype=d), td.ones(2, dtype=other)
        assert (x + y).dtype is promote(d, other)
        assert (x + y).numpy().astype(float).tolist() in ([2.0, 2.0], [1.0, 1.0])


def test_numbers_take_the_dtype_beside_them():
    assert weak(1, dtype("uint8")).name == "uint8"
    assert weak(1.5, dtype("bfloat16")).name == "bfloat16"
    assert weak(1.5, dtype("int32")).name == "float32"
    assert weak(True, dtype("int8")).name == "int8"
    assert weak(1, dtype("bool")).name == "int64"


def test_divisions_and_exponentials_are_floats():
    for d in INTEGERS:
        assert to_float(d) is td.float32
        assert td.exp(td.ones(1, dtype=d)).dtype is td.float32
        assert (td.ones(1, dtype=d) / td.ones(1, dtype=d)).dtype is td.float32


def test_sums_of_small_integers_do_not_overflow():
    assert td.full((300,), 200, dtype="uint8").sum().item() == 60_000
    assert td.ones(300, dtype="bool").sum().item() == 300
    assert td.ones(2, dtype="float16").sum().dtype is td.float16


@pytest.mark.parametrize("spec", ["float32", "f32", float, td.float32])
def test_a_dtype_has_many_names(spec):
    assert dtype(spec) is td.float32


def test_dtypes_are_one_object_each_even_pickled():
    assert all(pickle.loads(pickle.dumps(d)) is d for d in ALL)


@pytest.mark.parametrize("spec", ["float", "int33", None, 7, complex])
def test_unknown_dtypes_are_refused(spec):
    with pytest.raises(DtypeError, match="one of bool, uint8"):
        dtype(spec)
