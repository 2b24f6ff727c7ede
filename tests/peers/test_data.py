"""Are data sets read as PyTorch reads them: batches, orders without chance, sizes of images?"""

from __future__ import annotations

import importlib
import itertools
from collections import namedtuple

import numpy as np
import pytest

import treadle as td
from treadle import data as ours
from treadle.data import transforms as T

torch = pytest.importorskip("torch")
theirs = importlib.import_module("torch.utils.data")
pytestmark = pytest.mark.filterwarnings("ignore:Length of split")
Pair = namedtuple("Pair", "x y")


def plain(tree):
    """A tree with (dtype, values) for tensors."""
    if isinstance(tree, torch.Tensor | td.Tensor):
        return str(tree.dtype).rpartition(".")[2], tree.tolist()
    if isinstance(tree, dict):
        return {key: plain(part) for key, part in tree.items()}
    if hasattr(tree, "_fields"):
        return ("named", *map(plain, tree))
    if isinstance(tree, list | tuple):
        return list(map(plain, tree))  # theirs is now one, now the other
    return tree


SAMPLES = {
    "ints": [1, 2, 3],
    "floats": [1.5, 2.5],
    "bools": [True, False],
    "texts": ["a", "b"],
    "bytes": [b"a", b"b"],
    "arrays": [np.zeros((2, 3), np.float32), np.ones((2, 3), np.float32)],
    "numbers of NumPy": [np.float32(1), np.float32(2)],
    "wide numbers of NumPy": [np.float64(1), np.float64(2)],
    "tuples": [(1, 2.0), (3, 4.0)],
    "lists": [[1, "a"], [2, "b"]],
    "dicts": [{"a": 1, "b": {"c": np.arange(2)}}, {"a": 2, "b": {"c": np.arange(2)}}],
    "named tuples": [Pair(1, [2.0]), Pair(3, [4.0])],
    "one sample": [(np.int16(3), "x")],
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_batches_are_made_of_samples(name):
    samples = SAMPLES[name]
    assert plain(ours.default_collate(samples)) == plain(theirs.default_collate(samples))


class Numbers(theirs.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index, np.float32(index) / 2


OPTIONS = [
    {"batch_size": size, "drop_last": drop} for size in (1, 3, 5, 20) for drop in (False, True)
] + [{"batch_size": None}, {"sampler": [4, 1, 1]}, {"batch_sampler": [[1, 2], [0]]}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("count", [0, 1, 11])
def test_loaders_give_the_same_batches(options, count):
    if count < 5 and ("sampler" in options or "batch_sampler" in options):
        pytest.skip("no such samples")
    one = ours.DataLoader(Numbers(count), **options)
    two = theirs.DataLoader(Numbers(count), **options)
    assert len(one) == len(two)
    assert [plain(batch) for batch in one] == [plain(batch) for batch in two]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("size", [2, 4])
def test_iterable_data_sets_are_read_in_the_same_order(workers, size):
    def shared(info, count=11):
        first, step = (info.id, info.num_workers) if info else (0, 1)
        return itertools.islice(range(count), first, None, step)

    class Ours(ours.IterableDataset):
        def __iter__(self):
            return shared(ours.get_worker_info())

    class Theirs(theirs.IterableDataset):
        def __iter__(self):
            return shared(theirs.get_worker_info())

    one = ours.DataLoader(Ours(), size, num_workers=workers)
    two = theirs.DataLoader(Theirs(), size, num_workers=workers)
    assert [b.tolist() for b in one] == [b.tolist() for b in two]


@pytest.mark.parametrize("count", [1, 7, 12])
@pytest.mark.parametrize("replicas", [1, 3, 5])
@pytest.mark.parametrize("drop_last", [False, True])
def test_parts_of_processes(count, replicas, drop_last):
    for rank in range(replicas):
        options = {
            "num_replicas": replicas, "rank": rank, "shuffle": False, "drop_last": drop_last,
        }  # fmt: skip
        one = ours.DistributedSampler(range(count), **options)
        two = theirs.DistributedSampler(range(count), **options)
        assert len(one) == len(two)
        if count >= replicas or not drop_last:
            assert list(one) == list(two)


@pytest.mark.parametrize("count", [1, 2, 9, 10, 100])
@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.5), (0.5, 0.25, 0.25), (0.9, 0.1), (0.0, 1.0)])
def test_shares_of_a_split(count, shares):
    one = [len(part) for part in ours.random_split(range(count), shares)]
    assert one == [len(part) for part in theirs.random_split(range(count), shares)]


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", [(5, 7), (20, 9), (31, 40), (1, 1)], ids=str)
def test_sizes_of_images(mode, antialias, size):
    image = np.random.default_rng(0).random((3, 11, 13), np.float32)
    wanted = torch.nn.functional.interpolate(
        torch.tensor(image)[None], size, mode=mode, antialias=antialias, align_corners=False
    )[0]
    found = T.Resize(size, mode, antialias)(image)
    np.testing.assert_allclose(found, wanted.numpy(), atol=5e-6)
