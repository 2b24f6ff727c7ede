"""A row's samples as concrete calls: operand arrays, arguments, and the value NumPy gives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from treadle.backends.registry import backend_of
from treadle.base.device import CPU, Device, device
from treadle.base.dtypes import (
    DType,
    bfloat16,
    bool_,
    dtype,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint8,
    uint32,
)  # fmt: skip
from treadle.base.errors import DtypeError, NotSupported, explain
from treadle.ir.node import leaf, type_of
from treadle.ops import fft, linalg
from treadle.ops.defs import TABLE, Elementwise, Kind, Op
from treadle.ops.elementwise import bitcast, cast, threefry, where
from treadle.testing.arrays import Array, array_type

SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((), (), (), ()), ((0,), (1,), (0,), ()), ((1,), (1,), (1,), (1,)), ((5,), (), (5,), (1,)),
    ((3, 1), (1, 4), (3, 4), ()), ((2, 3, 1), (3, 7), (1,), (7,)), ((4, 0), (4, 1), (), (0,)),
    ((70,), (70,), (70,), ()), ((7, 33), (33,), (7, 1), ()), ((17,), (3, 17), (3, 1), ()),
)  # fmt: skip
"""Shapes that broadcast together, of up to four operands."""

REFERENCE = device("reference")  # has every op, so all that fails there is a row's own rule
USUAL = (float32, float64, float16, bfloat16, int32, int64, uint8, bool_)
FEWER = 5  # other dtypes share code with one of these and have every fifth case

ODD = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.0, -1.0, 2.5)
"""Floats that need care."""

CASTS = (cast, bitcast)  # rows that take a dtype
LATE = (fft, linalg)  # parts that are not loaded at first, and with them their rows


@dataclass
class Case:
    """One call of an op."""

    op: Op
    operands: list[Array]
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{x.dtype}{list(x.shape)}" for x in self.operands)
        return f"{self.op}({shapes}, {self.arguments or self.options or ''})"

    def record(self, operands: Sequence[Any]) -> Any:
        """The op on nodes or tensors in place of the arrays."""
        return self._called(self.op, operands, self.arguments)

    def expected(self, kind: DType) -> Any:
        """The value by the row's reference: in float64 if the result is a float, else exact."""
        wide = [self._widened(k, x, kind) for k, x in enumerate(self.operands)]
        arguments = () if self.op in CASTS else self.arguments
        reference = partial(_reference(self.op), np)
        with np.errstate(all="ignore"):
            found = self._called(reference, wide, arguments)
        if isinstance(found, list | tuple):
            return [np.asarray(x) for x in found]
        return np.asarray(found)

    def _called(self, call: Any, operands: Sequence[Any], arguments: tuple[Any, ...]) -> Any:
        samples, options = self.op.samples, dict(self.options)
        first = (options.pop(samples.lead),) if samples.lead else ()
        passed = (list(operands),) if samples.listed else operands
        return call(*first, *passed, *arguments, **options)

    def _widened(self, k: int, x: Array, kind: DType) -> Array:
        """Operand k as the reference takes it: NumPy would compute small types too coarsely."""
        chooses = self.op.samples.role(k) or (self.op is where and k == 0)
        if x.dtype.kind == "c":
            return x.astype(np.complex128)
        coarse = kind.is_inexact and not chooses
        return x.astype(np.float64) if coarse or _is_float(x) else x


def _is_float(x: Array) -> bool:
    return dtype(x.dtype).is_float


def _reference(op: Op) -> Callable[..., Any]:
    if op.reference is None:
        raise NotSupported(explain(op.name, "has no reference to be sampled against"))
    return op.reference


def public_rows() -> dict[str, Op]:
    """The rows that users call."""
    # Tested by what they make.
    sources = (
        Kind.SOURCE, Kind.REGION, Kind.RESULT, Kind.TRANSFER, Kind.CREATION, Kind.RANDOM,
    )  # fmt: skip
    return {name: op for name, op in TABLE.items() if op.kind not in sources}


def takes(op: Op, kind: DType) -> bool:
    """Does the row's rule allow operands of a dtype?"""
    if op is threefry:
        return kind is uint32
    try:
        first_call(op, kind, REFERENCE)
    except DtypeError:
        return False
    return True


