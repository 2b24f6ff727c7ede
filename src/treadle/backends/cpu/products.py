"""A product step as a problem for the kernels of products, and what their words point at."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container
from dataclasses import replace
from math import prod

import numpy as np

from treadle.backends.cpu import (
    gemm_cuts,
    gemm_depth,
    gemm_problem,
    gemm_tasks,
    jit,
    winograd,
    winograd_plan,
    winograd_slopes,
)
from treadle.base.shapes import strides_of
from treadle.base.target import Target
from treadle.ir.node import Node
from treadle.kernel.choose import ROWS
from treadle.kernel.index import Axis, Index, Remainder, as_quotient
from treadle.kernel.places import Place
from treadle.kernel.steps import ProductStep
from treadle.schedule.clusters import COLUMN

SCRATCH = 1  # number of the base address of what threads need for themselves


class Words:
    """What the words of a product's kernels are made of; still: what stays as it is for long."""

    def __init__(self, product: ProductStep, still: Container[Node] = ()) -> None:
        self.node, self.has_epilogue = product.node, product.epilogue is not None
        self.adds_up = any(parts.along == COLUMN for parts in product.parts)
        self.a, self.b = product.sides()
        self.steady = self.b.operand.base in still
        self.tables = self._tables()

    def plan(self, target: Target) -> tuple[gemm_problem.Problem, gemm_problem.Plan]:
        """What is to be multiplied, and how."""
        problem = self._problem()
        found = winograd_plan.plan(problem, target)
        if found is not None:
            return problem, found
        problem = self._in_one(problem)
        return problem, gemm_depth.plan(problem, target) or gemm_cuts.plan(problem, target)

    def _in_one(self, problem: gemm_problem.Problem) -> gemm_problem.Problem:
        """All rows of all batch items as rows of one: tables give their places anyway."""
        if not self.tables or any(problem.b_batch) or not problem.m * prod(problem.batch):
            return problem
        rows = np.array(self.tables["rows"])
        for extent, stride in zip(problem.batch[::-1], problem.a_batch[::-1], strict=True):
            rows = (np.arange(extent)[:, None] * stride + rows).ravel()
        self.tables["rows"] = _words(rows)
        return replace(problem, m=len(rows), batch=(), a_batch=(), b_batch=(), c_batch=())

    def _problem(self) -> gemm_problem.Problem:
        m, k = self.a.shape[-2:]
        n, shape = self.b.shape[-1], self.node.shape
        rank = len(shape) - 2
        return gemm_problem.Problem(
            m=m, n=n, k=k, a_strides=self.a.strides, b_strides=self.b.strides, c_row=n,
            batch=shape[:-2], a_batch=self.a.batch(rank), b_batch=self.b.batch(rank),
            c_batch=strides_of(shape)[:-2],
            a_dtype=self.a.operand.base.dtype, b_dtype=self.b.operand.base.dtype,
            has_epilogue=self.has_epilogue,
            most_rows=ROWS if self.adds_up else gemm_problem.ANY_ROWS,
            looked=bool(self.tables), steady=self.steady,
            correlation=winograd_plan.correlation(**self.tables) if self.tables else None,
        )  # fmt: skip

    def _tables(self) -> dict[str, array[int]]:
        """Places of the rows of A, and of its steps along k, where strides do not tell them."""
        if self.a.places is None:
            return {}
        rows, steps = self.a.places
        return {"rows": places_along(*rows), "steps": places_along(*steps)}

    def argument(
        self, name: str, packed: dict[str, str], place: Callable[[object], Place]
    ) -> list[int]:
        """The two words of a buffer: the number of its base address, and bytes from there."""
        if name in ("a", "b"):
            operand = (self.a if name == "a" else self.b).operand
            base, offset = place(operand.base)
            return [base, offset + operand.offset * operand.base.dtype.size]
        if name == "scratch":
            return [SCRATCH, 0]
        if name in packed:
            return list(place(packed[name]))
        return [0, 0] if self.has_epilogue else list(place(self.node))


CODE = {
    "plain": (gemm_tasks.text, gemm_tasks.SYMBOLS),
    "looked": (gemm_tasks.looked_text, gemm_tasks.LOOKED),
    "depth": (gemm_depth.text, gemm_depth.SYMBOLS),
    "winograd": (winograd.text, winograd.SYMBOLS),
    "winograd_slopes": (winograd_slopes.text, winograd_slopes.SYMBOLS),
}


def job_of(problem: gemm_problem.Problem, code: str, target: Target) -> jit.Job:
    """The code that all products of two dtypes share."""
    write, symbols = CODE[code]
    return jit.job(write, (problem.a_dtype, problem.b_dtype), symbols, target, 2, True)


def places_along(axis: Axis, index: Index) -> array[int]:
    """An index at every point of its axis."""
    return _words(np.broadcast_to(_values(index, axis), axis.extent))


def _words(values: np.ndarray) -> array[int]:
    found = array("q")
    found.frombytes(values.astype(np.int64).tobytes())
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
