"""Every primitive's Triton row: the same table as the CPU's, the meaning of the reference."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")

from triton_host import INTERPRETED, check, node_of, plan_of, run_interpreted

from treadle.backends.cpu.ops import PRIMITIVES as CPU_ROWS
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.ops import PRIMITIVES
from treadle.backends.reference.eval import evaluate
from treadle.base.dtypes import dtype, float32
from treadle.base.errors import DtypeError
from treadle.ops.defs import TABLE, Kind
from treadle.ops.elementwise import bitcast, cast, maximum, minimum, threefry, where
from treadle.ops.scan import cumsum

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
SPECIAL = ("bitcast", "cast", "where", "threefry")
TOLERANCE = {"float32": 2e-6, "int32": 2e-6, "float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-13}


def samples(op, kind, count):
    rng = np.random.default_rng(len(op.name))
    low, high = op.samples.low, op.samples.high
    low = max(low, 0.0) if kind[0] == "u" else low
    arrays = [rng.uniform(low, high, (13, 37)) for _ in range(count)]
    return [node_of(x.astype(kind)) for x in arrays]


def test_both_tables_have_the_same_rows():
    primitives = {name for name in CPU_ROWS if TABLE[name].kind is Kind.ELEMENTWISE}
    assert set(PRIMITIVES) == primitives


def applied(name, kind):
    op = TABLE[name]
    try:
        return op(*samples(op, kind, op.reference.__code__.co_argcount - 1))
    except DtypeError:
        pytest.skip(f"{name} does not take {kind}")


@pytest.mark.parametrize("kind", ["float32", "int32", "uint8", "float16", "float64"])
@pytest.mark.parametrize("name", [name for name in PRIMITIVES if name not in SPECIAL])
def test_row(name, kind):
    root = applied(name, kind)
    if INTERPRETED:
        check([root], TOLERANCE.get(kind, 2e-6))
    else:
        (launch,) = plan_of([root])[0].launches
        assert code_of(launch.source, 90).cubin


@interpreted
@pytest.mark.parametrize("name", ["add", "mul", "maximum", "minimum", "eq", "lt", "ge",
                                  "bitwise_xor"])  # fmt: skip
def test_row_on_bool(name):
    rng = np.random.default_rng(1)
    check([TABLE[name](*(node_of(rng.random((5, 9)) < 0.5) for _ in range(2)))])


@interpreted
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
@pytest.mark.parametrize("kind", ["int32", "int64", "uint32", "float32"])
def test_division_rounds_down(name, kind):
    x = np.array([7, -7, 7, -7, 0, 5, 6, -6, 2**31 - 1], np.int64)
    y = np.array([2, 2, -2, -2, 3, 5, -3, 3, -1], np.int64)
    if kind[0] == "u":
        x, y = abs(x), abs(y)
    check([TABLE[name](node_of(x.astype(kind)), node_of(y.astype(kind)))])


@interpreted
def test_integer_division_by_zero_gives_zero():
    x, y = node_of(np.array([3, -3, 0], np.int32)), node_of(np.zeros(3, np.int32))
    check([x // y, x % y])


@interpreted
def test_nan_wins_every_comparison():
    odd = np.array([[1.0, np.nan, -np.inf, np.inf], [0.0, 1.0, 2.0, 3.0]], np.float32)
    x, y = node_of(odd), node_of(odd[::-1].copy())
    check([maximum(x, y), minimum(x, y), x.max(1), x.min(1), x.max(0), x.max()])


@interpreted
def test_functions_at_their_edges():
    odd = node_of(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 88.0, -110.0], np.float32))
    check([TABLE[name](odd) for name in ("exp", "tanh", "sigmoid", "sqrt", "erf", "floor")])
    check([TABLE["log"](odd)])


@interpreted
@pytest.mark.parametrize("scale", [1e-3, 0.3, 8.0])
def test_brief_functions_are_as_exact_as_what_is_stored(scale):
    x = np.random.default_rng(3).uniform(-scale, scale, 999).astype(np.float16)
    x[:3] = np.nan, np.inf, -np.inf
    names = ("tanh", "exp", "sigmoid")
    check([TABLE[name](node_of(x)) for name in names], 1e-3)
    x[:3] = 0, scale, -scale
    wide = cast(node_of(x), float32)
    check([TABLE[name](wide) for name in names], 1e-5)
    exact = wide + node_of(np.ones(x.shape, np.float32))
    texts = [plan_of([TABLE["exp"](y)])[0].launches[0].source.text for y in (wide, exact)]
    assert ["exp_brief" in text for text in texts] == [True, False]


@interpreted
@pytest.mark.parametrize("scale", [1e-4, 0.3, 3.0])
def test_functions_stay_accurate_near_zero(scale):
    x = np.random.default_rng(3).uniform(-scale, scale, 999).astype(np.float32)
    check([TABLE["tanh"](node_of(x)), TABLE["erf"](node_of(x)), TABLE["sin"](node_of(x))])
    check([TABLE["log"](node_of(1.0 + abs(x)))])


@interpreted
@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e-4, 0.3, 3.0, 900.0])
def test_what_is_computed_in_float64_is_accurate(scale):
    x = np.random.default_rng(3).uniform(-scale, scale, 999)
    check([TABLE["tanh"](node_of(x)), TABLE["expm1"](node_of(-abs(x)))], 1e-14)


def assert_signs(roots):
    """Zeros of results are the reference's, signs too."""
    plan, leaves = plan_of(roots)
    found = run_interpreted(plan, [x.buffer.copy() for x in leaves])
    expected = evaluate(roots, lambda node: node.buffer)
    for got, want, root in zip(found, expected, roots, strict=True):
        np.testing.assert_array_equal(got, want, str(root))
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want), str(root))


