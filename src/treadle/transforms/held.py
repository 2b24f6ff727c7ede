"""Where values live that outlast a call, and how a compiled function replaces them in place."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from treadle.backends.registry import Backend, Program, backend_of
from treadle.base.errors import GradientError, explain
from treadle.ir.node import Call, Node, new_node
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
        self.taken: dict[int, tuple[Node, Kept]] = {}  # by the number of the input
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
            if number is None:
                continue
            kept = getattr(inputs[number], "home", None)
            if kept.__class__ is not Kept:  # memory whose readers nobody counts
                kept = _copied(call, inputs[number])
            fresh = _following(held, call, arguments)
            self._keep(number, fresh, kept)
            held.put(fresh, arguments)
            if kept.lent:
                self._keep(number, fresh, _copied(call, kept.memory))

    def _keep(self, number: int, node: Node, kept: Kept) -> None:
        kept.writing, node.buffer = self.writing, kept
        self.taken[number] = node, kept
        self.inputs[number] = kept.memory

    def _give(self) -> list[Any]:
        """New values to those who hold them, or the old ones back; the memory of the results."""
        if not self.results:
            for node, kept in self.taken.values():
                node.buffer = kept.lend()
            return []
        ours = {id(kept.memory): kept for _, kept in self.taken.values()}
        others = set(map(id, self.inputs))
        made = self.results[self.count :]
        for (held, call, number), memory in zip(self.outputs, made, strict=True):
            known = ours.get(id(memory))
            if known is None and id(memory) not in others:
                known = ours[id(memory)] = Kept(_backend(call), memory)
            loan = memory if known is None else known.lend()
            if number is not None:
                self.taken[number][0].buffer = loan
            else:
                fresh = _following(held, call, self.arguments)
                fresh.buffer = loan
                held.put(fresh, self.arguments)
        return [
            ours[id(memory)].lend() if id(memory) in ours else memory
            for memory in self.results[: self.count]
        ]


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
    fresh.owner = before.owner or weakref.ref(tensor)
    if HOOKED:
        keep_hooks(before, fresh)
    return fresh
