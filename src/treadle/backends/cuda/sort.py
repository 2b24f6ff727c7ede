"""Indices that sort along an axis, as Triton source: by the digits of keys, the last digit first.

Each pass counts the digits of every block, finds by a running total where those of a block begin,
and moves keys and indices there. Equal digits keep their order, so all passes together are stable.
Keys are integers in the order of the elements: NaN is the largest, zeros of both signs are equal.
"""

from __future__ import annotations

from treadle.backends.cuda.forms import INDEX_LIMIT
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.narrow import loaded
from treadle.backends.cuda.ops import with_helpers
from treadle.backends.cuda.scan import Scan, sizes_of
from treadle.base.dtypes import DType, bfloat16, bool_, int32, int64, uint32, uint64
from treadle.base.errors import NotSupported, explain
from treadle.ir.node import Node

DIGIT = 4  # bits
BLOCK = 1024  # elements of a program

TEXT = """
@triton.jit
def kernel({arguments}, n, inner, blocks, shift, BLOCK: tl.constexpr):
    line = tl.program_id(1){wide}
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    inside = k < n
    {keys}
    each = tl.arange(0, 16)[None, :]
    digit = ((key >> shift) & 15).to(tl.int32)
    mine = ((digit == each) & inside).to(tl.int32)
    at = (line * 16 + each) * blocks + tl.program_id(0)
    {last}
"""
COUNT = "tl.store(counts + at, tl.sum(mine, 0, keep_dims=True))"
MOVE = """first = tl.load(ends + at) - tl.load(counts + at)
    place = tl.sum(mine * (tl.cumsum(mine, 0) - 1 + first), 1, keep_dims=True)
    {stores}"""


def key_bits(d: DType) -> int:
    """Of a key: a whole number of digits."""
    if d.is_storage:
        return 16 if d is bfloat16 else 32  # its bits are the upper ones of a float32
    return DIGIT if d is bool_ else 8 * d.size


class Sort:
    """One sort on its way to launches."""

    def __init__(self, node: Node, source: Node, processors: int, name: str) -> None:
        self.node, self.source, self.processors, self.name = node, source, processors, name
        self.outer, self.n, self.inner = sizes_of(node)
        self.lines, self.descending = self.outer * self.inner, bool(node.arg[1])
        self.d = source.dtype
        self.key: DType = uint64 if self.d.size == 8 else uint32
        self.blocks = -(-self.n // BLOCK)
        self.wide = self.lines * self.n >= INDEX_LIMIT
        if self.lines * 16 * self.blocks >= INDEX_LIMIT:
            hint = "sort it on the CPU: x.to('cpu')"
            raise NotSupported(explain("argsort", "too many elements", hint, shape=node.shape))
        self.passes = key_bits(self.d) // DIGIT
        self.scan: Scan | None = None

    def temporaries(self) -> dict[str, int]:
        """Keys and indices on their way, twice, and what is counted."""
        if not self.lines * self.n:
            return {}
        size, counts = self.lines * self.n, self.lines * 16 * self.blocks * int32.size
        found = {self._at("counts"): counts, self._at("ends"): counts}
        for k in (0, 1)[: self.passes - 1]:
            found |= {self._at(f"keys {k}"): size * self.key.size}
            found |= {self._at(f"indices {k}"): size * uint32.size}
        return found | (self.scan.temporaries() if self.scan else {})

    def launches(self) -> list[Launch]:
        """Three kernels or more for every digit."""
        if not self.lines * self.n:
            return []
        sizes = (self.lines, 16 * self.blocks, 1)
        memory = (self._at("counts"), self._at("ends"))
        self.scan = Scan("cumsum", int32, sizes, memory, self._at("parts"), self.processors)
        found = []
        for k in range(self.passes):
            found += [self._launch(k, moves=False), *self.scan.launches(), self._launch(k, True)]
        return found

    def _at(self, what: str) -> str:
        return f"{what} of sort {self.name}"

    def _launch(self, number: int, moves: bool) -> Launch:
        """Digits of one pass counted, or what has them moved."""
        first, last = number == 0, number == self.passes - 1
        add = Arguments()
        if first:
            add.memory("x", self.d, self.source)
        else:
            add.memory("keys", self.key, self._at(f"keys {(number - 1) % 2}"))
            if moves:
                add.memory("indices", uint32, self._at(f"indices {(number - 1) % 2}"))
        add.memory("counts", int32, self._at("counts"))
        if moves:
            add.memory("ends", int32, self._at("ends"))
            if last:
                add.memory("y", int64, self.node)
            else:
                add.memory("to_keys", self.key, self._at(f"keys {number % 2}"))
                add.memory("to_indices", uint32, self._at(f"indices {number % 2}"))
        names = ", ".join(name for name, _ in add.types)
        numbers = {"n": self.n, "inner": self.inner, "blocks": self.blocks, "shift": DIGIT * number}
        for name, value in numbers.items():
            add.integer(name, value, self.wide and name != "shift")
        text = TEXT.format(
            arguments=names,
            wide=".to(tl.int64)" * self.wide,
            keys="\n    ".join(self._keys(first, moves)),
            last=MOVE.format(stores="\n    ".join(self._stores(last))) if moves else COUNT,
        )
        source = add.source(with_helpers(text), {"BLOCK": BLOCK}, 4)
        return Launch(source, (self.blocks, self.lines), add.values, self.lines * self.n)

    def _keys(self, first: bool, moves: bool) -> list[str]:
        """Lines that find keys, and indices: of the elements, or as the pass before left them."""
        if not first:
            lines = ["key = tl.load(keys + line * n + k, mask=inside, other=0)"]
            load = "index = tl.load(indices + line * n + k, mask=inside, other=0)"
            return [*lines, load] if moves else lines
        at = "line * n + k" if self.inner == 1 else "(line // inner * n + k) * inner + line % inner"
        value = loaded(f"tl.load(x + {at}, mask=inside, other=0)", self.d)
        lines = [f"value = {value}", *_ordered(self.d)]
        lines += ["key = key ^ every"] * self.descending
        return [*lines, "index = k.to(tl.uint32)"]

    def _stores(self, last: bool) -> list[str]:
        if last:
            at = "line * n + place"
            if self.inner > 1:
                at = "(line // inner * n + place) * inner + line % inner"
            return [f"tl.store(y + {at}, index.to(tl.int64), mask=inside)"]
        at = "line * n + place"
        return [
            f"tl.store(to_keys + {at}, key, mask=inside)",
            f"tl.store(to_indices + {at}, index, mask=inside)",
        ]


def _ordered(d: DType) -> list[str]:
    """Lines that make a key of an element."""
    wide = d.size == 8
    raw, bits = ("tl.uint64", 64) if wide else ("tl.uint32", 32)
    lines = [
        f"every = tl.full((1, 1), {(1 << bits) - 1}, {raw})",
        f"sign = tl.full((1, 1), {1 << ((bits if d.is_float else 8 * d.size) - 1)}, {raw})",
    ]
    if not d.is_float:
        signed = d is not bool_ and d.least < 0
        own = f"tl.uint{8 * d.size}"
        whole = f"value.to({own}, bitcast=True)" if signed else "value"
        return [*lines, f"key = {whole}.to({raw})" + " ^ sign" * signed]
    lines += [
        f"number = value.to(tl.float{bits})",
        f"bits = tl.where(number == 0, 0.0, number).to({raw}, bitcast=True)",
        "key = tl.where((bits & sign) != 0, bits ^ every, bits | sign)",
        "key = tl.where(number != number, every, key)",
    ]
    return [*lines, "key = key >> 16"] if d is bfloat16 else lines
