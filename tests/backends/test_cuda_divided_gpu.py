"""Products in Gluon on a device, compared with float64; and several of a program, dealt."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")

from cuda_cases import of_tensors
from device_pool import begun
from test_cuda_divided import CASES, HEADS, plan_for, texts
from triton_host import INTERPRETED

import treadle as td
from treadle.backends.cuda import nest
from treadle.base.knobs import override

compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
LARGE = {"side by side": (768, 768), "added up": (8192, 768), "added up, and a row": (8192, 768),
         "long": (768, 3072)}  # fmt: skip
EVERYWHERE = CASES | {
    f"heads, {name}": (make, (8, 12, 1024, 64), LARGE[name]) for name, (make, _) in HEADS.items()
}


def compare_on_the_device(name, kind):
    """A case as it is and compiled, on the device and in float64 on the host."""
    if not td.cuda.is_available():
        return False
    make, *shapes = EVERYWHERE[name]
    rng = np.random.default_rng(0)
    near = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    given = [td.tensor(x).cast(getattr(td, kind)).realize() for x in near]

    def run(*x):
        return [td.Tensor(node) for node in make(*(t._node for t in x))]

    wanted = [x.numpy() for x in run(*(x.cast(td.float64).realize() for x in given))]
    with override(tf32=int(kind == "float32")):
        for lazy in (run, td.compile(run)):
            found = lazy(*(x.to("cuda") for x in given))
            for got, want in zip(found, wanted, strict=True):
                value = got.cast(td.float32).cpu().numpy().astype(np.float64)
                error = np.linalg.norm(value - want) / np.linalg.norm(want)
                assert error < (1e-2 if kind == "bfloat16" else 1.5e-3), error
    return True


@pytest.fixture(scope="module")
def outcomes(request):
    """The work of all chosen cases."""
    with begun(request, {"test_on_the_device": compare_on_the_device}) as found:
        yield found


@compiled
@pytest.mark.gpu
@pytest.mark.parametrize("name", EVERYWHERE)
@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32"])
def test_on_the_device(outcomes, request, name, kind):
    del name, kind
    if not outcomes[request.node.nodeid].result():
        pytest.skip("no CUDA device")


def side_by_side(a, b, c):
    """Dealt products that wait for nothing of each other's."""
    return a.mT @ b, a.mT @ c, b.mT @ a, c.mT @ a


def in_a_loop(a, b, c):
    """A dealt product at every step, whose counters are cleared before."""
    steps = td.arange(3, device=a.device).to(a.dtype)
    return td.scan(lambda h, k: (h * 0.5 + (a * (k + 1)).mT @ b, k), a.mT @ c, steps)[0]


MANY = {side_by_side: 4, in_a_loop: 2}
SIDES = (16384, 768), (16384, 3072), (16384, 3072)
many = pytest.mark.parametrize("function", MANY)


@compiled
@many
def test_several_products_of_a_program_are_dealt(function):
    found = texts(plan_for(lambda *x: of_tensors(function, *x), *SIDES))
    assert sum("atomic_add" in text for text in found) == MANY[function]


@compiled
@pytest.mark.gpu
@pytest.mark.parametrize("most", [nest.MOST, 0], ids=["flat", "walked"])
@many
def test_several_dealt_products_give_the_same_at_every_run(function, most, monkeypatch):
    """Launched one by one, as a graph, in a loop: nobody waits for ever, and counters are zero."""
    if not td.cuda.is_available():
        pytest.skip("no CUDA device")
    monkeypatch.setattr(nest, "MOST", most)
    rng = np.random.default_rng(0)
    given = [rng.standard_normal(shape).astype(np.float32) * 0.1 for shape in SIDES]
    a, b, c = (td.tensor(x).cast(td.bfloat16) for x in given)
    run, runs = td.compile(function), []
    for _ in range(12):
        found = run(*(x.to("cuda") for x in (a, b, c)))
        found = found if isinstance(found, tuple) else (found,)
        runs.append([x.cast(td.float32).numpy() for x in found])
    for again in runs[1:]:
        for one, two in zip(runs[0], again, strict=True):
            np.testing.assert_array_equal(one, two)
    a, b, c = (x.cast(td.float32).numpy() for x in (a, b, c))
    wanted = [a.T @ b, a.T @ c, b.T @ a, c.T @ a]
    if function is in_a_loop:
        wanted = [0.125 * wanted[1] + (0.25 + 1 + 3) * wanted[0]]
    for got, want in zip(runs[0], wanted, strict=True):
        assert np.linalg.norm(got - want) < 1e-2 * np.linalg.norm(want)
