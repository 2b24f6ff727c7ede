"""Chains in Gluon: run by threads of the host against the reference, and compiled for sm_90."""

from __future__ import annotations

import re
from functools import partial
from math import inf

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

from device_pool import begun
from triton.tools.disasm import get_sass
from triton_host import INTERPRETED, check, check_on, node_of, plan_of, simplified

from treadle.autograd.backward import gradients
from treadle.backends.cuda import chain_blocks, chain_split
from treadle.backends.cuda.chain_blocks import in_blocks
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.gluon import FILE
from treadle.backends.cuda.orders import ORDERS
from treadle.backends.cuda.program import Plan
from treadle.backends.registry import backend_of
from treadle.base.device import device
from treadle.base.dtypes import bfloat16, float16, float32
from treadle.base.errors import DeviceError
from treadle.base.sizes import unknown
from treadle.ir.node import placeholder, type_of
from treadle.ops.elementwise import cast, eq, tanh, where
from treadle.ops.neural import scaled_dot_product_attention, softmax
from treadle.ops.reduce import sum_
from treadle.passes.pipeline import simplify

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")


def leaves(*shapes, kind=np.float16):
    rng = np.random.default_rng(0)
    return [node_of(rng.standard_normal(shape).astype(kind)) for shape in shapes]


def with_slopes(y, *given):
    (slope,) = leaves(y.shape, kind=given[0].buffer.dtype)
    return [y, *gradients([y], given, [slope])]


def attention(q, k, v, kind=np.float16, causal=False):
    given = leaves(q, k, v, kind=kind)
    return with_slopes(scaled_dot_product_attention(*given, is_causal=causal), *given)


def even(kind=np.float16, causal=True, width=128):
    return attention(*[(2, 256, width)] * 3, kind=kind, causal=causal)


def heads_inside(width=128):
    """Heads beside each other in a row, in what is read and in what is written."""
    x = leaves(*[(2, 256, 2, width)] * 3)
    y = scaled_dot_product_attention(*(a.permute(0, 2, 1, 3) for a in x), is_causal=True)
    return with_slopes(y.permute(0, 2, 1, 3), *x)


def window(width=128, seen=100):
    """Masked at both ends, and there is more between the products than a softmax."""
    q, k, v = leaves((1, 384, width), (1, 512, width), (1, 512, width))
    s = q @ k.mT
    row, column = s.iota_like(-2), s.iota_like(-1)
    seen = (row >= column) & (row - column < seen)
    y = softmax(where(seen, tanh(s * 0.02) * 5.0, float("-inf"))) @ v
    return with_slopes(y, q, k, v)


def distances(width=128):
    """What is added is a matter of how far apart two positions are."""
    q, k, v = leaves(*[(1, 256, width)] * 3)
    s = q @ k.mT
    apart = cast(s.iota_like(-2) - s.iota_like(-1), float16)
    return [softmax(s * 0.1 - apart * 0.01) @ v]


def without_softmax(width=128):
    """Tiles that are added up as they are."""
    q, k, v = leaves(*[(2, 256, width)] * 3)
    s = q @ k.mT
    return [where(s.iota_like(-2) >= s.iota_like(-1), s * 0.1, 0.0) @ v]


def tempered(width=128):
    """A number for each query, of 16 bits, which slopes along keys read along their stream."""
    q, k, v, t = leaves(*[(2, 256, width)] * 3, (2, 256, 1))
    return with_slopes(softmax(q @ k.mT * (t * 0.05)) @ v, q, k, v)


def fed_twice(width=128):
    """A tile that is fed to two products."""
    q, r, k, s = leaves(*[(2, 256, width)] * 4)
    tile = (q @ k.mT) * (r @ s.mT) * 0.01
    return [tile @ k, tile @ s]


def looked_up(width=128):
    """A number of each row of tiles leaves as well, and is a sum of one term."""
    q, k, v = leaves(*[(2, 256, width)] * 3)
    label = node_of(np.random.default_rng(1).integers(0, 256, (2, 256, 1)))
    s = q @ k.mT
    term = where(eq(s.iota_like(-1), label), s, 0.0)
    return [softmax(s * 0.1) @ v, sum_(term, axis=-1, keepdims=True)]