def first_call(op: Op, kind: DType, where: Device = CPU) -> Any:
    """What the row's first sample records on a device; raises as any call does."""
    case = next(cases(op, kind, np.random.default_rng(0)))
    backend, leaves = backend_of(where), []
    for k, x in enumerate(case.operands):  # with values: some rows have sizes that depend on them
        type_ = type_of(x.shape, _own(op, k, kind), where)
        leaves.append(leaf(type_, backend.upload(x, type_, copy=True)))
    return case.record(leaves)


def _own(op: Op, k: int, kind: DType) -> DType:
    """The dtype of operand k where the row is sampled for a dtype."""
    if (op is where and k == 0) or op.samples.role(k) == "bool":
        return bool_
    return int64 if op.samples.role(k) == "index" else kind


def cases(op: Op, kind: DType, rng: np.random.Generator) -> Iterator[Case]:
    """Calls of a row with operands of a dtype: its own samples, or shapes that broadcast."""
    if op.samples.cases:
        for sample in op.samples.cases:
            yield case_of(op, kind, rng, sample)
        return
    drawn = _Drawn(op, kind, rng)
    count = arity(op)
    arguments = (kind,) if op in CASTS else ()
    for group in SHAPES:
        yield Case(op, drawn.operands(group[:count], {}), arguments)
    turned = [x.T for x in drawn.operands([(70, 5)] * count, {})]
    yield Case(op, turned, arguments)  # axes in an order that is not memory's


def case_of(op: Op, kind: DType, rng: np.random.Generator, sample: tuple[Any, ...]) -> Case:
    """A call with random operands of the shapes that a sample names."""
    shapes, arguments, options = _parts(op, sample)
    return Case(op, _Drawn(op, kind, rng).operands(shapes, options), arguments, options)


def odd_cases(op: Op, kind: DType) -> Iterator[Case]:
    """An elementwise row on every pair of NaN, infinities and signed zeros."""
    count = arity(op)
    grid = np.meshgrid(*[np.array(ODD)] * count, indexing="ij")
    operands = [x.reshape(-1).astype(array_type(kind)) for x in grid]
    if op is where:
        operands[0] = np.arange(len(operands[0])) % 2 == 0
    yield Case(op, operands, (kind,) if op in CASTS else ())


def arity(op: Op) -> int:
    """Operands an elementwise row takes."""
    if op.define is not None:
        parameters = list(inspect.signature(op.define).parameters.values())
        operands = parameters[: len(op.operands)]
        return max(1, sum(operand.default is operand.empty for operand in operands))
    return 1 if op.arguments is not None and not isinstance(op, Elementwise) else (
        len(inspect.signature(_reference(op)).parameters) - 1  # the first is NumPy itself
    )  # fmt: skip


def _parts(op: Op, sample: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, ...], dict[str, Any]]:
    """(operand shapes, arguments, options) of a sample as the rows write them."""
    if op.kind is Kind.MOVEMENT and not op.samples.listed:
        return [sample[0]], sample[1], {}
    return list(sample[:-1]), (), dict(sample[-1])


@dataclass
class _Drawn:
    """Random operands of one row and dtype."""

    op: Op
    kind: DType
    rng: np.random.Generator

    def operands(self, shapes: Sequence[Any], options: dict[str, Any]) -> list[Array]:
        """Arrays of these shapes, in the range of the row's samples."""
        samples = self.op.samples
        if samples.draw is not None:
            return samples.draw(self.rng, array_type(self.kind), shapes)
        return [
            self._indices(shape, shapes[0], options)
            if samples.role(k) == "index"
            else self._array(shape, k)
            for k, shape in enumerate(shapes)
        ]

    def _array(self, shape: tuple[int, ...], k: int) -> Array:
        kind, (low, high) = _own(self.op, k, self.kind), (self.op.samples.low, self.op.samples.high)
        if kind is bool_:
            return self.rng.integers(0, 2, shape).astype(bool)
        if kind.is_inexact:
            drawn = np.asarray(self.rng.uniform(low, high, shape))
            if kind.is_complex:  # not as far up: exp(x) + 1 is nothing at 3.14j
                drawn = drawn + 0.25j * self.rng.uniform(low, high, shape)
            return drawn.astype(array_type(kind))
        least = 0 if kind.kind == "uint" else int(low)
        return self.rng.integers(least, int(high) + 1, shape).astype(array_type(kind))

    def _indices(self, shape: Any, into: Any, options: dict[str, Any]) -> Array:
        axis = options.get("axis", -1 if "labels" in self.op.operands else 0)
        return self.rng.integers(0, into[axis], shape)
