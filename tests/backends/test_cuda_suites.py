"""On a device: loops, random graphs, and what a long run must keep: its memory and its bits."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context

import numpy as np
import pytest

pytest.importorskip("triton")
pytest.importorskip("cuda.bindings")
pytest.importorskip("hypothesis")

from cuda_graphs import run_slopes, run_unordered, run_values
from device_pool import begun
from test_cuda_dims import WRITERS, compare_texts
from test_cuda_loops import LOOPS, roots_of
from test_cuda_stepped import CROSSING, compare_with_the_host
from triton_host import INTERPRETED, check_on

import treadle as td
from treadle.backends.cuda import nest
from treadle.backends.registry import backend_of
from treadle.base.device import device
from treadle.base.trees import flatten
from treadle.testing.dim_cases import CLOSE, EXACT, GROWING, REFUSED, check, grown, served
from treadle.testing.samples import public_rows
from treadle.transforms import settling

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(INTERPRETED, reason="kernels are compiled here"),
    pytest.mark.skipif(not td.cuda.is_available(), reason="no CUDA device"),
]
GRAPHS = 240
rng = np.random.default_rng(0)


@pytest.fixture(scope="module")
def pool():
    """Most of the work is compiling: many processes share it."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as made:
        yield made


@pytest.mark.parametrize("work", [run_values, run_slopes, run_unordered])
def test_random_graphs_give_the_reference_value(pool, work):
    wrong = [text for found in pool.map(work, range(GRAPHS), chunksize=4) for text in found]
    assert not wrong, "\n\n".join(wrong[:3])


def check_loop(name, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nest, "MOST", most)
        check_on(backend_of(device("cuda")), roots_of(name), 1e-5)


def check_compiled_loop(name):
    """The same at every call."""
    function, *shapes = LOOPS[name]
    made = td.compile(function)
    for _ in range(3):
        arrays = [(rng.standard_normal(shape) * 0.5).astype(np.float32) for shape in shapes]
        found, wanted = [], []
        flatten(made(*(td.tensor(x, device="cuda") for x in arrays)), td.Tensor, found)
        flatten(function(*map(td.tensor, arrays)), td.Tensor, wanted)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-5, atol=2e-5)


def check_loop_over_devices(function, most, compiled):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settling, "MOST", most)
        compare_with_the_host(function, compiled)


@pytest.fixture(scope="module")
def outcomes(request):
    """The work of all chosen cases."""
    work = {
        "test_a_loop_on_the_device": check_loop,
        "test_a_compiled_loop": check_compiled_loop,
        "test_a_loop_over_devices": check_loop_over_devices,
        "test_lines_are_sorted_and_added_up": check_lines,
        "test_many_entries_are_added_up_in_order": check_entries,
    }
    with begun(request, work) as found:
        yield found