FORMS = {
    "causal": even,
    "full": partial(even, causal=False),
    "bfloat": partial(even, ml_dtypes.bfloat16),
    "more_keys": partial(attention, (2, 128, 128), (2, 384, 128), (2, 384, 128)),
    "more_queries": partial(attention, (384, 128), (256, 128), (256, 128), causal=True),
    "narrow_values": partial(attention, (256, 128), (256, 128), (256, 64), causal=True),
    "wide_values": partial(attention, (256, 64), (256, 64), (256, 128)),
    "groups": partial(attention, (1, 4, 256, 128), (1, 2, 256, 128), (1, 2, 256, 128), causal=True),
    "heads_inside": heads_inside,
    "window": window,
    "distances": distances,
    "without_softmax": without_softmax,
}
FORMS_64 = {
    "causal": partial(even, width=64),
    "full": partial(even, causal=False, width=64),
    "bfloat": partial(even, ml_dtypes.bfloat16, width=64),
    "more_keys": partial(attention, (2, 128, 64), (2, 384, 64), (2, 384, 64)),
    "more_queries": partial(attention, (384, 64), (256, 64), (256, 64), causal=True),
    "groups": partial(attention, (1, 4, 256, 64), (1, 2, 256, 64), (1, 2, 256, 64), causal=True),
    "odd": partial(attention, *[(3, 384, 64)] * 3, causal=True),
    "odd_slopes": partial(attention, *[(3, 192, 64)] * 3, causal=True),
    "heads_inside": partial(heads_inside, 64),
    "window": partial(window, 64),
    "distances": partial(distances, 64),
    "without_softmax": partial(without_softmax, 64),
    "tempered": partial(tempered, 64),
    "fed_twice": partial(fed_twice, 64),
    "looked_up": partial(looked_up, 64),
}
"""Of programs that stay, of which there are few here."""
FORMS |= {f"{name}_64": form for name, form in FORMS_64.items()}
KERNELS = {name: 3 if name.endswith("_64") else 2 for name in FORMS}
KERNELS |= {"narrow_values": 1, "wide_values": 1, "odd_slopes_64": 2}
KERNELS |= dict.fromkeys(("distances", "without_softmax"), 1)
KERNELS |= dict.fromkeys(("distances_64", "without_softmax_64", "fed_twice_64"), 1)
KERNELS["looked_up_64"] = 0
TOLERANCES = dict.fromkeys(FORMS, 2e-3) | dict.fromkeys(("bfloat", "bfloat_64"), 1.5e-2)
names = pytest.mark.parametrize("name", FORMS)


def in_gluon(plan):
    return [x for x in plan.launches if "@gluon.jit" in x.source.text]


def widen(patch):
    """Small chains too, and where Triton's own interpreter is at work; programs stay."""
    patch.setattr(chain_split, "is_there", lambda: True)
    patch.setattr(chain_blocks, "FULL", 0.0)
    patch.setattr(chain_split, "in_blocks", lambda chain, _: in_blocks(chain, 1))


@pytest.fixture
def anywhere(monkeypatch):
    widen(monkeypatch)


@pytest.fixture(scope="module")
def backend():
    from treadle.backends.cuda.backend import Cuda

    try:
        return Cuda(0)
    except (DeviceError, ImportError, RuntimeError, OSError) as error:
        pytest.skip(f"no CUDA device: {error}")


@interpreted
@names
def test_run_by_threads(name, anywhere):
    assert len(in_gluon(plan_of(FORMS[name]())[0])) == KERNELS[name]
    check(FORMS[name](), TOLERANCES[name])


@interpreted
@pytest.mark.parametrize("name", ["causal_64", "more_keys_64", "window_64"])
def test_a_program_for_each_block_run_by_threads(name, anywhere, monkeypatch):
    monkeypatch.setattr(chain_blocks, "FULL", inf)
    assert all("held_free" not in x.source.text for x in in_gluon(plan_of(FORMS[name]())[0]))
    check(FORMS[name](), TOLERANCES[name])


