"""From graphs to results: caches, threads, processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import jit
from treadle.backends.cpu.threads import Pool
from treadle.base import knobs
from treadle.ir.graph import structure
from treadle.runtime import realize as runtime
from treadle.runtime.realize import compile_graph

SRC = Path(td.__file__).parent.parent
rng = np.random.default_rng(0)


@pytest.fixture
def compilations(monkeypatch):
    """The modules compiled while a test runs."""
    made = []
    original = jit.compile_object

    def counted(*args, **options):
        made.append(args[0])
        return original(*args, **options)

    monkeypatch.setattr(jit, "compile_object", counted)
    return made


@pytest.fixture
def fresh(monkeypatch):
    """A process that has compiled nothing yet, as far as programs and kernels go."""
    monkeypatch.setattr(runtime, "_PROGRAMS", {})
    monkeypatch.setattr(runtime, "_SINGLE", {})
    monkeypatch.setattr(jit, "_loaded", {})


def random(*shape):
    return td.tensor(rng.standard_normal(shape).astype(np.float32))


# ---- compiling


def test_reading_an_element_of_a_realised_tensor_compiles_nothing(compilations):
    x = random(7, 9).realize()
    assert float(x[3, 4]) == x.numpy()[3, 4]
    assert x[2].tolist() == x.numpy()[2].tolist()
    assert x.T[::-1, 1].tolist() == x.numpy().T[::-1, 1].tolist()
    assert compilations == []


def test_another_shape_of_the_same_small_graph_compiles_nothing(compilations):
    def value(rows, columns):
        x = random(rows, columns)
        return td.softmax(x * 2.0 + 1.0).realize()

    value(5, 9)
    del compilations[:]
    value(6, 11)
    value(3, 13)
    assert compilations == []


def test_a_new_structure_is_compiled(compilations, fresh):
    with knobs.override(cache_dir="off"):
        (td.exp(random(5)) * 3.0 - 1.25).realize()
    assert compilations


def test_the_same_structure_is_planned_once(fresh):
    for _ in range(3):
        (random(4, 5) * 2.0 + random(5)).realize()
    assert len(runtime._PROGRAMS) == 1


def test_one_op_on_values_in_memory_is_planned_once_too(fresh):
    for _ in range(3):
        (random(4, 5) + random(5)).realize()
    assert len(runtime._PROGRAMS) + len(runtime._SINGLE) == 1


def test_realising_a_number_leaves_equal_constants_constant():
    td.full((), 7.25).realize()
    assert len(structure([(random(3) * 7.25)._node])[1]) == 1


PROGRAM = """
import numpy as np, treadle as td
from treadle.backends.cpu import jit
count, original = [], jit.compile_object
jit.compile_object = lambda *a, **o: (count.append(1), original(*a, **o))[1]
x = td.tensor(np.linspace(-1, 1, 6 * 33, dtype=np.float32).reshape(6, 33))
y = td.softmax(x) @ td.tensor(np.ones((33, 4), np.float32))
value = float(td.tanh(y).sum())
print(len(count), value)
"""


def run_in_new_process(folder):
    environment = {**os.environ, "TREADLE_CACHE_DIR": str(folder), "PYTHONPATH": str(SRC)}
    command = [sys.executable, "-c", PROGRAM]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    count, value = result.stdout.split()
    return int(count), float(value)


def test_a_second_process_compiles_nothing(tmp_path):
    first, value = run_in_new_process(tmp_path)
    assert first > 0
    assert run_in_new_process(tmp_path) == (0, value)


@pytest.mark.parametrize("damage", [b"", b"not an object", None])
def test_damaged_cache_files_are_ignored(tmp_path, damage):
    count, value = run_in_new_process(tmp_path)
    for path in (p for p in tmp_path.rglob("*") if p.is_file()):
        path.write_bytes(path.read_bytes()[:-9] if damage is None else damage)
    assert run_in_new_process(tmp_path) == (count, value)
    assert run_in_new_process(tmp_path) == (0, value)


# ---- threads


def large_graphs():
    x, w = random(300, 400), random(400, 64)
    flat = random(200_003)
    return {
        "chain": [td.exp(x * 0.5) + x],
        "softmax": [td.softmax(x), td.softmax(x, axis=0)],
        "sums": [flat.sum(), flat.max(), (flat * flat).sum()],
        "columns": [x.sum(0), x.sum(1), x.sum()],
        "narrow": [x.reshape(3000, 40).sum(), (w * w).sum(), w.max()],
        "product": [td.gelu(x @ w)],
        "transposed": [x.T @ x, x.T + 0.0],
        "layer norm": [td.layer_norm(x)],
        "losses": [td.logsumexp(x, axis=1), td.mean(x * x)],
    }


@pytest.mark.parametrize("name", large_graphs())
def test_results_are_bit_identical_for_any_number_of_threads(name):
    nodes = [t._node for t in large_graphs()[name]]
    leaves = structure(nodes)[1]
    program = compile_graph(nodes, leaves, {})
    results = []
    for threads in (1, 2, 3, 8):
        program.pool = Pool.get(threads)
        buffers = program.run([leaf.buffer for leaf in leaves])
        results.append([bytes(buffer.view()) for buffer in buffers])
    assert all(result == results[0] for result in results)


def test_python_threads_that_realise_the_same_structure_get_their_own_values(fresh):
    inputs = [rng.standard_normal((40, 50)).astype(np.float32) for _ in range(8)]
    results = [None] * len(inputs)

    def work(k):
        for _ in range(20):
            x = td.tensor(inputs[k])
            results[k] = (td.softmax(x) * x).sum(1).numpy().copy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x, result in zip(inputs, results, strict=True):
        e = np.exp(x - x.max(1, keepdims=True))
        np.testing.assert_allclose(result, (e / e.sum(1, keepdims=True) * x).sum(1), atol=1e-5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_computes():
    x = random(300, 400)
    expected = float((x * x).sum())  # the pool is running by now
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = float((x * x).sum())
            new = float((td.sigmoid(x) + x).sum())  # compiles in the child
            os.write(writing, f"{found} {new}".encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    found, new = map(float, os.read(reading, 100).split())
    assert found == expected
    assert new == float((td.sigmoid(x) + x).sum())


# ---- values


def test_several_roots_are_computed_together(fresh):
    x = random(5, 6)
    a, b = td.exp(x), td.exp(x) + 1.0
    td.realize(a, b, x, a)
    assert len(runtime._PROGRAMS) == 1
    np.testing.assert_allclose(b.numpy(), a.numpy() + 1.0)


def test_a_realised_value_is_a_leaf_of_later_graphs(fresh):
    x = random(5)
    y = td.exp(x).realize()
    z = (y + 1.0).realize()
    assert structure([(y + 1.0)._node])[1] == [y._node]
    np.testing.assert_allclose(z.numpy(), np.exp(x.numpy()) + 1.0, rtol=1e-6)


def test_results_agree_with_the_reference_device():
    array = rng.standard_normal((6, 7)).astype(np.float32)
    here, there = td.tensor(array), td.tensor(array, device="reference")
    for function in (td.softmax, td.gelu, lambda t: t @ t.T, lambda t: t[1:, ::2].sum(0)):
        np.testing.assert_allclose(function(here).numpy(), function(there).numpy(), atol=2e-6)


def test_a_very_long_chain_is_computed():
    x = td.tensor([1.0])
    for _ in range(3000):
        x = x + 1.0
    assert float(x) == 3001.0


def test_what_somebody_holds_is_computed_once():
    x = td.tensor(np.arange(4096.0).reshape(64, 64) % 7)
    h = x @ x.T
    view = (h * 2.0).T
    total = (view + 1.0).sum()
    assert total.item() == ((x.numpy() @ x.numpy().T * 2.0).T + 1.0).sum()
    assert h._node.buffer is not None  # held by a name
    assert view._node.operands[0].buffer is not None  # what a view shows, not the view
    np.testing.assert_array_equal(h.numpy(), x.numpy() @ x.numpy().T)


def test_what_nobody_holds_is_not_kept():
    x = td.tensor(np.arange(100_000.0))
    y = td.sin(x * 2.0) + 1.0
    inner = y._node.operands[0]
    del x
    held = []
    structure([y._node], held)
    assert held == [inner]  # by a name of this test
    del inner
    held = []
    structure([y._node], held)
    assert held == []


def test_a_loop_that_looks_at_every_step_stays_the_same_work():
    w, known = td.ones(64).realize(), []
    for _ in range(60):
        w = w * 0.99 + 0.01
        w.sum().item()
        known.append(len(runtime.programs()))
    assert known[-1] == known[30]  # a few ops are computed again, but never more than a few


def test_a_functional_training_loop_forgets_its_past():
    x = td.tensor(np.random.default_rng(0).standard_normal((20, 10)))
    w = td.tensor(np.ones((10, 5)))
    step = td.value_and_grad(lambda w, x: ((x @ w) * (x @ w)).mean())
    first = None
    for _ in range(5):
        loss, slope = step(w, x)
        loss.item()
        w = w - slope * 0.1
        first = weakref.ref(slope._node) if first is None else first
        assert not w.requires_grad
    w.realize()
    del slope, loss
    assert first() is None