@interpreted
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_zeros_keep_their_sign(kind):
    some = np.array([0.0, -0.0, 0.3, -0.3, 1.0, -1.0, 6.0, -6.0, 0.5, -0.5], kind)
    x, one = node_of(some), node_of(np.ones(len(some), kind))
    assert_signs([TABLE[name](x) for name in ("neg", "round", "ceil", "trunc", "floor")])
    assert_signs([where(x > 0.0, x, -0.0), where(x > 0.0, -0.0, x), one / -x])
    left, right = (node_of(y) for y in np.meshgrid(some, some[2:]))
    assert_signs([TABLE[name](left, right) for name in ("floor_divide", "remainder")])
    assert_signs([TABLE["float_power"](x, one), cumsum(node_of(np.full((3, 5), -0.0, kind)), 1)])


@interpreted
def test_pow_of_negative_and_zero():
    values = [-np.inf, -8.0, -2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 5.0, np.inf, np.nan]
    powers = [-np.inf, -3.0, -2.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, np.inf, np.nan]
    x, y = np.meshgrid(np.array(values, np.float32), np.array(powers, np.float32))
    check([TABLE["float_power"](node_of(x), node_of(y))])


@interpreted
@pytest.mark.parametrize("target", ["bool", "int8", "uint8", "int32", "uint32", "int64", "float16",
                                    "bfloat16", "float32", "float64"])  # fmt: skip
def test_cast(target):
    values = [0.0, -0.0, 1.5, -1.5, 300.7, -300.7, 3e9, -3e9, 1e19, -1e19]
    floats = np.array([*values, np.inf, -np.inf, np.nan], np.float32)
    tolerance = {"float16": 1e-3, "bfloat16": 1e-2}.get(target, 0.0)
    for source in (floats if target != "float16" else floats[:6], np.arange(-5, 90, dtype=np.int32),
                   np.array([True, False]), np.arange(0, 250, dtype=np.uint8)):  # fmt: skip
        check([cast(node_of(source), dtype(target))], tolerance)


@pytest.mark.parametrize(("source", "target"), [("float32", "int32"), ("int16", "float16"),
                                                ("float64", "uint64"), ("bfloat16", "uint16"),
                                                ("uint8", "int8")])  # fmt: skip
def test_bitcast(source, target):
    x = cast(node_of(np.array([0.0, 1.0, 2.5, 100.0, 7.0], np.float32)), dtype(source))
    if INTERPRETED:
        check([bitcast(x, target)], 0.0)
    else:
        (launch,) = plan_of([bitcast(x, target)])[0].launches
        assert code_of(launch.source, 90).cubin


@interpreted
def test_new_functions_at_their_edges():
    odd = np.array(
        [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 1e-9, 88.0, -99.0]
    )
    x = node_of(odd.astype(np.float32))
    rows = ("expm1", "log1p", "log10", "log2", "exp2", "atan", "ceil", "round", "trunc")
    check([TABLE[name](x) for name in rows])


@interpreted
@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64"])
def test_shifts_by_too_much(kind):
    x = node_of(np.array([5, 5, 1, 127, 90], kind))
    y = node_of(np.array([0, 1, 8, 64, 100], kind))
    check([TABLE["shift_left"](x, y), TABLE["shift_right"](x, y), TABLE["shift_right"](~x, y)])


@interpreted
def test_random_bits_are_the_references():
    rng = np.random.default_rng(5)
    words = [node_of(rng.integers(0, 1 << 32, 300, dtype=np.uint32)) for _ in range(4)]
    check([threefry(*words)], 0.0)


@interpreted
def test_where_keeps_what_is_not_chosen_out():
    x = node_of(np.array([1.0, np.nan, 3.0], np.float32))
    check([where(x > 0.0, x, 0.0)])
