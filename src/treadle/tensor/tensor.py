"""The handle users hold: a node, laziness, gradients."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from treadle.autograd.backward import gradients as node_gradients
from treadle.backends.registry import backend_of
from treadle.base.device import Device, device
from treadle.base.dtypes import DType, dtype
from treadle.base.errors import ArgumentError, GradientError, OperandError, explain
from treadle.base.shapes import Shape
from treadle.ir.graph import toposort
from treadle.ir.node import (
    GRADIENTS,
    NUMBERS,
    RECORDING,
    Call,
    Node,
    apply,
    beside,
    full,
    iota,
    leaf,
    recorded_call,
    type_of,
)  # fmt: skip
from treadle.ops import elementwise as e
from treadle.ops.defs import Op
from treadle.ops.syntax import Syntax
from treadle.runtime.realize import in_memory, realize_one
from treadle.runtime.realize import realize as realize_nodes
from treadle.runtime.stacks import ThreadStack
from treadle.tensor.display import text_of
from treadle.tensor.hosted import peek
from treadle.tensor.indexing import index_node


class Tracing:
    """What a traced function did to tensors that outlive it."""

    __slots__ = ("assigned", "grads", "made")

    def __init__(self) -> None:
        self.made: set[Node] = set()  # nodes that did not exist before
        self.assigned: dict[Tensor, Node] = {}  # tensor to the node it had before
        self.grads: dict[Tensor, Tensor | None] = {}  # tensor to the gradient it had before


TRACE: ThreadStack[Tracing] = ThreadStack()


class Tensor(Syntax):
    """A value with a shape and a dtype, computed when somebody looks.

    >>> import treadle as td
    >>> (td.tensor([1.0, 2.0]) * 3).tolist()
    [3.0, 6.0]
    """

    __slots__ = ("__weakref__", "_grad", "_node")

    _node: Node
    _grad: Tensor | None

    def __init__(self, node: Node) -> None:
        self._node = node
        self._grad = None

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
    @property
    def requires_grad(self) -> bool: return self._node.needs_grad
    # fmt: on

    @property
    def grad(self) -> Tensor | None:
        """The gradient collected by `backward`."""
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if TRACE:
            TRACE.top.grads.setdefault(self, self._grad)
        self._grad = value

    # ---- recording

    def _apply(self, op: Op, operands: tuple[Any, ...], arg: Any) -> Tensor:
        if len(operands) == 1:
            x = self._node
            call = recorded_call((op, arg, x.call.type))
            if call is None or call.casts or RECORDING.watched:
                return Tensor(apply(op, (x,), arg))
            return Tensor(Node(call, (x,), x.needs_grad and GRADIENTS.on and call.smooth))
        if len(operands) == 2:
            a, b = operands
            a = a._node if a.__class__ is Tensor else _scalar(op, a)
            if b.__class__ is Tensor:
                b = b._node
            elif b.__class__ in NUMBERS and a.__class__ is Node:
                b = beside(b, a.call.type)
            else:
                b = _scalar(op, b)
            return Tensor(apply(op, (a, b), arg))
        nodes = [x._node if x.__class__ is Tensor else _scalar(op, x) for x in operands]
        return Tensor(apply(op, tuple(nodes), arg))

    # Elementwise comparison; identity hashes keep tensors safe in dictionaries and sets.
    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return self._apply(e.eq, (self, other), None)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return self._apply(e.ne, (self, other), None)

    __hash__ = object.__hash__
    __array_priority__ = 1000.0  # np.float32(2) * x is ours to record, not NumPy's to compute

    def iota_like(self, axis: int) -> Tensor:
        """The index along an axis, with the other axes of size 1."""
        axis %= self.ndim
        shape = tuple(n if k == axis else 1 for k, n in enumerate(self.shape))
        return Tensor(iota(shape, axis, self.device))

    def zeros_like(self) -> Tensor:
        """Zeros of the same shape and dtype."""
        return Tensor(full(0, self._node.type))

    def __getitem__(self, key: Any) -> Tensor:
        return Tensor(index_node(self._node, _unwrapped(key)))

    # ---- values

    def realize(self) -> Tensor:
        """Compute the value now, if it is not there yet."""
        if self._node.buffer is None:
            realize_one(self._node)
        return self

    def numpy(self) -> Any:
        """The value as a NumPy array; it shares memory and must not be written."""
        array = peek(self._node)
        if array is None:
            self.realize()
            array = backend_of(self.device).download(self._node.buffer, self._node.type)
        array.flags.writeable = False
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        return array.astype(dtype or array.dtype) if dtype is not None or copy else array

    def item(self) -> Any:
        """The one element as a Python number."""
        if self.size != 1:
            hint = "use tolist() or index one element"
            raise ArgumentError(explain("item", "needs one element", hint, shape=self.shape))
        return self.numpy().item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self.numpy().tolist()

    # fmt: off
    def __float__(self) -> float: return float(self.item())
    def __int__(self) -> int: return int(self.item())
    def __index__(self) -> int: return _whole(self)
    # fmt: on

    def __bool__(self) -> bool:
        if self.size != 1:
            hint = "compare elementwise with & and |, or reduce first"
            raise ArgumentError(explain("bool", "is ambiguous", hint, shape=self.shape))
        return bool(self.item())

    def __format__(self, form: str) -> str:
        return format(self.item() if form else repr(self), form)

    def __len__(self) -> int:
        if not self.shape:
            raise OperandError(explain("len", "a 0-d tensor has no length"))
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not TRACE:
            self.realize()
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return text_of(self.numpy(), self.dtype, self.device) if _can_show(self) else (
            f"tensor(<traced>, shape={self.shape}, dtype={self.dtype.name})"
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.numpy(), self.dtype.name, repr(self.device), self.requires_grad))

    def __deepcopy__(self, memo: Any) -> Tensor:
        """A tensor of its own with the same value."""
        node = self.detach().realize()._node
        buffer = backend_of(self.device).copy(node.buffer)
        return owned(Tensor(leaf(node.type, buffer)), self.requires_grad)

    # ---- placement

    def to(self, where: Any) -> Tensor:
        """On another device ("cuda"), or in another dtype (td.float16)."""
        return self._moved(where) if isinstance(where, str | Device) else self.cast(where)

    def _moved(self, where: str | Device) -> Tensor:
        target = device(where)
        if target is self.device:
            return self
        type_ = type_of(self.shape, self.dtype, target)
        buffer = backend_of(target).upload(self.numpy(), type_, copy=True)
        return owned(Tensor(leaf(type_, buffer)), self.requires_grad)

    # ---- gradients

    def requires_grad_(self, wanted: bool = True) -> Tensor:
        """Collect gradients for this tensor; returns it."""
        if not self.dtype.is_float and wanted:
            hint = "only floating-point tensors have gradients"
            raise GradientError(
                explain("requires_grad_", "needs a float", hint, dtype=self.dtype.name)
            )
        self._node = own_node(self._node, self, wanted)
        return self

    def detach(self) -> Tensor:
        """The same value, outside any gradient."""
        node = self._node
        if in_memory(node) and not TRACE:
            return Tensor(leaf(node.type, node.buffer))
        with no_grad():
            return Tensor(apply(e.detach, (node,)))

    def assign(self, value: Tensor) -> Tensor:
        """Rebind this tensor to another value of the same type: how parameters are updated."""
        if value._node.type is not self._node.type:
            facts = {"own": self._node.type, "value": value._node.type}
            raise ArgumentError(explain("assign", "needs the same shape and dtype", **facts))
        if TRACE:
            TRACE.top.assigned.setdefault(self, self._node)
        self._node = own_node(value._node, self, self.requires_grad)
        return self

    def backward(self, gradient: Tensor | None = None) -> None:
        """Add d(self)/d(leaf) to `grad` of every leaf that requires it."""
        if not self.requires_grad:
            hint = "requires_grad_() on what it is computed from; if compiled, backward() inside"
            raise GradientError(explain("backward", "nothing here requires a gradient", hint))
        order = toposort([self._node], _needs_none)
        leaves = [n for n in order if n.owner is not None and n.needs_grad]
        with no_grad():
            seed = None if gradient is None else gradient._node
            found = node_gradients([self._node], leaves, [seed], _needs_none)
            for node, g in zip(leaves, found, strict=True):
                tensor = node.owner()
                if g is not None and tensor is not None:
                    before = tensor.grad
                    tensor.grad = Tensor(g) if before is None else before + Tensor(g)


def _needs_none(node: Node) -> bool:
    return not node.needs_grad


def _can_show(tensor: Tensor) -> bool:
    return not TRACE or in_memory(tensor._node)


def _scalar(op: Op, x: Any) -> Any:
    if x.__class__ in NUMBERS or isinstance(x, bool | int | float | Node):
        return x
    if hasattr(x, "item") and getattr(x, "shape", None) == ():  # a NumPy scalar
        return x.item()
    hint = "wrap it with td.tensor(...)"
    raise OperandError(explain(op.name, "not a tensor", hint, got=type(x).__name__))


def _whole(tensor: Tensor) -> int:
    if not tensor.dtype.is_integer:
        raise OperandError(explain("index", "needs an integer tensor", dtype=tensor.dtype.name))
    return int(tensor.item())


def _unwrapped(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(_unwrapped(part) for part in key)
    return key._node if isinstance(key, Tensor) else key


def _restored(array: Any, dtype_name: str, device_name: str, grad: bool) -> Tensor:
    type_ = type_of(array.shape, dtype(dtype_name), device(device_name))
    return owned(Tensor(leaf(type_, backend_of(type_.device).upload(array, type_, True))), grad)


def own_node(node: Node, owner: Tensor, needs_grad: bool) -> Node:
    """A leaf of the gradient graph with node's value, which belongs to owner."""
    if node.buffer is not None and not TRACE:
        fresh = leaf(node.type, node.buffer)
    else:  # in a trace, what is read is the other tensor, not the memory it has just now
        with no_grad():
            fresh = apply(e.detach, (node,))
    return _given(fresh, owner, needs_grad)


