"""Every layer and loss beside PyTorch's: the same weights by name, outputs, gradients, text.

Run by `make test-torch`, in an environment of its own; skipped where PyTorch is not installed.
"""

from __future__ import annotations

import inspect
from collections import Counter

import numpy as np
import pytest
from layer_cases import CASES

import treadle as td
from treadle import nn

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning")]
COMPARED: Counter[str] = Counter()

LEFT_OUT = {
    "Container": "an old name of Module", "CrossMapLRN2d": "an old form of LocalResponseNorm",
    "DataParallel": "a program drives one device", "SyncBatchNorm": "the same",
    "LinearCrossEntropyOptions": "how work is cut into pieces is the compiler's business",
    "UninitializedBuffer": "shapes are known when a layer is made",
    "UninitializedParameter": "the same",
}  # fmt: skip


def reason(name):
    lazy = "shapes are known when a layer is made" if name.startswith("Lazy") else None
    return LEFT_OUT.get(name, lazy)


def test_every_module_is_here_or_has_a_reason():
    theirs = [n for n in dir(torch.nn) if inspect.isclass(getattr(torch.nn, n)) and n[0] != "_"]
    assert [n for n in theirs if not hasattr(nn, n) and not reason(n)] == []
    assert [n for n in LEFT_OUT if hasattr(nn, n)] == []


def test_every_layer_has_cases():
    known = [n for n in nn.__all__ if inspect.isclass(getattr(nn, n)) and n in dir(torch.nn)]
    layers = [n for n in known if issubclass(getattr(nn, n), nn.Module)]
    without = {
        "Module", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict",
        "RNNBase", "RNNCellBase", "NLLLoss2d", "TransformerEncoder", "TransformerDecoder",
        "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
    }  # fmt: skip
    assert set(layers) - without == {case.name for case in CASES}


def given(value, rng, make):
    """An argument of a case: arrays become tensors of one of the libraries."""
    if callable(value):
        value = value(rng)
    return make(value) if isinstance(value, np.ndarray) else value


def theirs_of(x):
    return torch.tensor(x)


def made(space, case, make):
    rng = np.random.default_rng(7)
    options = {name: given(value, rng, make) for name, value in case.options.items()}
    return getattr(space, case.name)(*case.args, **options)


def leaves(found):
    if isinstance(found, (list, tuple)):
        return [x for part in found for x in leaves(part)]
    return [] if found is None else [found]


def inputs(case):
    rng = np.random.default_rng(CASES.index(case))
    arrays = [
        shape(rng) if callable(shape) else rng.standard_normal(shape).astype(np.float32)
        for shape in case.shapes
    ]
    calls = {k: v(rng) if callable(v) else v for k, v in case.call.items()}
    return arrays, calls


def run(layer, case, make, log_softmax):
    arrays, calls = inputs(case)
    tensors = [make(x) for x in arrays]
    for x, array, shape in zip(tensors, arrays, case.shapes, strict=True):
        if array.dtype.kind == "f" and not hasattr(shape, "fixed"):
            x.requires_grad_()
    options = {k: make(v) if isinstance(v, np.ndarray) else v for k, v in calls.items()}
    first = log_softmax(tensors[0], -1) if case.logits else tensors[0]
    return tensors, leaves(layer(first, *tensors[1:], **options))


def close(ours, theirs, case, what):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, f"{case}: {what}: {ours.shape} and {theirs.shape}"
    np.testing.assert_allclose(
        ours, theirs, rtol=case.tolerance, atol=case.tolerance, err_msg=f"{case}: {what}"
    )


