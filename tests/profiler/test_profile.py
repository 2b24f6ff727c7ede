"""What a profile says: which lines took the time, whose they are; parts sum to the whole."""

from __future__ import annotations

import linecache
import threading

import numpy as np
import pytest

import treadle as td
from treadle.base.knobs import MEANING
from treadle.base.watch import WATCH, Kind
from treadle.ir.recording import RECORDING


def array(*shape, seed=0):
    return td.tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def text_of(line):
    """The source of a line."""
    file, number = line.rsplit(":", 1)
    return linecache.getline(file, int(number)).strip()


# ---- whose line


def quick_and_slow(x):
    y = x + 1.0
    y = y.sum() + y
    y = y @ y  # the slow one
    return y.max()


@pytest.mark.parametrize("compiled", [False, True], ids=["lazy", "compiled"])
def test_a_slow_line_stands_first(compiled):
    function = td.compile(quick_and_slow) if compiled else quick_and_slow
    x = array(1024, 1024)
    float(function(x))
    with td.profile() as prof:
        for _ in range(3):
            float(function(x))
    rows = prof.table().rows
    assert text_of(rows[0].name) == "y = y @ y  # the slow one"
    assert rows[0].flops == pytest.approx(3 * 2 * 1024**3, rel=0.01)
    assert "y = y @ y  # the slow one"[:20] in str(prof.table())


def first_caller(x):
    return td.softmax(x * 3.0)


def second_caller(x):
    return td.softmax(x * 3.0)


def test_functions_that_share_a_program_see_their_own_lines():
    x = array(31, 47)
    first_caller(x).numpy()  # compiled for this one, before anybody looks
    found = []
    for function in (first_caller, second_caller):
        with td.profile() as prof:
            function(x).numpy()
        (call,) = prof.events().filter(kind="call")
        lines = {site for e in prof.events().filter(kind="kernel") for site in e.detail.sites}
        found.append((call.name, lines))
        start = function.__code__.co_firstlineno
        assert lines == {f"{__file__}:{start + 1}"}
    assert found[0][0] == found[1][0]  # one program
    assert found[0][1] != found[1][1]


def test_compiled_functions_of_one_structure_keep_their_lines_apart():
    one, other = td.compile(first_caller), td.compile(second_caller)
    x = array(13, 17)
    one(x), other(x)
    with td.profile() as prof:
        one(x), other(x)
    lines = [e.detail.sites for e in prof.events().filter(kind="kernel")]
    starts = [f.__code__.co_firstlineno for f in (first_caller, second_caller)]
    assert lines == [(f"{__file__}:{start + 1}",) for start in starts]


def test_numbers_that_a_program_is_given_do_not_move_lines():
    x = array(9, 21)
    for k in range(5):  # from the third on the number is an input of the program
        with td.profile() as prof:
            (td.exp(x * (0.5 + k)) + 1.0).sum().numpy()
        (row,) = prof.group_by("line")
        assert text_of(row.name).startswith("(td.exp(x")


def test_a_gradient_stands_under_the_line_and_op_it_differentiates():
    x = array(64, 64).requires_grad_()
    w = array(64, 64)

    def loss():
        h = td.gelu(x @ w)
        return (h * h).sum()

    with td.profile() as prof:
        td.gradients(loss(), [x])[0].numpy()
    back = [p for e in prof.events().filter(kind="kernel") for p in e.detail.parts
            if p.phase == "backward"]  # fmt: skip
    assert {text_of(p.line) for p in back} == {"h = td.gelu(x @ w)", "return (h * h).sum()"}
    assert "gelu" in {p.op for p in back}


# ---- grouping


class Layer(td.nn.Module):
    def __init__(self):
        self.norm, self.up, self.down = (
            td.nn.LayerNorm(48),
            td.nn.Linear(48, 96),
            td.nn.Linear(96, 48),
        )

    def forward(self, x):
        return x + self.down(td.relu(self.up(self.norm(x))))


class Stack(td.nn.Module):
    def __init__(self):
        self.blocks = [Layer(), Layer()]
        self.head = td.nn.Linear(48, 5)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@pytest.fixture(scope="module", params=["lazy", "compiled"])
def trained(request):
    """A profile of two training steps, the model compiled before or not at all."""
    td.manual_seed(0)
    model = Stack()
    optimizer = td.optim.AdamW(model.parameters())

    def step(x, y):
        optimizer.zero_grad()
        loss = td.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    run = td.compile(step) if request.param == "compiled" else step
    x, y = array(40, 48), td.tensor(np.arange(40) % 5)
    float(run(x, y))
    with td.profile() as prof:
        for _ in range(2):
            float(run(x, y))
    return prof


KEYS = ["line", "op", "module", "phase", "scope", "kernel", "program"]


