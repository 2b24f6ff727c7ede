"""The identity of a kernel decides its code, and says what its loops do."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from renumbered import Renumbered

from treadle.backends.cpu import jit
from treadle.backends.cpu.epilogue_emit import epilogue_text
from treadle.backends.cpu.host import AARCH64, AVX2
from treadle.backends.cpu.program import Program
from treadle.backends.cpu.table import kernel_job
from treadle.backends.cuda import forms
from treadle.backends.cuda.epilogue import EpilogueEmitter, Finished
from treadle.backends.cuda.texts import kernel_text as triton_text
from treadle.base.dtypes import FLOATS, DType, bfloat16, float32, float64, int64
from treadle.base.target import Takes, Target
from treadle.ir.graph import toposort
from treadle.ir.node import placeholder, type_of
from treadle.kernel import abstract
from treadle.kernel.choose import Style, choose
from treadle.kernel.index import Axis, Looked, Remainder
from treadle.kernel.loops import indices_of
from treadle.kernel.parser import parse
from treadle.kernel.plan import plan_steps
from treadle.kernel.signature import Signature
from treadle.ops import activations, ordering, scan
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops.contract import matrix_product
from treadle.ops.reduce import max_, sum_
from treadle.passes.pipeline import simplify
from treadle.testing.growth import EVERY
from treadle.testing.strategies import graph_of

ROOT = Path(__file__).parents[2]
GRAPHS, COPIES = 120, 6
FINISHED = Finished("acc", "m", "n", "high", "wide")


def loops_of(roots):
    """Every loop kernel of a graph, those that run on a product's tiles included."""
    found = []
    for step in plan_steps(simplify(roots), {}, Takes(FLOATS)):
        found += [built.loops for built in step.programs()]
    return found


def leaf(*shape, kind=float32):
    return placeholder(type_of(shape, kind))


def turned(n, kind):
    return [m.flip(leaf(n, kind=kind), 0), m.slice_(leaf(n, 7, kind=kind), [(0, n, 1), (4, 5, 1)])]


def edged(n):
    """Guards that hold on one side, on the other, on none."""
    x = leaf(n, 3)
    return [m.pad(x, [(1, 0), (0, 0)]), m.pad(x, [(0, 2), (1, 1)]), m.concat([x, x], axis=0)]


def families():
    """(a kernel, the same with other numbers, ...) of many structures."""
    draw = Random(7)
    graphs = [[v.node for v in graph_of(seed, 12, EVERY).roots] for seed in range(GRAPHS)]
    graphs += [
        turned(34, int64),
        edged(20),
        [activations.gelu(matrix_product(leaf(64, 32), leaf(32, 48)))],
    ]
    for roots in graphs:
        for loops in loops_of(roots):
            yield [loops, *(Renumbered(draw).loops(loops) for _ in range(COPIES))]


def on_cpu(family):
    """(identity, code) of each kernel of a family."""
    for target in (AVX2, AARCH64):
        style, _ = choose(family[0], target)
        for loops in family:
            job = kernel_job(Signature(loops).text, style, target)
            if loops.epilogue:
                parts = (Signature(loops).text, style)
                job = jit.job(epilogue_text, parts, ("kernel",), target, style.effort)
            parse.cache_clear()
            yield (job.key, target), job.make_text()


def on_cuda(family):
    form = forms.choose(family[0])
    for loops in family:
        text = Signature(loops).text
        parse.cache_clear()
        if not loops.epilogue:
            yield (text, form), triton_text.__wrapped__(text, form)
        else:
            emitter = EpilogueEmitter(parse(text), form, FINISHED)
            yield (text, form), "\n".join(emitter.run("m < M", "n < N"))


@pytest.mark.parametrize("emitted", [on_cpu, on_cuda])
def test_kernels_of_one_identity_have_one_code_whatever_their_numbers(emitted):
    codes, shared = {}, 0
    for family in families():
        for identity, code in emitted(family):
            shared += identity in codes
            assert codes.setdefault(identity, code) == code, identity
    assert shared > len(codes) // 2, "hardly any two kernels had one identity"


# ---- the text and the loops


def written(index, at):
    """The value of an index of loops at a point; an axis that is merged away counts as 0."""
    total = index.constant
    for atom, c in index.terms:
        if isinstance(atom, Axis):
            value = at.get(atom, 0)
        elif isinstance(atom, Looked):
            value = at[atom.value] % atom.size
        else:
            of = written(atom.of, at)
            value = of % atom.by if isinstance(atom, Remainder) else of // atom.by
        total += c * value
    return total


def read(index, at, slots):
    """The same of an index in a kernel that was read."""

    def number(x):
        return x if isinstance(x, int) else slots[x.number]

    total = number(index.offset or 0)
    for atom, factor in index.terms:
        if isinstance(atom, abstract.Axis):
            value = at[atom]
        elif isinstance(atom, abstract.Looked):
            value = at[atom.value] % number(atom.size)
        else:
            of = read(atom.of, at, slots)
            value = of % number(atom.by) if atom.remains else of // number(atom.by)
        total += number(factor) * value
    return total


def meaning(ex, at):
    """What an expression of loops says of itself at a point: where it reads, and whether."""
    guards = ex.data[2] if ex.op == "load" else ex.data if ex.op == "inside" else ()
    holds = all(
        written(index, at) >= 0 if bound is None else written(index, at) < bound
        for index, bound in guards
    )
    place = written(indices_of(ex)[0], at) if ex.op in ("load", "index") else 0
    return ex.op, ex.dtype, ex.stage, place, holds


