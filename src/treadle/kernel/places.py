"""Where every buffer of a program lies: in the arena, in a leaf's memory, or in an output's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from treadle.base.sizes import most
from treadle.ir.node import LEAF, Node
from treadle.kernel.build import build_copy
from treadle.kernel.overwrite import writes_over
from treadle.kernel.steps import ScatterStep, Step
from treadle.schedule.layout import Interval, Layout, lay_out

ARENA = 0  # number of the base address of the arena
Place = tuple[int, int]
"""(number of a base address, byte offset)."""
Temporary = tuple[int, int, int]
"""(bytes, first step, last step)."""
Memory = TypeVar("Memory")
LINGER = 8  # steps for which memory waits that others may run beside


class Places:
    """The memory of one program. Base addresses are numbered: arena, leaves, then new outputs.

    - **replaces**: root to the leaf whose memory it takes over, if nobody reads the leaf afterwards
    - **first_leaf**: number of the first leaf's base address
    - **ordered**: a row is read and written by one thread (see `writes_over`)
    """

    def __init__(
        self,
        steps: Sequence[Step],
        roots: Sequence[Node],
        leaves: Sequence[Node],
        replaces: dict[Node, Node],
        first_leaf: int,
        ordered: bool,
    ) -> None:
        self.steps, self.roots, self.leaves = steps, roots, leaves
        self.first_leaf, self.ordered = first_leaf, ordered
        self.reads = [step.reads() for step in steps]
        self.written: dict[Node, int] = {}
        self.last: dict[Node, int] = {}
        for k, step in enumerate(steps):
            for node in step.writes:
                self.written[node] = self.last[node] = k
            for node in self.reads[k]:
                self.last[node] = k
        outside = set(roots) | set(leaves)
        self.inner = {node: k for node, k in self.written.items() if node not in outside}
        self._number = {node: k for k, node in enumerate(self.inner)}  # sets have any order
        self.shares: dict[Node, Node] = {}  # a node to the first holder of its memory
        self.in_place = self._in_place(replaces)
        self._share()
        self.outputs: list[tuple[str, int]] = []  # ("new", bytes), ("leaf", k) or ("same", j)
        self.bases = first_leaf + len(leaves)
        taken = set(replaces.values())
        self.copies = {
            k: build_copy(root, frozenset(), f"copy{k}")
            for k, root in enumerate(roots) if root.op is LEAF and root in taken
        }  # fmt: skip
        """For a root that is a leaf about to be overwritten, by its number: it is copied first."""

    def settle(
        self, temporaries: dict[object, Temporary], apart: Collection[int] = ()
    ) -> dict[object, Place]:
        """Lay out the arena, with memory that belongs to no node; give every buffer its place.

        apart: steps that others may run beside, so their memory is not used again at once.
        """
        self.layout = self._lay_out(temporaries, apart)
        self.found = self._places()
        return self.found

    def _in_place(self, replaces: dict[Node, Node]) -> dict[Node, Node]:
        found: dict[Node, Node] = {}
        taken: set[Node] = set()
        for root, leaf in replaces.items():
            at = self.written.get(root)
            if at is None or root.type.nbytes != leaf.type.nbytes:
                continue
            if leaf in taken:
                continue
            between = self._between(root, leaf)
            if between is not None or self.last.get(leaf, -1) < at:
                found[root] = leaf
                taken.add(leaf)
                self.shares |= dict.fromkeys(between or (), leaf)
        return found

    def _between(self, root: Node, leaf: Node) -> list[Node] | None:
        """Values, each written over the next, from before root to after leaf; None: not so."""
        found: list[Node] = []
        node = root
        while True:
            at = self.written[node]
            reads = self.reads[at]
            if leaf in reads and self.last[leaf] == at and self._over(at, node, leaf):
                return found
            free = [n for n in reads if n in self.inner and n not in self.shares]
            fits = [n for n in free if self._fits(at, node, n)]
            if not fits:
                return None
            node = min(fits, key=self._number.__getitem__)
            found.append(node)

    def _fits(self, step: int, node: Node, operand: Node) -> bool:
        """May a result take over the memory of an operand that is ours?"""
        same = operand.type.nbytes == node.type.nbytes
        return same and self.last[operand] == step and self._over(step, node, operand)

    def is_over(self, step: ScatterStep) -> bool:
        """Does the result lie in the memory of its base?"""
        (node,) = step.writes
        homes = [self.in_place.get(x) or self.shares.get(x, x) for x in (node, step.base) if x]
        return len(homes) == 2 and homes[0] is homes[1]

    def overwrites(self) -> frozenset[int]:
        """Numbers of the leaves whose memory roots take over."""
        taken = set(self.in_place.values())
        return frozenset(k for k, leaf in enumerate(self.leaves) if leaf in taken)

    def _lay_out(self, temporaries: dict[object, Temporary], apart: Collection[int]) -> Layout:
        """Offsets of everything that is neither an input nor an output."""
        until = dict(self.last)
        for node in self.inner:
            holder = self.shares.get(node, node)
            until[holder] = max(until[holder], self.last[node])
        lives: list[tuple[object, int, int, int]] = [
            (node, most(node.type.nbytes), start, until[node])
            for node, start in self.inner.items()
            if node not in self.shares
        ]
        lives += [(name, most(size), a, b) for name, (size, a, b) in temporaries.items()]
        intervals = [
            Interval(name, nbytes, a, b + LINGER if a in apart or b in apart else b)
            for name, nbytes, a, b in lives
        ]
        return lay_out(intervals, sum(most(node.type.nbytes) for node in self.shares))

    def _over(self, step: int, result: Node, operand: Node) -> bool:
        return writes_over(self.steps[step], result, operand, self.ordered)

    def _share(self) -> None:
        """Results written over an operand that nobody reads afterwards."""
        taken = set(self.shares)
        for k, step in enumerate(self.steps):
            free = [n for n in self.reads[k] if n in self.inner and n not in taken]
            free.sort(key=self._number.__getitem__)
            for node in step.writes:
                if node not in self.inner or node in taken:
                    continue
                for operand in free:
                    if self._fits(k, node, operand):
                        self.shares[node] = self.shares.get(operand, operand)
                        free.remove(operand)
                        break

    def _places(self) -> dict[object, Place]:
        places: dict[object, Place] = {n: (ARENA, o) for n, o in self.layout.offsets.items()}
        number = {leaf: k for k, leaf in enumerate(self.leaves)}
        places |= {leaf: (self.first_leaf + k, 0) for leaf, k in number.items()}
        for node, holder in self.shares.items():
            places[node] = places[holder]
        seen: dict[Node, int] = {}
        for k, root in enumerate(self.roots):
            if k not in self.copies:
                if root in seen:
                    self.outputs.append(("same", seen[root]))
                    continue
                seen[root] = k
                leaf = root if root.op is LEAF else self.in_place.get(root)
                if leaf is not None:
                    places[root] = (self.first_leaf + number[leaf], 0)
                    self.outputs.append(("leaf", number[leaf]))
                    continue
            places[f"copy{k}" if k in self.copies else root] = (self.bases, 0)
            self.outputs.append(("new", root.type.nbytes))
            self.bases += 1
        return places

    def arranged(self, inputs: Sequence[Memory], new: Sequence[Memory]) -> list[Memory]:
        """The roots' memory: the leaves', and what was allocated for this run."""
        result: list[Memory] = []
        fresh = iter(new)
        for kind, value in self.outputs:
            if kind == "new":
                result.append(next(fresh))
            else:
                result.append(inputs[value] if kind == "leaf" else result[value])
        return result