@pytest.mark.parametrize("most", [nest.MOST, 0], ids=["flat", "walked"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_on_the_device(outcomes, request, name, most):
    outcomes[request.node.nodeid].result()


@pytest.mark.parametrize("name", LOOPS)
def test_a_compiled_loop(outcomes, request, name):
    outcomes[request.node.nodeid].result()


@pytest.mark.parametrize("compiled", [False, True], ids=["as it is", "compiled"])
@pytest.mark.parametrize("most", [settling.MOST, 0], ids=["at once", "step by step"])
@pytest.mark.parametrize("function", CROSSING)
def test_a_loop_over_devices(outcomes, request, function, most, compiled):
    outcomes[request.node.nodeid].result()


def trained(steps):
    """A small network after some steps with dropout, and the memory held every hundred steps."""
    td.manual_seed(3)
    model = td.nn.Sequential(
        td.nn.Linear(40, 64), td.nn.GELU(), td.nn.Dropout(0.2), td.nn.LayerNorm(64),
        td.nn.Linear(64, 5),
    ).to("cuda")  # fmt: skip
    optimizer = td.optim.AdamW(model.parameters(), lr=1e-3)

    @td.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = td.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    make = np.random.default_rng(5)
    kept, held = [], []
    for turn in range(steps):
        x = td.tensor(make.standard_normal((32, 40)).astype(np.float32), device="cuda")
        loss = step(x, td.tensor(make.integers(0, 5, 32), device="cuda"))
        kept = [*kept[-9:], loss]
        if turn % 100 == 99:
            held.append(td.cuda.memory_stats()["mapped"])
    return [x.numpy() for x in (*model.state_dict().values(), *kept)], held


def test_two_runs_with_one_seed_have_the_same_bits():
    for a, b in zip(trained(30)[0], trained(30)[0], strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_long_run_holds_its_memory():
    _, held = trained(10_000)
    assert held[-1] == held[1], held


def check_entries(rows, places, width):
    index = rng.integers(0, places, rows)
    values = rng.standard_normal((rows, width)).astype(np.float32)
    wanted = np.zeros((places, width))
    np.add.at(wanted, index, values)
    given = [td.zeros(places, width, device="cuda")]
    given += [td.tensor(x).to("cuda") for x in (index, values)]

    def added():
        return given[0].index_add(0, given[1], given[2]).cpu().numpy()

    first, again = added(), added()
    assert np.array_equal(first, again)
    assert np.abs(first - wanted).max() < 1e-4 * np.abs(wanted).max()
    with td.override(deterministic=0):
        assert np.abs(added() - wanted).max() < 1e-4 * np.abs(wanted).max()


@pytest.mark.parametrize(
    ("rows", "places", "width"),
    [(200_000, 20_000, 64), (65_536, 16, 256), (200_000, 1_000, 1), (1_500_000, 300, 1)],
)
def test_many_entries_are_added_up_in_order(outcomes, request, rows, places, width):
    outcomes[request.node.nodeid].result()


def check_lines(shape, kind):
    values = td.tensor(rng.standard_normal(shape) * 50).cast(kind)
    there = values.to("cuda")
    for f in (td.sort, td.argsort, lambda x: td.topk(x, 3)[0]):
        np.testing.assert_array_equal(f(there).numpy(), f(values).numpy())
    whole = values.cast("int64")  # sums of which are the same in any order
    for axis in (0, 1):
        found, wanted = (td.cumsum(x, axis=axis).numpy() for x in (whole.to("cuda"), whole))
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("shape", [(3, 100_000), (1, 1_500_000), (70_000, 5), (500, 700)])
@pytest.mark.parametrize("kind", ["float32", "bfloat16", "int64", "uint8"])
def test_lines_are_sorted_and_added_up(outcomes, request, shape, kind):
    outcomes[request.node.nodeid].result()


def test_small_products_of_many_sizes():
    sizes = [(32, 48, 64), (64, 64, 64), (16, 96, 32), (48, 32, 80), (96, 16, 16), (40, 24, 72)]
    pairs = [(td.randn(m, k), td.randn(k, n)) for m, k, n in sizes]
    products = [x.to("cuda") @ y.to("cuda") for x, y in pairs]
    td.realize(*products)
    for (x, y), found in zip(pairs, products, strict=True):
        np.testing.assert_allclose(found.numpy(), (x @ y).numpy(), rtol=1e-4, atol=1e-4)


def test_more_columns_than_narrow_tiles_of_a_grid():
    rows = td.arange(70, device="cuda").cast(td.float32).reshape((70, 1)).realize()
    columns = (td.arange(128 * 65537, device="cuda") % 5).cast(td.float32).realize()
    found = (rows * columns).sum(axis=0)
    np.testing.assert_array_equal(found.numpy(), 2415 * columns.numpy())


def test_one_program_serves_every_size(pool):
    assert not any(pool.map(check, [*EXACT, *CLOSE], repeat("cuda")))


def test_sizes_that_nobody_announced(pool):
    both = [pool.map(grown, GROWING, repeat(device)) for device in ("cuda", "cpu")]
    for pairs in zip(*both, strict=True):
        for found, wanted in zip(*pairs, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)


def test_rows_along_a_dim_give_the_numbers_of_the_exact_size(pool):
    rows = [name for name in public_rows() if name not in REFUSED]
    found = pool.map(served, rows, repeat("cuda"), chunksize=4)
    assert not [row for row, count in zip(rows, found, strict=True) if count == 0]


@pytest.mark.parametrize("name", WRITERS)
def test_a_text_is_written_with_as_much_of_the_cache_as_is_filled(name):
    compare_texts(name, lambda model: model)
