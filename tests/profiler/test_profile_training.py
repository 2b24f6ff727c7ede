"""A training step of a GPT: kernels cover the call, and each has what there is to know of it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import treadle as td
from treadle.models.gpt2 import GPT2, GPT2Config

ENOUGH = 0.98  # of a call: the rest is Python's
TRIES = 12  # a machine at work may take a thread away between two kernels


@pytest.fixture(scope="module")
def profiles():
    td.manual_seed(0)
    sizes = {"n_positions": 64, "n_embd": 64, "n_layer": 2, "n_head": 2}
    model = GPT2(GPT2Config(vocab_size=300, **sizes))
    optimizer = td.optim.AdamW(model.parameters())
    tokens = td.tensor(np.random.default_rng(0).integers(0, 300, (4, 64)))

    @td.compile
    def step(tokens):
        optimizer.zero_grad()
        logits = model(tokens)
        loss = td.cross_entropy(logits.reshape((256, 300)), tokens.reshape((256,)))
        loss.backward()
        optimizer.step()
        return loss

    float(step(tokens))
    found = []
    for _ in range(TRIES):
        with td.profile() as prof:
            float(step(tokens))
        found.append(prof)
    return found


def test_kernels_cover_the_call(profiles):
    shares = []
    for prof in profiles:
        events = prof.events()
        call = events.filter(kind="call").sort("duration")[0]
        inside = events.filter(lambda e, row=call.row: e.parent == row, kind="kernel")
        shares.append(inside.total / call.duration)
    assert ENOUGH <= max(shares) <= 1.0


def test_each_kernel_has_ops_lines_work_and_a_limit(profiles):
    prof = profiles[0]
    for event in prof.events().filter(kind="kernel"):
        assert event.detail.ops
        assert event.detail.blocks > 0
        assert event.detail.bytes_read + event.detail.bytes_written > 0
        assert sum(part.share for part in event.detail.parts) == pytest.approx(1.0)
    lines = prof.group_by("line")
    ours = [group for group in lines if __file__ in group.name]
    assert sum(x.time for x in ours) > 0.99 * sum(x.time for x in lines)
    assert all(group.ideal > 0 for group in ours)
    modules = {group.name for group in prof.group_by("module")}
    assert {"transformer.h.0.attn.c_attn", "transformer.h.1.mlp.c_fc"} <= modules


SCRIPT = """
import sys, types
stand_in = types.ModuleType("treadle.profiler.files")
stand_in.save = lambda recording, path: open(path, "a").write(" ".join(recording.names) + "\\n")
stand_in.place_of = lambda path: path
sys.modules["treadle.profiler.files"] = stand_in
import treadle as td
td.softmax(td.ones(4, 4)).numpy()
import os
if os.fork() == 0:
    td.log(td.ones(4, 4)).numpy()
    sys.exit()  # as any other: it has a profile of its own, which nobody wants
os.wait()
"""


def test_a_whole_run_is_profiled_by_the_environment(tmp_path):
    path = tmp_path / "out.pftrace"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=os.environ | {"TREADLE_TRACE": str(path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (names,) = path.read_text().splitlines()  # written once
    assert "softmax_f32" in names
    assert str(path) in done.stderr
