"""Parameters as a tree: what a module holds, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.tensor.creation import tensor
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE, Followed


def Parameter(value: Tensor) -> Tensor:  # noqa: N802
    """A tensor that collects gradients."""
    return value.requires_grad_()


class Module(Followed):
    """A layer. Tensors and modules set as attributes are found by name; write `forward`."""

    forward: Callable[..., Any]
    _at_first = {"_training": True}  # noqa: RUF012 - never changed

    def __call__(self, *args: Any, **options: Any) -> Any:
        if TRACE:
            self._note()
        return self.forward(*args, **options)

    @property
    def training(self) -> bool:
        """Is this training, not evaluation? `train` and `eval` say so for all below as well."""
        if TRACE:
            self._note()
        found: bool = self.__dict__.get("_training", True)
        return found

    @training.setter
    def training(self, mode: bool) -> None:
        self._training = mode

    def _note(self) -> None:
        if self not in TRACE.top.facts:
            super()._note()
            for _, part in self.named_children():
                if isinstance(part, Module):
                    part._note()

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Attributes that are tensors, modules, or lists and dicts of them, in order of setting."""
        for name, value in self.__dict__.items():
            yield from _spread(name, value)

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Every tensor that requires a gradient, with its dotted name; shared ones once."""
        seen: set[Tensor] = set()
        for name, value in self.named_tensors(prefix):
            if value.requires_grad and value not in seen:
                seen.add(value)
                yield name, value

    def named_tensors(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Every tensor, with its dotted name."""
        for name, value in self.named_children():
            if isinstance(value, Module):
                yield from value.named_tensors(f"{prefix}{name}.")
            else:
                yield prefix + name, value

    def parameters(self) -> list[Tensor]:
        """Every tensor that requires a gradient."""
        return [value for _, value in self.named_parameters()]

    def modules(self) -> Iterator[Module]:
        """The module itself and all below."""
        yield self
        for _, value in self.named_children():
            if isinstance(value, Module):
                yield from value.modules()

    def train(self, mode: bool = True) -> Module:
        """Switch this module and all below to training (or evaluation)."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Module:
        """Switch to evaluation."""
        return self.train(False)

    def state_dict(self) -> dict[str, Tensor]:
        """Every tensor by name."""
        return dict(self.named_tensors())

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Assign values by name; strict: names must be the same on both sides."""
        own = self.state_dict()
        missing, unknown = sorted(set(own) - set(state)), sorted(set(state) - set(own))
        if strict and (missing or unknown):
            facts: dict[str, object] = {"missing": missing, "unknown": unknown}
            raise ArgumentError(explain("load_state_dict", "names differ", **facts))
        for name, given in state.items():
            if name in own:
                into = own[name]
                value = given if isinstance(given, Tensor) else tensor(given, dtype=into.dtype)
                if value.shape != into.shape:
                    facts = {"name": name, "own": into.shape, "given": value.shape}
                    raise ArgumentError(explain("load_state_dict", "shapes differ", **facts))
                into.assign(value.cast(into.dtype))

    def __repr__(self) -> str:
        lines = []
        for name, value in self.named_children():
            shown = repr(value) if isinstance(value, Module) else f"{value.dtype.name}{value.shape}"
            lines.append(f"  ({name}): " + shown.replace("\n", "\n  "))
        body = "\n".join(lines)
        return f"{type(self).__name__}(\n{body}\n)" if lines else f"{type(self).__name__}()"


def _spread(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Tensor | Module):
        yield name, value
    elif isinstance(value, list | tuple):
        for k, part in enumerate(value):
            yield from _spread(f"{name}.{k}", part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _spread(f"{name}.{key}", part)