SOME = ["causal", "bfloat", "narrow_values", "groups", "window"]
SOME_64 = ["causal_64", "full_64", "groups_64", "window_64", "tempered_64", "fed_twice_64"]


@compiled
@pytest.mark.parametrize(
    "name", [*SOME, "causal_64", "full_64", "groups_64", "tempered_64", "fed_twice_64"]
)
def test_compiled_for_sm_90(name, anywhere):
    for launch in in_gluon(plan_of(FORMS[name]())[0]):
        alone = "warp_specialize" not in launch.source.text
        code, residents = code_of(launch.source, 90), launch.grid[0] if "_64" in name else 1
        residents = 3 if alone else residents
        assert (code.shared + 1024) * residents <= 228 << 10
        most = 9 if launch.source.registers == 0 else 5  # groups, and who brings
        assert code.warps == 4 if alone else code.warps >= most
        assert code.warps * 32 * launch.source.registers * residents <= FILE
        assert len(code.maps) == sum("tensordesc" in kind for _, kind in launch.source.types)


@compiled
def test_products_are_under_way_beside_the_rest(anywhere):
    """Tensor cores are waited for once a product, not once an instruction; little is spilled."""
    for name in ("causal", "causal_64"):
        for launch in in_gluon(plan_of(FORMS[name]())[0]):
            text = get_sass(code_of(launch.source, 90).cubin)
            products, waits = text.count("HGMMA"), text.count("WARPGROUP.DEPBAR")
            assert products >= (32 if name == "causal" else 16)
            assert waits <= products // 4
            if "warp_specialize" not in launch.source.text:  # tiles that no mask touches come last
                at = [x.start() for x in re.finditer("HGMMA", text)]
                text = text[at[len(at) // 2] : at[-1]]
            assert text.count("STL") <= 8


def large(*shape, causal=True, kind=bfloat16):
    q, k, v, g = (placeholder(type_of(shape, kind)) for _ in range(4))
    y = scaled_dot_product_attention(q, k, v, is_causal=causal)
    return [y, *gradients([y], [q, k, v], [g])], [q, k, v, g]


def gluon_count(roots, leaves, architecture=90):
    return len(in_gluon(Plan(simplify(roots, ORDERS), leaves, {}, 132, architecture=architecture)))


def test_where_it_is_chosen(monkeypatch):
    """On Hopper alone, for whole tiles that are wide, and enough of them."""
    monkeypatch.setattr(chain_split, "is_there", lambda: True)
    wide = large(4, 16, 4096, 128)
    assert gluon_count(*wide) == gluon_count(*large(4, 16, 4096, 128, causal=False)) > 0
    assert gluon_count(*wide, architecture=80) == gluon_count(*wide, architecture=100) == 0
    others = [(4, 16, 4001, 128), (4, 16, 4096, 96), (1, 2, 1024, 128), (2, 4, 1024, 64)]
    assert [gluon_count(*large(*shape)) for shape in others] == [0] * len(others)
    assert gluon_count(*large(4, 16, 4096, 128, kind=float32)) == 0
    monkeypatch.setattr(chain_split, "is_there", lambda: False)
    assert gluon_count(*wide) == 0


def test_two_products_read_a_stream_each_and_what_they_are_fed_to_one_of_these(monkeypatch):
    monkeypatch.setattr(chain_split, "is_there", lambda: True)
    q, r, k, s, v = given = [placeholder(type_of((4, 16, 4096, 128), bfloat16)) for _ in range(5)]
    one, other, same = (q @ k.mT), (r @ s.mT), (r @ k.mT)
    assert gluon_count([(one * other) @ k], given) == 1
    assert gluon_count([(one * other) @ v], given) == 0
    assert gluon_count([(one * same) @ k], given) == 0


def test_two_sums_are_made_by_groups_that_bring_their_operands_themselves(monkeypatch):
    """What else is read along the stream comes with it, if it lies as a copy engine needs it."""
    monkeypatch.setattr(chain_split, "is_there", lambda: True)

    def slopes(*shape, add=None):
        q, k, v, g = given = [placeholder(type_of(shape, bfloat16)) for _ in range(4)]
        s = q @ k.mT
        p = softmax(s if add is None else s + add)
        given += [] if add is None else [add]
        roots = simplify(gradients([p @ v], [k, v], [g]), ORDERS)
        plan = Plan(roots, given, {}, 132, architecture=90)
        return [x.source.text for x in in_gluon(plan) if "warp_specialize" not in x.source.text]

    (text,) = slopes(4, 16, 2048, 64)
    assert "tma.async_copy_global_to_shared(r1" in text
    assert "tl.load" not in text
    (text,) = slopes(4, 16, 2048, 64, add=placeholder(type_of((2048, 1), bfloat16)))
    assert "tma.async_copy_global_to_shared(r1" in text
    assert "tl.load" in text
    assert slopes(4, 16, 2048, 128) == []


def test_programs_stay_where_all_have_much_to_do(monkeypatch):
    """Where many would be idle at the end, each block has a program of its own."""
    monkeypatch.setattr(chain_split, "is_there", lambda: True)

    def grids(*shape):
        roots, given = large(*shape)
        plan = Plan(simplify(roots, ORDERS), given, {}, 132, architecture=90)
        return [launch.grid[0] for launch in in_gluon(plan)]

    assert grids(16, 12, 1024, 64) == [2 * 132, 3 * 132, 3072]
    assert grids(4, 16, 4096, 64) == [2 * 132, 4096, 4096]
    assert grids(3, 16, 1024, 64) == [3 * 16 * 8, 3 * 132, 3 * 16 * 16]
    assert grids(unknown("batch", 8, 64), 12, 1024, 64) == []


@interpreted
@pytest.mark.parametrize("width", [64, 128])
def test_many_turns(width, anywhere):
    """More than there are stages: rooms are filled again and again."""
    q, r, k, s = leaves(*[(1, 768, width)] * 4)
    check([softmax(q @ k.mT) @ k, ((q @ k.mT) * (r @ s.mT) * 0.01) @ k], 5e-3)


def test_one_graph_has_one_text():
    """Kernels are kept on disk by their text: it is the same each time a graph is built."""
    plans = [plan_of(FORMS["causal"]())[0] for _ in range(8)]
    assert len({tuple(x.source.text for x in plan.launches) for plan in plans}) == 1


# ---- on a device


def check_form(name):
    with pytest.MonkeyPatch.context() as patch:
        widen(patch)
        check_on(backend_of(device("cuda")), FORMS[name](), TOLERANCES[name])


def check_length(length, causal, width):
    with pytest.MonkeyPatch.context() as patch:
        widen(patch)
        roots = attention(*[(3, length, width)] * 3, kind=ml_dtypes.bfloat16, causal=causal)
        check_on(backend_of(device("cuda")), roots, TOLERANCES["bfloat"])


def check_all_processors(full):
    """As many programs as there are in earnest, with an odd number of blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain_blocks, "FULL", full)
        roots = attention(*[(3, 61, 384, 64)] * 3, kind=ml_dtypes.bfloat16, causal=True)
        assert len(in_gluon(Plan(*simplified(roots)[:2], {}, 132, architecture=90))) == 3
        check_on(backend_of(device("cuda")), roots, TOLERANCES["bfloat"])


@pytest.fixture(scope="module")
def outcomes(request, backend):
    """The work of all chosen cases."""
    work = {"test_on_the_device": check_form, "test_lengths_on_the_device": check_length}
    with begun(request, work | {"test_all_processors_at_work": check_all_processors}) as found:
        yield found


@compiled
@pytest.mark.gpu
@names
def test_on_the_device(outcomes, request, name):
    outcomes[request.node.nodeid].result()


@compiled
@pytest.mark.gpu
@pytest.mark.parametrize("length", [128, 640, 4096])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("width", [64, 128])
def test_lengths_on_the_device(outcomes, request, length, causal, width):
    outcomes[request.node.nodeid].result()


@compiled
@pytest.mark.gpu
@pytest.mark.parametrize("full", [0.0, inf])
def test_all_processors_at_work(outcomes, request, full):
    outcomes[request.node.nodeid].result()
