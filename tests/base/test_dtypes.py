"""Dtypes by themselves: names, equality, the lattice they promote on, limits and kinds."""

from __future__ import annotations

import copy
import itertools
import pickle

import ml_dtypes
import numpy as np
import pytest

from treadle.base.dtypes import (
    ALL,
    FLOATS,
    INTEGERS,
    STORAGE,
    dtype,
    float32,
    promote,
    to_float,
    weak,
)  # fmt: skip
from treadle.base.errors import ArgumentError, DtypeError
from treadle.base.limits import KINDS, can_cast, finfo, iinfo, isdtype, result_type

NARROW = ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16")
ABOVE = {
    "bool": ("uint8", "int8"),
    "uint8": ("uint16", "int16"), "int8": ("int16",),
    "uint16": ("uint32", "int32"), "int16": ("int32",),
    "uint32": ("uint64", "int64"), "int32": ("int64",),
    "uint64": NARROW, "int64": NARROW,
    **dict.fromkeys(NARROW, ("float32",)),
    "float32": ("float64",), "float64": (),
}  # fmt: skip
"""The lattice drawn by hand: what stands directly above each dtype."""


def reached(name):
    """A dtype and all above it."""
    return {name}.union(*(reached(upper) for upper in ABOVE[name]))


def least_above(a, b):
    """The dtypes above both that are above no other such dtype."""
    shared = reached(a) & reached(b)
    return {x for x in shared if not any(x in reached(y) for y in shared - {x})}


def numpy_type(d):
    return np.dtype(getattr(ml_dtypes, d.name, d.name))


every_dtype = pytest.mark.parametrize("d", ALL, ids=lambda d: d.name)


# ---- the lattice


def test_the_lattice_has_every_dtype():
    assert set(ABOVE) == {d.name for d in ALL}


@every_dtype
def test_two_dtypes_meet_in_the_least_one_above_both(d):
    for other in ALL:
        found = least_above(d.name, other.name)
        expected = found.pop() if len(found) == 1 else "float32"  # no integer above uint64 and int
        assert promote(d, other).name == expected, other


def test_only_uint64_with_signed_integers_has_no_least_dtype_above():
    without = {
        frozenset((a.name, b.name))
        for a, b in itertools.combinations(ALL, 2)
        if len(least_above(a.name, b.name)) > 1
    }
    assert without == {frozenset(("uint64", f"int{bits}")) for bits in (8, 16, 32, 64)}


def test_promotion_is_commutative_and_idempotent():
    for a, b in itertools.product(ALL, repeat=2):
        assert promote(a, b) is promote(b, a)
    assert all(promote(d, d) is d for d in ALL)


def test_promotion_is_associative_wherever_the_lattice_is_one():
    for triple in itertools.product(ALL, repeat=3):
        if any(d.name == "uint64" for d in triple) and any(d.kind == "int" for d in triple):
            continue
        a, b, c = triple
        assert promote(promote(a, b), c) is promote(a, promote(b, c)), triple


def test_different_floats_of_8_and_16_bits_meet_in_float32():
    assert all(promote(a, b) is float32 for a, b in itertools.combinations(STORAGE, 2))
    assert {d.name for d in STORAGE} == set(NARROW)
    assert all(d.compute is float32 for d in STORAGE)


# ---- Python numbers


@every_dtype
def test_python_numbers_are_weak(d):
    assert weak(True, d) is d
    assert weak(1, d) is (dtype("int64") if d.kind == "bool" else d)
    assert weak(0.5, d) is (d if d.is_float else float32)
    assert result_type(d, 0.5) is result_type(0.5, d) is weak(0.5, d)
    assert result_type(1, d, True) is weak(1, d)


def test_numbers_alone_take_the_defaults():
    assert result_type(True).name == "bool"
    assert result_type(True, 3).name == "int64"
    assert result_type(3, 0.5, False).name == "float32"


def test_result_type_takes_what_has_or_names_a_dtype():
    assert result_type(np.zeros(2, np.int8), "uint8").name == "int16"
    assert result_type(np.float32, np.dtype("float64")).name == "float64"
    assert result_type(np.int8(3), 7).name == "int8"
    with pytest.raises(ArgumentError, match="needs a tensor"):
        result_type()
    with pytest.raises(DtypeError, match="one of bool, uint8"):
        result_type("int8", "complex32")


def test_the_order_of_arguments_does_not_matter():
    for parts in itertools.permutations(("int8", "uint8", 2.5, 1)):
        assert result_type(*parts).name == "float32"


def test_divisions_of_integers_are_float32():
    assert all(to_float(d) is float32 for d in (dtype("bool"), *INTEGERS))
    assert all(to_float(d) is d for d in FLOATS)


# ---- what a dtype is called


@every_dtype
def test_a_dtype_is_one_object_with_many_names(d):
    for name in (d.name, d.short, numpy_type(d), numpy_type(d).type, d):
        assert dtype(name) is d
    assert repr(d) == f"treadle.{d.name}"
    for copied in (pickle.loads(pickle.dumps(d)), copy.copy(d), copy.deepcopy(d)):
        assert copied is d


