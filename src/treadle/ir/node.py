"""Graph nodes and the only ways to make them.

What a node stands for never changes; once that is computed, it holds memory instead of operands. A
`Type` (shape, dtype, device) and a `Call` (op, arg, result type) exist once each, so recording an
op that was seen before with operands of the same types is one dictionary look-up, and a graph's
structure is a sequence of identities. Shapes and dtypes are checked when a Call is first made,
which is at the user's line.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from itertools import repeat
from math import copysign, prod
from typing import Any, TypeVar

from treadle.base.device import CPU, Device
from treadle.base.dtypes import DType, int64, weak
from treadle.base.errors import (
    ArgumentError,
    CompilerError,
    DeviceError,
    OperandError,
    explain,
    needed,
)
from treadle.base.shapes import Shape, names_of
from treadle.base.sizes import Size, most
from treadle.ir.recording import COMPUTED, GRADIENTS, RECORDING, WITHIN
from treadle.ops.defs import Elementwise, Kind, Op
from treadle.ops.elementwise import cast, complex_, imag, real
from treadle.ops.movement import slice_
from treadle.ops.syntax import Syntax

T = TypeVar("T")


class Type:
    """Shape, dtype and device of a value; one object each, so compare with `is`."""

    __slots__ = ("device", "dtype", "nbytes", "shape", "size")

    paired = False  # was there ever one of complex numbers? Most processes see none

    def __init__(self, shape: Shape, dtype: DType, device: Device) -> None:
        self.shape, self.dtype, self.device = shape, dtype, device
        Type.paired = Type.paired or dtype.is_complex
        self.size = prod(shape)
        self.nbytes = self.size * dtype.size

    def __repr__(self) -> str:
        return f"{self.dtype.short}[{', '.join(map(str, self.shape))}]"


class Call:
    """An op with its arg and the type of its result; one object each."""

    __slots__ = ("arg", "casts", "costly", "op", "slot", "smooth", "type")

    def __init__(self, op: Op, arg: Any, type_: Type, casts: tuple[DType | None, ...]) -> None:
        self.op, self.arg, self.type, self.casts = op, arg, type_, casts
        self.smooth = type_.dtype.is_inexact  # may carry a gradient
        self.costly = False  # to compute: worth keeping where somebody might want it again
        self.slot: Call | None = None  # of a number that programs may be given: the same without it

    def __repr__(self) -> str:
        return f"{self.op}({self.arg}) -> {self.type}"


_TYPES: dict[tuple[Shape, tuple[str, ...], DType, Device], Type] = {}
_CALLS: dict[tuple[Any, ...], Call] = {}
_CONSTANTS: dict[tuple[Any, ...], Node] = {}
_SCALARS: dict[tuple[Any, ...], Node] = {}
MOST_SCALARS, MOST_CALLS = 10_000, 100_000
UNSEEN = 4096, 4096  # nodes at least, and at most so many more
COSTLY, MANY = 1 << 16, 1 << 10  # flops of a cheap op, and of one that may be more than it says
NUMBERS: frozenset[Any] = frozenset((bool, int, float))
OF_KIND = {"bool": bool, "float": float, "complex": complex}  # any other number is an int

CHECKS: list[Callable[[Op, tuple[DType, ...], Device], None]] = []
"""Asked about an op and the dtypes of its operands and result when they are first seen together;
backends add one that raises for what they lack."""

LEAF = Op("leaf", Kind.SOURCE, "A value in memory.", flops=0.0)
CONST = Op("const", Kind.SOURCE, "One number.", flops=0.0)
IOTA = Op("iota", Kind.SOURCE, "The index along an axis: arg is the axis.", flops=0.0)
COMPILED = Op(
    "compiled",
    Kind.SOURCE,
    "A value in memory that a compiled function has returned.",
    flops=0.0,
    grad="it is the result of a compiled function: call backward() or td.value_and_grad inside it",
    public=False,
)


def type_of(shape: Shape, dtype: DType, device: Device = CPU) -> Type:
    """The one Type with these fields."""
    key = (shape, names_of(shape), dtype, device)
    found = _TYPES.get(key)
    return found if found is not None else _TYPES.setdefault(key, Type(shape, dtype, device))


class Node(Syntax):
    """An op applied to operands. `buffer` is set once the value is in memory.

    Made by `record` and `new_node`: a class without `__init__` is made in half the time.
    """

    __slots__ = ("__weakref__", "buffer", "call", "needs_grad", "operands", "owner", "site")

    call: Call
    operands: tuple[Node, ...]
    buffer: Any
    needs_grad: bool
    owner: Any  # weak reference to the tensor that collects this leaf's gradient
    site: str | None  # the user's file:line

    # fmt: off
    @property
    def op(self) -> Op: return self.call.op
    @property
    def arg(self) -> Any: return self.call.arg
    @property
    def type(self) -> Type: return self.call.type
    @property
    def shape(self) -> Shape: return self.call.type.shape  # type: ignore[override]
    @property
    def dtype(self) -> DType: return self.call.type.dtype  # type: ignore[override]
    @property
    def device(self) -> Device: return self.call.type.device
    # fmt: on

    def __repr__(self) -> str:
        return f"<{self.op} {self.type}>"

    def __bool__(self) -> bool:
        return True

    def _apply(self, op: Op, operands: tuple[Any, ...], arg: Any) -> Node:
        return apply(op, operands, arg)

    def iota_like(self, axis: int, size: int | None = None) -> Node:
        """The index along an axis (of another size), with the other axes of size 1."""
        axis %= len(self.shape)
        length = self.shape[axis] if size is None else size
        shape = tuple(length if k == axis else 1 for k in range(len(self.shape)))
        return iota(shape, axis, self.device)

    def zeros_like(self) -> Node:
        """Zeros of the same type."""
        return full(0, self.type)

    def realize(self) -> Node:
        """Compute the value now: what a size depends on has to be known."""
        COMPUTED.realize(self)
        return self

    def item(self) -> Any:
        """The one element as a Python number, computed now."""
        return COMPUTED.number(self)


def new_node(call: Call, operands: tuple[Node, ...], needs_grad: bool = False) -> Node:
    """A node that does not count as recorded: a source, or one of the compiler's."""
    node = Node()
    node.call, node.operands, node.needs_grad = call, operands, needs_grad
    node.buffer = node.owner = node.site = None
    return node


