"""CUDA programs without a GPU: every launch through Triton's interpreter, over NumPy memory."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from dataclasses import replace
from functools import partial

import numpy as np
from gluon_host import run_gluon
from ptx_host import run_blocks

from treadle.backends.arrays import numpy_dtype
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.launch import Memory, Tensor
from treadle.backends.cuda.orders import ORDERS
from treadle.backends.cuda.program import Plan
from treadle.backends.cuda.sized import Sizes
from treadle.backends.cuda.walk import call_of
from treadle.backends.reference.eval import evaluate
from treadle.backends.registry import BACKENDS, Statistics
from treadle.base.dtypes import dtype
from treadle.base.target import Target
from treadle.ir.graph import structure, substitute
from treadle.ir.node import leaf, placeholder, type_of
from treadle.passes.pairs import in_pairs
from treadle.passes.pipeline import simplify

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
PROCESSORS = 132


class Host:
    """What the interpreter asks of a tensor, over an address: its storage is itself."""

    def __init__(self, address, kind):
        import triton.language as tl

        self.address, self.dtype = address, tl.str_to_ty(kind, None).element_ty

    def data_ptr(self):
        return self.address

    def untyped_storage(self):
        return self

    def cpu(self):
        return self

    def new_empty(self, *_, **__):
        return self

    def set_(self, *_):
        return self

    def storage_offset(self):
        return 0

    def size(self):
        return (1,)

    def stride(self):
        return (1,)

    def copy_(self, _):
        return self


def tensor_of(address, kind, extents, strides):
    """What the interpreter takes as a tensor that is read by blocks."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    element, _, block = kind.removeprefix("tensordesc<").removesuffix("]>").partition("[")
    base = Host(address, f"*{element}")
    return TensorDescriptor(base, list(extents), list(strides), [int(n) for n in block.split(",")])


def quicken():
    """Let the interpreter reduce by our own functions in NumPy instead of element by element.

    It also learns to turn one-element arrays into indices, which NumPy 2.4 no longer does by
    itself, to multiply bfloat16, which it keeps as bits, and to add one number in many places.
    """
    import triton.language as tl
    from triton.language.extra import libdevice
    from triton.runtime import interpreter

    slow, patch = interpreter.ReduceOps.generic_reduce, interpreter._patch_lang_tensor
    if slow.__name__ == "quick":
        return
    whole = {"larger": np.max, "smaller": np.min, "times": np.prod}

    def quick(self, values):
        how = whole.get(self.combine_fn.fn.__name__)
        return slow(self, values) if how is None else (self.min_max(values, how),)

    def patched(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    def dot(self, a, b, *rest):
        if a.dtype.scalar == tl.bfloat16:
            wide = [(x.data.astype(np.uint32) << 16).view(np.float32) for x in (a, b)]
            a, b = (interpreter.TensorHandle(x, tl.float32) for x in wide)
        return product(self, a, b, *rest)

    def atomic(self, how, *tensors_and_rest):
        tensors, rest = tensors_and_rest[:3], tensors_and_rest[3:]
        whole = [interpreter.TensorHandle(np.ascontiguousarray(x.data), x.dtype) for x in tensors]
        return together(self, how, *whole, *rest)

    together = interpreter.InterpreterBuilder.create_atomic_rmw
    interpreter.InterpreterBuilder.create_atomic_rmw = atomic
    product = interpreter.InterpreterBuilder.create_dot
    interpreter.InterpreterBuilder.create_dot = dot
    libdevice.fmod = lambda x, y: x % y  # exact in NumPy; on a GPU it is not
    libdevice.fast_dividef = lambda x, y: x / y
    interpreter.ReduceOps.generic_reduce = quick
    interpreter._patch_lang_tensor = patched


def node_of(array):
    """A leaf whose buffer is the array itself."""
    array = np.ascontiguousarray(array) if np.ndim(array) else np.asarray(array)
    return leaf(type_of(array.shape, dtype(array.dtype.name)), array)


def simplified(roots):
    """(simplified roots, placeholders, leaves) of lazy nodes, as the runtime makes them."""
    _, leaves = structure(roots)
    stand_ins = [placeholder(x.type) for x in leaves]
    roots = substitute(roots, dict(zip(leaves, stand_ins, strict=True)))
    roots, places = in_pairs(roots, stand_ins)
    return simplify(roots, ORDERS), places, leaves


def plan_of(roots, replaces=None, architecture=90):
    """(plan, leaves) of lazy nodes."""
    simple, places, leaves = simplified(roots)
    taken = {simple[r]: places[k] for r, k in (replaces or {}).items()}
    return Plan(simple, places, taken, PROCESSORS, architecture=architecture), leaves


class Memories:
    """A device whose memory is the host's."""

    def read(self, target, address, nbytes):
        ctypes.memmove(target, address, nbytes)

    write = copy = read


class InTurn:
    """Calls that are started one after the other."""

    def __init__(self, calls):
        self.calls = calls

    def fit(self, exact):
        for call in self.calls:
            call.fit(exact)

    def start(self, bases):
        for call in self.calls:
            call.aim(bases)
            call.start()


class Interpreted:
    """A kernel that Triton's interpreter runs."""

    def __init__(self, sizes, launch, place):
        self.launch, self.place, self.step = launch, place, launch.step
        tensors = [x for x in launch.arguments if isinstance(x, Tensor)]
        self.tensors = sizes.within([(x.offset, x.extents, x.strides) for x in tensors])
        self.numbers = sizes.within((launch.grid, launch.arguments))

    def fit(self, exact):
        grid, arguments = self.numbers(exact)
        known = iter(self.tensors(exact))
        arguments = [Tensor(x.buffer, *next(known), x.block) if isinstance(x, Tensor) else x
                     for x in arguments]  # fmt: skip
        self.launch = replace(self.launch, grid=grid, arguments=arguments)

    def aim(self, bases):
        self.bases = bases

    def start(self):
        from treadle.backends.cuda.hand import PTX, function

        arguments, source = [], self.launch.source
        if source.text.startswith(PTX):
            self._in_step()
            return
        if "@gluon.jit" in source.text:
            run_gluon(self.launch, self._array)
            return
        for (_, kind), value in zip(source.types, self.launch.arguments, strict=True):
            if isinstance(value, Memory):
                base, offset = self.place(value.buffer)
                address = self.bases[base] + offset
                if isinstance(value, Tensor):
                    start = address + (4 if "fp32" in kind else 2) * value.offset
                    value = tensor_of(start, kind, value.extents, value.strides)
                else:
                    value = Host(address, kind)
            arguments.append(value)
        with np.errstate(all="ignore"):
            function(source.text, "kernel")[self.launch.grid](*arguments, **dict(source.constants))

    def _array(self, buffer):
        """The memory of a node, or temporary memory of float32, or of counters."""
        base, offset = self.place(buffer)
        touched = zip(self.launch.memories(), self.launch.touched, strict=True)
        numbers, sizes = zip(*[(k, size) for (k, memory), (size, _) in touched
                               if memory.buffer == buffer], strict=True)  # fmt: skip
        raw = (ctypes.c_uint8 * sizes[0]).from_address(self.bases[base] + offset)
        if not isinstance(buffer, str):
            return np.frombuffer(raw, numpy_dtype(buffer.dtype))
        _, kind = self.launch.source.types[numbers[0]]
        return np.frombuffer(raw, np.int32 if kind == "*i32" else np.float32)

    def _in_step(self):
        """The same of a kernel in PTX."""
        launch, source = self.launch, self.launch.source
        arguments, ranges = {}, []
        touched = iter(launch.touched)
        for (name, _), value in zip(source.types, launch.arguments, strict=True):
            if isinstance(value, Memory):
                base, offset = self.place(value.buffer)
                value = self.bases[base] + offset
                ranges.append((value, value + next(touched)[0]))
            arguments[name] = value
        shared = dict(source.constants)["shared"]
        run_blocks(source.text, source.warps, shared, launch.grid[0], arguments, ranges)


def run_interpreted(plan, inputs, dims=None):
    """The roots' arrays, every kernel interpreted on the CPU; dims: sizes that were not known."""
    quicken()
    sizes = Sizes()
    kernel = partial(Interpreted, sizes)
    calls = [call_of(work, Memories(), sizes, kernel, lambda calls: [InTurn(calls)])
             for work in plan.placed()]  # fmt: skip
    shapes = sizes.within([(root.type.nbytes, root.shape) for root in plan.roots])
    outputs = sizes.within(plan.outputs)
    exact = sizes.at(dims or {})
    outputs, shapes = outputs(exact), shapes(exact)
    arena = np.zeros(plan.layout.nbytes + 64, np.uint8)
    new = [np.full(max(1, n), 0xAB, np.uint8) for kind, n in outputs if kind == "new"]
    counters = np.zeros(max(1, plan.counted), np.uint8)
    bases = [x.ctypes.data for x in (arena, *inputs, *new, counters)]
    for call in calls:
        call.fit(exact)
        call.aim(bases)
        call.start()
    assert not counters.any(), "counters are left at zero"
    fresh = iter(new)
    results = []
    for (kind, value), root, (nbytes, shape) in zip(outputs, plan.roots, shapes, strict=True):
        if kind == "new":
            raw = next(fresh)[:nbytes]
            results.append(raw.view(numpy_dtype(root.dtype)).reshape(shape))
        else:
            results.append(inputs[value] if kind == "leaf" else results[value])
    return results


class HostProgram:
    """A plan whose kernels are interpreted; or compiled, and NumPy has the values."""

    overwrites = frozenset()

    def __init__(self, roots, leaves):
        self.roots, self.leaves = roots, leaves
        self.plan = Plan(roots, leaves, {}, PROCESSORS, architecture=90)

    def run(self, inputs, results=None):
        if INTERPRETED:
            found = run_interpreted(self.plan, [x.copy() for x in inputs])
        else:
            for launch in self.plan.launches:
                code_of(launch.source, 90)
            given = dict(zip(self.leaves, inputs, strict=True))
            found = evaluate(self.roots, given.__getitem__)
        if results is not None:
            results += found
        return found


class OnHost:
    """The protocol of a backend for rows that read their own values: how many are equal, say."""

    name = "cuda"
    rules = ORDERS

    def __init__(self, index):
        self.index = index

    def target(self):
        return Target("cuda", "nvptx64-nvidia-cuda", "sm_90")

    def compile(self, roots, leaves, replaces):
        return HostProgram(roots, leaves)

    def upload(self, array, type_, copy):
        return np.array(array, numpy_dtype(type_.dtype))

    def download(self, buffer, type_):
        return buffer.view(numpy_dtype(type_.dtype)).reshape(type_.shape)

    def copy(self, buffer):
        return buffer.copy()

    def lend(self, buffer, home):
        return buffer

    def statistics(self):
        return Statistics()


if INTERPRETED or importlib.util.find_spec("cuda") is None:  # never where there is a driver
    BACKENDS["cuda"] = "triton_host:OnHost"


def error_of(found, expected):
    """Largest difference relative to the largest value; exact for integers and NaN."""
    found = np.asarray(found).astype(np.float64).reshape(expected.shape)
    expected = np.asarray(expected, np.float64)
    odd = ~np.isfinite(expected)
    if not np.array_equal(found[odd], expected[odd], equal_nan=True):
        return np.inf
    if not expected.size or odd.all():
        return 0.0
    top = np.abs(expected[~odd]).max()
    return float(np.abs(found[~odd] - expected[~odd]).max() / (top or 1.0))


def compare(roots, found, tolerance):
    """Results against the reference in float64."""
    expected = evaluate(roots, lambda n: n.buffer, precise=True)
    for got, want, root in zip(found, expected, roots, strict=True):
        error = error_of(got, want)
        assert error <= tolerance, (root, error)


def check(roots, tolerance=2e-6):
    """Interpreted results against the reference."""
    plan, leaves = plan_of(roots)
    compare(roots, run_interpreted(plan, [x.buffer.copy() for x in leaves]), tolerance)


def check_on(backend, roots, tolerance=2e-6):
    """Results of a device against the reference."""
    simple, places, leaves = simplified(roots)
    program = backend.compile(simple, places, {})
    buffers = program.run([backend.upload(x.buffer, x.type, True) for x in leaves])
    found = [backend.download(b, r.type) for b, r in zip(buffers, roots, strict=True)]
    compare(roots, found, tolerance)
