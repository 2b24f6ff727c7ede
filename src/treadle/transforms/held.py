"""Where values live that outlast a call, and how a compiled function replaces them in place."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any, NamedTuple

from treadle.backends.registry import Backend, Program, backend_of
from treadle.base.dtypes import float32
from treadle.base.errors import GradientError, explain
from treadle.ir.node import Call, Node, new_node, placeholder, type_of
from treadle.runtime.kept import TAKING, WRITING, Kept, busy_among
from treadle.tensor.gradients import HOOKED, keep_hooks
from treadle.tensor.tensor import Tensor


class Held(NamedTuple):
    """A tensor, or the gradient it collects; a number stands for an argument of the call."""

    of: Tensor | int
    gradient: bool = False

    def owner(self, arguments: Sequence[Tensor]) -> Tensor:
        """The tensor itself."""
        return arguments[self.of] if self.of.__class__ is int else self.of  # type: ignore[return-value]

    def tensor(self, arguments: Sequence[Tensor]) -> Tensor:
        """The tensor that has the value: itself, or its gradient."""
        owner = self.owner(arguments)
        if not self.gradient:
            return owner
        found = owner.grad
        if found is None:
            hint = "call backward() before, or both inside the function"
            wrong = "the function reads a gradient of a tensor that has no gradient now"
            raise GradientError(explain("compile", wrong, hint, shape=owner.shape))
        return found

    def put(self, node: Node, arguments: Sequence[Tensor]) -> None:
        """Give it another value."""
        owner = self.owner(arguments)
        if self.gradient:
            owner._grad = Tensor(node)
        else:
            owner._node = node


class Output(NamedTuple):
    """State that a program computes: where it goes, as what kind of leaf, in place of which."""

    held: Held
    call: Call
    input: int | None  # number of the leaf whose memory it takes over


class Update:
    """One run of a program that replaces state."""

    def __init__(self, outputs: Sequence[Output], count: int, arguments: Sequence[Tensor]) -> None:
        self.outputs, self.count, self.arguments = outputs, count, arguments
        self.writing = threading.RLock()
        # By the number of the input; the loan where it is the only one, to be given back.
        self.taken: dict[int, tuple[Node, Kept, Any]] = {}
        self.inputs: list[Any] = []
        self.results: list[Any] = []

    def run(self, program: Program, read: Callable[[], list[Any]]) -> list[Any]:
        """The memory of what the function returns; read gives the inputs as they are just now."""
        with self.writing:
            try:
                self._begin(read)
                program.run(self.inputs, self.results)
            finally:
                try:
                    found = self._give()
                except KeyboardInterrupt:  # once more: nothing may stay half given
                    self._give()
                    raise
                finally:
                    WRITING.discard(self.writing)
        return found

    def _begin(self, read: Callable[[], list[Any]]) -> None:
        """Inputs of one moment, of which those to be written over are ours alone."""
        while True:
            with TAKING:
                self.inputs = read()
                busy = busy_among(self.inputs)
                if busy is None:
                    WRITING.add(self.writing)
                    self._take()
                    return
            busy.wait()

    def _take(self) -> None:
        """No name may be left for what a tensor held: a loan is back when nobody has it."""
        inputs, arguments = self.inputs, self.arguments
        for held, call, number in self.outputs:
            if number is None or self._take_whole(held, call, number):
                continue
            kept = getattr(inputs[number], "home", None)
            if kept.__class__ is not Kept:  # memory whose readers nobody counts
                kept = _copied(call, inputs[number])
            fresh = _following(held, call, arguments)
            self._keep(number, fresh, kept)
            held.put(fresh, arguments)
            if kept.lent:
                self._keep(number, fresh, _copied(call, kept.memory))

    def _take_whole(self, held: Held, call: Call, number: int) -> bool:
        """The tensor's node with its loan, if nobody but us holds either: most often so.

        Whoever comes across the node from now on waits, and finds the new value.
        """
        tensor, loan = held.of, self.inputs[number]
        kept = getattr(loan, "home", None)
        if kept.__class__ is not Kept or kept.lent != 1 or isinstance(tensor, int):
            return False
        node = tensor._node
        if node.buffer is not loan or node.call is not call or node.owner is None or held.gradient:
            return False
        kept.writing = self.writing
        self.taken[number] = node, kept, loan
        node.buffer = kept
        del node, loan  # no name may be left for them either
        if _references(self, tensor, number) == _OURS:
            self.inputs[number] = kept.memory
            return True
        node, _, loan = self.taken[number]
        node.buffer = loan
        del self.taken[number]
        return False

    def _keep(self, number: int, node: Node, kept: Kept) -> None:
        kept.writing, node.buffer = self.writing, kept
        self.taken[number] = node, kept, None
        self.inputs[number] = kept.memory

    def _give(self) -> list[Any]:
        """New values to those who hold them, or the old ones back; the memory of the results."""
        results, count = self.results, self.count
        if not results:
            for node, kept, loan in self.taken.values():
                node.buffer = kept.lend() if loan is None else loan
            return []
        ours: dict[int, Kept] | None = None
        for k, (held, call, number) in enumerate(self.outputs, count):
            if number is not None:
                node, kept, loan = self.taken[number]
                if results[k] is kept.memory:
                    node.buffer = kept.lend() if loan is None else loan
                    continue
            if ours is None:
                ours = self._ours()
            self._put(held, call, number, self._loan(results[k], call, ours))
        if not count:
            return []
        ours = self._ours() if ours is None else ours
        return [ours[id(x)].lend() if id(x) in ours else x for x in results[:count]]

    def _ours(self) -> dict[int, Kept]:
        return {id(kept.memory): kept for _, kept, _ in self.taken.values()}

    def _loan(self, memory: Any, call: Call, ours: dict[int, Kept]) -> Any:
        """What a tensor holds of memory that the program has made, or that was somebody's."""
        known = ours.get(id(memory))
        if known is None and not any(memory is other for other in self.inputs):
            known = ours[id(memory)] = Kept(_backend(call), memory)
        return memory if known is None else known.lend()

    def _put(self, held: Held, call: Call, number: int | None, loan: Any) -> None:
        if number is not None:
            self.taken[number][0].buffer = loan
            return
        fresh = _following(held, call, self.arguments)
        fresh.buffer = loan
        held.put(fresh, self.arguments)


