"""Functions that are called around a module's forward and backward passes, until taken away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from treadle.base.limits import result_type
from treadle.base.trees import flatten, unflatten
from treadle.functions import concat
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import Followed

Hook = Callable[..., Any]
Table = dict[int, tuple[Hook, bool]]
"""Hooks by number, each with: is it given keyword arguments (or called after errors) too?"""
_NUMBERS = count()


class RemovableHandle:
    """Takes a hook away again: by `remove()`, or at the end of a `with` block."""

    def __init__(self, table: Table, number: int) -> None:
        self.table, self.number = table, number

    def remove(self) -> None:
        """The hook is not called any more; more than once does nothing."""
        self.table.pop(self.number, None)
        Followed.changes += 1

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def add_hook(table: Table, hook: Hook, option: bool = False, first: bool = False) -> Any:
    """A hook in a table, before the others if first; what takes it away again."""
    number = next(_NUMBERS)
    others = dict(table) if first else {}
    if first:
        table.clear()
    table[number] = (hook, option)
    table.update(others)
    Followed.changes += 1
    return RemovableHandle(table, number)


# ---- backward


def watched(tensors: Sequence[Tensor], seen: Callable[[list[Tensor]], Any]) -> list[Tensor]:
    """The tensors again; seen is given their gradients, all at once, and may return others.

    Gradients come one by one: so what is watched is one tensor that all of them go through.
    """
    kind = result_type(*tensors)
    joined = concat([x.reshape(-1).cast(kind) for x in tensors]).clone()
    ends = [0]
    for x in tensors:
        ends.append(ends[-1] + x.size)

    def cut(whole: Tensor) -> list[Tensor]:
        return [
            whole[start:end].reshape(x.shape).cast(x.dtype)
            for start, end, x in zip(ends, ends[1:], tensors, strict=False)
        ]

    def hook(gradient: Tensor) -> Tensor | None:
        changed = seen(cut(gradient))
        if changed is None:
            return None
        return concat([g.reshape(-1).cast(kind) for g in changed])

    joined.register_hook(hook)
    return cut(joined)


class Backward:
    """One call of a module whose backward hooks want the gradients of its inputs and outputs."""

    def __init__(self, module: Any, before: Table, after: Table) -> None:
        self.module, self.before, self.after = module, before, after
        self.inputs: list[Any] = []
        self.outputs: tuple[Any, ...] = ()

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The positional arguments; those that require gradients are watched."""
        self.inputs = list(args)
        return tuple(self._through(self.inputs, self._input_gradients) if self.after else args)

    def leave(self, result: Any) -> Any:
        """The result; what of it requires gradients is watched."""
        leaves: list[Any] = []
        form = flatten(result, Tensor, leaves)
        return unflatten(form, self._through(leaves, self._output_gradients))

    def _through(self, values: list[Any], seen: Callable[..., Any]) -> list[Any]:
        places = [k for k, x in enumerate(values) if isinstance(x, Tensor) and x.requires_grad]
        if not places:
            return values

        def spread(gradients: list[Tensor]) -> Any:
            all_of_them: list[Any] = [None] * len(values)
            for k, g in zip(places, gradients, strict=True):
                all_of_them[k] = g
            found = seen(tuple(all_of_them))
            return None if found is None else [found[k] for k in places]

        through = watched([values[k] for k in places], spread)
        found = list(values)
        for k, x in zip(places, through, strict=True):
            found[k] = x
        return found

    def _output_gradients(self, gradients: tuple[Any, ...]) -> Any:
        for hook, _ in list(self.before.values()):
            found = hook(self.module, gradients)
            gradients = gradients if found is None else _tuple(found)
        self.outputs = gradients
        if self.after and not any(isinstance(x, Tensor) and x.requires_grad for x in self.inputs):
            self._input_gradients((None,) * len(self.inputs))
        return gradients

    def _input_gradients(self, gradients: tuple[Any, ...]) -> Any:
        for hook, _ in list(self.after.values()):
            found = hook(self.module, gradients, self.outputs)
            gradients = gradients if found is None else _tuple(found)
        return gradients


def _tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)
