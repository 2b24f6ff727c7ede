"""What is saved is loaded bit for bit: every format and dtype, trees, shards, mapped and read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import zipfile

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

import treadle as td
from treadle.base.dtypes import ALL, complex64
from treadle.base.errors import ArgumentError, FileError, OperandError

SUFFIXES = ("safetensors", "npz", "pt", "pth", "td")
SHAPES = ((), (1,), (3,), (0,), (2, 0, 3), (2, 3, 4), (1, 5, 1))


def bits(kind, shape, seed=0):
    """An array of random bits, NaNs with payloads among them; bools are 0 or 1."""
    kind_np = np.dtype(getattr(ml_dtypes, kind.name, kind.name))
    count = int(np.prod(shape)) * kind_np.itemsize
    raw = np.random.default_rng(seed).integers(0, 256, count, dtype=np.uint8)
    return (raw & 1 if kind.name == "bool" else raw).view(kind_np).reshape(shape)


def every_dtype():
    return {
        f"{kind.name}.{k}": td.tensor(bits(kind, shape, k))
        for kind in (*ALL, complex64)
        for k, shape in enumerate(SHAPES)
    }


def agree(found, wanted):
    """The same tree, to the bit."""
    assert type(found) is type(wanted)
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        assert [type(key) for key in found] == [type(key) for key in wanted]
        for key in wanted:
            agree(found[key], wanted[key])
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            agree(a, b)
    elif isinstance(wanted, td.Tensor):
        assert (found.shape, found.dtype, found.device) == (
            wanted.shape,
            wanted.dtype,
            wanted.device,
        )
        assert found.numpy().tobytes() == wanted.numpy().tobytes()
    elif isinstance(wanted, np.ndarray | np.generic):
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        assert found.tobytes() == wanted.tobytes()
    else:
        assert repr(found) == repr(wanted)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_dtype_and_shape(suffix, mmap, tmp_path):
    state = every_dtype()
    td.save(state, tmp_path / f"x.{suffix}")
    agree(td.load(tmp_path / f"x.{suffix}", mmap=mmap), state)
    with td.io.open(tmp_path / f"x.{suffix}", mmap=mmap) as file:
        assert len(file) == len(state)
        assert set(file) == set(state)
        assert "float32.0" in file
        assert "no" not in file
        assert file.nbytes == sum(x.nbytes for x in state.values())
        for name, value in state.items():
            assert file.entries[name].shape == value.shape
            assert file.entries[name].nbytes == value.nbytes
            agree(file[name], value)
        with pytest.raises(KeyError, match="no tensor named"):
            file["no"]


TREES = [
    None, True, 7, -(2**70), 2.5, float("inf"), float("-inf"), float("nan"), -0.0, "text\n\0é", "",
    {}, [], (), [[], ({},)], (1,), {"a": {"b": [1, (2, None)]}, 3: "int key", "3": "text key"},
    {True: 1, None: 2, 1.5: 3}, td.float16, {"__metadata__": 1, "treadle.tree": 2},
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: repr(tree)[:30])
@pytest.mark.parametrize("suffix", ["td", "safetensors", "pt"])
def test_plain_trees(tree, suffix, tmp_path):
    td.save(tree, tmp_path / f"x.{suffix}")
    agree(td.load(tmp_path / f"x.{suffix}"), tree)


@pytest.mark.parametrize("suffix", ["td", "safetensors", "pt"])
def test_trees_of_tensors(suffix, tmp_path):
    tree = {
        "model": {"a.b": td.arange(6).reshape(2, 3), "a": {"b": td.ones(2)}},  # two of one name
        "__metadata__": td.ones(3),
        "groups": [{"lr": 1e-3, "params": [0, 1]}, (td.zeros(0), None)],
        4: td.tensor(2.5, dtype="bfloat16"),
    }
    td.save(tree, tmp_path / f"x.{suffix}")
    for mmap in (False, True):
        agree(td.load(tmp_path / f"x.{suffix}", mmap=mmap), tree)


def test_arrays_stay_arrays_in_a_tree(tmp_path):
    tree = [np.arange(6).reshape(2, 3).T, np.float32(2.5), np.array(3, np.int8), td.ones(2)]
    tree += [np.arange(3, dtype=">i4"), np.zeros(2, ml_dtypes.bfloat16)]
    td.save(tree, tmp_path / "x")
    wanted = [*tree[:4], tree[4].astype("=i4"), tree[5]]
    agree(td.load(tmp_path / "x"), wanted)


def test_a_tensor_in_two_places_is_stored_once(tmp_path):
    weight = td.ones(1000)
    td.save({"a": weight, "b": [weight]}, tmp_path / "x")
    assert os.path.getsize(tmp_path / "x") < 5000
    found = td.load(tmp_path / "x")
    assert found["a"] is found["b"][0]


def test_views_and_what_waits_are_saved_as_their_values(tmp_path):
    base = td.arange(24).reshape(2, 3, 4)
    tree = {"t": base.permute(2, 0, 1), "s": base[:, 1:, ::2], "sum": base.sum(0), "b": base > 3}
    for suffix in SUFFIXES:
        td.save(tree, tmp_path / f"x.{suffix}")
        agree(td.load(tmp_path / f"x.{suffix}"), tree)


def test_device_and_gradients(tmp_path):
    td.save({"a": td.ones(2, requires_grad=True)}, tmp_path / "x.td")
    found = td.load(tmp_path / "x.td", device="cpu")["a"]
    assert str(found.device) == "cpu"
    assert not found.requires_grad


# ---- what other tools write and read


def test_the_safetensors_package_reads_ours(tmp_path):
    state = {k: v for k, v in every_dtype().items() if v.size}
    td.io.save_safetensors(state, tmp_path / "x.safetensors", metadata={"format": "np", "é": "ü"})
    with safetensors.safe_open(tmp_path / "x.safetensors", "np") as file:
        assert file.metadata() == {"format": "np", "é": "ü"}
        assert set(file.keys()) == set(state)
    parts = dict(safetensors.deserialize((tmp_path / "x.safetensors").read_bytes()))
    for name, value in state.items():
        assert bytes(parts[name]["data"]) == value.numpy().tobytes()
        assert tuple(parts[name]["shape"]) == value.shape
    with td.io.open(tmp_path / "x.safetensors") as file:
        assert file.metadata == {"format": "np", "é": "ü"}


def test_we_read_what_the_safetensors_package_writes(tmp_path):
    arrays = {kind.name: bits(kind, (3, 5)) for kind in ALL}
    safetensors.numpy.save_file(arrays, tmp_path / "x.safetensors", metadata={"a": "b"})
    found = td.load(tmp_path / "x.safetensors")
    assert {name: x.numpy().tobytes() for name, x in found.items()} == {
        name: x.tobytes() for name, x in arrays.items()
    }
    assert {name: x.dtype.name for name, x in found.items()} == {name: name for name in arrays}


def test_numpy_reads_ours(tmp_path):
    state = every_dtype()
    td.save(state, tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as found:
        for name, value in state.items():
            array = found[name]
            assert array.shape == value.shape
            assert array.tobytes() == value.numpy().tobytes()
            if array.dtype.kind != "V":
                assert array.dtype == value.numpy().dtype


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_we_read_what_numpy_writes(save, tmp_path):
    known = [kind for kind in ALL if not hasattr(ml_dtypes, kind.name)]
    arrays = {f"{d.name}{k}": bits(d, shape) for d in known for k, shape in enumerate(SHAPES)}
    arrays["fortran"] = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    arrays["swapped"] = np.arange(5, dtype=">f8")
    arrays["zeros"] = np.zeros(100_000)
    save(tmp_path / "x.npz", **arrays)
    for mmap in (False, True):
        found = td.load(tmp_path / "x.npz", mmap=mmap)
        for name, array in arrays.items():
            agree(found[name], td.tensor(array.astype(array.dtype.newbyteorder("="))))


def test_a_folder_and_shards(tmp_path):
    state = {f"layer.{k}": td.full((100,), float(k)) for k in range(10)}
    path = tmp_path / "model.safetensors"
    written = td.io.save_safetensors(state, path, max_shard_size=1200)
    assert [p.name for p in written[:2]] == [
        "model-00001-of-00004.safetensors",
        "model-00002-of-00004.safetensors",
    ]
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert index["metadata"]["total_size"] == 4000
    assert index["weight_map"]["layer.3"] == written[1].name
    for place in (tmp_path, written[-1]):
        for mmap in (False, True):
            agree(td.load(place, mmap=mmap), state)
    assert max(p.stat().st_size for p in written[:-1]) < 1800
    assert td.io.save_safetensors(state, path, max_shard_size="5GB") == [path]
    assert not written[-1].exists()  # one model, one way to load it
    agree(td.load(tmp_path), state)


@pytest.mark.parametrize("size", [0, -1, "5 apples", 2.5, True and "GB"])
def test_a_size_of_shards_must_be_one(size, tmp_path):
    with pytest.raises(ArgumentError, match="no size"):
        td.io.save_safetensors({"a": td.ones(2)}, tmp_path / "x", max_shard_size=size)


# ---- mapped memory


def test_a_mapped_tensor_lies_in_the_file(tmp_path):
    td.save({"a": td.arange(1000), "b": td.ones(7, dtype="int8")}, tmp_path / "x.safetensors")
    with td.io.open(tmp_path / "x.safetensors") as file:
        array, again = file["a"].numpy(), file.numpy("a")
        assert np.shares_memory(array, again)
    assert array.tolist() == list(range(1000))  # also after it was closed


def test_what_is_done_to_a_mapped_tensor_leaves_the_file(tmp_path):
    path = tmp_path / "x.safetensors"
    td.save({"w": td.arange(4.0).reshape(2, 2), "x": td.ones(2)}, path)
    before = path.read_bytes()
    state = td.load(path, mmap=True)
    weight = state["w"].requires_grad_()
    old = weight.detach()

    @td.compile
    def step(x):
        weight.assign(weight.detach() + x)
        return weight.sum()

    step(state["x"])
    step(state["x"])
    state["x"][0] = 5.0
    assert weight.tolist() == [[2, 3], [4, 5]]
    assert state["x"].tolist() == [5, 1]
    assert old.tolist() == [[0, 1], [2, 3]]
    assert path.read_bytes() == before


def test_a_saved_file_does_not_change_what_was_mapped(tmp_path):
    path = tmp_path / "x.safetensors"
    td.save({"w": td.zeros(1000)}, path)
    state = td.load(path, mmap=True)
    td.save({"w": state["w"] + 1}, path)
    assert state["w"].sum().item() == 0
    assert td.load(path)["w"].sum().item() == 1000


def test_a_closed_file_says_so(tmp_path):
    td.save({"w": td.ones(3)}, tmp_path / "x.td")
    for mmap in (False, True):
        with td.io.open(tmp_path / "x.td", mmap=mmap) as file:
            pass
        with pytest.raises(ArgumentError, match="was closed"):
            file["w"]


def test_a_value_inside_a_trace_is_not_saved(tmp_path):
    def leaky(x):
        td.save({"x": x * 2}, tmp_path / "x.td")
        return x

    with pytest.raises(td.TreadleError):
        td.compile(leaky)(td.ones(3))
    assert not os.listdir(tmp_path)


def test_tensors_at_odd_places_are_copied(tmp_path):
    header = {
        "b": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
        "a": {"dtype": "F64", "shape": [2], "data_offsets": [3, 19]},
    }
    text = json.dumps(header).encode()
    data = bytes([1, 2, 3]) + np.array([1.5, 2.5]).tobytes()
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    state = td.load(path, mmap=True)
    assert (state["a"] * 2).tolist() == [3, 5]
    assert state["b"].tolist() == [1, 2, 3]


def test_threads_read_one_file(tmp_path):
    state = {str(k): td.full((500,), k) for k in range(40)}
    td.save(state, tmp_path / "x.td")
    wrong = []
    with td.io.open(tmp_path / "x.td", mmap=False) as file:

        def look():
            wrong.extend(name for name in state if file.numpy(name)[0] != int(name))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


# ---- saving


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "bad",
    [object(), {1, 2}, np.array(["x"]), 1j, np.zeros(2, "M8[s]")],
    ids=["object", "set", "text", "complex", "dates"],
)
def test_a_save_that_fails_leaves_what_was_there(suffix, bad, tmp_path):
    path = tmp_path / f"x.{suffix}"
    td.save({"a": td.ones(2)}, path)
    before = path.read_bytes()
    with pytest.raises(OperandError):
        td.save({"a": bad}, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_a_disk_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "x.td"
    td.save({"a": td.ones(2)}, path)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        td.save({"a": td.zeros(2)}, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.td"]


def test_trees_that_hold_themselves_and_odd_keys(tmp_path):
    endless = []
    endless.append(endless)
    for suffix in ("td", "pt"):
        with pytest.raises(ArgumentError, match="nested deeper"):
            td.save(endless, tmp_path / f"x.{suffix}")
        with pytest.raises(OperandError, match="key"):
            td.save({(1, 2): 3}, tmp_path / f"x.{suffix}")
    assert not os.listdir(tmp_path)


def test_what_npz_and_gguf_cannot_hold(tmp_path):
    with pytest.raises(ArgumentError, match="dict of tensors by name"):
        td.save([td.ones(2)], tmp_path / "x.npz")
    with pytest.raises(ArgumentError, match="only read"):
        td.save({"a": td.ones(2)}, tmp_path / "x.gguf")


def test_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        td.load(tmp_path / "nothing")
    with pytest.raises(ArgumentError, match=r"no model\.safetensors"):
        td.load(tmp_path)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(FileError, match="too short"):
        td.load(tmp_path / "empty")
    with zipfile.ZipFile(tmp_path / "none.npz", "w"):
        pass
    assert td.load(tmp_path / "none.npz") == {}


@pytest.mark.parametrize("name", ["x.safetensors", "x.npz", "x.pt"])
def test_a_folder_that_is_not_there_is_named(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=r"no such folder: '.*nowhere'"):
        td.save({"a": td.ones(2)}, tmp_path / "nowhere" / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_what_is_no_regular_file(tmp_path):
    with pytest.raises(FileError, match="not a regular file"):
        td.io.SafeTensors("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    script = f"import treadle as td; td.load({str(tmp_path / 'pipe')!r})"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=30)
    assert b"not a regular file" in ended.stderr


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype="f4").reshape(2, 3), np.arange(6, dtype=">i8").reshape(3, 2).T,
        np.float16(3.5), np.zeros((0, 4), bool), np.asfortranarray(np.eye(3)),
    ],
    ids=["rows", "swapped", "scalar", "empty", "columns"],
)  # fmt: skip
def test_an_npy_file_is_one_tensor(array, mmap, tmp_path):
    np.save(tmp_path / "x.npy", array)
    found = td.load(tmp_path / "x.npy", mmap=mmap)
    assert found.shape == np.shape(array)
    assert found.numpy().dtype == np.asarray(array).dtype.newbyteorder("=")
    np.testing.assert_array_equal(found.numpy(), array)
    with td.io.open(tmp_path / "x.npy") as file:
        assert list(file) == ["value"]
