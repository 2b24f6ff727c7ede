"""torch.nn.functional, name by name: the same arguments, values, gradients, or why not.

Run by `make test-torch`, in an environment of its own; skipped where PyTorch is not installed.
"""

from __future__ import annotations

import inspect
import re
import zlib

import functional_cases  # noqa: F401 - fills CASES
import loss_cases  # noqa: F401 - fills CASES
import numpy as np
import pytest
from functional_calls import CASES, Draw

import treadle as td
from treadle.nn import functional as ours

torch = pytest.importorskip("torch")
theirs = torch.nn.functional

TOLERANCE = {"float32": 1e-4, "float64": 1e-9}
NAMES = sorted({case.name for case in CASES})
IN_PLACE = "writes over its argument; values here never change: x = F.relu(x)"
HALF = "the half of a function that return_indices=True chooses"
NO_LAYER = "not a function of networks: an import, a type or a table of that module"
SCALED = "products of narrow floats with scales, for some GPUs"
WHY_NOT = {
    **dict.fromkeys(
        ("celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "rrelu_", "selu_", "threshold_"),
        IN_PLACE,
    ),
    **{f"max_pool{n}d_with_indices": HALF for n in (1, 2, 3)},
    **{f"adaptive_max_pool{n}d_with_indices": HALF for n in (1, 2, 3)},
    **{f"fractional_max_pool{n}d_with_indices": HALF for n in (2, 3)},
    **dict.fromkeys(
        ("BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Callable", "DType",
         "GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "Optional",
         "TYPE_CHECKING", "Tensor", "assert_int_or_pair", "boolean_dispatch", "dataclasses", "grad",
         "handle_torch_function", "has_torch_function", "has_torch_function_unary",
         "has_torch_function_variadic", "importlib", "math", "np", "reproducibility_notes",
         "sparse_support_notes", "tf32_notes", "torch", "warnings"), NO_LAYER
    ),
    **dict.fromkeys(("ScalingType", "SwizzleType", "scaled_mm", "scaled_grouped_mm"), SCALED),
    "grouped_mm": "products of rows in groups of any size: a product for each group",
}  # fmt: skip
LEFT_OUT = {
    # argument of theirs: why ours has none; those after it are by keyword
    "size_average": "deprecated since 0.4.1: reduction says it",
    "reduce": "deprecated since 0.4.1: reduction says it",
    "_stacklevel": "where their warning points to",
    "out": "writes over its argument",
    "options": "how their kernel is cut into pieces",
}
OTHER_GRADIENTS = {("hardsigmoid", "float64"): "theirs rounds 1 / 6 to float32"}
DRAWN = {
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
    "gumbel_softmax",
}  # fmt: skip
"""Random: their distributions are looked at in tests/nn."""
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


# ---- names and arguments


def public():
    return [name for name in dir(theirs) if not name.startswith("_")]


@pytest.mark.parametrize("name", public())
def test_every_name_is_the_same_or_has_a_reason(name):
    assert hasattr(ours, name) != (name in WHY_NOT)
    if name not in WHY_NOT and name not in DRAWN:
        assert name in NAMES or name.startswith("max_unpool"), "not compared"


def test_every_reason_is_still_needed():
    assert not set(WHY_NOT) - set(public())
    assert not set(ours.__all__) - set(public()), "not PyTorch's"


def signature_of(name):
    """Theirs as [(argument, default)], of the function or of the first line of its page."""
    function = getattr(theirs, f"{name}_with_indices", None) or getattr(theirs, name)
    try:
        parameters = inspect.signature(function).parameters.values()
        return [(p.name, p.default) for p in parameters]
    except ValueError:
        text = " ".join((function.__doc__ or "").split())
        found = re.match(rf"{name}\((.*?)\) ->", text)
        if not found:
            return None
        parts = [part.partition("=") for part in found[1].split(",")]
        return [
            (n.strip(), eval(v, {"inf": np.inf}) if e else inspect.Parameter.empty)
            for n, e, v in parts
        ]


@pytest.mark.parametrize("name", ours.__all__)
def test_arguments_are_theirs(name):
    wanted = signature_of(name)
    if wanted is None:
        pytest.skip("theirs says nothing of its arguments")
    mine = list(inspect.signature(getattr(ours, name)).parameters.values())
    kept = [(n, default) for n, default in wanted if n not in LEFT_OUT]
    assert [(p.name, p.default) for p in mine] == kept
    first = next((k for k, (n, _) in enumerate(wanted) if n in LEFT_OUT), len(wanted))
    by_position = [p.name for p in mine if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert by_position == [n for n, _ in wanted[: len(by_position)]]
    assert len(by_position) <= first


# ---- values and gradients


class Call:
    """A case with numbers: the same for both, and which of them have a gradient."""

    def __init__(self, case, kind):
        rng = np.random.default_rng(zlib.crc32(f"{case}{kind}".encode()))
        self.name, self.still = case.name, set()
        self.together = len(case.args) > 2 and case.args[0] is case.args[1] is case.args[2]

        def made(value):
            if not isinstance(value, Draw):
                return value
            array = np.asarray(value.made(rng, kind))
            if value.still or (case.name, kind) in OTHER_GRADIENTS:
                self.still.add(id(array))
            return array

        self.args = [made(v) for v in case.args]
        self.options = {k: made(v) for k, v in case.options.items()}

    def results(self, functions, tensor, dtype_of):
        """(results, operands with a gradient, those without, which may have been assigned)."""
        leaves, kept = [], []

        def wrapped(value):
            if not isinstance(value, np.ndarray):
                return value
            still = id(value) in self.still or value.dtype.kind != "f"
            x = tensor(value, not still)
            (kept if still else leaves).append(x)
            return x

        if self.name == "multi_head_attention_forward" and self.together:  # self-attention
            given = [wrapped(self.args[0])] * 3 + [wrapped(v) for v in self.args[3:]]
        else:
            given = [wrapped(v) for v in self.args]
        named = {k: dtype_of(v) if k == "dtype" else wrapped(v) for k, v in self.options.items()}
        if self.name == "ctc_loss":  # PyTorch's gradient is that below log_softmax
            given[0] = functions.log_softmax(given[0], -1)
        found = getattr(functions, self.name)(*given, **named)
        found = [y for y in (found if isinstance(found, tuple) else (found,)) if y is not None]
        if self.name in ("embedding", "embedding_bag"):  # max_norm changes the weight
            kept.append(given[1])
        return found, leaves, kept


def of_torch(call):
    """(results, gradients, states, cotangents) as arrays."""
    found, leaves, kept = call.results(
        theirs, lambda value, grad: torch.tensor(value, requires_grad=grad),
        lambda name: getattr(torch, name),
    )  # fmt: skip
    rng = np.random.default_rng(0)
    floats = [y for y in found if y.is_floating_point()]
    seeds = [torch.tensor(rng.uniform(0.5, 1.5, y.shape), dtype=y.dtype) for y in floats]
    pairs = [(y, w) for y, w in zip(floats, seeds, strict=True) if y.requires_grad]
    slopes = [None] * len(leaves)
    if pairs and leaves:
        results, weights = zip(*pairs, strict=True)
        slopes = torch.autograd.grad(results, leaves, weights, materialize_grads=True)
    states = [x.detach().numpy() for x in kept]
    return [y.detach().numpy() for y in found], slopes, states, [w.numpy() for w in seeds]


def of_treadle(call, weights):
    found, leaves, kept = call.results(ours, lambda value, _: td.tensor(value), lambda name: name)
    floats = [y for y in found if y.dtype.is_float]
    seeds = [td.tensor(w) for w in weights]
    slopes = td.gradients(floats, leaves, seeds) if floats and leaves else []
    return found, slopes, kept


def assert_close(mine, yours, what, tolerance):
    mine, yours = np.asarray(mine), np.asarray(yours)
    assert mine.shape == yours.shape, what
    if yours.dtype.kind != "f":
        np.testing.assert_array_equal(mine, yours, err_msg=what)
        return
    assert mine.dtype == yours.dtype or "gradient" in what, what
    largest = np.abs(yours[np.isfinite(yours)]).max(initial=1.0)
    np.testing.assert_allclose(mine, yours, rtol=tolerance, atol=tolerance * largest, err_msg=what)


def compare(case, kind, found, wanted):
    said = f"{case} in {kind}"
    for what, mine, yours in zip(("result", "gradient", "state"), found, wanted, strict=False):
        pairs = zip(mine, yours, strict=True) if mine or what == "result" else ()
        for k, (a, b) in enumerate(pairs):
            assert_close(a.numpy(), b, f"{said}: {what} {k}", TOLERANCE[kind])


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_are_theirs(name, kind):
    for case in CASES:
        if case.name == name:
            call = Call(case, kind)
            *wanted, weights = of_torch(call)
            compare(case, kind, of_treadle(call, weights), wanted)


@pytest.mark.parametrize("name", NAMES)
def test_a_compiled_call_gives_the_same(name):
    case = [c for c in CASES if c.name == name][-1]
    call = Call(case, "float32")
    *wanted, weights = of_torch(call)

    @td.compile
    def compiled():
        results, slopes, states = of_treadle(call, weights)
        return list(results), list(slopes), list(states)

    compare(case, "float32", compiled(), wanted)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("named", [False, True])
def test_unpooling_puts_elements_back(n, named):
    """Places come from max_pool: those drawn at random would meet."""
    shape = (2, 3, *((9, 7, 5) if named else (8, 6, 4))[:n])
    x = np.random.default_rng(n).permutation(int(np.prod(shape))).reshape(shape).astype("float32")
    pool, unpool = f"max_pool{n}d", f"max_unpool{n}d"
    size = shape if named else None
    leaf = torch.tensor(x, requires_grad=True)
    top, at = getattr(theirs, pool)(leaf, 2, return_indices=True)
    wanted = getattr(theirs, unpool)(top, at, 2, output_size=size)
    (slope,) = torch.autograd.grad((wanted * wanted).sum(), leaf)
    mine = td.tensor(x)
    high, place = getattr(ours, pool)(mine, 2, return_indices=True)
    found = getattr(ours, unpool)(high, place, 2, output_size=size)
    (own,) = td.gradients([(found * found).sum()], [mine])
    np.testing.assert_array_equal(found.numpy(), wanted.detach().numpy())
    np.testing.assert_allclose(own.numpy(), slope.numpy(), rtol=1e-5)


def test_how_many_cases_are_compared(capsys):
    with capsys.disabled():
        print(f"\nnn.functional: {len(NAMES)} functions, {len(CASES)} calls in two dtypes")  # noqa: T201
    assert len(CASES) >= 600
