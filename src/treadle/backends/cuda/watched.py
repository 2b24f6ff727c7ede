"""A program that is run piece by piece while somebody looks at its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.cuda.execute import Program
from treadle.backends.cuda.recorded import Alone
from treadle.backends.watching import Walk, pieces_of
from treadle.base.knobs import MEANING
from treadle.ir.node import Node


def watch(program: Program, walk: Walk) -> None:
    """Let a walk see every piece of a program, from its next run on."""
    plan, gpu, known = program.plan, program.gpu, ref(program)
    calls = program.calls
    pieces = pieces_of(plan.steps, plan.found.__getitem__)

    def start(bases: Sequence[int]) -> None:
        running = known()
        alone = Alone(running) if MEANING.profiled and running is not None else None

        def read(node: Node) -> Any:
            base, offset = plan.found[node]
            array = np.empty(node.shape, numpy_dtype(node.dtype))
            gpu.read(array.ctypes.data, bases[base] + offset, node.type.nbytes)
            return array

        def run(number: int) -> None:
            for entry, call in enumerate(calls):
                if call.step == number:
                    call.aim(bases)
                    call.start() if alone is None else alone.start(entry)

        try:
            if not pieces:  # copies alone
                run(0)
            for piece in pieces:
                with walk.around(piece, read):
                    run(piece.number)
        finally:
            if alone is not None:
                alone.end()

    program.clock = start
