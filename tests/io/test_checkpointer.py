"""Checkpoints: all of a run's state or none of it, whatever kills the process that writes it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, FileError
from treadle.io import Checkpointer


class Counter:
    """A part with state: what schedules and loaders look like."""

    def __init__(self, value=0):
        self.value = value

    def state_dict(self):
        return {"value": self.value, "seen": [1, 2.5, None]}

    def load_state_dict(self, state):
        self.value = state["value"]


class Momentum:
    """An update rule that keeps tensors, and numbers by int keys."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.state = [td.zeros(p.shape).realize() for p in self.parameters]
        self.steps = 0

    def step(self, gradients):
        self.steps += 1
        for parameter, state, gradient in zip(self.parameters, self.state, gradients, strict=True):
            state.assign(state * 0.9 + gradient)
            parameter.assign(parameter.detach() - 0.05 * state)
        td.realize(*self.parameters, *self.state)

    def state_dict(self):
        return {"state": dict(enumerate(self.state)), "steps": self.steps}

    def load_state_dict(self, found):
        self.steps = found["steps"]
        for k, value in found["state"].items():
            self.state[k].assign(value)


def run_of(seed=0):
    td.manual_seed(seed)
    model = td.nn.Sequential(td.nn.Linear(4, 8), td.nn.Dropout(0.2), td.nn.Linear(8, 2))
    return model, Momentum(model.parameters()), Counter()


def train(model, rule, schedule, steps):
    """Losses of some steps with dropout and random data: all depend on the generator."""
    losses = []
    for _ in range(steps):
        schedule.value += 1
        x = td.randn((5, 4))
        loss = (model(x) ** 2).mean() * (1 + schedule.value % 3)
        rule.step(td.gradients(loss, list(model.parameters())))
        losses.append(loss.item())
    return losses


def test_a_run_goes_on_bit_for_bit(tmp_path):
    run = run_of()
    losses = train(*run, 3)
    saved = Checkpointer(tmp_path)
    model, rule, schedule = run
    saved.save(3, model=model, optimizer=rule, schedule=schedule, losses=losses, name="first")
    wanted = train(*run, 4)

    other = run_of(seed=99)
    train(*other, 2)
    found = saved.restore(model=other[0], optimizer=other[1], schedule=other[2])
    assert found.step == 3
    assert found.parts == {"losses": losses, "name": "first"}
    assert (other[1].steps, other[2].value) == (3, 3)
    assert train(*other, 4) == wanted


def test_it_works_with_our_own_optimizers_as_far_as_they_have_state(tmp_path):
    model = td.nn.Linear(3, 2)
    rule = td.optim.Adam(model.parameters(), lr=0.1)
    parts = {"optimizer": rule} if hasattr(rule, "state_dict") else {}
    Checkpointer(tmp_path).save(1, model=model, **parts)
    before = model.weight.numpy().copy()
    model.weight.assign(model.weight.detach() * 2)
    Checkpointer(tmp_path).restore(model=model, **parts)
    np.testing.assert_array_equal(model.weight.numpy(), before)


def test_the_newest_are_kept(tmp_path):
    saved = Checkpointer(tmp_path / "deep" / "run", keep_last=2)
    assert saved.latest() is None
    assert saved.restore(part=Counter()) is None
    for step in (1, 5, 10, 200):
        saved.save(step, part=Counter(step))
        assert saved.latest().name == f"step-{step:010}"
    assert saved.steps() == [10, 200]
    assert sorted(os.listdir(saved.path)) == ["step-0000000010", "step-0000000200"]
    part = Counter()
    assert saved.restore(step=10, part=part).step == 10
    assert part.value == 10
    assert "steps 10, 200" in repr(saved)
    keeps_all = Checkpointer(tmp_path / "all", keep_last=None)
    for step in range(6):
        keeps_all.save(step, part=1)
    assert keeps_all.steps() == [0, 1, 2, 3, 4, 5]


def test_a_step_may_be_saved_again(tmp_path):
    saved = Checkpointer(tmp_path, keep_last=2)
    for value in (1, 2, 3):
        saved.save(7, part=Counter(value))
        part = Counter()
        saved.restore(part=part)
        assert part.value == value
        assert len(os.listdir(tmp_path)) == 1
    saved.save(8, part=Counter())
    assert saved.steps() == [7, 8]