def _empty_nodes() -> Iterator[Node]:
    """As many as are recorded before one is looked at.

    How many varies as by chance: of the ops of a loop each is looked at some time.
    """
    global _chance  # noqa: PLW0603 - where two threads are here at once, both are served well
    _chance = (_chance * 6364136223846793005 + 1442695040888963407) % (1 << 64)
    least, more = UNSEEN
    return map(operator.call, repeat(Node, least + (_chance >> 32) % more))


_chance = 0
_EMPTY = _empty_nodes()


def record(call: Call, operands: tuple[Node, ...], needs_grad: bool) -> Node:
    """A node that waits to be computed.

    It is made and counted in one step, by an iterator that comes to an end: counting is free.
    """
    for node in _EMPTY:
        node.call, node.operands, node.needs_grad = call, operands, needs_grad
        node.buffer = node.owner = node.site = None
        return node
    return _seen(new_node(call, operands, needs_grad))


def _seen(node: Node) -> Node:
    """Have a node looked at: there may be too much that waits below it."""
    global _EMPTY  # noqa: PLW0603 - quicker to read than an attribute
    _EMPTY = _empty_nodes()
    RECORDING.look(node)
    return node


def apply(op: Op, operands: tuple[Any, ...], arg: Any = None) -> Node:
    """Record an op. Python scalars among the operands become constants.

    This is the path of every op, so the common numbers of operands are written out.
    """
    if len(operands) == 2:
        a, b = operands
        if a.__class__ is not Node or b.__class__ is not Node:
            a, b = operands = _as_pair(op, a, b)
        key: tuple[Any, ...] = (op, arg, a.call.type, b.call.type)
        needs_grad = a.needs_grad or b.needs_grad
    elif len(operands) == 1 and operands[0].__class__ is Node:
        key = (op, arg, operands[0].call.type)
        needs_grad = operands[0].needs_grad
    else:
        operands = _as_nodes(op, operands)
        key = (op, arg, *[operand.call.type for operand in operands])
        needs_grad = any([x.needs_grad for x in operands])  # noqa: C419 - faster
    call = _CALLS.get(key)
    if call is None:
        call = _first_call(op, operands, arg)
        size = max([most(x.call.type.size) for x in operands], default=0)
        call.costly = op.flops * size >= (COSTLY if op.kind is Kind.ELEMENTWISE else MANY)
        call = _one_of(_CALLS, key, call, MOST_CALLS)
    if call.casts:
        operands = tuple(
            x if d is None else apply(cast, (x,), d)
            for x, d in zip(operands, call.casts, strict=True)
        )
    node = record(call, operands, needs_grad and GRADIENTS.on and call.smooth)
    if RECORDING.watched:
        RECORDING.note(node)
    return node


