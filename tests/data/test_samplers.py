"""Do samplers and data sets give each sample as often as they say, in an order a seed decides?"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle import data
from treadle.base.errors import ArgumentError, DtypeError, IndexingError, OperandError, ShapeError


def test_orders_of_an_epoch():
    assert list(data.SequentialSampler("abcd")) == [0, 1, 2, 3]
    drawn = list(data.RandomSampler(range(50), generator=1))
    assert sorted(drawn) == list(range(50))
    assert drawn != sorted(drawn)
    assert sorted(data.SubsetRandomSampler([5, 2, 9], generator=1)) == [2, 5, 9]
    assert list(data.RandomSampler([], generator=1)) == []
    assert sorted(data.RandomSampler(range(4), num_samples=10, generator=1))[:4] == [0, 0, 1, 1]
    assert len(list(data.RandomSampler(range(4), num_samples=3, generator=1))) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda g: data.RandomSampler(range(30), generator=g),
        lambda g: data.RandomSampler(range(30), True, 12, generator=g),
        lambda g: data.SubsetRandomSampler(range(30), generator=g),
        lambda g: data.WeightedRandomSampler(np.arange(30), 20, generator=g),
        lambda g: data.WeightedRandomSampler(np.arange(30), 20, False, generator=g),
    ],
)
def test_a_seed_decides_each_epoch(make):
    one, two, other = make(7), make(7), make(8)
    first = [list(one), list(one)]
    assert first == [list(two), list(two)]
    assert first[0] != first[1]
    assert list(other) != first[0]
    assert len(first[0]) == len(one)
    third = make(7)
    third.load_state_dict(two.state_dict())
    assert [list(third), list(third)] == [first[1], list(one)]
    td.manual_seed(1)
    global_ = list(make(None))
    td.manual_seed(1)
    assert list(make(None)) == global_


def chi_squared(counts, wanted):
    return float((((counts - wanted) ** 2) / wanted).sum())


def test_weights_are_chances():
    weights = np.array([1.0, 0.0, 2.0, 5.0])
    drawn = list(data.WeightedRandomSampler(weights, 20000, generator=0))
    counts = np.bincount(drawn, minlength=4)
    assert counts[1] == 0
    kept = [0, 2, 3]
    assert chi_squared(counts[kept], 20000 * weights[kept] / 8) < 20  # 2 degrees of freedom


def test_weights_without_replacement_decide_who_comes_first():
    weights = np.array([1.0, 0.0, 2.0, 5.0])
    firsts = np.zeros(4)
    for seed in range(3000):
        drawn = list(data.WeightedRandomSampler(weights, 3, False, generator=seed))
        assert sorted(drawn) == [0, 2, 3]
        firsts[drawn[0]] += 1
    kept = [0, 2, 3]
    assert chi_squared(firsts[kept], 3000 * weights[kept] / 8) < 20


def test_shuffles_are_uniform():
    counts = np.zeros((4, 4))
    for seed in range(3000):
        for place, index in enumerate(data.RandomSampler(range(4), generator=seed)):
            counts[place, index] += 1
    assert chi_squared(counts, np.full((4, 4), 750.0)) < 40  # 9 degrees of freedom


@pytest.mark.parametrize("count", [0, 1, 10, 11, 12])
@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_parts_of_processes(count, replicas, drop_last, shuffle):
    parts = [
        data.DistributedSampler(range(count), replicas, rank, shuffle, 5, drop_last)
        for rank in range(replicas)
    ]
    found = [list(part) for part in parts]
    assert [len(one) for one in found] == [len(part) for part in parts]
    assert len({len(one) for one in found}) == 1
    together = [index for one in found for index in one]
    if drop_last:
        assert len(set(together)) == len(together)
        assert len(together) == count // replicas * replicas
    else:
        assert set(together) == set(range(count))
    for part in parts:
        part.set_epoch(1)
    if shuffle and count > 9:
        assert [list(part) for part in parts] != found


@pytest.mark.parametrize("source", [range(10), [3, 1, 4, 1, 5], tuple(range(10))])
def test_batches_of_indices(source):
    whole = list(source)
    sampler = data.SequentialSampler(whole) if isinstance(source, range) else whole
    for size in (1, 3, 5, 20):
        found = list(data.BatchSampler(sampler, size, False))
        assert [i for batch in found for i in batch] == list(sampler)
        assert all(len(batch) == size for batch in found[:-1])
        full = list(data.BatchSampler(sampler, size, True))
        assert full == [batch for batch in found if len(batch) == size]
        assert len(data.BatchSampler(sampler, size, True)) == len(full)
        assert len(data.BatchSampler(sampler, size, False)) == len(found)


@pytest.mark.parametrize(
    "make",
    [
        lambda: data.RandomSampler([1], num_samples=0),
        lambda: list(data.RandomSampler([], num_samples=2)),
        lambda: data.WeightedRandomSampler([1, -1], 2),
        lambda: data.WeightedRandomSampler([1, np.nan], 2),
        lambda: data.WeightedRandomSampler([0, 0], 2),
        lambda: data.WeightedRandomSampler([1, 0], 2, replacement=False),
        lambda: data.WeightedRandomSampler([[1]], 2),
        lambda: data.DistributedSampler([1], 2, 2),
        lambda: data.BatchSampler([1], 0, False),
        lambda: data.RandomSampler([1], generator=1.5),
        lambda: data.random_split([1, 2], [1, 2]),
        lambda: data.random_split([1, 2], [-1, 3]),
        lambda: data.random_split([1, 2], [0.5, 0.7]),
        lambda: data.TensorDataset(),
        lambda: data.ConcatDataset([]),
        lambda: data.StackDataset(),
    ],
)
def test_what_cannot_be_right_is_refused(make):
    with pytest.raises(ArgumentError):
        make()


def test_splits_are_parts_of_the_whole():
    for lengths, sizes in (([7, 3], [7, 3]), ([0.5, 0.25, 0.25], [6, 2, 2]), ([1.0], [10])):
        parts = data.random_split(range(10), lengths, generator=3)
        assert [len(part) for part in parts] == sizes
        assert sorted(x for part in parts for x in part) == list(range(10))
    again = data.random_split(range(10), [1.0], generator=3)
    assert list(again[0]) == list(parts[0])
    assert [len(p) for p in data.random_split([5], [1])] == [1]
    assert [len(p) for p in data.random_split([], [0, 0])] == [0, 0]


def test_data_sets_of_tensors():
    x, y = td.arange(6).reshape(3, 2), np.array([1.5, 2.5, 3.5])
    sets = data.TensorDataset(x, y)
    first, second = sets[-1]
    assert isinstance(first, td.Tensor)
    assert (first.tolist(), float(second)) == ([4, 5], 3.5)
    with pytest.raises(IndexingError, match="index=3, length=3"):
        sets[3]
    with pytest.raises(ShapeError, match="sizes differ"):
        data.TensorDataset(x, np.zeros(2))
    with pytest.raises(ShapeError):
        data.TensorDataset(np.zeros(()))


def test_data_sets_of_data_sets():
    numbers, letters = [1, 2, 3], ["a", "b", "c"]
    joined = data.ConcatDataset([numbers, [], letters])
    assert [joined[i] for i in range(6)] == [*numbers, *letters]
    assert joined[-1] == "c"
    with pytest.raises(IndexError):
        joined[6]
    with pytest.raises(IndexError):
        joined[-7]
    assert data.StackDataset(numbers, letters)[1] == (2, "b")
    assert data.StackDataset(n=numbers, s=letters)[1] == {"n": 2, "s": "b"}
    with pytest.raises(ShapeError):
        data.StackDataset([1], [1, 2])
    part = data.Subset(letters, [2, 0])
    assert [part[0], part[1], part[-1], len(part)] == ["c", "a", "a", 2]
    changed = data.TransformedDataset([(1, 2), (3, 4)], lambda x: -x, lambda y: y * 10)
    assert changed[1] == (-3, 40)
    assert data.TransformedDataset([1, 2], str)[0] == "1"
    added = data.TensorDataset(np.arange(2)) + data.TensorDataset(np.arange(3))
    assert len(added) == 5


class Bare(data.Dataset):
    def __len__(self):
        return 2


class Endless(data.IterableDataset):
    pass


class Unordered(data.Sampler):
    pass


class Unwritten(data.transforms.Transform):
    pass


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda: Bare()[0], "Bare: has no __getitem__"),
        (lambda: list(data.DataLoader(Bare())), "Bare: has no __getitem__"),
        (lambda: list(data.DataLoader(Bare(), num_workers=1)), "Bare: has no __getitem__"),
        (lambda: list(data.DataLoader(Endless())), "Endless: has no __iter__"),
        (lambda: list(data.DataLoader("ab", sampler=Unordered())), "Unordered: has no __iter__"),
        (lambda: Unwritten()(1), "Unwritten: has no __call__"),
    ],
    ids=["index", "loader", "worker", "iterable", "sampler", "transform"],
)
def test_a_class_that_leaves_out_what_its_base_needs_says_so(use, said):
    with pytest.raises(OperandError, match=said):
        use()


def test_a_subset_passes_lists_on():
    whole = data.TensorDataset(np.arange(10) * 10)
    part = data.Subset(whole, [7, 3, 5])
    assert part[[0, 2]][0].tolist() == [70, 50]
    assert part[-1][0] == 50


def test_texts_stay_as_they_are_where_no_batch_is_made():
    found = data.default_convert((np.array(["a"]), np.arange(2)))
    assert found[0].tolist() == ["a"]
    assert found[1].tolist() == [0, 1]
    with pytest.raises(DtypeError, match="no tensor holds such elements"):
        data.default_collate([np.array(["a"])])