def test_what_is_written_after_going_back_is_the_newest(tmp_path):
    saved = Checkpointer(tmp_path, keep_last=2)
    for step in (10, 20, 30):
        saved.save(step, part=Counter(step))
    assert saved.restore(step=20, part=Counter()).step == 20
    for step, wanted in ((25, [30, 25]), (26, [25, 26]), (26, [25, 26]), (31, [26, 31])):
        saved.save(step, part=Counter(step))
        assert saved.steps() == wanted
        assert Checkpointer(tmp_path).restore().step == step
        assert saved.latest().name.startswith(f"step-{step:010}")
    keeps_all = Checkpointer(tmp_path / "all", keep_last=None)
    for step in (1, 2, 3, 1):
        keeps_all.save(step, part=step)
    assert keeps_all.steps() == [2, 3, 1]
    assert keeps_all.restore(step=2).parts == {"part": 2}


def test_files_are_those_of_td_load(tmp_path):
    model = td.nn.Linear(3, 2)
    folder = Checkpointer(tmp_path).save(1, model=model, data={"x": td.ones(2), "y": 3})
    found = td.load(folder / "model.safetensors")
    assert {name: x.tolist() for name, x in found.items()} == {
        name: x.tolist() for name, x in model.state_dict().items()
    }
    assert td.load(folder / "data.safetensors")["y"] == 3
    manifest = (folder / "manifest.json").read_text().partition("\n")[2]
    assert json.loads(manifest)["step"] == 1


# ---- damage


def flipped(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


DAMAGE = {
    "tensors changed": lambda folder: flipped(folder / "model.safetensors"),
    "tensors cut off": lambda folder: os.truncate(folder / "model.safetensors", 50),
    "tensors gone": lambda folder: os.unlink(folder / "model.safetensors"),
    "manifest changed": lambda folder: flipped(folder / "manifest.json"),
    "manifest cut off": lambda folder: os.truncate(folder / "manifest.json", 80),
    "manifest empty": lambda folder: os.truncate(folder / "manifest.json", 0),
    "manifest gone": lambda folder: os.unlink(folder / "manifest.json"),
    "all gone": lambda folder: [os.unlink(path) for path in folder.iterdir()],
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_checkpoint_gives_way_to_the_one_before(kind, tmp_path):
    saved = Checkpointer(tmp_path)
    model = td.nn.Linear(3, 2)
    for step in (1, 2):
        model.weight.assign(td.full((2, 3), float(step)))
        saved.save(step, model=model, part=Counter(step))
    DAMAGE[kind](saved.latest())
    part = Counter()
    with pytest.warns(UserWarning, match="damaged"):
        found = saved.restore(model=model, part=part)
    assert (found.step, part.value) == (1, 1)
    assert model.weight.tolist() == [[1.0] * 3] * 2
    with pytest.raises(FileError):
        saved.restore(step=2, model=model)
    DAMAGE[kind](tmp_path / "step-0000000001")
    model.weight.assign(td.full((2, 3), 5.0))
    with pytest.warns(UserWarning, match="damaged"), pytest.raises(FileError):
        saved.restore(model=model, part=part)
    assert model.weight.tolist() == [[5.0] * 3] * 2


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2}, {"files": []}, {"trees": 3}, {"parts": ["../x"]}, {"step": "1"},
        {"parts": ["model", "y"]}, {"files": {"../../x": {"bytes": 1, "sha256": ""}}},
        {"trees": {"part": {"a": 1}}},
    ],
)  # fmt: skip
def test_a_manifest_that_lies(change, tmp_path):
    saved = Checkpointer(tmp_path)
    folder = saved.save(1, model=td.nn.Linear(2, 2), part=3)
    body = (folder / "manifest.json").read_bytes().partition(b"\n")[2]
    made = json.dumps(json.loads(body) | change).encode()
    sum_ = hashlib.sha256(made).hexdigest().encode()
    (folder / "manifest.json").write_bytes(sum_ + b"\n" + made)
    with pytest.raises(FileError):
        saved.restore()


def test_a_part_that_refuses_its_state_changes_nothing(tmp_path):
    saved = Checkpointer(tmp_path)
    first, second = td.nn.Linear(3, 2), td.nn.Linear(3, 2)
    saved.save(1, first=first, second=second, part=Counter(1))
    first.weight.assign(td.full((2, 3), 7.0))
    part, other = Counter(5), td.nn.Linear(4, 2)
    generator = td.random.get_rng_state().tolist()
    with pytest.raises(td.TreadleError):
        saved.restore(first=first, part=part, second=other)
    assert first.weight.tolist() == [[7.0] * 3] * 2
    assert part.value == 5
    assert td.random.get_rng_state().tolist() == generator


