"""Wrong input is refused where it is written: the right class, the op's name, a hint."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import (
    ArgumentError,
    DeviceError,
    DtypeError,
    GradientError,
    IndexingError,
    OperandError,
    ShapeError,
    TreadleError,
)  # fmt: skip
from treadle.ops.defs import TABLE

x = td.tensor(np.arange(12.0, dtype=np.float32).reshape(3, 4))
v = td.tensor(np.arange(4.0, dtype=np.float32))
i = td.tensor(np.arange(4))
b = td.tensor(np.array([True, False, True, True]))
far = td.tensor([1.0, 2.0, 3.0, 4.0], device="reference")


# fmt: off
CASES = {
    # ---- shapes
    "add-shapes": (lambda: x + td.ones(3), ShapeError, "add", "equal or 1"),
    "mul-shapes": (lambda: td.ones(2, 3) * td.ones(3, 2), ShapeError, "mul", "equal or 1"),
    "where-shapes": (lambda: td.where(b, x, td.ones(5)), ShapeError, "where", "equal or 1"),
    "maximum-shapes": (lambda: td.maximum(x, td.ones(7)), ShapeError, "maximum", "equal or 1"),
    "matmul-inner": (lambda: x @ x, ShapeError, "matmul", "last but one"),
    "matmul-batch": (lambda: td.ones(2, 3, 4) @ td.ones(5, 4, 1),
        ShapeError, "matmul", "equal or 1"),
    "matmul-scalar": (lambda: td.tensor(1.0) @ v, ShapeError, "matmul", "use *"),
    "matmul-vector": (lambda: td.ones(3) @ v, ShapeError, "matmul", "last"),
    "linear-inner": (lambda: td.linear(x, td.ones(5, 3)), ShapeError, "matmul", "last"),
    "reshape-count": (lambda: x.reshape(5, 2), ShapeError, "reshape", "12 elements before, 10"),
    "reshape-unknown": (lambda: x.reshape(5, -1), ShapeError, "reshape", ""),
    "reshape-two-unknown": (lambda: x.reshape(-1, -1), ShapeError, "reshape", ""),
    "reshape-negative": (lambda: x.reshape(-2, 6), ShapeError, "reshape", ""),
    "expand-size": (lambda: x.expand(3, 5), ShapeError, "expand", "equal or 1"),
    "expand-rank": (lambda: x.expand(4), ShapeError, "expand", "equal or 1"),
    "permute-twice": (lambda: x.permute(0, 0), ShapeError, "permute", "once"),
    "permute-missing": (lambda: x.permute(0), ShapeError, "permute", "once"),
    "permute-range": (lambda: x.permute(0, 2), ShapeError, "permute", "axes run"),
    "transpose-range": (lambda: x.transpose(0, 5), ShapeError, "transpose", "axes run"),
    "T-rank": (lambda: td.ones(2, 3, 4).T, ShapeError, "T", "mT"),
    "concat-sizes": (lambda: td.concat([x, td.ones(3, 5)]), ShapeError, "concat", "must be equal"),
    "concat-ranks": (lambda: td.concat([x, v]), ShapeError, "concat", "must be equal"),
    "concat-axis": (lambda: td.concat([x, x], axis=2), ShapeError, "concat", "axes run"),
    "gather-rank": (lambda: td.gather(x, i, axis=0), ShapeError, "gather", "as many axes"),
    "gather-axis": (lambda: td.gather(x, i, axis=3), ShapeError, "gather", "axes run"),
    "gather-nothing": (lambda: td.gather(td.ones(0), i, axis=0),
        ShapeError, "gather", "no elements"),
    "scatter-shapes": (lambda: td.scatter_add(v, i, td.ones(3), axis=0),
        ShapeError, "scatter_add", ""),
    "labels": (lambda: td.cross_entropy(x, i), ShapeError, "cross_entropy", "class numbers"),
    "max-of-nothing": (lambda: td.ones(0, 3).max(axis=0), ShapeError, "max", "no value"),
    "min-of-nothing": (lambda: td.ones(0).min(), ShapeError, "min", "no value"),
    "attention": (lambda: td.scaled_dot_product_attention(td.ones(1, 2, 3), td.ones(1, 2, 4),
                                                          td.ones(1, 2, 4)),
        ShapeError, "matmul", ""),
    # ---- operands
    "add-three": (lambda: TABLE["add"](x, x, x), OperandError, "add", ""),
    "add-one": (lambda: TABLE["add"](x), OperandError, "add", ""),
    "where-two": (lambda: TABLE["where"](b, v), OperandError, "where", ""),
    "sum-list": (lambda: td.sum([1.0, 2.0]), OperandError, "sum", "td.tensor"),
    "concat-number": (lambda: td.concat([1.0, x]), OperandError, "concat", "td.tensor"),
    "index-mask": (lambda: x[v > 0], IndexingError, "index", "mask"),
    "pad-value": (lambda: td.pad(i.cast("int8"), [(1, 1)], 300), ArgumentError, "pad", ""),
    "pad-nan": (lambda: td.pad(i, [(1, 1)], float("nan")), ArgumentError, "pad", ""),
    "ragged": (lambda: td.tensor([[1.0], [1.0, 2.0]]), ArgumentError, "tensor", "equal lengths"),
    "zeros-float": (lambda: td.zeros(2.5), ShapeError, "shape", ""),
    # ---- axes
    "sum-axis": (lambda: x.sum(2), ShapeError, "sum", "axes run from -2 to 1"),
    "sum-axis-low": (lambda: x.sum(-3), ShapeError, "sum", "axes run"),
    "sum-twice": (lambda: x.sum((0, -2)), ShapeError, "sum", ""),
    "sum-scalar": (lambda: td.tensor(1.0).sum(0), ShapeError, "sum", "no axes"),
    "sum-not-integer": (lambda: x.sum(1.5), TreadleError, "sum", ""),
    "max-axis": (lambda: x.max(axis=7), ShapeError, "max", "axes run"),
    "mean-axis": (lambda: td.mean(x, axis=4), ShapeError, "", "axes run"),
    "softmax-axis": (lambda: td.softmax(x, axis=2), ShapeError, "", "axes run"),
    "argmax-axis": (lambda: td.argmax(x, axis=2), ShapeError, "", "axes run"),
    "flip-axis": (lambda: td.flip(x, 5), ShapeError, "flip", "axes run"),
    "take-axis": (lambda: td.take(x, i, axis=2), ShapeError, "take", "axes run"),
    # ---- dtypes
    "neg-bool": (lambda: -b, DtypeError, "neg", "cast"),
    "sub-bool": (lambda: b - b, DtypeError, "sub", "cast"),
    "and-float": (lambda: v & v, DtypeError, "bitwise_and", "cast"),
    "xor-mixed": (lambda: i ^ v, DtypeError, "bitwise_xor", "cast"),
    "shift-float": (lambda: v << 1, DtypeError, "shift_left", "cast"),
    "shift-bool": (lambda: b >> b, DtypeError, "shift_right", "cast"),
    "floor-bool": (lambda: td.floor(i > 0), DtypeError, "floor", "cast"),
    "bitcast-width": (lambda: td.bitcast(i, "float32"), DtypeError, "bitcast", "cast"),
    "pow-bool": (lambda: td.pow(i > 0, i > 0), DtypeError, "pow", "cast"),
    "pow-negative": (lambda: i ** -1, ArgumentError, "pow", "float"),
    "where-float-condition": (lambda: td.where(v, v, v), DtypeError, "where", "cast"),
    "matmul-bool": (lambda: td.ones(2, 2, dtype="bool") @ td.ones(2, 2, dtype="bool"),
        DtypeError, "matmul", "cast"),
    "gather-float-index": (lambda: td.gather(v, v, axis=0), DtypeError, "gather", "cast"),
    "take-float-index": (lambda: td.take(x, v), DtypeError, "gather", "cast"),
    "unknown-dtype": (lambda: v.cast("float33"), DtypeError, "dtype", "float32"),
    "full-dtype": (lambda: td.zeros(2, dtype="complex64"), DtypeError, "dtype", "float32"),
    # ---- operands
    "add-list": (lambda: td.add(x, [1.0, 2.0]), OperandError, "add", "td.tensor"),
    "add-none": (lambda: x + None, OperandError, "add", "td.tensor"),
    "mul-text": (lambda: x * "2", OperandError, "mul", "td.tensor"),
    "exp-number": (lambda: td.exp(1.0), OperandError, "exp", "td.tensor"),
    "exp-nothing": (lambda: TABLE["exp"](), OperandError, "exp", "td.tensor"),
    "where-array": (lambda: td.where(b, v, np.ones(4)), OperandError, "where", "td.tensor"),
    "concat-nothing": (lambda: td.concat([]), ArgumentError, "concat", ""),
    # ---- arguments
    "pad-count": (lambda: td.pad(x, [(1, 1)]), ArgumentError, "pad", "one (before, after)"),
    "pad-negative": (lambda: td.pad(v, [(-1, 0)]), ArgumentError, "pad", "none negative"),
    "gelu-kind": (lambda: td.gelu(x, approximate="fast"), ArgumentError, "gelu", ""),
    "text": (lambda: td.tensor("abc"), ArgumentError, "tensor", "numbers"),
    "negative-size": (lambda: td.zeros(-1), ArgumentError, "shape", ""),
    "step-zero": (lambda: td.arange(0, 3, 0), ArgumentError, "arange", ""),
    "assign-shape": (lambda: td.ones(2).assign(td.ones(3)), ArgumentError, "assign", ""),
    "knob": (lambda: td.override(colour=1).__enter__(), ArgumentError, "override", "one of"),
    # ---- indices
    "index-range": (lambda: x[3], IndexingError, "index", ""),
    "index-low": (lambda: x[0, -5], IndexingError, "index", ""),
    "index-many": (lambda: x[0, 0, 0], IndexingError, "index", ""),
    "index-dots": (lambda: x[..., ...], IndexingError, "index", ""),
    "index-float": (lambda: x[1.5], IndexingError, "index", "integers"),
    "index-text": (lambda: x["a"], IndexingError, "index", "integers"),
    "index-tensors": (lambda: x[[0, 1], [0, 1, 2]], IndexingError, "index", "equal or 1"),
    # ---- values, devices, gradients
    "item": (lambda: x.item(), ArgumentError, "item", "tolist"),
    "bool": (lambda: bool(x), ArgumentError, "bool", "reduce"),
    "len": (lambda: len(td.tensor(1.0)), OperandError, "len", ""),
    "devices": (lambda: v + far, DeviceError, "add", "move one"),
    "device-name": (lambda: v.to("tpu"), DeviceError, "device", "cpu"),
    "backward-vector": (lambda: td.ones(3).requires_grad_().backward(),
        GradientError, "backward", "reduce"),
    "backward-nothing": (lambda: v.sum().backward(), GradientError, "backward", "requires_grad_"),
    "requires-int": (lambda: td.arange(3).requires_grad_(),
        GradientError, "requires_grad_", "floating"),
    "grad-vector": (lambda: td.grad(lambda t: t * 2)(v), GradientError, "grad", "scalar"),
}
# fmt: on


@pytest.mark.parametrize("name", CASES)
def test_wrong_input_is_refused_with_a_name_and_a_hint(name):
    wrong, kind, op, hint = CASES[name]
    with pytest.raises(kind) as caught:
        wrong()
    message = str(caught.value)
    assert op in message
    assert hint in message
    if hint and isinstance(caught.value, TreadleError):
        assert "hint:" in message


def test_messages_start_with_the_op_and_show_the_facts():
    with pytest.raises(ShapeError, match=r"^add: cannot broadcast axis -1 \(shapes=\(3, 4\) and"):
        x + td.ones(3)


def test_a_refused_call_leaves_nothing_behind():
    with pytest.raises(ShapeError):
        x + td.ones(3)
    with pytest.raises(ShapeError):
        x + td.ones(3)
    assert (x + 1.0).shape == (3, 4)


def test_errors_are_also_the_builtin_kind():
    pairs = ((ShapeError, ValueError), (DtypeError, TypeError), (IndexingError, IndexError))
    assert all(issubclass(own, builtin) and issubclass(own, TreadleError) for own, builtin in pairs)


def test_there_are_enough_cases():
    assert len(CASES) >= 60


@pytest.mark.parametrize("call", [lambda: td.add(x, x, x), lambda: td.add(x), lambda: td.exp()])
def test_another_number_of_arguments_is_what_python_says_it_is(call):
    with pytest.raises(TypeError, match=r"(add|exp)\(\)"):
        call()