def pulled(outputs, make):
    """Numbers that the outputs are multiplied by before they are summed up."""
    rng = np.random.default_rng(5)
    return [make(rng.uniform(0.5, 1.5, tuple(y.shape)).astype(np.float32)) for y in outputs]


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda k: f"{CASES[k].name}-{k}")
def test_layer_is_as_theirs(number):
    case = CASES[number]
    for training in case.modes:
        torch.manual_seed(3)
        theirs, ours = made(torch.nn, case, theirs_of).train(training), made(nn, case, td.tensor)
        ours.train(training)
        state = {name: x.detach().numpy().copy() for name, x in theirs.state_dict().items()}
        own = {name: x.shape for name, x in ours.state_dict().items()}
        assert list(own) == list(state)
        assert own == {name: x.shape for name, x in state.items()}
        ours.load_state_dict(state)
        compare(ours, theirs, case)
        COMPARED[case.name] += 1


def compare(ours, theirs, case):
    x, y = run(ours, case, td.tensor, td.log_softmax)
    tx, ty = run(theirs, case, theirs_of, torch.log_softmax)
    assert len(y) == len(ty)
    for k, (a, b) in enumerate(zip(y, ty, strict=True)):
        close(a.numpy(), b.detach().numpy(), case, f"output {k}")
    pairs = [(a, b) for a, b in zip(y, ty, strict=True) if a.requires_grad]
    assert all(b.requires_grad for _, b in pairs)
    if pairs and all(a.size for a, _ in pairs):
        slopes(case, ours, theirs, (x, tx), pairs)
    for name, value in ours.state_dict().items():
        close(value.numpy(), theirs.state_dict()[name].numpy(), case, f"{name} afterwards")


def slopes(case, ours, theirs, given, pairs):
    y, ty = zip(*pairs, strict=True)
    sum((a * w).sum() for a, w in zip(y, pulled(y, td.tensor), strict=True)).backward()
    sum((a * w).sum() for a, w in zip(ty, pulled(y, theirs_of), strict=True)).backward()
    for k, (a, b) in enumerate(zip(*given, strict=True)):
        if b.grad is not None:
            close(a.grad.numpy(), b.grad.numpy(), case, f"gradient of input {k}")
    known = dict(theirs.named_parameters())
    assert list(dict(ours.named_parameters())) == list(known)
    for name, p in ours.named_parameters():
        if known[name].grad is not None:
            close(p.grad.numpy(), known[name].grad.numpy(), case, f"gradient of {name}")


OTHER_TEXT = {"LinearCrossEntropyLoss": "shows options that are not taken here"}


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda k: f"{CASES[k].name}-{k}")
def test_layer_is_shown_as_theirs(number):
    case = CASES[number]
    if case.name in OTHER_TEXT:
        pytest.skip(OTHER_TEXT[case.name])
    theirs = repr(made(torch.nn, case, theirs_of))
    assert repr(made(nn, case, td.tensor)) == theirs.replace("NonDynamicallyQuantizable", "")


@pytest.mark.parametrize("name", ["ReLU", "ELU", "LeakyReLU", "Hardtanh", "SiLU", "Threshold"])
def test_options_that_change_nothing_are_shown(name):
    args = (0.5, 1.0) if name == "Threshold" else ()
    made = [repr(getattr(space, name)(*args, inplace=True)) for space in (nn, torch.nn)]
    assert made[0] == made[1]


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_unpooled_elements_are_where_theirs_are(axes):
    x = np.random.default_rng(0).standard_normal((2, 3, *(6, 8, 4)[:axes])).astype(np.float32)
    for size in (None, (2, 3, *(7, 9, 5)[:axes])):
        found = []
        for space, make in ((nn, td.tensor), (torch.nn, theirs_of)):
            pool = getattr(space, f"MaxPool{axes}d")(2, return_indices=True)
            unpool = getattr(space, f"MaxUnpool{axes}d")(2)
            y = unpool(*pool(make(x)), output_size=size)
            found.append(np.asarray(y))
        np.testing.assert_array_equal(*found)
        COMPARED[f"MaxUnpool{axes}d"] += 1


def test_the_number_of_compared_cases_is_told(capsys):
    with capsys.disabled():
        print(f"\n{sum(COMPARED.values())} cases of {len(COMPARED)} layers and losses compared")  # noqa: T201
