"""A product step as a problem for the kernels of products, and what their words point at."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import numpy as np

from treadle.backends.cpu import gemm_plan, gemm_tasks, jit
from treadle.base.shapes import Shape, strides_of
from treadle.base.target import Target
from treadle.kernel.index import Axis, Index, Remainder, as_quotient
from treadle.kernel.operands import Operand, Separable
from treadle.kernel.places import Place
from treadle.kernel.steps import ProductStep

SCRATCH = 1  # number of the base address of what threads need for themselves


class Sides:
    """A and B of the product that is computed: where it is turned, of the transposed one."""

    def __init__(self, product: ProductStep) -> None:
        self.dot = product.dot
        self.has_epilogue = product.epilogue is not None
        shapes = [x.shape for x in product.dot.operands]
        self.a, self.b = product.left, product.right
        self.a_shape, self.b_shape = shapes
        self.m, self.n = self.dot.shape[-2:]
        if product.turned:
            self.a, self.b = self.b, self.a
            self.a_shape, self.b_shape = _transposed(shapes[1]), _transposed(shapes[0])
            self.m, self.n = self.n, self.m
        self.turned = product.turned

    def problem(self) -> gemm_plan.Problem:
        """What is to be multiplied."""
        shape = self.dot.shape
        rank = len(shape) - 2
        looked = isinstance(self.a, Separable)
        return gemm_plan.Problem(
            m=self.m, n=self.n, k=self.a_shape[-1],
            a_strides=self._strides(self.a), b_strides=self._strides(self.b), c_row=self.n,
            batch=shape[:-2],
            a_batch=_batch(self.a, self.a_shape, rank), b_batch=_batch(self.b, self.b_shape, rank),
            c_batch=strides_of(shape)[:-2],
            a_dtype=self.a.base.dtype, b_dtype=self.b.base.dtype,
            has_epilogue=self.has_epilogue, looked=looked,
        )  # fmt: skip

    def _strides(self, operand: Operand) -> tuple[int, int]:
        if isinstance(operand, Separable):
            return 1, 1
        i, j = operand.strides[-2:]
        return (j, i) if self.turned else (i, j)

    def tables(self) -> dict[str, array[int]]:
        """Places of the rows of A, and of its steps along k, where strides do not tell them."""
        if not isinstance(self.a, Separable):
            return {}
        rows, steps = self.a.rows, self.a.columns
        if self.turned:
            rows, steps = steps, rows
        return {"rows": places_along(*rows), "steps": places_along(*steps)}

    def argument(
        self, name: str, packed: dict[str, str], place: Callable[[object], Place]
    ) -> list[int]:
        """The two words of a buffer: the number of its base address, and bytes from there."""
        if name in ("a", "b"):
            operand = self.a if name == "a" else self.b
            base, offset = place(operand.base)
            return [base, offset + operand.offset * operand.base.dtype.size]
        if name == "scratch":
            return [SCRATCH, 0]
        if name in packed:
            return list(place(packed[name]))
        return [0, 0] if self.has_epilogue else list(place(self.dot))


def job_of(problem: gemm_plan.Problem, target: Target) -> jit.Job:
    """The code that all products of two dtypes share."""
    kinds = problem.a_dtype, problem.b_dtype
    if problem.looked:
        return jit.job(gemm_tasks.looked_text, kinds, gemm_tasks.LOOKED, target, 2, True)
    return jit.job(gemm_tasks.text, kinds, gemm_tasks.SYMBOLS, target, 2, True)


def _transposed(shape: Shape) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2])


def _batch(operand: Operand, shape: Shape, rank: int) -> tuple[int, ...]:
    sizes = shape[:-2]
    own = tuple(0 if n == 1 else s for s, n in zip(operand.strides, sizes, strict=False))
    return (0,) * (rank - len(own)) + own


def places_along(axis: Axis, index: Index) -> array[int]:
    """An index at every point of its axis."""
    found = array("q")
    found.frombytes(np.broadcast_to(_values(index, axis), axis.extent).astype(np.int64).tobytes())
    return found


def _values(index: Index, axis: Axis) -> np.ndarray:
    total = np.full((), index.constant, np.int64)
    for atom, factor in index.terms:
        if atom is axis:
            total = total + np.arange(axis.extent) * factor
            continue
        part = as_quotient(atom)
        inside = _values(part.of, axis)
        whole = inside % part.by if isinstance(part, Remainder) else inside // part.by
        total = total + whole * factor
    return total
