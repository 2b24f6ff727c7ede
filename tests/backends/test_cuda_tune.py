"""Searching on GPUs: every tile is right, and the clock decides which is taken."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("triton")

from fake_driver import NEAR_THE_DRIVER, install
from triton_host import INTERPRETED, check, check_on, node_of, plan_of, simplified

from treadle.backends import choices
from treadle.backends.cuda import compile as compile_
from treadle.base.knobs import override
from treadle.ops.composite import matmul
from treadle.ops.elementwise import exp, maximum
from treadle.ops.neural import scaled_dot_product_attention, softmax

pytestmark = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")


@pytest.fixture(autouse=True)
def own_cache(tmp_path):
    place = {"cache_dir": str(tmp_path / "cache"), "cache_secret": str(tmp_path / "data" / "key")}
    with override(**place):
        choices.forget()
        yield
    choices.forget()


@pytest.fixture
def device(monkeypatch):
    fake, backend = install(monkeypatch)
    yield fake, backend
    for name in NEAR_THE_DRIVER:
        sys.modules.pop(f"treadle.backends.cuda.{name}", None)


def random(*shape, kind=np.float32):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(kind)


def attention(kind):
    q, k, v = (node_of(random(1, 2, 70, 32, kind=kind)) for _ in range(3))
    return [scaled_dot_product_attention(q, k, v, is_causal=True)]


BUILDS = {
    "map": lambda: [exp(node_of(random(70, 50))) + 1.0],
    "turned": lambda: [node_of(random(70, 50)).permute((1, 0)) * 2.0],
    "rows": lambda: [softmax(node_of(random(33, 70)))],
    "product": lambda: [matmul(node_of(random(70, 50)), node_of(random(50, 40)))],
    "finished": lambda: [
        maximum(matmul(node_of(random(70, 50)), node_of(random(50, 40))) + 1.0, 0.0)
    ],
    "half": lambda: [
        matmul(node_of(random(70, 50, kind=np.float16)), node_of(random(50, 40, kind=np.float16)))
    ],
    "attention": lambda: attention(np.float32),
}
TOLERANCE = {"half": 2e-3}


@pytest.mark.parametrize("name", BUILDS)
def test_every_way_is_right(name):
    search = choices.Search()
    with choices.searching(search):
        plan_of(BUILDS[name]())
    assert search.asked
    for key, question in search.asked.items():
        near = list(question.space.near(question.space.default))
        assert near
        assert all(question.space.fits(way) for way in near)
        for way in near[:: max(1, len(near) // 6)]:
            with choices.searching(choices.Search({key: way})):
                check(BUILDS[name](), TOLERANCE.get(name, 2e-6))


def test_the_clock_decides(device, monkeypatch):
    _, backend = device
    module = sys.modules["treadle.backends.cuda.backend"]
    seen = []

    def clock(program, inputs):
        program.run(inputs)
        spent = [0.0] * len(program.plan.steps)
        for launch in program.plan.launches:
            constants = dict(launch.source.constants)
            seen.append(constants.get("BM"))
            spent[launch.step] += float(constants.get("BM", 1)) * launch.source.warps
        return spent

    monkeypatch.setattr(module, "step_seconds", clock)
    with override(tune=1):
        check_on(backend, BUILDS["finished"](), 2e-6)
    assert len(set(seen)) > 1
    simple, places, _ = simplified(BUILDS["finished"]())
    (launch,) = backend.compile(simple, places, {}).plan.launches
    assert dict(launch.source.constants)["BM"] == min(seen) == 16
    assert launch.source.warps == 1


def test_events_time_every_step(device):
    _, backend = device
    roots = [softmax(matmul(node_of(random(70, 50)), node_of(random(50, 40))))]
    simple, places, leaves = simplified(roots)
    program = backend.compile(simple, places, {})
    inputs = [backend.upload(x.buffer, x.type, True) for x in leaves]
    clock = sys.modules["treadle.backends.cuda.timing"].step_seconds
    assert len(clock(program, inputs)) == len(program.plan.steps) == 2
    assert [launch.step for launch in program.plan.launches] == [0, 1]
    assert program.clock is None


def test_what_a_device_refuses_is_not_taken(device, monkeypatch):
    _, backend = device
    module = sys.modules["treadle.backends.cuda.backend"]
    code_of = compile_.code_of

    def narrow(source, architecture):
        if dict(source.constants).get("BM", 0) > 64 or source.warps > 8:
            raise RuntimeError("out of resources")
        return code_of(source, architecture)

    def clock(program, inputs):
        program.run(inputs)
        return [1.0 / dict(launch.source.constants)["BM"] for launch in program.plan.launches]

    monkeypatch.setattr(compile_, "code_of", narrow)
    monkeypatch.setattr(module, "step_seconds", clock)
    with override(tune=1):
        check_on(backend, BUILDS["product"](), 2e-6)
    simple, places, _ = simplified(BUILDS["product"]())
    (launch,) = backend.compile(simple, places, {}).plan.launches
    assert dict(launch.source.constants)["BM"] == 64
