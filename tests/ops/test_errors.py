"""Wrong input is refused where it is written: the right class, the op's name, values, a hint."""

from __future__ import annotations

import errors_elementwise
import errors_layers
import errors_makers
import errors_shapes
import numpy as np
import pytest
from errors_operands import Thing, x

import treadle as td
from treadle.base.dtypes import bool_, float32, int64, uint32
from treadle.base.errors import (
    ArgumentError,
    AxisError,
    DtypeError,
    IndexingError,
    OperandError,
    ShapeError,
    TreadleError,
)  # fmt: skip
from treadle.ops.options import whole_options
from treadle.testing.samples import cases, public_rows, takes

MODULES = (errors_elementwise, errors_shapes, errors_layers, errors_makers)
CASES = [case for module in MODULES for case in module.CASES]
ROWS = {name: op for name, op in public_rows().items() if op.public}
ODD = ("abc", None, [1.0, 2.0], {}, Thing())
ANY_SHAPE = (  # the two need not fit each other
    "take", "embedding", "meshgrid", "kron", "isin", "solve", "solve_triangular",
)  # fmt: skip
ANY_DEVICE = ("meshgrid", "broadcast_arrays", "expand_as", "view_as")
"""Rows whose results stay where their operands are."""


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: f"{CASES[n][0]}-{n}")
def test_wrong_input_is_refused_with_a_name_and_a_hint(number):
    op, kind, words, call = CASES[number]
    with pytest.raises(TreadleError) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) in (kind, AxisError if kind is ShapeError else kind), message
    assert message.startswith(f"{op}: ")
    assert words in message


def test_there_are_enough_cases():
    assert len(CASES) >= 300


def test_nearly_every_message_shows_what_it_got():
    shown = 0
    for _, kind, _, call in CASES:
        with pytest.raises(kind) as caught:
            call()
        shown += "=" in str(caught.value) or "hint:" in str(caught.value)
    assert shown > 0.97 * len(CASES)


# ---- every row


def sample_of(op):
    """A call of a row, and tensors for it, none of them empty or 0-d."""
    kind = next(d for d in (float32, int64, uint32, bool_) if takes(op, d))
    drawn = list(cases(op, kind, np.random.default_rng(0)))
    whole = [case for case in drawn if all(array.size for array in case.operands)]
    found = next((case for case in whole if case.operands[0].ndim), whole[0])
    return found, [td.tensor(array) for array in found.operands]


def refused(op, call):
    """Is a call refused in the row's name, by Treadle or (of other arguments) by Python?"""
    with pytest.raises((TreadleError, TypeError)) as caught:
        call()
    message = str(caught.value)
    if isinstance(caught.value, TreadleError):
        assert message.startswith(f"{op.name}: ")
    else:
        assert type(caught.value) is TypeError
        assert message.startswith(f"{op.name}()")


def optional(op, k):
    """May operand k be left out?"""
    if op.define is None:
        return False
    defaults = len(op.define.__defaults__ or ())
    return op.operands and k >= op.define.__code__.co_argcount - defaults


@pytest.mark.parametrize("name", ROWS)
def test_row_refuses_what_is_no_tensor(name):
    case, operands = sample_of(ROWS[name])
    for k in range(len(operands)):
        for odd in ODD:
            if odd is not None or not optional(ROWS[name], k):
                wrong = [odd if n == k else operand for n, operand in enumerate(operands)]
                refused(ROWS[name], lambda wrong=wrong: case.record(wrong))


@pytest.mark.parametrize("name", ROWS)
def test_row_refuses_an_option_it_does_not_have(name):
    case, operands = sample_of(ROWS[name])
    case.options = case.options | {"colour": "red"}
    refused(ROWS[name], lambda: case.record(operands))


def whole_numbers(op):
    """Options of a row that are integers; axes are looked at where the rank is known."""
    return [name for _, name in whole_options(op.define)] if op.define else []


@pytest.mark.parametrize("name", [name for name, op in ROWS.items() if whole_numbers(op)])
def test_row_refuses_options_that_are_no_integers(name):
    for option in whole_numbers(ROWS[name]):
        for odd in (1.5, "a", float("nan"), [1.5], x):
            case, operands = sample_of(ROWS[name])
            case.options = case.options | {option: odd}
            refused(ROWS[name], lambda case=case, operands=operands: case.record(operands))


SEVERAL = [name for name, op in ROWS.items() if len(sample_of(op)[1]) > 1]
PAIRS = [name for name in SEVERAL if len(sample_of(ROWS[name])[1]) == 2]


@pytest.mark.parametrize("name", [name for name in SEVERAL if name not in ANY_DEVICE])
def test_row_refuses_operands_on_two_devices(name):
    case, operands = sample_of(ROWS[name])
    operands[-1] = td.tensor(case.operands[-1], device="reference")
    refused(ROWS[name], lambda: case.record(operands))


@pytest.mark.parametrize("name", [name for name in PAIRS if name not in ANY_SHAPE])
def test_row_refuses_shapes_that_do_not_fit(name):
    case, operands = sample_of(ROWS[name])
    if operands[0].shape[-1] in (1, 7):
        operands[0] = td.ones(3, 4, dtype=operands[0].dtype)
    operands[-1] = td.ones(11, 13, 2, 3, 7, dtype=operands[-1].dtype)
    refused(ROWS[name], lambda: case.record(operands))


# ---- how it is said


def test_messages_start_with_the_op_and_show_the_facts():
    with pytest.raises(ShapeError, match=r"^add: cannot broadcast axis -1 \(shapes=\(3, 4\) and"):
        x + td.ones(3)


def test_what_an_op_is_made_of_is_named_after_it():
    with pytest.raises(ShapeError, match=r"^linear: in matmul: shapes do not fit"):
        td.linear(x, td.ones(5, 3))
    with pytest.raises(OperandError, match=r"^masked_fill: in where: not a tensor"):
        td.masked_fill(x, "mask", 0.0)


def test_an_argument_nobody_thought_of_is_still_named():
    with pytest.raises(ArgumentError, match=r"^slice: .*ranges=\[\(0, 1, 1\)\]") as caught:
        td.slice(x, [(0, 1, 1)])
    assert "hint: it takes x, ranges" in str(caught.value)


def test_a_refused_call_leaves_nothing_behind():
    for _ in range(2):
        with pytest.raises(ShapeError):
            x + td.ones(3)
    assert (x + 1.0).shape == (3, 4)


def test_errors_are_also_the_builtin_kind():
    pairs = ((ShapeError, ValueError), (DtypeError, TypeError), (IndexingError, IndexError))
    assert all(issubclass(own, builtin) and issubclass(own, TreadleError) for own, builtin in pairs)


@pytest.mark.parametrize("call", [lambda: td.add(x, x, x), lambda: td.add(x), lambda: td.exp()])
def test_another_number_of_arguments_is_what_python_says_it_is(call):
    with pytest.raises(TypeError, match=r"(add|exp)\(\)"):
        call()
