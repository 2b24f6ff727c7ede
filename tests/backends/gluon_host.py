"""Kernels in Gluon without a GPU: a thread for each group of warps, tiles in NumPy.

Triton's interpreter does not know Gluon. Here barriers count arrivals and bytes and are waited for,
and a product that nobody waits for yet is computed from what its operands hold by then: if a room
were filled again too early, or a product used too early, results would be wrong or an error. So
with copies: a block comes when somebody waits for it and leaves when somebody waits for that, and
until then, and afterwards, its room holds no numbers.
"""

from __future__ import annotations

import ast
import threading
from types import SimpleNamespace

import ml_dtypes
import numpy as np

from treadle.backends.cuda.launch import Memory
from treadle.backends.cuda.launch import Tensor as Described

PATIENCE = 30  # seconds
KINDS = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32,
         "int32": np.int32, "int64": np.int64, "int1": np.bool_}  # fmt: skip


class Value(np.ndarray):
    """A tile, a vector or a number: what meets has one number of axes, or none."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        assert len({np.ndim(x) for x in inputs} - {0}) <= 1, "rank mismatch"
        plain = [x.view(np.ndarray) if isinstance(x, Value) else x for x in inputs]
        if "out" in options:
            options["out"] = tuple(x.view(np.ndarray) for x in options["out"])
        return value(getattr(ufunc, method)(*plain, **options))

    def to(self, kind):
        return value(self.astype(kind))

    def permute(self, *order):
        return self.transpose(order)

    def split(self):
        return self[..., 0], self[..., 1]


def value(x):
    return np.asarray(x).view(Value)


class Pointer:
    """Addresses of elements of an array."""

    def __init__(self, array, at=0):
        self.array, self.at = array, at

    def __add__(self, steps):
        return Pointer(self.array, self.at + steps)


class Tensor:
    """A part of an array that is copied by blocks."""

    layout = None

    def __init__(self, array, described):
        steps = [step * array.itemsize for step in described.strides]
        part = array[described.offset :]
        self.whole = np.lib.stride_tricks.as_strided(part, described.extents, steps)
        self.block = described.block

    def _inside(self, places):
        ends = [(int(a), int(a) + n) for a, n in zip(places, self.block, strict=True)]
        return self.whole[tuple(slice(*x) for x in ends)]

    def read(self, places):
        """A block; beyond the ends there are zeros."""
        found, there = np.zeros(self.block, self.whole.dtype), self._inside(places)
        found[tuple(slice(n) for n in there.shape)] = there
        return found

    def write(self, places, block):
        """What is beyond the ends goes nowhere."""
        there = self._inside(places)
        there[...] = block[tuple(slice(n) for n in there.shape)]


class Room:
    """Shared memory."""

    def __init__(self, array):
        self.array = array

    def index(self, k):
        return Room(self.array[int(k)])

    def reshape(self, shape):
        return Room(self.array.reshape(shape))

    def permute(self, order):
        return Room(self.array.transpose(order))

    def load(self, _):
        return value(self.array.copy())

    def store(self, tile):
        assert tile.shape == self.array.shape
        self.array[...] = tile


class Barrier:
    """Counts arrivals and bytes; a phase is over when all have come."""

    def __init__(self, broken):
        self.changed, self.broken = threading.Condition(), broken
        self.count = self.left = self.missing = self.phase = 0
        self.coming = []

    def init(self, count):
        self.count = self.left = count

    def add(self, arrivals, missing):
        with self.changed:
            self.left -= arrivals
            self.missing += missing
            assert self.count
            assert self.left >= 0
            if not self.left and not self.missing:
                self.phase, self.left = self.phase + 1, self.count
            self.changed.notify_all()

    def later(self, copy):
        """A copy that is made when somebody waits."""
        with self.changed:
            self.coming.append(copy)
            self.changed.notify_all()

    def wait(self, phase):
        def over():
            return self.phase % 2 != int(phase) or self.broken

        while True:
            with self.changed:
                here = self.changed.wait_for(lambda: over() or self.coming, PATIENCE)
                assert here, "nobody comes"
                if over():
                    break
                coming, self.coming = self.coming, []
            for copy in coming:
                copy()
        assert not self.broken, "another group has failed"


class Product:
    """One that is under way."""

    def __init__(self, a, b, acc, use_acc):
        self.given, self.result = (a, b, acc if use_acc else None), None

    def finish(self):
        a, b, acc = (x.array if isinstance(x, Room) else x for x in self.given)
        made = a.astype(np.float32) @ b.astype(np.float32)
        self.result = value(made if acc is None else made + acc)


class Program:
    """One program of a grid: what it sees of Triton and Gluon."""

    def __init__(self, number, count):
        self.number, self.count = number, count
        self.broken, self.own = [], threading.local()

    def triton(self):
        return SimpleNamespace(
            **KINDS,
            PropagateNan=SimpleNamespace(ALL=None),
            program_id=lambda _: value(np.int32(self.number)),
            num_programs=lambda _: value(np.int32(self.count)),
            cdiv=lambda x, y: -(-x // y),
            minimum=lambda x, y, propagate_nan=None: value(np.minimum(x, y)),
            maximum=lambda x, y, propagate_nan=None: value(np.maximum(x, y)),
            where=lambda c, x, y: value(np.where(c, np.float32(x), np.float32(y))),
            exp2=np.exp2,
            log=np.log,
            abs=np.abs,
            fma=lambda x, y, z: x * y + z,
            div_rn=lambda x, y: np.float32(x) / y,
            sum=lambda x, axis, keep_dims=False: x.sum(axis, keepdims=keep_dims),
            reduce=reduced,
            broadcast=lambda x, y: [value(z) for z in np.broadcast_arrays(x, y)],
            broadcast_to=lambda x, shape: value(np.broadcast_to(x, shape)),
            load=load,
            store=store,
            atomic_add=lambda at, x, sem: exchange(at, at.array[at.at] + x),
            atomic_xchg=lambda at, x, sem: exchange(at, x),
        )

    def gluon(self):
        return SimpleNamespace(
            **KINDS,
            constexpr=lambda x: x,
            static_range=range,
            thread_barrier=lambda: None,
            to_tensor=np.float32,
            arange=lambda first, last, _: value(np.arange(first, last, dtype=np.int32)),
            zeros=lambda shape, kind, _=None: value(np.zeros(shape, kind)),
            full=lambda shape, x, kind: value(np.full(shape, x, kind)),
            convert_layout=lambda x, _: x,
            NVMMADistributedLayout=lambda *_: None,
            NVMMASharedLayout=lambda *_, **__: None,
            BlockedLayout=lambda *_: None,
            DotOperandLayout=lambda *_: None,
            SliceLayout=lambda *_: None,
            allocate_shared_memory=self.allocate,
            warp_specialize=self.specialize,
        )

    def names(self):
        """What the text of a kernel imports."""
        jit = SimpleNamespace(jit=lambda f: f)
        barriers = SimpleNamespace(
            MBarrierLayout=lambda: None,
            init=lambda barrier, count: barrier.init(count),
            expect=lambda barrier, size: barrier.add(1, size),
            arrive=lambda barrier: barrier.add(1, 0),
            wait=lambda barrier, phase: barrier.wait(phase),
        )
        copies = SimpleNamespace(
            async_copy_global_to_shared=bring,
            async_copy_shared_to_global=lambda *copy: self.own.leaving.append(copy),
            store_wait=self.leave,
        )
        return {
            "libdevice": SimpleNamespace(fast_dividef=lambda x, y: np.float32(x) / y),
            "triton": jit, "tl": self.triton(), "gluon": jit, "gl": self.gluon(), "tma": copies,
            "mbarrier": barriers, "fence_async_shared": lambda: None,
            "warpgroup_mma": self.product, "warpgroup_mma_wait": self.finish,
        }  # fmt: skip

    def allocate(self, kind, shape, _):
        if kind is not np.int64:
            return Room(np.full(shape, np.nan, kind))
        made = [Barrier(self.broken) for _ in range(shape[0])]
        return SimpleNamespace(index=lambda k: made[int(k)])

    def product(self, a, b, acc, use_acc=True, is_async=False):
        assert is_async
        self.own.asked.append(Product(a, b, acc, use_acc))
        return self.own.asked[-1]

    def finish(self, left, deps):
        asked = self.own.asked
        while len(asked) > left:
            asked.pop(0).finish()
        found = [x.result if isinstance(x, Product) else x for x in deps]
        assert all(x is not None for x in found), "it is not there yet"
        return found[0] if len(found) == 1 else found

    def leave(self, left):
        while len(self.own.leaving) > left:
            tensor, places, room = self.own.leaving.pop(0)
            tensor.write(places, room.array)
            room.array[...] = np.nan

    def run(self, function, arguments):
        """A group."""
        self.own.asked, self.own.leaving = [], []
        with np.errstate(all="ignore"):
            function(*arguments)
        assert not self.own.leaving, "results are still there"

    def specialize(self, groups, *_):
        failures = []

        def run(function, arguments):
            try:
                self.run(function, arguments)
            except Exception as error:
                failures.append(error)
                self.broken.append(True)

        threads = [threading.Thread(target=run, args=group) for group in groups]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]


def bring(tensor, places, barrier, room):
    def copy():
        room.array[...] = tensor.read(places)
        barrier.add(0, -room.array.nbytes)

    room.array[...] = np.nan
    barrier.later(copy)


def load(pointer, mask=True, other=0, volatile=False, cache_modifier=""):
    at, mask = np.broadcast_arrays(pointer.at, mask)
    return value(np.where(mask, pointer.array[np.where(mask, at, 0)], np.float32(other)))


def store(pointer, x, mask=True):
    at, x, mask = np.broadcast_arrays(pointer.at, x, mask)
    pointer.array[at[mask]] = x[mask]


def exchange(pointer, x):
    """Each group has counters of its own, so nobody comes between."""
    pointer.array[pointer.at] = x


def reduced(x, axis, join):
    assert axis == 1
    total = x[:, 0]
    for k in range(1, x.shape[1]):
        total = join(total, x[:, k])
    return total


def run_gluon(launch, arrays):
    """A launch, program after program; arrays: gives a node's memory, as a flat array."""
    tree = ast.parse(launch.source.text)
    tree.body = [x for x in tree.body if not isinstance(x, ast.Import | ast.ImportFrom)]
    code = compile(tree, "gluon", "exec")
    for number in range(launch.grid[0]):
        program = Program(number, launch.grid[0])
        names = program.names()
        exec(code, names)
        program.run(names["kernel"], [argument(x, arrays) for x in launch.arguments])


def argument(x, arrays):
    """An argument as a program takes it."""
    if isinstance(x, Described):
        return Tensor(arrays(x.buffer), x)
    if isinstance(x, Memory):
        return Pointer(arrays(x.buffer))
    return value(np.float32(x) if isinstance(x, float) else np.int32(x))
