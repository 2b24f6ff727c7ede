"""Files of PyTorch's are read, and PyTorch reads ours: bit for bit. Run by `make test-torch`.

The gguf package, where it is installed, says what quantised blocks stand for.
"""

from __future__ import annotations

import importlib
import io

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import ALL
from treadle.base.errors import FileError

torch = pytest.importorskip("torch")
KINDS = [kind.name for kind in ALL]
SHAPES = ((), (1,), (0,), (5,), (2, 0, 3), (2, 3, 4))
FORMATS = pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
MAPPED = pytest.mark.parametrize("mmap", [False, True], ids=["read", "mapped"])


def theirs(kind, shape, seed=0):
    """A tensor of random bits, NaNs with payloads among them; bools are 0 or 1."""
    wide = {"bool": 1}.get(kind) or torch.empty((), dtype=getattr(torch, kind)).element_size()
    count = int(np.prod(shape)) * wide
    if count == 0:
        return torch.empty(shape, dtype=getattr(torch, kind))
    raw = torch.from_numpy(np.random.default_rng(seed).integers(0, 256, count, dtype=np.uint8))
    raw = raw & 1 if kind == "bool" else raw
    return raw.view(getattr(torch, kind)).reshape(shape)


def raw(tensor):
    """The bytes of either side's tensor, in order."""
    if isinstance(tensor, td.Tensor):
        return tensor.numpy().tobytes()
    if tensor.numel() == 0:
        return b""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def agree(ours, other):
    """The same tree on both sides, to the bit."""
    if isinstance(other, torch.Tensor):
        assert ours.dtype.name == str(other.dtype).removeprefix("torch.")
        assert ours.shape == tuple(other.shape)
        assert raw(ours) == raw(other)
    elif isinstance(other, dict):
        assert list(ours) == list(other)
        for key in other:
            agree(ours[key], other[key])
    elif isinstance(other, list | tuple):
        assert len(ours) == len(other)
        for a, b in zip(ours, other, strict=True):
            agree(a, b)
    else:
        assert ours == other
        assert type(ours) is type(other)


@MAPPED
@FORMATS
@pytest.mark.parametrize("kind", KINDS)
def test_every_dtype_of_theirs(kind, new, mmap, tmp_path):
    state = {str(k): theirs(kind, shape, k) for k, shape in enumerate(SHAPES)}
    torch.save(state, tmp_path / "x.pt", _use_new_zipfile_serialization=new)
    agree(td.load(tmp_path / "x.pt", mmap=mmap), state)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_dtype_of_ours(kind, mmap, tmp_path):
    state = {str(k): theirs(kind, shape, k) for k, shape in enumerate(SHAPES)}
    torch.save(state, tmp_path / "x.pt")
    td.save(td.load(tmp_path / "x.pt"), tmp_path / "y.pt")
    found = torch.load(tmp_path / "y.pt", weights_only=True, mmap=mmap)
    assert list(found) == list(state)
    for name, value in state.items():
        assert (found[name].dtype, found[name].shape) == (value.dtype, value.shape)
        assert raw(found[name]) == raw(value)


def views():
    base = torch.arange(24.0)
    square = base.reshape(2, 3, 4)
    return {
        "transposed": square.permute(2, 0, 1), "part": square[:, 1:, ::2], "offset": base[5:9],
        "row": square[1], "one": square[1, 2], "expanded": torch.ones(1).expand(3, 4),
        "shared": base, "strided": base[::5], "column": square[:, 0, 3], "bool": (base > 3)[::2],
        "empty": base[:0].reshape(0, 3), "tall": torch.arange(6).reshape(6, 1).t(),
        "half": base.to(torch.bfloat16).reshape(4, 6).t(), "eight": base.to(torch.float8_e5m2)[::3],
    }  # fmt: skip


@MAPPED
@FORMATS
def test_strides_offsets_and_shared_storages(new, mmap, tmp_path):
    state = views()
    torch.save(state, tmp_path / "x.pt", _use_new_zipfile_serialization=new)
    agree(td.load(tmp_path / "x.pt", mmap=mmap), state)


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(4 * 6 * 6, 10),
    )  # fmt: skip


RULES = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-3, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3),
    "adagrad": lambda p: torch.optim.Adagrad(p),
    "rmsprop": lambda p: torch.optim.RMSprop(p, momentum=0.5),
    "lbfgs": lambda p: torch.optim.LBFGS(p),
}


def checkpoint(rule):
    """What training scripts save: a model, an update rule, a schedule and numbers."""
    model = network()
    optimizer = RULES[rule](model.parameters())
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5])
    x = torch.randn(3, 1, 8, 8)

    def closure():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
        schedule.step()
    return {
        "model": model.state_dict(), "optimizer": optimizer.state_dict(),
        "schedule": {k: v for k, v in schedule.state_dict().items() if k != "milestones"},
        "epoch": 3, "best": 0.25, "name": "run", "shape": torch.Size([1, 2]), "big": 2**70,
        "done": False, "none": None, "history": [(1, 0.5), (2, float("inf"))], "bytes": b"\0\xff",
        "rng": torch.get_rng_state(),
    }  # fmt: skip