def read_meaning(ex, at, slots):
    guards = ex.data[2] if ex.op == "load" else ex.data if ex.op == "inside" else ()
    holds = True
    for guard in guards:
        value = read(guard.index, at, slots)
        holds &= value < slots[guard.bound.number] if guard.bound else value >= 0
    place = read(ex.sums[0], at, slots) if ex.op in ("load", "index") else 0
    return ex.op, ex.dtype, ex.stage, place, holds


def test_the_text_says_what_the_loops_do():
    draw = Random(3)
    for loops, other, *_ in families():
        for one in (loops, other):
            signature = Signature(one)
            kernel = parse(signature.text)
            slots = [value for _, value in signature.values]
            same = dict(zip(one.outer + one.inner, kernel.outer + kernel.inner, strict=True))
            same |= dict(zip(one.order(), kernel.order, strict=True))
            for _ in range(3):
                at = {x: draw.randrange(getattr(x, "extent", 1000) or 1) for x in same}
                there = {same[x]: value for x, value in at.items()}
                for ex in one.order():
                    assert meaning(ex, at) == read_meaning(same[ex], there, slots), signature.text
                    assert [same[x] for x in ex.args] == list(same[ex].args)
                    known = {same[axis] for axis in ex.axes if axis in same}
                    assert same[ex].axes <= known or one.epilogue  # a tile moves along all axes


# ---- who may look at what


def imports_of(path):
    tree = ast.parse(path.read_text("utf-8"))
    return {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


@pytest.mark.parametrize(
    "name",
    ["cpu/emit.py", "cpu/epilogue_emit.py", "cpu/points.py", "cuda/emit.py", "cuda/epilogue.py"],
)
def test_emitters_know_nothing_that_has_numbers(name):
    known = imports_of(ROOT / "src/treadle/backends" / name)
    numbered = ("index", "loops", "signature", "build", "plan", "lower", "axes")
    assert not known & {f"treadle.kernel.{module}" for module in numbered}
    assert not [module for module in known if module.startswith(("treadle.ir", "treadle.schedule"))]


def lines_and_products(n, kind):
    x, y = leaf(n, 3 * n, kind=kind), leaf(3 * n, n, kind=kind)
    roots = [scan.cumsum(x, axis=1), scan.cummax(x, axis=0), ordering.sort(x, axis=1)]
    roots += [matrix_product(x, y), e.exp(matrix_product(x, y) * 3.0), x * 2.5 + 1.0]
    return [*roots, sum_(e.sin(matrix_product(x, y)), axis=0), max_(matrix_product(y, x), axis=1)]


def jobs_of(roots):
    roots = simplify(roots)
    leaves = [node for node in toposort(roots) if node.op.name == "leaf"]
    program = Program(roots, leaves, {})
    return [entry.job for entry in program.entries] + program.epilogues


@pytest.mark.parametrize("kind", [float32, float64, bfloat16], ids=lambda d: d.name)
def test_every_job_is_known_by_all_that_its_code_is_made_of(kind):
    texts = {}
    for n in (5, 40):
        for job in jobs_of(lines_and_products(n, kind)):
            make, parts = job.make_text.func, job.make_text.args
            assert make.__closure__ is None
            assert "<" not in make.__qualname__
            assert parts[-1] == job.target
            assert all(isinstance(part, str | DType | Style | Target) for part in parts)
            for part in parts[:-1]:
                assert (part if isinstance(part, str) else repr(part)) in job.key
            text = job.make_text()
            assert texts.setdefault((job.key, job.effort, job.passes), text) == text
    kinds = {key.split("\n")[0].removeprefix("treadle.backends.cpu.") for key, *_ in texts}
    loops = {"emit.kernel_text", "epilogue_emit.epilogue_text"}
    assert kinds == {*loops, "scan.text", "sort.text", "gemm_tasks.text"}


# ---- numbers and results

SHARED = """
import numpy as np
import treadle as td

x = td.tensor(np.arange(34, dtype=np.int64))
assert x.flip(0).realize().numpy().tolist() == list(range(33, -1, -1))
a = td.tensor(np.arange(34 * 7, dtype=np.int64).reshape(34, 7))
assert a[:, 4].realize().numpy().tolist() == list(range(4, 34 * 7, 7))
print("fine")
"""

VIEWS = """
from random import Random

import numpy as np
import treadle as td

draw = Random(1)
for _ in range(400):
    shape = tuple(draw.choice((1, 2, 5, 16, 17, 34, 70)) for _ in range(draw.randint(1, 3)))
    kind = draw.choice((np.int64, np.float32))
    expected = np.arange(np.prod(shape), dtype=kind).reshape(shape)
    found = td.tensor(expected)
    for _ in range(draw.randint(1, 3)):
        axis = draw.randrange(expected.ndim)
        how = draw.randrange(4)
        if how == 0:
            expected, found = np.flip(expected, axis), found.flip(axis)
        elif how == 1:
            step, start = draw.randint(1, 3), draw.randrange(expected.shape[axis])
            cut = (slice(None),) * axis + (slice(start, None, step),)
            expected, found = expected[cut], found[cut]
        elif how == 2:
            order = draw.sample(range(expected.ndim), expected.ndim)
            expected, found = expected.transpose(order), found.permute(order)
        else:
            edges = [(draw.randint(0, 2), draw.randint(0, 2)) for _ in expected.shape]
            expected, found = np.pad(expected, edges), td.pad(found, edges)
    assert np.array_equal((found + 1).numpy(), expected + 1), (shape, kind)
print("fine")
"""


@pytest.mark.parametrize("program", [SHARED, VIEWS], ids=["flip and column", "views"])
def test_kernels_that_are_shared_compute_what_each_asked_for(program):
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env=os.environ | {"TREADLE_CACHE_DIR": "off"},
    )  # fmt: skip
    assert found.stdout == "fine\n", (found.returncode, found.stderr[-2000:])
