"""Groups, their numbers, and how compiled steps follow them."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import treadle as td
from treadle import optim
from treadle.base.errors import ArgumentError, OperandError, ShapeError


def leaf(*shape):
    return td.ones(*shape or (2,)).requires_grad_()


def traces(compiled):
    return sum(map(len, compiled.entries.values()))


def stepping(make):
    p = leaf()
    optimizer = make([p])

    @td.compile
    def step():
        optimizer.zero_grad()
        (p * 1.0).sum().backward()
        optimizer.step()

    return p, optimizer, step


def test_numbers_reach_compiled_steps_without_a_trace():
    p, optimizer, step = stepping(lambda ps: optim.SGD(ps, 0.5, momentum=0.5, weight_decay=0.25))
    value, velocity = 1.0, 0.0
    changes = [("lr", 0.25), ("momentum", 0.75), ("weight_decay", 0.5), ("lr", 0.0), ("lr", 1.0)]
    numbers = {"lr": 0.5, "momentum": 0.5, "weight_decay": 0.25}
    for name, number in [("lr", 0.5), *changes]:
        optimizer.param_groups[0][name] = numbers[name] = number
        step()
        velocity = numbers["momentum"] * velocity + 1.0 + numbers["weight_decay"] * value
        value -= numbers["lr"] * velocity
        assert p.tolist() == pytest.approx([value] * 2, rel=1e-6)
    assert traces(step) == 1


@pytest.mark.parametrize(("name", "options", "changes"), [
    ("Adam", {}, {"lr": 0.5, "betas": (0.5, 0.6), "eps": 0.1}),
    ("AdamW", {}, {"weight_decay": 0.3, "betas": (0.2, 0.3)}),
    ("RMSprop", {}, {"alpha": 0.5, "lr": 1.0}),
    ("NAdam", {}, {"momentum_decay": 0.5}),
    ("Rprop", {}, {"etas": (0.4, 1.3), "step_sizes": (0.1, 0.2)}),
    ("Adafactor", {}, {"d": 2.0, "beta2_decay": -0.5, "eps": (None, 0.1)}),
    ("Lion", {"weight_decay": 0.1}, {"betas": (0.5, 0.5), "weight_decay": 0.2}),
    ("LAMB", {}, {"lr": 0.5, "betas": (0.5, 0.6)}),
], ids=str)  # fmt: skip
def test_every_number_is_read_at_every_call(name, options, changes):
    found = []
    for transform in (lambda f: f, td.compile):
        p = td.tensor([[1.0, 2.0], [3.0, 5.0]]).requires_grad_()
        optimizer = getattr(optim, name)([p], **options)

        def step(p=p, optimizer=optimizer):
            optimizer.zero_grad()
            (p * p).sum().backward()
            optimizer.step()

        run = transform(step)
        run()
        for setting, value in changes.items():
            setattr(optimizer, setting, value)
            run()
        found.append(p.numpy())
        if transform is td.compile:
            assert traces(run) == 1
    np.testing.assert_allclose(*found, rtol=1e-6)
    assert getattr(optimizer, next(iter(changes))) == next(iter(changes.values()))


def test_a_number_left_out_while_0_is_traced_once_more():
    p, optimizer, step = stepping(lambda ps: optim.SGD(ps, 0.5))
    step()
    optimizer.weight_decay = 0.5
    step()
    assert p.tolist() == [-0.125, -0.125]
    optimizer.weight_decay = 0.25
    step()
    assert traces(step) == 2


def test_state_is_made_when_a_setting_asks_for_it():
    p, optimizer, step = stepping(lambda ps: optim.SGD(ps, 1.0))
    step()
    optimizer.momentum = 0.5
    step()
    step()
    assert p.tolist() == [1 - 1 - 1 - 1.5] * 2


def test_a_flag_is_followed():
    p, optimizer, step = stepping(lambda ps: optim.SGD(ps, 1.0))
    step()
    optimizer.param_groups[0]["maximize"] = True
    step()
    assert p.tolist() == [1.0, 1.0]


def test_a_tensor_as_learning_rate_is_read_and_scheduled():
    rate = td.tensor(0.5)
    p, optimizer, step = stepping(lambda ps: optim.SGD(ps, rate))
    step()
    rate.assign(td.tensor(0.25))
    step()
    assert p.tolist() == [0.25, 0.25]
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    schedule.step()
    step()
    assert p.tolist() == [0.125, 0.125]
    assert traces(step) == 1


def test_what_a_traced_function_reads_of_a_group_is_followed():
    _, optimizer, _ = stepping(lambda ps: optim.SGD(ps, 0.5))
    f = td.compile(lambda x: x * optimizer.param_groups[0]["lr"])
    assert f(td.ones(1)).tolist() == [0.5]
    optimizer.lr = 0.25
    assert f(td.ones(1)).tolist() == [0.25]


def test_numbers_are_not_set_inside_a_trace():
    _, optimizer, _ = stepping(lambda ps: optim.SGD(ps, 0.5))

    @td.compile
    def f(x):
        optimizer.lr = 0.1
        return x

    with pytest.raises(ArgumentError, match="traced function"):
        f(td.ones(1))
    assert optimizer.lr == 0.5


def test_groups_have_their_own_settings():
    a, b, c = leaf(), leaf(), leaf()
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.25}], lr=0.5)
    optimizer.add_param_group({"params": [c], "maximize": True})
    (a + b + c).sum().backward()
    optimizer.step()
    assert (a.tolist()[0], b.tolist()[0], c.tolist()[0]) == (0.5, 0.75, 1.5)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.25, 0.5]
    optimizer.lr = 1.0
    assert {group["lr"] for group in optimizer.param_groups} == {1.0}


def test_a_group_added_is_seen_by_a_compiled_step():
    p, optimizer, step = stepping(lambda ps: optim.SGD(ps, 0.5))
    q = leaf()
    step()
    optimizer.add_param_group({"params": [q]})

    @td.compile
    def both():
        optimizer.zero_grad()
        (p + q).sum().backward()
        optimizer.step()

    both()
    assert (p.tolist(), q.tolist()) == ([0.0, 0.0], [0.5, 0.5])


def test_a_group_is_a_mapping():
    optimizer = optim.Adam([("weight", leaf()), ("bias", leaf())], lr=0.5)
    (group,) = optimizer.param_groups
    group["note"] = "mine"
    group.update(lr=0.25)
    assert group["lr"] == 0.25
    assert group["param_names"] == ["weight", "bias"]
    assert group.setdefault("initial_lr", 3.0) == 3.0
    assert dict(group)["note"] == "mine"
    assert {"params", "lr", "betas", "eps"} <= set(group)
    assert "lr=0.25" in repr(optimizer)
    del group["note"]
    assert "note" not in group


def test_parameters_count_their_own_steps():
    """One that is not updated in a step does not count it."""
    found = []
    for transform in (lambda f: f, td.compile):
        p, q = leaf(), leaf()
        optimizer = optim.Adam([p, q], lr=0.1)

        def step(used, p=p, q=q, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (p * p).sum() + (q * q).sum() if used else (p * p).sum()
            loss.backward()
            optimizer.step()

        run = transform(step)
        for used in (True, False, True, False, True):
            run(used)
        state = optimizer.state_dict()["state"]
        assert [float(state[k]["step"]) for k in (0, 1)] == [5.0, 3.0]
        found.append((p.tolist(), q.tolist()))
    np.testing.assert_allclose(*found, rtol=1e-6)
    lone = leaf()
    alone = optim.Adam([lone], lr=0.1)
    for _ in range(3):
        alone.zero_grad()
        (lone * lone).sum().backward()
        alone.step()
    np.testing.assert_allclose(found[0][1], lone.tolist(), rtol=1e-6)


def test_gradients_add_up_until_they_are_cleared():
    for transform in (lambda f: f, td.compile):
        p = leaf()
        optimizer = optim.SGD([p], lr=1.0)
        collect = transform(lambda x, p=p: (p * x).sum().backward())
        update = transform(optimizer.step)
        for x in (1.0, 2.0, 4.0):
            collect(td.tensor(x))
        update()
        assert p.tolist() == [-6.0, -6.0]
        optimizer.zero_grad(set_to_none=False)
        assert p.grad.tolist() == [0.0, 0.0]
        optimizer.zero_grad()
        assert p.grad is None


def test_a_closure_computes_the_loss():
    p = leaf()
    optimizer = optim.SGD([p], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with td.no_grad():
        assert float(optimizer.step(closure)) == 2.0
    assert p.tolist() == [0.5, 0.5]
    assert optimizer.step() is None


def test_many_parameters_take_few_kernels():
    params = [leaf(8, 8) for _ in range(50)]
    optimizer = optim.AdamW(params)

    def step(x):
        optimizer.zero_grad()
        sum(((p * x).sum() for p in params[1:]), (params[0] * x).sum()).backward()
        optimizer.step()

    text = str(td.explain(step, td.ones(8, 8)))
    assert int(text.split(maxsplit=1)[0]) <= 10, text.splitlines()[0]


def test_a_copy_trains_apart():
    p = leaf()
    optimizer = optim.Adam([p], lr=0.5)
    q, other = copy.deepcopy((p, optimizer))
    p.grad = td.ones(2)
    optimizer.step()
    other.lr = 0.25
    assert (q.tolist(), optimizer.lr) == ([1.0, 1.0], 0.5)
    q.grad = td.ones(2)
    other.step()
    np.testing.assert_allclose(q.numpy(), 0.75, rtol=1e-6)


WRONG = {
    "no parameters": (ArgumentError, lambda: optim.SGD([])),
    "lr=-1": (ArgumentError, lambda: optim.SGD([leaf()], lr=-1)),
    "lr='x'": (ArgumentError, lambda: optim.Adam([leaf()], lr="x")),
    "lr=nan": (ArgumentError, lambda: optim.Adam([leaf()], lr=float("nan"))),
    "betas": (ArgumentError, lambda: optim.NAdam([leaf()], betas=(0.9, 1.0))),
    "three": (ArgumentError, lambda: optim.Muon([leaf(2, 2)], ns_coefficients=(1.0,))),
    "etas": (ArgumentError, lambda: optim.Rprop([leaf()], etas=(1.2, 0.5))),
    "rho": (ArgumentError, lambda: optim.Adadelta([leaf()], rho=2.0)),
    "amsgrad": (ArgumentError, lambda: optim.Adam([leaf()], amsgrad=1)),
    "nesterov": (ArgumentError, lambda: optim.SGD([leaf()], nesterov=True)),
    "matrices": (ShapeError, lambda: optim.Muon([leaf()])),
    "strong_wolfe": (ArgumentError, lambda: optim.LBFGS([leaf()], line_search_fn="wolfe")),
    "one group": (ArgumentError, lambda: optim.LBFGS([{"params": leaf()}, {"params": leaf()}])),
    "closure": (ArgumentError, lambda: optim.LBFGS([leaf()]).step()),
    "twice": (ArgumentError, lambda: optim.SGD([p := leaf(), p])),
    "computed": (OperandError, lambda: optim.SGD([leaf() * 2.0])),
    "got=int": (OperandError, lambda: optim.SGD([3])),
    "group": (OperandError, lambda: optim.SGD([leaf()]).add_param_group({"lr": 3.0})),
    "no axes": (ArgumentError, lambda: optim.SGD([leaf()], lr=td.ones(2))),
    "flows through": (ArgumentError, lambda: optim.Adam([leaf()], differentiable=True)),
    "speed": (TypeError, lambda: optim.Adam([leaf()], speed=1)),
}  # fmt: skip


@pytest.mark.parametrize("said", WRONG)
def test_wrong_settings_are_refused(said):
    error, make = WRONG[said]
    with pytest.raises(error, match=said):
        make()


def test_a_setting_that_is_refused_changes_nothing():
    optimizer = optim.Adam([leaf()])
    for name, value in (("betas", 3.0), ("eps", -1.0), ("lr", None), ("params", [])):
        with pytest.raises(ArgumentError):
            optimizer.param_groups[0][name] = value
    assert (optimizer.betas, optimizer.eps, optimizer.lr) == ((0.9, 0.999), 1e-8, 1e-3)


def test_how_a_step_runs_may_be_said_and_changes_nothing():
    optim.Adam([leaf()], foreach=True, fused=False, capturable=True, differentiable=False)


LOADS = {
    "not an optimizer": lambda s: {"param_groups": []},
    "numbers of parameters": lambda s: s | {"param_groups": []},
    "no group has": lambda s: s | {"state": {7: {}}},
    "keeps no such state": lambda s: s | {"state": {0: {"velocity": 1.0}}},
    "shapes differ": lambda s: s | {"state": {0: s["state"][0] | {"exp_avg": np.zeros(3)}}},
    "betas": lambda s: s | {"param_groups": [s["param_groups"][0] | {"betas": (2, 3), "lr": 9.0}]},
}


@pytest.mark.parametrize("said", LOADS)
def test_a_state_that_does_not_fit_changes_nothing(said):
    p = leaf()
    optimizer = optim.Adam([p], lr=0.5)
    p.grad = td.ones(2)
    optimizer.step()
    before = optimizer.state_dict()
    with pytest.raises(ArgumentError, match=said):
        optimizer.load_state_dict(LOADS[said](before))
    after = optimizer.state_dict()
    assert after["param_groups"] == before["param_groups"]
    for name, value in before["state"][0].items():
        np.testing.assert_array_equal(after["state"][0][name].numpy(), value.numpy())