@FORMATS
@pytest.mark.parametrize("rule", RULES)
def test_checkpoints_of_training_scripts(rule, new, tmp_path):
    found = checkpoint(rule)
    torch.save(found, tmp_path / "x.pt", _use_new_zipfile_serialization=new)
    ours = td.load(tmp_path / "x.pt")
    agree(ours, found | {"shape": (1, 2)})
    ours.pop("bytes")
    td.save(ours, tmp_path / "y.pt")
    back = torch.load(tmp_path / "y.pt", weights_only=True)
    agree(ours, back)
    model = network()
    model.load_state_dict(back["model"])
    RULES[rule](model.parameters()).load_state_dict(back["optimizer"])


@FORMATS
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_protocol_of_pickles(protocol, new, tmp_path):
    state = {
        "w": torch.arange(6).reshape(2, 3),
        "names": ["a"] * 300,
        "set": {1, 2},
        "b": b"x" * 300,
    }
    options = {"pickle_protocol": protocol, "_use_new_zipfile_serialization": new}
    torch.save(state, tmp_path / "x.pt", **options)
    agree(td.load(tmp_path / "x.pt"), state)


def test_parameters_counters_devices_and_dtypes(tmp_path):
    weight = torch.nn.Parameter(torch.ones(3))
    weight.tag = "with a state"
    schedule = torch.optim.lr_scheduler.MultiStepLR(torch.optim.SGD([weight], 0.1), [2, 5])
    state = {
        "w": weight, "p": torch.nn.Parameter(torch.zeros(2)), "d": torch.bfloat16,
        "device": torch.device("cuda:1"), "milestones": schedule.state_dict()["milestones"],
    }  # fmt: skip
    torch.save(state, tmp_path / "x.pt")
    found = td.load(tmp_path / "x.pt")
    assert found["w"].tolist() == [1, 1, 1]
    assert found["p"].tolist() == [0, 0]
    assert found["d"] is td.bfloat16
    assert found["device"] == "cuda:1"
    assert found["milestones"] == {2: 1, 5: 1}


REFUSED = {
    "module": lambda: torch.nn.Linear(2, 3),
    "complex": lambda: torch.ones(2, dtype=torch.complex32),
    "quantised": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "function": lambda: len,
}


@FORMATS
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_plain_data_is_refused(kind, new, tmp_path):
    torch.save({"a": REFUSED[kind]()}, tmp_path / "x.pt", _use_new_zipfile_serialization=new)
    with pytest.raises(FileError):
        td.load(tmp_path / "x.pt")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_scripted_models_are_refused(tmp_path):
    torch.jit.script(torch.nn.Linear(2, 3)).save(str(tmp_path / "x.pt"))
    with pytest.raises(FileError):
        td.load(tmp_path / "x.pt")


def test_a_file_of_the_other_byte_order(tmp_path):
    """As a big-endian machine writes it: the same bytes, turned around, and a word that says so."""
    zipfile = importlib.import_module("zipfile")
    state = {"w": torch.arange(5.0), "h": torch.arange(5).to(torch.int16), "b": torch.ones(3) > 0}
    torch.save(state, tmp_path / "x.pt")
    made = io.BytesIO()
    with zipfile.ZipFile(tmp_path / "x.pt") as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("byteorder"):
                data = b"big"
            elif name.endswith("data/0"):
                data = np.frombuffer(data, "<u4").byteswap().tobytes()
            elif name.endswith("data/1"):
                data = np.frombuffer(data, "<u2").byteswap().tobytes()
            new.writestr(name, data)
    (tmp_path / "y.pt").write_bytes(made.getvalue())
    agree(td.load(tmp_path / "y.pt"), state)


# ---- safetensors and GGUF


def test_safetensors_of_theirs_and_ours(tmp_path):
    theirs_api = pytest.importorskip("safetensors.torch")
    state = {kind: theirs(kind, (3, 5)) for kind in KINDS}
    theirs_api.save_file(state, tmp_path / "x.safetensors")
    ours = td.load(tmp_path / "x.safetensors", mmap=True)
    agree({kind: ours[kind] for kind in KINDS}, state)
    td.save(ours, tmp_path / "y.safetensors")
    back = theirs_api.load_file(tmp_path / "y.safetensors")
    for name, value in state.items():
        assert back[name].dtype == value.dtype
        assert raw(back[name]) == raw(value)


BLOCKS = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", BLOCKS)
def test_gguf_blocks(kind, tmp_path):
    """Any bytes at all stand for the same numbers, NaNs and infinities among the scales."""
    gguf = pytest.importorskip("gguf")
    number = gguf.GGMLQuantizationType[kind]
    elements, size = gguf.GGML_QUANT_SIZES[number]
    data = np.random.default_rng(0).integers(0, 256, (40, 3 * size), dtype=np.uint8)
    writer = gguf.GGUFWriter(tmp_path / "x.gguf", "tiny")
    writer.add_array("tokens", ["a", "▁b"])
    writer.add_tensor("w", data, raw_dtype=number)
    writer.add_tensor("plain", np.arange(12, dtype=np.float16).reshape(3, 4))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with td.io.open(tmp_path / "x.gguf") as file:
        assert file.metadata["tokens"] == ["a", "▁b"]
        assert file["plain"].tolist() == np.arange(12).reshape(3, 4).tolist()
        found = file["w"].numpy()
    wanted = gguf.quants.dequantize(data, number)
    assert found.shape == wanted.shape == (40, 3 * elements)
    np.testing.assert_array_equal(found, wanted)
