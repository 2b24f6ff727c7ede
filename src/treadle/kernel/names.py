"""Names of kernels that say what they are: `softmax_f32`, `linear_gelu_bf16`."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.ir.recording import BACKWARD
from treadle.ir.sites import Site
from treadle.kernel.cost import KernelRow, shares_of
from treadle.kernel.steps import Step

MOST = 3  # ops in a name
Shares = Sequence[tuple[Site, str, float]]


def kernel_name(shares: Shares, kind: str, dtype: str, form: str = "") -> str:
    """A name for a kernel of shares: what takes most of its time, in the order of computation."""
    weight: dict[str, float] = {}
    back: dict[str, float] = {}
    for site, op, share in shares:
        weight[op] = weight.get(op, 0.0) + share
        back[op] = back.get(op, 0.0) + share * (site.phase == BACKWARD)
    largest = sorted(weight, key=lambda op: -weight[op])[:MOST]
    words = [op for op in weight if op in largest] or [kind]
    if sum(back.values()) > 0.5:
        words.append("grad")
    return "_".join(filter(None, (*words, dtype, form)))


def name_of(row: KernelRow, form: str = "") -> str:
    """The name of a kernel, from its row."""
    dtype = row.outputs[0].partition("[")[0] if row.outputs else ""
    return kernel_name(row.shares, row.kind, dtype, form)


def name_of_step(step: Step, caller: Sequence[str | None], form: str = "") -> str:
    """The same from a step, of which nothing else is wanted."""
    dtype = step.writes[0].dtype.short if step.writes else ""
    return kernel_name(shares_of(step, caller), step.cluster.kind, dtype, form)
