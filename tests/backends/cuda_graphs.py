"""Random graphs on a device, and their gradients: each seed's against the reference."""

from __future__ import annotations

import numpy as np
from triton_host import simplified

from treadle.autograd.backward import gradients
from treadle.backends.registry import backend_of
from treadle.base.device import device
from treadle.base.errors import GradientError
from treadle.base.knobs import override
from treadle.ir.graph import toposort
from treadle.ops.reduce import sum_
from treadle.testing.arrays import by_reference, unit_roundoff, value_of
from treadle.testing.growth import EVERY
from treadle.testing.strategies import graph_of, misses

STEPS = 12
JUMPY = {"max", "min", "maximum", "minimum"}  # gradients jump where values nearly tie


def run_on_device(roots):
    """Values of nodes by the first GPU."""
    backend = backend_of(device("cuda"))
    simple, places, leaves = simplified(roots)
    program = backend.compile(simple, places, {})
    buffers = program.run([backend.upload(value_of(x), x.type, True) for x in leaves])
    return [backend.download(b, r.type) for b, r in zip(buffers, roots, strict=True)]


def run_values(seed):
    """A graph's results; returns what is wrong with them."""
    graph = graph_of(seed, STEPS, EVERY)
    found = run_on_device([root.node for root in graph.roots])
    wrong = [misses(root, x) for root, x in zip(graph.roots, found, strict=True)]
    return [f"{text}\n{graph}" for text in wrong if text]


def run_slopes(seed):
    """The gradients of a graph's results; returns what is wrong with them."""
    graph = graph_of(seed, STEPS, EVERY)
    roots = [sum_(root.node) for root in graph.roots if root.node.dtype.is_float]
    order = toposort(roots)
    if not roots or {node.op.name for node in order} & JUMPY:
        return []
    leaves = [node for node in order if node.op.name == "leaf" and node.dtype.is_float]
    try:
        slopes = [g for g in gradients(roots, leaves, [None] * len(roots)) if g is not None]
    except GradientError:
        return []
    bound = 100 * max([0.0, *(unit_roundoff(n.dtype) for n in toposort(slopes))])
    expected = by_reference(slopes, precise=True)
    wrong = []
    for value, result in zip(expected, run_on_device(slopes), strict=True):
        scale = max(1.0, float(np.abs(value).max(initial=0)))
        off = float(np.abs(result.astype(np.float64) - value).max(initial=0))
        if not off <= bound * scale:
            wrong.append(f"off {off} at {scale}\n{graph}")
    return wrong


def run_unordered(seed):
    """The same, where sums at indices are taken in any order."""
    with override(deterministic=0):
        return run_slopes(seed)