recorded_call = _CALLS.get
"""The Call of (op, arg, operand types) if it was made before."""


def _one_of(table: dict[Any, T], key: tuple[Any, ...], made: T, most: int) -> T:
    """The one thing of a key; where there are too many, the older half is forgotten.

    What was forgotten is made anew, and programs that hold the old one are compiled once more.
    """
    if len(table) >= most:
        for old in list(table)[: most // 2]:
            table.pop(old, None)
    return table.setdefault(key, made)


def _as_pair(op: Op, a: Any, b: Any) -> tuple[Node, Node]:
    """Two operands of which one is a Python scalar."""
    if a.__class__ is Node and b.__class__ in NUMBERS:
        return a, beside(b, a.call.type)
    if b.__class__ is Node and a.__class__ in NUMBERS:
        return beside(a, b.call.type), b
    first, second = _as_nodes(op, (a, b))
    return first, second


def beside(value: bool | int | float, type_: Type) -> Node:
    """A scalar as the constant it is beside a tensor."""
    if not value and copysign(1.0, value) < 0:
        return const(value, weak(value, type_.dtype), type_.device)  # equal to 0.0 as a key
    key = (value, value.__class__, type_.dtype, type_.device)
    found = _SCALARS.get(key)
    if found is None:
        found = const(value, weak(value, type_.dtype), type_.device)
        found = _one_of(_SCALARS, key, found, MOST_SCALARS)
    return found


def _as_nodes(op: Op, operands: tuple[Any, ...]) -> tuple[Node, ...]:
    """Operands with Python scalars as constants of the type they take beside the tensors."""
    nodes = [x for x in operands if x.__class__ is Node]
    scalars: list[Any] = [x for x in operands if isinstance(x, int | float | complex | Size)]
    if not nodes or len(nodes) + len(scalars) < len(operands):
        odd = next(x for x in operands if not isinstance(x, Node | int | float | complex | Size))
        hint = "wrap it with td.tensor(...)"
        raise OperandError(explain(op.name, "not a tensor", hint, got=type(odd).__name__))
    beside = nodes[-1].dtype  # where(condition, x, 0): the last tensor decides
    device = nodes[0].device
    if op.name == "where" and len(nodes) == 1:
        beside = weak(scalars[0], weak(scalars[1], beside))
    return tuple(x if x.__class__ is Node else const(x, weak(x, beside), device) for x in operands)


def _first_call(op: Op, operands: tuple[Node, ...], arg: Any) -> Call:
    """Check an op on operand types never seen together, and work out the result."""
    if isinstance(op, Elementwise) and len(operands) != op.arity:
        facts = {"takes": op.arity, "got": len(operands)}
        raise OperandError(explain(op.name, "another number of operands", **facts))
    device: Device = arg if op.kind is Kind.TRANSFER else operands[0].device
    for operand in operands[1:]:
        if operand.device is not device:
            hint = f"move one: x.to({str(device)!r})"
            both = f"{device} and {operand.device}"
            raise DeviceError(explain(op.name, "operands on different devices", hint, devices=both))
    if op.kind is Kind.COMPOSITE:
        with_no_grad = [placeholder(operand.type) for operand in operands]
        return Call(op, arg, _define(op, arg, with_no_grad).type, ())
    dtypes = [operand.dtype for operand in operands]
    shapes = [operand.shape for operand in operands]
    if op.types is None:  # a cast: the arg is the dtype
        wanted, result = tuple(dtypes), arg
    else:
        wanted, result = op.types(dtypes)
    casts = tuple(None if d is w else w for d, w in zip(dtypes, wanted, strict=True))
    for check in CHECKS:
        check(op, (*wanted, result), device)
    type_ = type_of(tuple(needed("row", op.shape, op)(arg, shapes)), result, device)
    return Call(op, arg, type_, casts if any(casts) else ())


def _define(op: Op, arg: Any, operands: list[Node], define: Any = None) -> Node:
    """The definition of a composite, or another one, applied to operands."""
    present, options = arg
    given = iter(operands)
    slots = [next(given) if name in present else None for name in op.operands]
    if op.pairs is not None and operands[0].dtype.is_complex:
        return complex_(*op.pairs(real(operands[0]), imag(operands[0])))
    result = needed("row", define or op.define, op)(*slots, **dict(options))
    if not isinstance(result, Node):
        raise CompilerError(explain(op.name, "its definition gives no tensor", got=type(result)))
    return result


def definition(node: Node, define: Callable[..., Any] | None = None) -> Node:
    """A composite node as its definition, or as another one; parts remember its line and name."""
    site = node.site or ""
    if RECORDING.noted and WITHIN not in site:  # of composites within each other, the user's
        site = f"{site}{WITHIN}{node.op.called(node.arg)}"
    before, RECORDING.site = RECORDING.site, site
    try:
        return _define(node.op, node.arg, list(node.operands), define)
    finally:
        RECORDING.site = before


def placeholder(type_: Type, op: Op = LEAF) -> Node:
    """A leaf without memory yet."""
    key = (op, type_)
    call = _CALLS.get(key) or _one_of(_CALLS, key, Call(op, None, type_, ()), MOST_CALLS)
    return new_node(call, ())


def leaf(type_: Type, buffer: Any) -> Node:
    """A value in memory."""
    node = placeholder(type_)
    node.buffer = buffer
    if RECORDING.watched:
        RECORDING.note_leaf(node)
    return node


def const(value: Any, dtype: DType, device: Device = CPU) -> Node:
    """A 0-d constant."""
    odd = isinstance(value, complex) and not dtype.is_complex
    if odd or (dtype.is_integer and not dtype.least <= value <= dtype.greatest):
        hint = "cast the tensor to a wider dtype first"
        facts = {"value": value, "dtype": dtype.name}
        raise ArgumentError(explain("constant", "the number does not fit", hint, **facts))
    if isinstance(value, Size):  # 1 more than the last index: what kernels know of sizes is indices
        size = value + (more := max(0, 1 - value.bounds[0]))
        last = slice_(iota((size,), 0, device), [(size - 1, size, 1)]).reshape(())
        return cast(last + (1 - more), dtype)
    value = OF_KIND.get(dtype.kind, int)(value)
    by_text = value == 0 or value != value or dtype.is_complex  # other numbers may be equal
    key = (CONST, repr(value) if by_text else value, dtype, device)
    found = _CONSTANTS.get(key)
    if found is None:
        call = Call(CONST, value, type_ := type_of((), dtype, device), ())
        call.slot = placeholder(type_, CONST).call if dtype.tells_apart(value) else None
        found = _one_of(_CONSTANTS, key, new_node(call, ()), MOST_SCALARS)
    return found


def full(value: complex, type_: Type) -> Node:
    """A constant of any shape."""
    node = const(value, type_.dtype, type_.device)
    if type_.shape:
        return node.expand(type_.shape)
    return new_node(node.call, ())  # one of its own: a tensor may come to hold its memory


def iota(shape: Shape, axis: int, device: Device = CPU) -> Node:
    """int64 indices along an axis."""
    key = (IOTA, axis, type_ := type_of(shape, int64, device))
    call = _CALLS.get(key) or _one_of(_CALLS, key, Call(IOTA, axis, type_, ()), MOST_CALLS)
    node = new_node(call, ())
    if RECORDING.watched:
        RECORDING.note(node)
    return node