@pytest.mark.parametrize("key", KEYS)
def test_groups_sum_to_the_time_of_all_kernels(trained, key):
    kernels = trained.events().filter(kind="kernel")
    groups = trained.group_by(key)
    assert sum(group.time for group in groups) == pytest.approx(kernels.total, rel=1e-6)
    flops = sum(group.flops for group in trained.group_by("kernel"))
    assert sum(group.flops for group in groups) == pytest.approx(flops, rel=1e-6)


def test_modules_are_known_by_their_paths_and_phases_by_name(trained):
    modules = {group.name for group in trained.group_by("module")}
    assert {"blocks.0.up", "blocks.1.down", "blocks.1.norm", "head"} <= modules
    assert {group.name for group in trained.group_by("phase")} == {
        "forward", "backward", "optimizer"
    }  # fmt: skip
    ops = {group.name for group in trained.group_by("op")}
    assert {"linear", "layer_norm", "cross_entropy"} <= ops


def test_kernels_cover_the_calls_that_ran_them(trained):
    events = trained.events()
    covered = events.filter(kind="kernel").total / events.filter(kind="call").total
    assert 0.5 < covered <= 1.0  # of calls this short; benchmarks/tracing.py asks for more
    for event in events.filter(kind="kernel"):
        call = events[event.parent]
        assert call.kind is Kind.CALL
        assert call.start <= event.start <= event.end <= call.end
        assert event.detail.flops >= 0
        assert event.detail.parts


def test_rows_say_what_ran_and_how_close_to_the_limit(trained):
    best = max(trained.group_by("kernel"), key=lambda group: group.flops)
    assert best.name.startswith("linear")
    assert best.ideal > 0
    text = str(trained.table("module"))
    assert "limit" in text
    assert "█" in text or "▏" in text


def test_limits_are_those_of_the_dtype():
    x = array(64, 64).cast("float64").realize()
    with td.profile() as prof:
        (x @ x).numpy()
    (kernel,) = prof.events().filter(kind="kernel").sort("duration")[:1]
    assert kernel.detail.dtype == "f64"
    limits = prof.recording.ceilings
    limits["cpu"], limits["cpu f64"] = (1e12, 5e12), (1e12, 1e9)
    (group,) = prof.group_by("kernel")
    assert group.ideal == pytest.approx(2 * 64**3 / 1e9 * 1e9)


# ---- off and on


def test_results_are_the_same_and_nothing_is_left_on():
    model, x = Stack(), array(6, 48)
    plain = model(x).numpy().copy()
    with td.profile():
        watched = model(x).numpy().copy()
    assert np.array_equal(plain, watched)
    assert not WATCH.on
    assert not RECORDING.watched
    assert MEANING.plain


def test_entries_side_by_side_loops_and_long_programs_are_recorded():
    def looped(x):
        return td.scan(lambda c, _: (td.tanh(c @ c), c.sum()), x, None, length=3)[0]

    x = array(24, 24)
    expected = looped(x).numpy().copy()
    with td.profile() as prof:
        assert np.array_equal(looped(x).numpy(), expected)
        big = array(1024, 2048)
        total = ((big * 2.0).sum(0) + (big + 1.0).sum(0)).sum()
        total.numpy()
    kinds = {e.detail.kind for e in prof.events().filter(kind="kernel")}
    assert "region" in kinds
    assert prof.recording.lost == 0


def test_other_threads_are_seen_too():
    x = array(50, 50)

    def work():
        td.exp(x).numpy()

    with td.profile() as prof:
        thread = threading.Thread(target=work, name="another")
        thread.start()
        thread.join()
    (call,) = prof.events().filter(kind="call")
    assert call.track.thread != threading.get_ident()
    (group,) = prof.group_by("line")
    assert text_of(group.name) == "td.exp(x).numpy()"


def test_a_profile_is_entered_once():
    with td.profile() as prof, pytest.raises(td.TreadleError, match="it is entered already"):
        prof.__enter__()
    with pytest.raises(td.TreadleError, match="it is over"):
        prof.__enter__()
    with td.profile() as open_, pytest.raises(td.TreadleError, match="not over yet"):
        open_.events()


def test_what_a_compiler_makes_has_the_line_of_what_it_stands_for():
    """Scores in half precision are widened where they are made: no line of who called."""
    q, k, v = (td.randn(1, 2, 512, 32).cast(td.bfloat16).realize() for _ in range(3))

    def loss(q, k, v):
        return td.scaled_dot_product_attention(q, k, v, is_causal=True).cast(td.float32).sum()

    step = td.compile(td.grad(loss, (0, 1, 2)))
    step(q, k, v)
    with td.profile() as prof:
        td.realize(*step(q, k, v))
    lines = {line for event in prof.events().filter(kind="kernel") for line in event.detail.sites}
    assert {int(line.rpartition(":")[2]) for line in lines} == {loss.__code__.co_firstlineno + 1}


def test_indices_have_the_line_that_made_them():
    with td.profile() as prof:
        td.arange(5000).realize()
    assert [group.name.rpartition(":")[0] for group in prof.group_by("line")] == [__file__]
