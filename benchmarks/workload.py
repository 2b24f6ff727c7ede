"""What a row of the table is: inputs, float64 reference, cost and the bars Treadle must meet."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

PEERS = ("torch", "torch.compile", "jax.jit")
ONNX = "onnxruntime"  # inference alone: a peer only where a bar names it
LAZY, COMPILED = "treadle", "treadle.compile"


@dataclass(frozen=True)
class Bar:
    """The most time a column of ours may take, as a share of the best of some peers."""

    column: str
    ratio: float
    against: tuple[str, ...] = PEERS


@dataclass(frozen=True)
class Workload:
    """A row of the table. Bytes and flops are the least any program must move and do."""

    name: str
    inputs: Callable[[Any], tuple[Any, ...]]
    reference: Callable[..., Any]
    bytes: float = 0.0
    flops: float = 0.0
    tolerance: float = 2e-4
    trains: bool = False
    drift: float = 1e-3  # between the losses of two frameworks after some steps
    bars: tuple[Bar, ...] = ()
    also: tuple[str, ...] = ()  # rows whose peers do this work too: the best of them all counts

    def make_inputs(self) -> tuple[Any, ...]:
        """The same arrays in every process."""
        return self.inputs(np.random.default_rng(zlib.crc32(self.name.encode())))

    def compute_reference(self) -> list[Any]:
        """The right answer in float64; for training, the loss before the first step."""
        inputs = [_widen(value) for value in self.make_inputs()]
        with np.errstate(all="ignore"):
            outputs = self.reference(*inputs)
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        return [np.asarray(output, wide_of(output)) for output in several]


def wide_of(array: Any) -> Any:
    """The dtype in which results are compared."""
    return np.complex128 if np.iscomplexobj(array) else np.float64


def _widen(value: Any) -> Any:
    is_float = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return value.astype(np.float64) if is_float else value


def bars(compiled: float, lazy: float | None = None) -> tuple[Bar, ...]:
    """Against the best of all peers."""
    found = (Bar(COMPILED, compiled),)
    return found if lazy is None else (Bar(LAZY, lazy), *found)