@every_dtype
def test_a_dtype_equals_its_names_and_nothing_else(d):
    for name in (d, d.name, numpy_type(d), numpy_type(d).type):
        assert d == name
        assert name == d
        assert not d.__ne__(name)
    others = [other for other in ALL if other is not d]
    for other in others:
        assert d != other
        assert d != other.name
        assert other.name != d
        assert d != numpy_type(other)
    for odd in (None, 0, 1.5, "", "float33", [], object(), np.zeros(3)):
        assert d != odd


def test_python_types_equal_the_defaults_they_stand_for():
    defaults = {float: "float32", int: "int64", bool: "bool"}
    for kind, name in defaults.items():
        assert [d.name for d in ALL if d == kind] == [name]


def test_dtypes_are_keys():
    table = {d: d.name for d in ALL}
    assert len(table) == len(ALL) == 15
    assert all(table[dtype(name)] == name for name in ABOVE)


@pytest.mark.parametrize("spec", ["float", "int33", None, 7, bytes, "complex32", np.clongdouble])
def test_unknown_dtypes_are_refused(spec):
    with pytest.raises(DtypeError, match="one of bool, uint8"):
        dtype(spec)


# ---- limits


@pytest.mark.parametrize("d", FLOATS, ids=lambda d: d.name)
def test_finfo_says_what_numpy_and_ml_dtypes_say(d):
    ours, theirs = finfo(d), ml_dtypes.finfo(numpy_type(d))
    assert ours.bits == theirs.bits
    for name in ("eps", "max", "min", "smallest_normal"):
        assert getattr(ours, name) == float(getattr(theirs, name)), name
        assert type(getattr(ours, name)) is float
    assert ours.dtype is d
    assert finfo(np.zeros(1, numpy_type(d))) == ours


@pytest.mark.parametrize("d", INTEGERS, ids=lambda d: d.name)
def test_iinfo_says_what_numpy_says(d):
    ours, theirs = iinfo(d), np.iinfo(numpy_type(d))
    assert (ours.bits, ours.max, ours.min) == (theirs.bits, theirs.max, theirs.min)
    assert ours.dtype is d
    assert (d.least, d.greatest) == (ours.min, ours.max)


def test_limits_of_the_other_kind_are_refused():
    for d in ALL:
        if not d.is_float:
            with pytest.raises(DtypeError, match="finfo: not a float"):
                finfo(d)
        if not d.is_integer:
            with pytest.raises(DtypeError, match="iinfo: not an integer"):
                iinfo(d)


def test_only_one_float_has_no_infinity():
    assert [d.name for d in FLOATS if not d.has_infinity] == ["float8_e4m3fn"]
    assert (dtype("float8_e4m3fn").least, dtype("float8_e4m3fn").greatest) == (-448.0, 448.0)
    assert dtype("float8_e5m2").greatest == float("inf")


@pytest.mark.parametrize("d", FLOATS, ids=lambda d: d.name)
def test_nearest_is_what_a_cast_gives(d):
    rng = np.random.default_rng(5)
    patterns = rng.integers(0, 1 << 64, 4000, dtype=np.uint64).view(np.float64)
    near_limits = d.largest / 2 * (1 + rng.integers(-4, 5, 400) * 2.0 ** -(d.mantissa + 2))
    tiny = 2.0 ** (1 - d.bias - d.mantissa) * rng.integers(-20, 21, 400) / 4
    halves = rng.integers(1 << 10, 1 << 14, 400) / 256
    finite = [*patterns, *(float(x) * 2 for x in near_limits), *tiny, *halves]
    for value in [0.0, -0.0, np.inf, -np.inf, *finite]:
        if np.isnan(value):
            continue
        with np.errstate(all="ignore"):
            expected = float(np.float64(value).astype(numpy_type(d)))
        ours = d.nearest(float(value))
        np.testing.assert_array_equal(ours, expected, err_msg=repr(value))
        assert np.isnan(ours) or np.signbit(ours) == np.signbit(expected), value


# ---- conversions and kinds


def test_can_cast_follows_the_lattice():
    for a, b in itertools.product(ALL, repeat=2):
        assert can_cast(a, b) is (b.name in reached(a.name)), (a, b)
    assert can_cast(np.zeros(1, np.int8), "int16")
    with pytest.raises(DtypeError):
        can_cast("int8", "int9")


@every_dtype
def test_isdtype_knows_the_kinds_of_the_standard(d):
    expected = {
        "bool": d.name == "bool",
        "signed integer": d.name.startswith("int"),
        "unsigned integer": d.name.startswith("uint"),
        "integral": "int" in d.name,
        "real floating": "float" in d.name,
        "complex floating": False,
        "numeric": d.name != "bool",
    }
    assert expected.keys() == KINDS.keys()
    for kind, answer in expected.items():
        assert isdtype(d, kind) is answer, kind
    assert isdtype(d, d)
    assert isdtype(d, ("complex floating", d))
    assert not isdtype(d, ())
    assert not isdtype(d, tuple(other for other in ALL if other is not d))


def test_isdtype_refuses_unknown_kinds():
    for kind in ("integer", ("bool", "integer"), "float32"):
        with pytest.raises(ArgumentError, match="unknown kind"):
            isdtype(float32, kind)
