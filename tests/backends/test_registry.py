"""Dispatch: what a device has no code for is refused at the call, with what there is."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest

import treadle as td
from treadle.backends import registry
from treadle.backends.registry import BACKENDS, Support, support_of, supports
from treadle.base.device import device
from treadle.base.dtypes import ALL, COMPLEX, DType, dtype, float32, float64, uint32
from treadle.base.errors import DeviceError, DtypeError, NotSupported
from treadle.ir.node import apply, placeholder, type_of
from treadle.ops import elementwise as e
from treadle.ops.defs import TABLE, Kind
from treadle.testing.samples import cases, first_call, public_rows
from treadle.testing.taken import support_table

CUDA = device("cuda")
EVERY = (*ALL, *COMPLEX)


def leaf(*shape, kind="float32", where="cpu"):
    return placeholder(type_of(shape, dtype(kind), device(where)))


@pytest.fixture(scope="module")
def table():
    return support_table()


@pytest.fixture
def poor_gpu(monkeypatch):
    """A cuda backend with two dtypes and two elementwise ops, which no call has been checked on."""
    little = Support((float32, uint32), {Kind.ELEMENTWISE: ("add", "cast")})
    known = {name: support_of(name) for name in BACKENDS} | {"cuda": little}
    monkeypatch.setattr(registry, "support_of", known.__getitem__)
    return device("cuda:7")


def recorded_on(where, op, kind):
    """A row's first sample as a graph of a device, which need not be there."""
    case = next(cases(op, kind, np.random.default_rng(0)))
    types = [type_of(x.shape, dtype(x.dtype), where) for x in case.operands]
    return case.record([placeholder(type_) for type_ in types])


def refusal(op, kind):
    """What a row says to a dtype that it does not take, else nothing."""
    try:
        first_call(op, kind)
    except DtypeError as refused:
        return str(refused)
    return ""


# ---- the check at the call


def test_a_missing_op_is_refused_at_the_call_and_says_where_it_is(poor_gpu):
    x = leaf(3, where=poor_gpu)
    assert (x + x).device is poor_gpu
    with pytest.raises(NotSupported) as caught:
        e.exp(x)
    message = str(caught.value)
    assert message.startswith("exp: not there on cuda")
    assert "dtypes=float32, float32" in message
    assert "device=cuda:7" in message
    assert "it is there on cpu and reference: x.to('cpu')" in message


def test_a_missing_dtype_is_refused_at_the_call_and_says_which_there_are(poor_gpu):
    x = leaf(3, kind="float64", where=poor_gpu)
    with pytest.raises(NotSupported) as caught:
        x + x
    message = str(caught.value)
    assert message.startswith("add: cuda has no float64")
    assert "cuda has float32, uint32" in message
    with pytest.raises(NotSupported, match="cast: cuda has no int8"):
        e.cast(leaf(3, where=poor_gpu), "int8")


def test_a_composite_is_refused_for_what_it_is_made_of(poor_gpu):
    with pytest.raises(NotSupported, match="not there on cuda"):
        td.softmax(leaf(3, 4, where=poor_gpu))


def test_what_was_refused_is_refused_again(poor_gpu):
    x = leaf(3, where=poor_gpu)
    for _ in range(2):
        with pytest.raises(NotSupported):
            e.log(x)


def test_checks_happen_once_per_op_and_types(monkeypatch):
    asked = []
    node = sys.modules["treadle.ir.node"]
    monkeypatch.setattr(node, "CHECKS", [lambda *question: asked.append(question)])
    x = leaf(3, 1, 4, 1, 5, 9)
    for _ in range(3):
        apply(e.add, (x, x))
    assert asked == [(e.add, (float32, float32, float32), x.device)]


# ---- operands on different devices


def test_operands_on_different_devices_name_the_move():
    x, y = td.ones(3), td.ones(3, device="reference")
    with pytest.raises(DeviceError) as caught:
        x + y
    assert str(caught.value).startswith("add: operands on different devices")
    assert "cpu and reference" in str(caught.value)
    assert "x.to('cpu')" in str(caught.value)
    assert (x + y.to("cpu")).tolist() == [2.0, 2.0, 2.0]


# ---- the dtype rules of the rows


@pytest.mark.parametrize("name", [name for name in public_rows() if name != "threefry"])
def test_rules_refuse_at_the_call_and_list_what_they_take(name):
    for kind in ALL:  # complex ones are told what to take instead
        message = refusal(TABLE[name], kind)
        if message:
            named = message.split("supported: ")[-1].split(", ")
            assert set(named) <= {d.name for d in EVERY}, message
            assert kind.name not in named, message


# ---- the table


def test_the_cpu_has_every_row_that_the_reference_has(table):
    lacking = {
        (name, d.name)
        for name, row in table.items()
        for d in row["reference"]
        if d not in row["cpu"]
    }
    assert not lacking


def test_gpus_have_every_row_that_the_cpu_has(table):
    lacking = {
        (name, d.name) for name, row in table.items() for d in row["cpu"] if d not in row["cuda"]
    }
    assert not lacking


def test_the_table_lists_every_row_with_dtypes_of_the_rules(table):
    assert table.keys() == public_rows().keys()
    assert all(row["reference"] for row in table.values())
    assert table["add"]["cuda"] == list(EVERY)
    assert table["threefry"]["cpu"] == [uint32]
    assert all(d.is_integer for d in table["shift_left"]["cpu"])
    assert all(set(row) == set(BACKENDS) for row in table.values())


def test_the_table_says_what_recording_does(table):
    """On the device itself: the table walks definitions, this asks the check at the call."""
    for name, d in itertools.product(("softmax", "cumsum", "matmul", "fft", "svdvals"), EVERY):
        if name not in table:
            continue
        try:
            recorded_on(CUDA, TABLE[name], d)
        except (NotSupported, DtypeError):
            assert d not in table[name]["cuda"], (name, d)
        else:
            assert d in table[name]["cuda"], (name, d)


def test_supports_takes_names():
    assert supports("add", "float8_e5m2", "cuda:1")
    assert supports(e.add, float64)
    assert supports("detach", float32, "cuda")
    assert supports("cholesky_factor", "complex64", "cuda")
    assert supports("dft", float32, "cuda")
    assert isinstance(next(iter(support_of("cpu").dtypes)), DType)


def test_asking_loads_no_compiler():
    program = (
        "import sys, treadle; from treadle.backends.registry import supports, BACKENDS\n"
        "print([supports('exp', 'float32', b) for b in BACKENDS])\n"
        "print([m for m in ('llvmlite', 'triton', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[True, True, True]", "[]"]