def _references(update: Update, tensor: Any, number: int) -> tuple[int, int, bool]:
    """How many references there are to a node and a loan; is the node still the tensor's?"""
    node, _, loan = update.taken[number]
    return getrefcount(node), getrefcount(loan), tensor._node is node


def _references_of_ours() -> tuple[int, int, bool]:
    """What is counted where the tensor holds the node, and an Update holds both."""
    update, tensor = Update((), 0, ()), Tensor(placeholder(type_of((), float32)))
    update.inputs = [[]]
    update.taken[0] = tensor._node, Kept(None, None), update.inputs[0]  # type: ignore[arg-type]
    return _references(update, tensor, 0)


_OURS = _references_of_ours()


def _backend(call: Call) -> Backend:
    return backend_of(call.type.device)


def _copied(call: Call, memory: Any) -> Kept:
    """Memory of its own with the same value."""
    return Kept(_backend(call), _backend(call).copy(memory))


def _following(held: Held, call: Call, arguments: Sequence[Tensor]) -> Node:
    """The leaf that comes after the node which a tensor has now."""
    if held.gradient:
        return new_node(call, ())
    tensor = held.owner(arguments)
    before = tensor._node
    fresh = new_node(call, (), before.needs_grad)
    fresh.site = before.site
    fresh.owner = before.owner or weakref.ref(tensor)
    if HOOKED:
        keep_hooks(before, fresh)
    return fresh