def owned(tensor: Tensor, needs_grad: bool = False) -> Tensor:
    """A tensor whose memory is known to be its own: assignments are seen by compiled functions."""
    _given(tensor._node, tensor, needs_grad)
    return tensor


def _given(node: Node, owner: Tensor, needs_grad: bool) -> Node:
    node.owner, node.needs_grad = weakref.ref(owner), needs_grad
    if TRACE:
        TRACE.top.made.add(node)
    return node


@contextmanager
def no_grad() -> Iterator[None]:
    """Record without gradients."""
    before, GRADIENTS.on = GRADIENTS.on, False
    try:
        yield
    finally:
        GRADIENTS.on = before


def realize(*tensors: Tensor) -> None:
    """Compute several tensors together."""
    realize_nodes([t._node for t in tensors])


def gradients(
    outputs: Tensor | Sequence[Tensor],
    inputs: Sequence[Tensor],
    cotangents: Tensor | Sequence[Tensor | None] | None = None,
) -> list[Tensor]:
    """d(outputs · cotangents) / d(inputs); zeros where nothing depends on an input.

    >>> import treadle as td
    >>> x = td.tensor([1.0, 2.0])
    >>> gradients((x * x).sum(), [x])[0].tolist()
    [2.0, 4.0]
    """
    roots = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    if cotangents is None or isinstance(cotangents, Tensor):
        cotangents = [cotangents]
    seeds = [None if c is None else c._node for c in cotangents]
    found = node_gradients([r._node for r in roots], [x._node for x in inputs], seeds)
    return [
        Tensor(g) if g is not None else x.zeros_like() for g, x in zip(found, inputs, strict=True)
    ]


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
            return Tensor(apply(op, (a, b)))
        needs = (a.needs_grad or b.needs_grad) and GRADIENTS.on and call.smooth
        return Tensor(Node(call, (a, b), needs))

    return method


for _name, _op in (("add", e.add), ("sub", e.sub), ("mul", e.mul), ("truediv", e.div)):
    setattr(Tensor, f"__{_name}__", _fast(_op))
