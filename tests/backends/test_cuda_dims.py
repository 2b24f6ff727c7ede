"""Sizes that are not known on CUDA: one plan, compiled once, with other numbers at every call."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("triton")

from fake_driver import as_cuda
from triton_host import INTERPRETED, PROCESSORS, node_of, run_interpreted, simplified

import treadle as td
from treadle.backends.cuda import counted
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.launch import Tensor
from treadle.backends.cuda.orders import ORDERS
from treadle.backends.cuda.program import Plan
from treadle.backends.reference.eval import evaluate
from treadle.base.dtypes import dtype, float16, float32
from treadle.base.sizes import unknown
from treadle.ir.node import apply, placeholder, type_of
from treadle.models import gpt2, llama
from treadle.ops import contract, movement, neural, ordering, scan
from treadle.ops.contract import matrix_product as dot
from treadle.ops.elementwise import cast, exp
from treadle.passes.pipeline import simplify
from treadle.runtime import growing
from treadle.testing.dim_cases import (
    CLOSE,
    EXACT,
    GROWING,
    REFUSED,
    T,
    check,
    grown,
    random,
    served,
)  # fmt: skip
from treadle.testing.samples import public_rows

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
rng = np.random.default_rng(0)


@pytest.fixture
def cuda(monkeypatch):
    with as_cuda(monkeypatch) as fake:
        yield fake


# ---- what users call


@interpreted
@pytest.mark.parametrize("name", [*EXACT, *CLOSE])
def test_one_program_serves_every_size(cuda, name):
    check(name, "cuda")


@interpreted
@pytest.mark.parametrize("name", [name for name in public_rows() if name not in REFUSED])
def test_a_row_along_a_dim_gives_the_numbers_of_the_exact_size(cuda, name):
    count = served(name, "cuda")
    if count is None:
        pytest.skip("its sample has no size to vary")
    assert count


LOOPS = {
    "a scan along it": lambda x: td.scan(lambda c, r: (c + r, c * r), x[0] * 0, x)[1],
    "a scan backwards": lambda x: td.scan(lambda c, r: (c + r, c * r), x[0], x, reverse=True)[1],
    "a scan of columns": lambda x: td.scan(lambda c, r: (c * 0.5 + r, c), x.T[0], x.T)[1],
    "a loop that counts": lambda x: td.fori_loop(0, 5, lambda _, c: c * 0.5 + x, x),
    "a loop with a flag": lambda x: td.while_loop(lambda c: c.sum() < 50, lambda c: c + x * x, x),
    "a branch": lambda x: td.cond(x.sum() > 0, lambda x: x.cumsum(0) @ x.T, lambda x: x @ x.T, x),
    "slopes of a scan": lambda x: td.grad(
        lambda x: td.scan(lambda c, r: (td.tanh(c + r), c), x[0] * 0, x)[1].sum())(x),
    "a matrix for each": lambda x: td.linalg.inv(
        x[:, :4, None] * x[:, None, :4] + 9 * td.eye(4, device=x.device)),
    "systems beside each other": lambda x: td.linalg.solve(
        td.eye(6, device=x.device) * 2 + 1, x.T),
}  # fmt: skip


@interpreted
@pytest.mark.parametrize("name", LOOPS)
def test_loops_and_routines_of_the_host_serve_every_size(cuda, name):
    t = td.Dim("t", min=5, max=40)
    compiled = td.compile(LOOPS[name])
    for n in (7, 40, 5):
        x = random(n, 6, seed=n)
        found = compiled(t.of(td.tensor(x, device="cuda"), 0)).numpy()
        np.testing.assert_allclose(found, LOOPS[name](td.tensor(x)).numpy(), rtol=2e-5, atol=2e-5)
    assert sum(map(len, compiled.entries.values())) == 1


@interpreted
def test_another_size_compiles_nothing_and_changes_the_graph_in_place(cuda):
    w = td.tensor(random(40, 40), device="cuda")

    @td.compile
    def f(x):
        for _ in range(6):  # kernels that have nothing to do with sizes
            x = td.tanh(x @ w)
        return x, (td.softmax(w @ w, axis=0) * 2).cumsum(0)

    def run(n):
        x = random(n, 40, seed=n)
        found, _ = f(T.of(td.tensor(x, device="cuda"), 0))
        wanted = x.astype(np.float64)
        for _ in range(6):
            wanted = np.tanh(wanted @ w.numpy().astype(np.float64))
        np.testing.assert_allclose(found.numpy(), wanted, atol=1e-4)

    for n in (50, 50, 50):
        run(n)
    known, replayed = len(cuda.sources), cuda.replayed
    for n in (60, 60, 3, 600, 50):
        run(n)
    assert len(cuda.sources) == known
    assert cuda.replayed > replayed


@interpreted
def test_a_part_of_a_state_is_written_and_read_by_a_size(cuda):
    state, plain = td.zeros(600, 8, device="cuda"), np.zeros((600, 8), np.float32)

    @td.compile
    def f(x, at, n):
        state[at] = x
        return state[:n].sum(0) / n

    for k in range(3, 40):
        x = random(8, seed=k)
        plain[k] = x
        given = td.tensor(x, device="cuda"), td.tensor(k, device="cuda"), T(k + 1)
        np.testing.assert_allclose(f(*given).numpy(), plain[: k + 1].mean(0), atol=1e-5)
    assert len(f.entries) == 1


def test_a_tensor_map_that_begins_at_a_size_is_fitted(cuda):
    from treadle.backends.cuda.calls import Call
    from treadle.backends.cuda.sized import Sizes

    n = unknown("n", 512, 4096)
    x, w = (placeholder(type_of((rows, 512), float16)) for rows in (8192, 512))
    part = apply(movement.slice_, (x,), ((n - 256, n, 1), (0, 512, 1)))
    (launch,) = Plan(simplify([dot(part, w)], ORDERS), [x, w], {}, 4, architecture=90).launches
    maps = [(0, [64, 64]) for a in launch.arguments if isinstance(a, Tensor)]
    known = {(launch.source, launch.name): ("function", 128, 0, maps)}
    sizes = Sizes()
    call = Call(SimpleNamespace(functions=known), sizes, launch, lambda _: (0, 0))
    assert call.is_sized()
    for rows in (512, 4096, 512):
        call.fit(sizes.at({"n": rows}))
        assert call.maps[0][0].offset == 2 * 512 * (rows - 256)


@interpreted
@pytest.mark.parametrize("name", ["fit", "aim"])
def test_a_run_that_was_interrupted_leaves_no_other_sizes_behind(cuda, monkeypatch, name):
    from treadle.backends.cuda.calls import Call

    @td.compile
    def f(x):
        return x.flip(0).cumsum(0), td.softmax(x.T @ x, axis=0), (x @ x.T).sum(0)

    def run(n):
        x = random(n, 8, seed=n)
        found, wanted = f(T.of(td.tensor(x, device="cuda"), 0)), x[::-1].cumsum(0)
        np.testing.assert_allclose(found[0].numpy(), wanted, atol=1e-4)
        np.testing.assert_allclose(found[2].numpy(), (x @ x.T).sum(0), atol=1e-3)

    for n in (50, 50, 50):
        run(n)
    real, left = getattr(Call, name), [2]

    def interrupted(self, *given):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        real(self, *given)

    monkeypatch.setattr(Call, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(7)
    for n in (50, 7, 50):
        run(n)


@interpreted
def test_threads_run_one_program_at_different_sizes(cuda):
    f = td.compile(lambda x: (x * 2).sum(1) + x.shape[0])
    f(T.of(td.ones(5, 8, device="cuda"), 0))
    wrong = []

    def work(n):
        found = [f(T.of(td.ones(n, 8, device="cuda"), 0)).tolist() for _ in range(8)]
        wrong.extend(x for x in found if x != [16.0 + n] * n)

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 50, 90)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@interpreted
@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "compiled"])
@pytest.mark.parametrize("name", GROWING)
def test_sizes_that_nobody_announced_share_a_program(cuda, monkeypatch, name, lazy):
    monkeypatch.setattr(growing, "_PATTERNS", {})
    for found, wanted in zip(grown(name, "cuda", lazy), grown(name, "cpu"), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)
    generals = [x.general is not None for x in growing._PATTERNS.values()]
    assert any(generals) is (name not in ("squared", "a loop along it"))


@interpreted
def test_no_program_for_many_sizes_works_in_much_of_the_memory(cuda, monkeypatch):
    monkeypatch.setattr(growing, "_PATTERNS", {})
    monkeypatch.setattr(growing, "SHARE", 1 << 60)
    for found, wanted in zip(grown("upper", "cuda"), grown("upper", "cpu"), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)
    on_device = [x for key, x in growing._PATTERNS.items() if key[0].backend == "cuda"]
    assert on_device
    assert not any(x.general for x in on_device)


class Elsewhere(td.nn.Module):
    """A part of a model that lies on the host."""

    def __init__(self, part):
        self.part = part.to("cpu")

    def forward(self, x):
        return self.part(x.to("cpu")).to(x.device)


GPT2 = gpt2.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=2, n_head=2)
WRITERS = {
    "gpt2": lambda: gpt2.GPT2(GPT2),
    "llama": lambda: llama.Llama(llama.LlamaConfig(50, 16, 24, 2, 4, 2)),
}


def compare_texts(name, move):
    """What a small model writes on the device and on the host, its cache read as far as filled."""
    td.manual_seed(0)
    model = WRITERS[name]().eval()
    prompts = [[3, 1, 4], [1, 5], [9, 2, 6, 5]]
    wanted = model.generate(prompts, 6, temperature=0.0, capacity=16)
    assert move(model.to("cuda")).generate(prompts, 6, temperature=0.0, capacity=16) == wanted


@interpreted
@pytest.mark.parametrize("name", WRITERS)
def test_a_text_is_written_with_as_much_of_the_cache_as_is_filled(cuda, name):
    compare_texts(name, lambda model: model)


@interpreted
def test_a_model_that_lies_on_two_devices_writes_without_dims(cuda):
    def move(model):
        block = model.transformer.h[1]
        block.mlp = Elsewhere(block.mlp)
        return model

    compare_texts("gpt2", move)


# ---- every form of kernel


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def rounded(x):
    return cast(x, float16)


def added(x, index, y):
    return contract.scatter_add(x, index.reshape((-1, 1)).expand(y.shape), y, axis=0)


def product(x, y):
    return dot(rounded(x), rounded(y))


def entries(n):
    return [floats(30, 8), rng.integers(0, 30, n), floats(n, 8)]


def summed_shares(x):
    shares = neural.softmax(x, axis=1)
    return (shares * shares).sum(axis=0) / shares.sum(axis=0)


FORMS = {  # operands for a size, what is made of them, and the largest size
    "few long rows": (lambda n: [floats(3, n)], lambda x: x.max(axis=1) + x.sum(axis=1), 60_000),
    "many columns": (lambda n: [floats(n, 300)], lambda x: x.sum(axis=0), 2000),
    "long rows round the programs": (lambda n: [floats(n, 2500)], summed_shares, 300),
    "longer ones, too": (lambda n: [floats(n, 5001)], summed_shares, 200),
    "rows so long that column sums are in memory": (
        lambda n: [floats(n, 8201)], lambda x: neural.softmax(x, axis=1).sum(axis=0), 100),
    "a maximum and sums relative to it": (
        lambda n: [floats(3, n)], lambda x: neural.softmax(x, axis=1), 40_000),
    "rows too long for registers": (
        lambda n: [floats(5, n)], lambda x: exp(x - x.max(axis=1, keepdims=True)), 40_000),
    "a running total in one pass": (
        lambda n: [floats(2, n)], lambda x: scan.cumsum(x, axis=1), 40_000),
    "running totals side by side": (
        lambda n: [floats(n, 70)], lambda x: scan.cumsum(x, axis=0), 1000),
    "a sort by digits": (lambda n: [floats(2, n)], lambda x: ordering.argsort(x, axis=1), 40_000),
    "a sort by a network": (lambda n: [floats(3, n)], lambda x: ordering.argsort(x, axis=1), 300),
    "columns sorted": (lambda n: [floats(n, 9)], lambda x: ordering.argsort(x, axis=0), 9000),
    "a product cut along k": (lambda n: [floats(16, 8 * n), floats(8 * n, 64)], product, 1024),
    "a product of lines": (
        lambda n: [floats(n, 64), floats(64, 256)],
        lambda x, y: cast(product(x, y), float32) * 2, 700),
    "a product in Gluon": (lambda n: [floats(256, 320), floats(320, 16 * n)], product, 60),
    "a deep product in Gluon": (
        lambda n: [floats(128, 64 * n), floats(64 * n, 256)], product, 50),
    "sums at indices": (entries, added, 200),
    "many sums at indices": (entries, added, 5000),
}  # fmt: skip


@pytest.fixture(autouse=True)
def networks(monkeypatch):
    monkeypatch.setattr(counted, "FEW", 0)  # comparisons of all with all: interpreted, no sort does


def general(arrays, size, t):
    """Leaves like arrays, with an unknown where these have a size, or a multiple of it."""

    def extent(n):
        return t * (n // size) if n >= size and n % size == 0 else n

    return [placeholder(type_of(tuple(map(extent, x.shape)), dtype(x.dtype.name))) for x in arrays]


def plan_for(name):
    """The plan of a form for all sizes; where a product is large, few processors have it."""
    make, build, most = FORMS[name]
    leaves = general(make(most), most, unknown("t", 41, most))
    processors = 4 if "Gluon" in name else PROCESSORS
    return Plan(simplify([build(*leaves)], ORDERS), leaves, {}, processors, architecture=90)


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_kernel_takes_a_size_at_run_time(name):
    plan, (make, build, most) = plan_for(name), FORMS[name]
    if not INTERPRETED:
        for launch in plan.launches:
            code_of(launch.source, 90)
        return
    for n in (most, most - 7, 41):
        arrays = make(n)
        (found,) = run_interpreted(plan, arrays, {"t": n})
        exact, places, given = simplified([build(*map(node_of, arrays))])
        known = dict(zip(places, (x.buffer for x in given), strict=True))
        (wanted,) = evaluate(exact, known.__getitem__)
        if np.issubdtype(wanted.dtype, np.integer):
            np.testing.assert_array_equal(found, wanted)
        else:
            top = float(np.abs(wanted).max())
            pair = (x.astype(np.float64) / top for x in (found, wanted))
            coarse = 2**-10 if "product" in name else 1e-5
            np.testing.assert_allclose(*pair, rtol=coarse, atol=coarse)


WORDS = {
    "long rows round the programs": "tl.num_programs",
    "longer ones, too": "tl.num_programs",
    "rows so long that column sums are in memory": "begin > first",
    "a maximum and sums relative to it": "now",
    "a running total in one pass": "waited",
    "a sort by digits": ".version",
    "a sort by a network": "tl.sort",
    "a product cut along k": "piece",
    "a product in Gluon": "@gluon.jit",
    "a deep product in Gluon": "piece = tile",
    "sums at indices": "atomic_min",
    "many sums at indices": "tl.load(order",
}


@pytest.mark.parametrize("name", WORDS)
def test_forms_are_the_ones_they_are_named_after(name):
    if INTERPRETED and "Gluon" in name:
        pytest.skip("Triton's interpreter knows no Gluon")
    assert any(WORDS[name] in launch.source.text for launch in plan_for(name).launches)