def test_parts_that_are_not_there_or_take_nothing(tmp_path):
    saved = Checkpointer(tmp_path)
    saved.save(1, part=Counter(1), epoch=3)
    with pytest.raises(ArgumentError, match="not in the checkpoint"):
        saved.restore(other=Counter())
    with pytest.raises(ArgumentError, match="take no state"):
        saved.restore(epoch=3)
    with pytest.raises(ArgumentError, match="no such checkpoint"):
        saved.restore(step=5)
    for bad in ({"generator": 1}, {"a/b": 1}, {"..": 1}, {"": 1}):
        with pytest.raises(ArgumentError, match="no name"):
            saved.save(1, **bad)
    for step in (-1, 1.5, True, "1", 10**18):
        with pytest.raises(ArgumentError, match="whole number"):
            saved.save(step, part=1)
    for keep in (0, -1, 2.5):
        with pytest.raises(ArgumentError, match="keeps nothing"):
            Checkpointer(tmp_path, keep_last=keep)


def test_a_save_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    saved = Checkpointer(tmp_path, keep_last=1)
    saved.save(1, part=Counter(1))

    def full(*_):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "rename"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            with pytest.raises(OSError, match="No space"):
                saved.save(2, part=Counter(2))
        assert os.listdir(tmp_path) == ["step-0000000001"]
    with pytest.raises(td.TreadleError):
        saved.save(2, part=object())
    assert os.listdir(tmp_path) == ["step-0000000001"]


def test_the_state_of_the_generator():
    td.manual_seed(3)
    td.randn((4,))
    state = td.random.get_rng_state()
    wanted = td.randn((4,)).tolist()
    td.manual_seed(8)
    td.random.set_rng_state(state)
    assert td.randn((4,)).tolist() == wanted
    for bad in (3, td.zeros(3), td.zeros(2, dtype="uint64")):
        with pytest.raises(ArgumentError, match="no state"):
            td.random.set_rng_state(bad)


# ---- kill -9

WRITER = """
import os, sys
import treadle as td
from treadle.io import Checkpointer
saved = Checkpointer(sys.argv[1], keep_last=3)
weight, state = td.zeros(64, 64), {"steps": 0}
found = saved.restore()
step = 0
if found is not None:
    step, weight = found.step, found.parts["weight"]["w"]
    assert weight.min().item() == weight.max().item() == step, "not one checkpoint's"
    assert found.parts["state"]["steps"] == step
print("begun", step, flush=True)
while True:
    step += 1
    weight = weight + 1
    saved.save(step, weight={"w": weight}, state={"steps": step})
    os.write(1, b"saved %d\\n" % step)
"""
KILLS = 200


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_killed_while_it_saves_loses_no_more_than_a_step(tmp_path):
    """A forked writer saves without a pause and is killed at a random moment, KILLS times."""
    rng = random.Random(0)
    saved = Checkpointer(tmp_path, keep_last=2)
    weight = np.zeros((64, 64), np.float32)
    Checkpointer(tmp_path / "first").save(1, weight={"w": weight})  # loads what a save needs
    before, gone = 0, 0
    for _ in range(KILLS):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            keep_saving(saved, weight, before, write)
        os.close(write)
        os.read(read, 1)  # it has begun
        time.sleep(rng.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        said = os.read(read, 1 << 16)
        os.close(read)
        told = before + len(said)
        found = saved.restore()
        gone += any(name.startswith(".") for name in os.listdir(tmp_path))
        step = 0 if found is None else found.step
        assert told <= step <= told + 1
        if found is not None:
            assert set(found.parts["weight"]["w"].reshape(-1).tolist()) == {float(step)}
            assert found.parts["state"] == {"steps": step}
        before = step
    assert before > KILLS / 4  # it did save, and was killed in the middle of it
    assert gone > 10


def keep_saving(saved, weight, step, write):
    """Save one step after the other for ever; a byte goes out after each."""
    try:
        os.fsync = lambda _: None  # a kill is no power cut: what was written stays
        os.write(write, b"b")
        while True:
            step += 1
            saved.save(step, weight={"w": weight + step}, state={"steps": step})
            os.write(write, b"s")
    finally:
        os._exit(1)


def test_a_killed_process_is_followed_by_one_that_goes_on(tmp_path):
    """The same with whole processes, a few times."""
    environment = os.environ | {"PYTHONPATH": str(Path(td.__file__).parents[1])}
    step = 0
    for pause in (0.0, 0.05):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        first = child.stdout.readline()
        assert first.split() == [b"begun", b"%d" % step], child.stderr.read()
        assert child.stdout.readline().startswith(b"saved")
        time.sleep(pause)
        child.kill()
        out, _ = child.communicate()
        told = [int(line.split()[1]) for line in out.splitlines() if line.startswith(b"saved")]
        step = Checkpointer(tmp_path).restore().step
        assert step >= max(told, default=1)
    shutil.rmtree(tmp_path)
