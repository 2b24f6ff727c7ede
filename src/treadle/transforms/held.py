"""Where values live that outlast a call, and how a compiled function replaces them in place."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from treadle.backends.registry import Backend, Program, backend_of
from treadle.base.errors import GradientError, explain
from treadle.ir.node import Call, Node
from treadle.runtime.kept import TAKING, Busy, Kept, busy_among, kept_behind
from treadle.tensor.gradients import keep_hooks
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


class Taken:
    """Memory of one value while it is written over."""

    __slots__ = ("busy", "kept", "node")

    def __init__(self, kept: Kept, node: Node, busy: Busy) -> None:
        self.kept, self.node, self.busy = kept, node, busy

    def give(self, loan: Any) -> None:
        """Let everybody read it again."""
        self.node.buffer = loan
        self.busy.end(loan)


class Update:
    """One run of a program that replaces state."""

    def __init__(self, outputs: Sequence[Output], count: int, arguments: Sequence[Tensor]) -> None:
        self.outputs, self.count, self.arguments = outputs, count, arguments
        self.backend: Backend = backend_of(outputs[0].call.type.device)
        self.writing = threading.RLock()
        self.taken: dict[int, Taken] = {}  # by the number of the input
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
        return found

    def _begin(self, read: Callable[[], list[Any]]) -> None:
        """Inputs of one moment, of which those to be written over are ours alone."""
        while True:
            with TAKING:
                self.inputs = read()
                other = busy_among(self.inputs)
                if other is None:
                    self._take()
                    return
            other.wait()

    def _take(self) -> None:
        for output in self.outputs:
            if output.input is not None:
                self._take_one(output, output.input)

    def _take_one(self, output: Output, number: int) -> None:
        """No name may be left here for what the tensor held: a loan is back when nobody has it."""
        kept = kept_behind(self.inputs[number])
        if kept is None:
            kept = self._copy(self.inputs[number])
        self.inputs[number] = None
        fresh = _following(output, self.arguments)
        busy = fresh.buffer = Busy(self.writing)
        taken = self.taken[number] = Taken(kept, fresh, busy)
        output.held.put(fresh, self.arguments)
        if kept.lent:
            taken.kept = kept = self._copy(kept.memory)
        self.inputs[number] = kept.memory

    def _copy(self, memory: Any) -> Kept:
        return Kept(self.backend, self.backend.copy(memory))

    def _give(self) -> list[Any]:
        """New values to those who hold them, or the old ones back; the memory of the results."""
        if not self.results:
            for taken in self.taken.values():
                taken.give(taken.kept.lend())
            return []
        ours = {id(taken.kept.memory): taken.kept for taken in self.taken.values()}
        others = {id(buffer) for buffer in self.inputs}
        for output, memory in zip(self.outputs, self.results[self.count :], strict=True):
            if id(memory) not in ours and id(memory) not in others:
                ours[id(memory)] = Kept(self.backend, memory)
            self._give_one(output, _lent(memory, ours))
        return [_lent(memory, ours) for memory in self.results[: self.count]]

    def _give_one(self, output: Output, loan: Any) -> None:
        if output.input is not None:
            self.taken[output.input].give(loan)
            return
        fresh = _following(output, self.arguments)
        fresh.buffer = loan
        output.held.put(fresh, self.arguments)


def _lent(memory: Any, ours: dict[int, Kept]) -> Any:
    kept = ours.get(id(memory))
    return memory if kept is None else kept.lend()


def _following(output: Output, arguments: Sequence[Tensor]) -> Node:
    """The leaf that comes after the node which a tensor has now."""
    fresh = Node(output.call, ())
    if not output.held.gradient:
        tensor = output.held.owner(arguments)
        fresh.needs_grad, fresh.owner = tensor._node.needs_grad, weakref.ref(tensor)
        keep_hooks(tensor._node, fresh)
    return fresh
