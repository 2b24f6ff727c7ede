"""Does a loader give the same batches however they are read, and from where it was left?"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
from collections import namedtuple

import numpy as np
import pytest
from loader_cases import Lines, Squares

import treadle as td
from treadle import data
from treadle.base.device import CPU
from treadle.base.errors import ArgumentError, DtypeError, OperandError, ShapeError
from treadle.data import packing

Pair = namedtuple("Pair", "x y")
METHODS = [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()]


def plain(tree):
    """Tensors as lists."""
    if isinstance(tree, dict):
        return {key: plain(part) for key, part in tree.items()}
    if isinstance(tree, list | tuple):
        return [plain(part) for part in tree]
    return tree.tolist() if isinstance(tree, td.Tensor) else tree


def batches(loader):
    return [plain(batch) for batch in loader]


# ---- the same, whoever reads


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 4},
        {"batch_size": 4, "drop_last": True},
        {"batch_size": 5, "shuffle": True},
        {"batch_size": None},
        {"batch_size": 4, "sampler": [5, 3, 3, 0, 22]},
        {"batch_sampler": [[1], [5, 4, 3], [0, 0]]},
        {"batch_size": 40},
    ],
    ids=str,
)
def test_workers_change_nothing(options):
    found = [
        batches(data.DataLoader(Squares(), generator=5, num_workers=n, **options))
        for n in (0, 1, 2)
    ]
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == len(data.DataLoader(Squares(), **options))


@pytest.mark.parametrize("method", METHODS)
def test_large_batches_go_through_shared_memory(method):
    sets = Squares(12, 40000)  # 160 kB a sample
    options = {"multiprocessing_context": method, "persistent_workers": True, "num_workers": 2}
    loader = data.DataLoader(sets, batch_size=2, **options)
    for _ in range(2):
        kept = list(loader)  # all at once: no memory may be used twice
        assert [int(b["values"][1, -1]) for b in kept] == [1, 9, 25, 49, 81, 121]
        assert all((b["values"][0] == b["values"][0, 0]).all() for b in kept)
    if packing.HAS_MEMORY:
        for _ in range(8):
            for batch in loader:
                del batch  # now memory comes round
        assert sum(len(r._mapped) for r in loader._pool.receivers) <= 12  # of 60 batches


def test_batches_without_shared_memory_are_the_same(monkeypatch):
    monkeypatch.setattr(packing, "HAS_MEMORY", False)
    loader = data.DataLoader(Squares(4, 40000), batch_size=2, num_workers=1)
    assert [int(b["values"][1, -1]) for b in loader] == [1, 9]


def test_spawned_and_forked_workers_agree():
    found = [
        batches(
            data.DataLoader(
                Squares(), 4, True, generator=1, num_workers=2, multiprocessing_context=m
            )
        )
        for m in METHODS
    ]
    assert all(one == found[0] for one in found)


def test_tensors_of_a_data_set_are_taken_by_one_look_up(monkeypatch):
    x = td.tensor(np.arange(30, dtype=np.float32).reshape(10, 3))
    sets = data.TensorDataset(x, np.arange(10))
    monkeypatch.delattr(data.TensorDataset, "__getitem__")  # no sample is read alone
    monkeypatch.delattr(data.Dataset, "__getitem__")
    monkeypatch.setattr(data.Dataset, "__getitem__", None, raising=False)
    found = list(data.DataLoader(sets, 4, shuffle=True, generator=2))
    order = np.concatenate([b[1].numpy() for b in found])
    assert sorted(order.tolist()) == list(range(10))
    np.testing.assert_array_equal(np.concatenate([b[0].numpy() for b in found]), x.numpy()[order])
    halves = data.random_split(sets, [0.5, 0.5], generator=0)
    for b in data.DataLoader(data.Subset(halves[0], [4, 2]), 2):
        assert b[1].tolist() == [halves[0].indices[4], halves[0].indices[2]]


def test_batches_do_not_share_memory_with_the_data_set():
    source = np.zeros((4, 2), np.float32)
    (batch,) = next(iter(data.DataLoader(data.TensorDataset(source), 4)))
    batch[0] = 1.0
    assert float(batch.sum()) == 2.0
    assert source.sum() == 0


# ---- shuffles and random numbers


def test_a_seed_decides_every_epoch():
    def epochs(seed, count=3):
        loader = data.DataLoader(Squares(), 4, True, generator=seed)
        return [batches(loader) for _ in range(count)]

    assert epochs(1) == epochs(1)
    assert epochs(1)[0] != epochs(1)[1]
    assert epochs(1)[0] != epochs(2)[0]
    assert epochs(np.random.default_rng(3)) == epochs(np.random.default_rng(3))


def test_without_a_generator_the_global_seed_decides():
    def found():
        td.manual_seed(11)
        return batches(data.DataLoader(Squares(), 4, True, num_workers=1))

    first = found()
    assert first == found()
    assert first != batches(data.DataLoader(Squares(), 4, True))


def test_samples_have_numbers_of_their_own():
    loader = data.DataLoader(Squares(50), 7, generator=0, num_workers=2)
    drawn = [tuple(row) for batch in batches(loader) for row in batch["drawn"]]
    again = [tuple(row) for batch in batches(loader) for row in batch["drawn"]]
    assert len(set(drawn + again)) == 100


# ---- resuming


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("given", [0, 1, 3, 6])
@pytest.mark.parametrize("generator", [7, None])
def test_an_epoch_goes_on_with_the_next_batch(before, after, given, generator):
    def loader(workers):
        return data.DataLoader(Squares(), 4, True, num_workers=workers, generator=generator)

    td.manual_seed(3)
    first = loader(before)
    batches(first)  # an epoch that is over
    running = iter(first)
    for _ in range(given):
        next(running)
    state = json.loads(json.dumps(first.state_dict()))
    wanted = [plain(batch) for batch in running] + [batches(first) if generator else []]
    other = loader(after)
    other.load_state_dict(state)
    assert other.state_dict() == state
    found = batches(other)
    assert [*found, batches(other) if generator else []] == wanted
    assert len(found) == 6 - given


def test_a_finished_epoch_is_not_gone_through_again():
    first = data.DataLoader(Squares(), 4, True, generator=7)
    batches(first)
    state = first.state_dict()
    wanted = batches(first)
    second = data.DataLoader(Squares(), 4, True, generator=7)
    second.load_state_dict(state)
    assert batches(second) == wanted


def test_numpy_generators_go_on_too():
    first = data.DataLoader(Squares(), 4, True, generator=np.random.default_rng(0))
    running = iter(first)
    next(running)
    state = json.loads(json.dumps(first.state_dict()))
    wanted = [plain(b) for b in running], batches(first)
    second = data.DataLoader(Squares(), 4, True, generator=np.random.default_rng(99))
    second.load_state_dict(state)
    assert (batches(second), batches(second)) == wanted


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("given", [0, 2, 5])
def test_an_iterable_epoch_goes_on_with_the_next_batch(workers, given):
    def loader():
        return data.DataLoader(Lines(), 2, num_workers=workers, generator=1)

    first = loader()
    running = iter(first)
    taken = [plain(next(running)) for _ in range(given)]
    state = json.loads(json.dumps(first.state_dict()))
    wanted = [plain(b) for b in running]
    second = loader()
    second.load_state_dict(state)
    assert batches(second) == wanted
    assert sorted(n for b in taken + wanted for n in b[0]) == list(range(23))


def test_states_that_are_none_are_refused():
    loader = data.DataLoader(Squares(), 4)
    with pytest.raises(ArgumentError, match=r"not a loader's state.*missing"):
        loader.load_state_dict({"epoch": 1})
    first = data.DataLoader(Lines(), 4, num_workers=2)
    iter(first)
    with pytest.raises(ArgumentError, match="as many workers"):
        data.DataLoader(Lines(), 4).load_state_dict(first.state_dict())


# ---- iterable data sets


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("drop_last", [False, True])
def test_iterable_data_sets_are_shared_out(workers, drop_last):
    loader = data.DataLoader(Lines(), 4, num_workers=workers, drop_last=drop_last)
    numbers = [n for batch in batches(loader) for n in batch[0]]
    assert len(set(numbers)) == len(numbers)
    assert len(numbers) == (23 if not drop_last else {0: 20, 1: 20, 2: 12 + 8}[workers])
    if workers < 2:
        assert numbers == list(range(len(numbers)))


def test_chains_and_lengths_of_iterables():
    chained = Lines(3) + Lines(2)
    assert [int(b[0][0]) for b in data.DataLoader(chained)] == [0, 1, 2, 0, 1]
    assert [b[0] for b in data.DataLoader(Lines(3), batch_size=None)] == [0, 1, 2]
    with pytest.raises(TypeError):
        len(data.DataLoader(Lines(3)))


# ---- collate


def test_trees_become_batches_of_trees():
    samples = [
        {"n": i, "f": i / 2, "b": bool(i), "s": str(i), "p": Pair(np.ones(2) * i, (i, [b"x"]))}
        for i in range(2)
    ]
    found = data.default_collate(samples)
    assert {key: found[key].dtype for key in "nfb"} == {
        "n": td.int64, "f": td.float64, "b": td.bool,
    }  # fmt: skip
    assert found["s"] == ["0", "1"]
    assert isinstance(found["p"], Pair)
    assert found["p"].x.tolist() == [[0, 0], [1, 1]]
    assert found["p"].y[0].tolist() == [0, 1]
    assert found["p"].y[1] == [[b"x", b"x"]]


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int64", "float16", "float32", "float64", "bfloat16"]
)
@pytest.mark.parametrize("workers", [0, 1])
def test_dtypes_are_kept(dtype, workers):
    kind = getattr(td, dtype)
    samples = [td.tensor([i, 1], dtype=kind) for i in range(3)]
    arrays = [x.numpy() for x in samples]
    for source in (samples, arrays):
        (batch,) = data.DataLoader(source, 3, num_workers=workers)
        assert batch.dtype is kind
        assert batch.cast(td.float32).tolist() == td.stack(samples).cast(td.float32).tolist()


@pytest.mark.parametrize(
    ("samples", "error", "said"),
    [
        ([np.zeros(2), np.zeros(3)], ShapeError, r"differ in shape.*\(2,\), \(3,\)"),
        ([(1, 2), (1,)], ShapeError, "differ in length"),
        ([{"a": 1}, {"b": 1}], OperandError, "keys.*'a', 'b'"),
        ([None, None], OperandError, "NoneType"),
        ([1, "a"], OperandError, "int.*str"),
        ([np.array(["a"])], DtypeError, "<U1"),
        ([np.array([1j], np.clongdouble)], DtypeError, "complex256"),
        ([], OperandError, "no samples"),
    ],
)
def test_samples_that_make_no_batch_are_refused(samples, error, said):
    with pytest.raises(error, match=said):
        data.default_collate(samples)


def test_a_collate_function_gives_what_it_likes():
    def arrays(samples):
        return np.stack([s["values"] for s in samples]), {"n": len(samples)}

    def tensors(samples):
        return td.tensor([s["index"] for s in samples])

    for workers in (0, 1):
        loader = data.DataLoader(Squares(), 4, collate_fn=arrays, num_workers=workers)
        first, facts = next(iter(loader))
        assert isinstance(first, np.ndarray)
        assert facts == {"n": 4}
        loader = data.DataLoader(Squares(), 4, collate_fn=tensors, num_workers=workers)
        assert next(iter(loader)).tolist() == [0, 1, 2, 3]


def test_getitems_gives_a_batch_at_once():
    class Fetched(Squares):
        def __getitems__(self, indices):
            return [index * 10 for index in indices]

    assert batches(data.DataLoader(Fetched(5), 2)) == [[0, 10], [20, 30], [40]]


# ---- devices


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_come_on_a_device(workers):
    loader = data.DataLoader(
        Squares(), 4, True, generator=0, num_workers=workers, device="reference"
    )
    wanted = batches(data.DataLoader(Squares(), 4, True, generator=0))
    found = list(loader)
    assert {x.device.backend for batch in found for x in batch.values()} == {"reference"}
    assert [plain(batch) for batch in found] == wanted
    running = iter(loader)
    next(running)
    state = loader.state_dict()  # what was read ahead does not count
    assert state["batches"] == 1
    del running
    assert next(iter(data.DataLoader(Squares(), device="cpu")))["index"].device is CPU


# ---- arguments


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 1.5}, "batch_size"),
        ({"num_workers": -1}, "num_workers"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": 1}, "timeout is for worker"),
        ({"prefetch_factor": 2}, "prefetch_factor is for worker"),
        ({"num_workers": 1, "prefetch_factor": 0}, "1 or more"),
        ({"persistent_workers": True}, "persistent_workers is for worker"),
        ({"shuffle": True, "sampler": [1]}, "both"),
        ({"batch_sampler": [[1]], "drop_last": True}, "batch_sampler"),
        ({"batch_sampler": [[1]], "batch_size": 2}, "batch_sampler"),
        ({"batch_size": None, "drop_last": True}, "drop_last"),
        ({"num_workers": 1, "multiprocessing_context": "clone"}, "fork"),
        ({"generator": "seven"}, "generator"),
        ({"generator": -1}, "negative"),
    ],
    ids=str,
)
def test_arguments_that_cannot_be_right(options, said):
    with pytest.raises(ArgumentError, match=said):
        data.DataLoader(Squares(), **options)


def test_iterables_have_their_own_order_and_others_an_index():
    with pytest.raises(ArgumentError, match="own order"):
        data.DataLoader(Lines(), shuffle=True)
    with pytest.raises(ArgumentError, match="no index"):
        data.DataLoader(iter([1, 2]))


def test_tensors_of_a_device_are_not_for_workers():
    sets = data.TensorDataset(td.ones((4, 2), device="reference"))
    with pytest.raises(ArgumentError, match="device=reference"):
        data.DataLoader(sets, num_workers=1)
    (first,) = next(iter(data.DataLoader(sets, 2, True, generator=0)))
    assert first.device.backend == "reference"
    assert first.tolist() == [[1, 1], [1, 1]]


def test_loaders_say_what_they_are():
    loader = data.DataLoader(data.TensorDataset(np.zeros((3, 2))), 2, True, num_workers=1)
    assert repr(loader) == "DataLoader(TensorDataset, batch_size=2, shuffle=True, num_workers=1)"
    assert repr(loader.dataset) == "TensorDataset(float64[3, 2])"


def test_two_loops_over_one_loader():
    loader = data.DataLoader(Squares(6), 2)
    pairs = [(int(a["index"][0]), int(b["index"][0])) for a, b in itertools.product(loader, loader)]
    assert len(pairs) == 9
    assert os.getpid()


def test_training_on_a_loader_compiles():
    x = np.random.default_rng(0).standard_normal((64, 3)).astype(np.float32)
    sets = data.TensorDataset(x, x @ np.array([[1.0], [2.0], [3.0]], np.float32))
    weight = td.zeros((3, 1))

    @td.compile
    def step(x, y):
        slope = td.grad(lambda w: ((x @ w - y) ** 2).mean())(weight)
        weight.assign(weight - 0.2 * slope)

    for _ in range(20):
        for batch in data.DataLoader(sets, 16, True, num_workers=1, generator=0):
            step(*batch)
    np.testing.assert_allclose(weight.numpy()[:, 0], [1, 2, 3], atol=1e-2)
