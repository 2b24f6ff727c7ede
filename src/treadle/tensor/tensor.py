"""The handle users hold: a node, and how ops on it are recorded."""

from __future__ import annotations

from typing import Any, Unpack

from treadle.backends.registry import present
from treadle.base.device import Device
from treadle.base.dtypes import DType
from treadle.base.dtypes import dtype as dtype_of
from treadle.base.errors import ArgumentError, OperandError, explain
from treadle.base.shapes import Shape, sizes_in
from treadle.base.sizes import Size
from treadle.ir.node import (
    NUMBERS,
    Call,
    Node,
    apply,
    beside,
    full,
    leaf,
    record,
    recorded_call,
    type_of,
)
from treadle.ir.recording import GRADIENTS, RECORDING
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops import shaping
from treadle.ops.defs import ARRAYS, Op
from treadle.ops.words import NOTHING, Words
from treadle.runtime.realize import realize as realize_nodes
from treadle.tensor.assignment import assign_item
from treadle.tensor.gradients import Differentiable, gradients, no_grad, own_node, owned
from treadle.tensor.indexing import index_node
from treadle.tensor.methods import Methods
from treadle.tensor.overwriting import overwrite
from treadle.tensor.tracing import TRACE
from treadle.tensor.values import Readable

__all__ = ["Tensor", "gradients", "no_grad", "owned", "realize"]
new = object.__new__  # what is recorded all the time is not checked again


