"""The tree of a module: attributes, containers, hooks, moving, text."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import ArgumentError, GradientError, OperandError


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 2)
        self.register_buffer("seen", td.zeros(2))
        self.register_buffer("scratch", td.zeros(1), persistent=False)

    def forward(self, x):
        return self.inner(x) + self.seen


# ---- parameters


def test_a_parameter_is_a_class_and_frozen_ones_stay_parameters():
    p = nn.Parameter(td.ones(2))
    assert isinstance(p, nn.Parameter)
    assert isinstance(p, td.Tensor)
    assert type(p * 2) is td.Tensor
    assert type(p.detach()) is td.Tensor
    layer = nn.Linear(2, 2).requires_grad_(False)
    assert len(list(layer.parameters())) == 2
    assert not any(p.requires_grad for p in layer.parameters())
    assert not nn.Parameter(td.tensor([1, 2]), requires_grad=False).requires_grad
    with pytest.raises(GradientError, match="only floats"):
        nn.Parameter(td.tensor([1, 2]))


STEPS = {
    "-=": (lambda m: setattr(m, "weight", m.weight.__isub__(1.0)), lambda w: w - 1),
    "attribute": (lambda m: setattr(m, "weight", m.weight * 3.0), lambda w: w * 3),
    "+=": (lambda m: setattr(m, "weight", m.weight.__iadd__(2.0)), lambda w: w + 2),
    "*=": (lambda m: setattr(m, "weight", m.weight.__imul__(2.0)), lambda w: w * 2),
    "/=": (lambda m: setattr(m, "weight", m.weight.__itruediv__(2.0)), lambda w: w / 2),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("compiled", [False, True])
def test_a_step_keeps_the_parameter(step, compiled):
    change, meaning = STEPS[step]
    layer = nn.Linear(2, 3)
    before, array = layer.weight, layer.weight.numpy().copy()

    def run():
        with td.no_grad():
            change(layer)

    (td.compile(run) if compiled else run)()
    assert layer.weight is before
    assert layer.weight.requires_grad
    np.testing.assert_allclose(layer.weight.numpy(), meaning(array), rtol=1e-6)


def test_a_loop_over_parameters_steps_them():
    layer = nn.Linear(2, 3)
    array = layer.bias.numpy().copy()
    layer(td.ones(4, 2)).sum().backward()
    with td.no_grad():
        for p in layer.parameters():
            p -= 0.5 * p.grad
    np.testing.assert_allclose(layer.bias.numpy(), array - 2.0, rtol=1e-6)


def test_a_tensor_does_not_silently_replace_a_parameter():
    layer = nn.Linear(2, 3)
    with pytest.raises(OperandError, match="parameter"):
        layer.weight = td.zeros(3, 2)
    with pytest.raises(GradientError, match="no_grad"):
        layer.weight -= 1.0
    layer.weight = nn.Parameter(td.zeros(3, 2))
    layer.bias = None
    assert [n for n, _ in layer.named_parameters()] == ["weight"]
    assert layer(td.ones(1, 2)).tolist() == [[0.0, 0.0, 0.0]]


# ---- buffers


def test_buffers_are_state_unless_they_are_not():
    net = Net()
    assert list(net.state_dict()) == ["seen", "inner.weight", "inner.bias"]
    assert [n for n, _ in net.named_buffers()] == ["seen", "scratch"]
    net.seen = td.ones(2)
    assert net.state_dict()["seen"].tolist() == [1.0, 1.0]
    del net.seen
    assert "seen" not in dict(net.named_buffers())
    net.extra = nn.Buffer(td.ones(1), persistent=False)
    assert "extra" in dict(net.named_buffers())
    assert "extra" not in net.state_dict()


def test_a_buffer_set_in_a_compiled_function_is_state():
    class Count(nn.Module):
        def __init__(self):
            self.register_buffer("n", td.zeros(1))

        def forward(self, x):
            self.n = self.n + 1
            return x * self.n

    lazy, compiled = Count(), Count()
    f = td.compile(lambda x: compiled(x))
    for _ in range(3):
        assert f(td.ones(1)).tolist() == lazy(td.ones(1)).tolist()
    assert compiled.n.tolist() == lazy.n.tolist() == [3.0]


@pytest.mark.parametrize("name", ["", "a.b", "forward", 3])
def test_names_that_do_not_do_are_refused(name):
    for register in ("register_buffer", "register_parameter", "register_module", "add_module"):
        with pytest.raises(ArgumentError, match=register):
            getattr(nn.Linear(1, 1), register)(name, None)


# ---- loading


def test_what_differs_is_told_and_nothing_is_changed():
    net = Net()
    before = net.inner.weight.tolist()
    state = {"inner.weight": td.zeros(2, 3), "inner.bias": td.zeros(5), "more": td.zeros(1)}
    with pytest.raises(ArgumentError) as caught:
        net.load_state_dict(state)
    text = str(caught.value)
    for part in ("inner.bias: (2,) here, (5,)", "missing in the state: seen", "module: more"):
        assert part in text
    with pytest.raises(ArgumentError, match="shapes differ"):
        net.load_state_dict(state, strict=False)
    assert net.inner.weight.tolist() == before
    del state["inner.bias"]
    found = net.load_state_dict(state, strict=False)
    assert found.missing_keys == ["seen", "inner.bias"]
    assert found.unexpected_keys == ["more"]
    assert repr(net.load_state_dict(net.state_dict())) == "every name has its value"


def test_a_state_is_what_it_was():
    net = Net()
    state = net.state_dict()
    before = state["inner.bias"].tolist()
    with td.no_grad():
        net.inner.bias -= 1.0
    assert state["inner.bias"].tolist() == before
    assert not state["inner.bias"].requires_grad
    assert net.state_dict(keep_vars=True)["inner.bias"] is net.inner.bias


def test_loading_can_take_dtypes_over():
    net, given = Net(), Net().half().state_dict()
    net.load_state_dict(given)
    assert net.inner.weight.dtype == td.float32
    net.load_state_dict(given, assign=True)
    assert net.inner.weight.dtype == td.float16


# ---- moving and copies


def test_a_cast_keeps_objects_and_compiled_functions_follow():
    net = Net()
    f = td.compile(lambda x: net(x))
    weight = net.inner.weight
    assert f(td.ones(1, 3)).dtype == td.float32
    for cast, kind in (("double", td.float64), ("half", td.float16), ("float", td.float32)):
        getattr(net, cast)()
        assert net.inner.weight is weight
        assert {p.dtype for p in (*net.parameters(), *net.buffers())} == {kind}
        assert f(td.ones(1, 3, dtype=kind)).dtype == kind
    net.register_buffer("count", td.tensor(3))
    assert net.to("cpu", td.bfloat16).count.dtype == td.int64
    assert net.to(dtype=td.float32, device="cpu").inner.bias.dtype == td.float32


def test_copies_are_of_their_own_and_shared_parameters_stay_shared():
    net = Net()
    net.again = net.inner
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.again is other.inner
        assert isinstance(other.inner.weight, nn.Parameter)
        assert other.inner.weight is not net.inner.weight
        np.testing.assert_array_equal(other.inner.weight.numpy(), net.inner.weight.numpy())
        assert list(other.state_dict()) == list(net.state_dict())
        assert list(dict(other.named_buffers())) == ["seen", "scratch"]


# ---- hooks


def test_forward_hooks_see_and_change():
    layer, log = nn.Linear(2, 2), []
    before = layer.register_forward_pre_hook(lambda m, args: log.append("in") or (args[0] * 0,))
    after = layer.register_forward_hook(lambda m, args, y: log.append("out") or y + 1)
    first = layer.register_forward_pre_hook(lambda m, args: log.append("first"), prepend=True)
    expected = layer.bias.numpy() + 1
    np.testing.assert_allclose(layer(td.ones(1, 2)).numpy()[0], expected, rtol=1e-6)
    assert log == ["first", "in", "out"]
    for handle in (before, after, first, first):
        handle.remove()
    log.clear()
    with layer.register_forward_hook(lambda m, a, o, y: log.append(o), with_kwargs=True):
        layer(input=td.ones(1, 2))
    layer(td.ones(1, 2))
    assert [list(x) for x in log] == [["input"]]
    with pytest.raises(OperandError, match="function"):
        layer.register_forward_hook(3)


@pytest.mark.parametrize("compiled", [False, True])
def test_backward_hooks_see_and_change_gradients(compiled):
    layer, seen = nn.Bilinear(2, 3, 4), []
    layer.register_full_backward_hook(
        lambda m, inputs, outputs: seen.append((inputs, outputs)) or tuple(g * 2 for g in inputs)
    )
    layer.register_full_backward_pre_hook(lambda m, outputs: (outputs[0] * 3,))
    plain = copy.deepcopy(layer)
    plain._hooks.clear()
    x, y = td.random.normal((5, 2)), td.random.normal((5, 3))

    def slopes(m):
        run = td.grad(lambda x, y: m(x, y).sum(), (0, 1))
        return (td.compile(run) if compiled else run)(x, y)

    found = slopes(layer)
    for a, b in zip(found, slopes(plain), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy() * 6, rtol=1e-5, atol=1e-6)
    ((inputs, outputs),) = seen
    assert [g.shape for g in inputs] == [(5, 2), (5, 3)]
    assert [g.shape for g in outputs] == [(5, 4)]


def test_hooks_of_a_compiled_function_are_followed():
    layer = nn.Linear(2, 2)
    f, x = td.compile(lambda x: layer(x)), td.ones(1, 2)
    before = f(x).numpy()
    handle = layer.register_forward_hook(lambda m, args, y: y * 2)
    np.testing.assert_allclose(f(x).numpy(), before * 2, rtol=1e-6)
    handle.remove()
    np.testing.assert_allclose(f(x).numpy(), before, rtol=1e-6)


# ---- walking


def test_modules_are_found_by_name():
    net = nn.Sequential(OrderedDict(first=nn.Linear(2, 2), second=nn.Sequential(nn.ReLU())))
    assert [n for n, _ in net.named_modules()] == ["", "first", "second", "second.0"]
    assert [n for n, _ in net.named_children()] == ["first", "second"]
    assert isinstance(net.get_submodule("second.0"), nn.ReLU)
    assert net.get_submodule("") is net
    assert net.get_parameter("first.bias") is net.first.bias
    with pytest.raises(AttributeError, match=r"no 'third'"):
        net.get_submodule("third")
    with pytest.raises(AttributeError, match="nothing"):
        _ = net.nothing
    kinds = []
    net.apply(lambda m: kinds.append(type(m).__name__))
    assert kinds == ["Linear", "ReLU", "Sequential", "Sequential"]


def test_a_cycle_is_walked_once():
    one, other = nn.Identity(), nn.Identity()
    one.other, other.one = other, one
    assert list(one.modules()) == [one, other]


def test_zero_grad_forgets_or_fills():
    layer = nn.Linear(2, 2)
    layer(td.ones(1, 2)).sum().backward()
    layer.zero_grad(set_to_none=False)
    assert layer.bias.grad.tolist() == [0.0, 0.0]
    layer.zero_grad()
    assert layer.bias.grad is None


# ---- summaries


def test_a_summary_counts():
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(128, 10))
    net.insert(1, nn.BatchNorm2d(8))
    found = net.summary(td.zeros(2, 3, 4, 4))
    assert found.parameters == 8 * 27 + 8 + 16 + 1290
    rows = {row.kind: row for row in found.rows}
    assert rows["Conv2d"].flops == 2 * 8 * 32 * 27 + 8 * 32
    assert rows["Linear"].flops == 2 * 2 * 10 * 128 + 2 * 10
    assert rows["Linear"].shapes == [(2, 10)]
    assert rows["Flatten"].flops == 0
    assert net[1].num_batches_tracked.item() == 0
    text = str(found).splitlines()
    assert text[0].split() == ["layer", "output", "parameters", "flops", "memory"]
    assert "1,530 parameters" in text[-1]
    assert not any(m._hooks.get("before") for m in net.modules())


def test_work_of_a_model_s_own_is_counted():
    class Own(nn.Module):
        def __init__(self):
            self.first = nn.Linear(4, 4)

        def forward(self, x):
            return self.first(x * 2) @ td.ones(4, 4) + x

    found = Own().summary(td.ones(3, 4))
    assert found.rows[0].flops == 12 + 2 * 12 * 4 + 12
