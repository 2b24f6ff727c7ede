"""How an algorithm that is no loop program becomes kernels: who plans it, what they are told.

The plan of a routine is a list of steps, each a symbol of a module, with blocks that threads share.
Its first params words are (base, byte offset) of every operand, of the result and of memory that
only this node needs; then the base of the threads' own memory, and bytes a thread; then numbers.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from treadle.backends.cpu.params import Words
from treadle.backends.cpu.writer import Writer
from treadle.base.target import Target
from treadle.ir.node import Node
from treadle.ops.defs import Op

PLANS = dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"), "scan") | {
    "argsort": "sort", "dft": "fft", "rdft": "fft", "irdft": "fft",
    "cholesky_factor": "linalg.cholesky", "triangular_solve": "linalg.triangular",
    "lu_pack": "linalg.lu", "row_order": "linalg.lu", "qr_pack": "linalg.qr",
    "eigh_pack": "linalg.eigh", "svd_pack": "linalg.svd", "eig_pack": "linalg.eig",
    "exp_series": "linalg.exponential",
}  # fmt: skip
"""An op's name to the module, beside this one, whose `plan(node, target)` gives its Work."""


@dataclass(frozen=True)
class Step:
    """One entry of a program; words are its numbers, and held is memory that some point to."""

    symbol: str
    blocks: int
    words: Sequence[int]
    held: object = None


@dataclass(frozen=True)
class Work:
    """The steps of one routine.

    - **text**: the module with one symbol, from parts, the symbol and the target
    - **temporary_bytes**: memory that steps share; **scratch_bytes**: memory of each thread
    - **size**: operations of a step, if they are not the row's flops for each element
    """

    text: Callable[..., str]
    parts: tuple[object, ...]
    steps: tuple[Step, ...]
    temporary_bytes: int = 0
    scratch_bytes: int = 0
    size: int = 0


Plan = Callable[[Node, Target], Work]


def plan_of(op: Op) -> Plan:
    """Who plans an op."""
    plan: Plan = importlib.import_module(f"treadle.backends.cpu.{PLANS[op.name]}").plan
    return plan


class Params(Words):
    """The params words of a kernel of a routine.

    - **sources**: names of the operands; "out" and "temporary" stand beside them
    - **numbers**: names of a step's words, in order; **used**: those that are loaded
    """

    def __init__(
        self, w: Writer, sources: Sequence[str], numbers: Sequence[str], used: Iterable[str]
    ) -> None:
        slots = {name: 2 * k for k, name in enumerate((*sources, "out", "temporary"))}
        self.after = 2 * len(slots)
        first = self.after + 2
        super().__init__(w, {name: first + k for k, name in enumerate(numbers)}, used, slots)

    def scratch(self) -> str:
        """Memory of this thread."""
        bytes_each = self.w.word("%params", self.after + 1)
        return self.w.gep(self.base(self.after), self.w.mul("%tid", bytes_each))