class Tensor(Readable, Methods):
    """A value with a shape and a dtype, computed when somebody looks.

    >>> import treadle as td
    >>> (td.tensor([1.0, 2.0]) * 3).tolist()
    [3.0, 6.0]
    """

    __slots__ = ()

    # ---- facts

    # fmt: off
    @property
    def shape(self) -> Shape: return self._node.call.type.shape  # type: ignore[override]
    @property
    def dtype(self) -> DType: return self._node.call.type.dtype  # type: ignore[override]
    @property
    def device(self) -> Device: return self._node.call.type.device
    @property
    def size(self) -> int: return self._node.call.type.size
    @property
    def nbytes(self) -> int: return self._node.call.type.nbytes
    def numel(self) -> int: return self.size
    def dim(self) -> int: return self.ndim
    def is_complex(self) -> bool: return self.dtype.is_complex
    # fmt: on

    # ---- recording

    def _apply(self, op: Op, operands: tuple[Any, ...], arg: Any) -> Tensor:
        if len(operands) == 1:
            x = self._node
            call = recorded_call((op, arg, x.call.type))
            if call is None or call.casts or RECORDING.watched:
                (x,) = _noted(op, operands)
                return Tensor(apply(op, (x._node,), arg))
            made = new(Tensor)
            made._node = record(call, (x,), x.needs_grad and GRADIENTS.on and call.smooth)
            made._grad = None
            return made
        if RECORDING.watched:
            operands = _noted(op, operands)
        if len(operands) == 2:
            a, b = operands
            a = a._node if a.__class__ is Tensor else _operand(op, a, self)
            if b.__class__ is Tensor:
                b = b._node
            elif b.__class__ in NUMBERS and a.__class__ is Node:
                b = beside(b, a.call.type)
            else:
                b = _operand(op, b, self)
            made = new(Tensor)
            made._grad = None
            if a.__class__ is b.__class__ is Node and not RECORDING.watched:
                call = recorded_call((op, arg, a.call.type, b.call.type))
                if call is not None and not call.casts:
                    needs = (a.needs_grad or b.needs_grad) and GRADIENTS.on and call.smooth
                    made._node = record(call, (a, b), needs)
                    return made
            made._node = apply(op, (a, b), arg)
            return made
        nodes = [x._node if x.__class__ is Tensor else _operand(op, x, self) for x in operands]
        return Tensor(apply(op, tuple(nodes), arg))

    # Elementwise comparison; identity hashes keep tensors safe in dictionaries and sets.
    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        if other is None:
            return False  # type: ignore[return-value]
        return self._apply(e.eq, (self, other), None)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        if other is None:
            return True  # type: ignore[return-value]
        return self._apply(e.ne, (self, other), None)

    __hash__ = object.__hash__
    __array_priority__ = 1000.0  # np.float32(2) * x is ours to record, not NumPy's to compute

    def iota_like(self, axis: int, size: int | None = None) -> Tensor:
        """The index along an axis (of another size), with the other axes of size 1."""
        return Tensor(self._node.iota_like(axis, size))

    def full_like(self, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
        """One value in this shape, and in this dtype and on this device if no other is named."""
        kind = self.dtype if dtype is None else dtype_of(dtype)
        place = self.device if device is None else present(device)
        value = kind.nearest(fill_value) if kind.is_storage else fill_value
        return owned(Tensor(full(value, type_of(self.shape, kind, place))))

    def zeros_like(self, *, dtype: Any = None, device: Any = None) -> Tensor:
        """Zeros of the same shape, dtype and device."""
        if dtype is None and device is None:
            return Tensor(full(0, self._node.type))
        return self.full_like(0, dtype=dtype, device=device)

    def ones_like(self, *, dtype: Any = None, device: Any = None) -> Tensor:
        """Ones of the same shape, dtype and device."""
        return self.full_like(1, dtype=dtype, device=device)

    def empty_like(self, *, dtype: Any = None, device: Any = None) -> Tensor:
        """A tensor of the same shape, dtype and device whose values nobody has chosen yet."""
        return self.zeros_like(dtype=dtype, device=device)

    def new_full(
        self, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:  # fmt: skip
        """One value in another shape, in this dtype and on this device if no other is named."""
        shape = sizes_in("new_full", size if isinstance(size, tuple | list) else (size,))
        if any(n < 0 for n in shape):
            raise ArgumentError(explain("new_full", "sizes are not negative", size=shape))
        kind = self.dtype if dtype is None else dtype_of(dtype)
        value = kind.nearest(fill_value) if kind.is_storage else fill_value
        place = self.device if device is None else present(device)
        made = owned(Tensor(full(value, type_of(shape, kind, place))))
        return made.requires_grad_() if requires_grad else made

    def new_zeros(self, *size: Any, **options: Any) -> Tensor:
        """Zeros in another shape, of this dtype and device; options are those of new_full."""
        return self.new_full(size[0] if len(size) == 1 else size, 0, **options)

    def new_ones(self, *size: Any, **options: Any) -> Tensor:
        """Ones in another shape, of this dtype and device; options are those of new_full."""
        return self.new_full(size[0] if len(size) == 1 else size, 1, **options)

    def new_empty(self, *size: Any, **options: Any) -> Tensor:
        """A tensor whose values nobody has chosen yet, of this dtype and device: zeros."""
        return self.new_zeros(*size, **options)

    def new_tensor(
        self, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        """A copy of data, in this dtype and on this device if no other is named."""
        kind = self.dtype if dtype is None else dtype_of(dtype)
        made: Tensor = ARRAYS.made(data, self, kind)
        made = made if device is None else made.to(device)
        return made.requires_grad_() if requires_grad else made

    def __getitem__(self, key: Any) -> Tensor:
        _note((self,))
        return Tensor(index_node(self._node, _unwrapped(key)))

    def __setitem__(self, key: Any, value: Any) -> None:
        key, value = _unwrapped(key), _unwrapped(value)
        if not overwrite(self, key, value):
            assign_item(self, key, value)

    def _resized(self, shape: Shape) -> Tensor:
        """The same elements in the same memory, with other names for the sizes."""
        node = self._node
        if node.buffer is None or node.needs_grad or TRACE:
            return self.reshape(*shape)
        return Tensor(leaf(type_of(shape, node.dtype, node.device), node.buffer))

    def permute(self, *axes: Any, **words: Unpack[Words]) -> Tensor:
        """The axes in another order."""
        made: Tensor = m.permute(self, *(axes or ((NOTHING,) if words else ((),))), **words)
        return made

    def transpose(
        self, axis0: int = NOTHING, axis1: int = NOTHING, **words: Unpack[Words]
    ) -> Tensor:
        """Two axes exchanged."""
        if words:
            return shaping.transpose(self, axis0, axis1, **words)
        return super().transpose(axis0, axis1)

    # ---- state

    def assign(self, value: Tensor) -> Tensor:
        """Rebind this tensor to another value of the same type: how parameters are updated."""
        if not isinstance(value, Tensor):
            hint = "wrap it with td.tensor(...)"
            raise OperandError(explain("assign", "not a tensor", hint, got=type(value).__name__))
        if value._node.type is not self._node.type:
            facts = {"own": self._node.type, "value": value._node.type}
            raise ArgumentError(explain("assign", "needs the same shape and dtype", **facts))
        if TRACE:
            TRACE.top.assigned.setdefault(self, self._node)
        self._node = own_node(value._node, self, self.requires_grad)
        return self


Tensor._plain = Tensor


class Data(Tensor):
    """`x.data`: its value outside any gradient. Elements that are set in it are set in x."""

    __slots__ = ("of",)
    of: Any

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self.of.data = self


def _data(self: Tensor) -> Data:
    """The same value, outside any gradient; another one, of any type, can be set."""
    made = Data(self.detach()._node)
    made.of = self
    return made


setattr(Tensor, "data", vars(Differentiable)["data"].getter(_data))  # noqa: B010 - as the others


def _note(operands: tuple[Any, ...]) -> None:
    """Let a trace know by which tensors it reads values: they may have others at the next call."""
    if TRACE:
        for x in operands:
            if isinstance(x, Tensor):
                TRACE.top.read.setdefault(x._node, x)


def _noted(op: Op, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands as they are recorded: noted by a trace, and cast if there is a policy for that."""
    _note(operands)
    policy = RECORDING.policy
    return operands if policy is None else policy(op, operands)


def _operand(op: Op, x: Any, like: Tensor) -> Any:
    """What stands beside a tensor: a number, or the node of an array or a parameter."""
    if isinstance(x, Tensor):
        return x._node
    if x.__class__ in NUMBERS or isinstance(x, int | float | complex | Node | Size):
        return x
    if hasattr(x, "item") and getattr(x, "shape", None) == ():  # a NumPy scalar
        return x.item()
    if hasattr(x, "__array_interface__"):
        return ARRAYS.made(x, like)._node
    if x is NOTHING:
        raise TypeError(f"{op.name}() is missing an operand")
    hint = "wrap it with td.tensor(...)"
    raise OperandError(explain(op.name, "not a tensor", hint, got=type(x).__name__))


def _unwrapped(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(_unwrapped(part) for part in key)
    return key._node if isinstance(key, Tensor) else key


def realize(*tensors: Tensor) -> None:
    """Compute several tensors together; in a compiled function that is what happens anyway."""
    for t in tensors:
        if not isinstance(t, Tensor):
            hint = "tensors one by one: realize(x, y)"
            raise OperandError(explain("realize", "not a tensor", hint, got=type(t).__name__))
    if not TRACE:
        realize_nodes([t._node for t in tensors])


def _fast(op: Op) -> Any:
    """A binary operator with its recording written out: the path of eager use."""

    def method(self: Tensor, other: Any) -> Tensor:
        a = self._node
        if other.__class__ is Tensor:
            b = other._node
        elif other.__class__ in NUMBERS:
            b = beside(other, a.call.type)
        else:
            return self._apply(op, (self, other), None)
        call: Call | None = recorded_call((op, None, a.call.type, b.call.type))
        if call is None or call.casts or RECORDING.watched:
            _note((self, other))
            return Tensor(apply(op, (a, b)))
        needs = (a.needs_grad or b.needs_grad) and GRADIENTS.on and call.smooth
        made = new(Tensor)
        made._node, made._grad = record(call, (a, b), needs), None
        return made

    return method


for _name, _op in (("add", e.add), ("sub", e.sub), ("mul", e.mul), ("truediv", e.div)):
    setattr(Tensor, f"__{_name}__", _fast(_op))


def _in_dtype(name: str) -> Any:
    """A cast under the short name that users of other libraries know."""

    def method(self: Tensor) -> Tensor:
        return self.cast(name)

    method.__doc__ = f"The elements as {name}."
    return method


for _short, _long in (
    ("float", "float32"), ("double", "float64"), ("half", "float16"), ("bfloat16", "bfloat16"),
    ("int", "int32"), ("long", "int64"), ("bool", "bool"),
):  # fmt: skip
    setattr(Tensor, _short, _in_dtype(_long))
