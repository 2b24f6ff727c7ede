"""Weights that are computed from other parameters: of a length, or of a largest stretch.

The module's attribute is computed whenever it is read, so it is never behind, and compiled
functions follow it like any other computation.
"""

from __future__ import annotations

from typing import Any, TypeVar

from treadle.base.errors import ArgumentError, explain
from treadle.functions import matmul, normalize, vecdot
from treadle.nn.hooks import Table
from treadle.nn.module import Module
from treadle.nn.parameter import Parameter
from treadle.random import normal
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor

M = TypeVar("M", bound=Module)


def _take_over(what: str, module: Module, name: str) -> Parameter:
    """A parameter of a module, which is the module's no more."""
    found = module.__dict__.get(name)
    if not isinstance(found, Parameter):
        own = ", ".join(n for n, _ in module.named_parameters(recurse=False)) or "none"
        wrong = f"{type(module).__name__} has no parameter {name!r}"
        raise ArgumentError(explain(what, wrong, known=own))
    delattr(module, name)
    return found


def _give_back(
    what: str, module: Module, name: str, kind: type[Any], others: tuple[str, ...]
) -> Any:
    """The value of a computed attribute as a parameter again."""
    computed = module.__dict__.get("_computed", {})
    rule: Any = computed.get(name)
    if not isinstance(rule, kind):
        wrong = f"{name!r} of {type(module).__name__} is not computed so"
        raise ArgumentError(explain(what, wrong))
    with no_grad():
        value = rule(module)
    del computed[name]
    for other in others:
        delattr(module, f"{name}_{other}")
    setattr(module, name, Parameter(value))
    return rule


# ---- of a length


class WeightNorm:
    """w = g v / |v|, the length taken over all axes but one."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def length(self, v: Tensor) -> Tensor:
        """|v|, with axes of size 1 where it was taken."""
        if self.dim is None:
            return (v * v).sum() ** 0.5
        axes = tuple(k for k in range(v.ndim) if k != self.dim % v.ndim)
        return (v * v).sum(axes, keepdims=True) ** 0.5 if axes else v.abs()

    def __call__(self, module: Module) -> Tensor:
        v: Tensor = getattr(module, f"{self.name}_v")
        g: Tensor = getattr(module, f"{self.name}_g")
        return v * (g / self.length(v))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Let a weight be `name_g` times `name_v` over its length: direction and length apart.

    - **dim**: the axis along which lengths are kept apart; None: one length for all
    """
    weight = _take_over("weight_norm", module, name)
    rule = WeightNorm(name, dim)
    with no_grad():
        length = rule.length(weight).detach()
    module.register_parameter(f"{name}_g", Parameter(length))
    module.register_parameter(f"{name}_v", Parameter(weight))
    module._compute(name, rule)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Make a weight a parameter of its own again, with the value it has."""
    _give_back("remove_weight_norm", module, name, WeightNorm, ("g", "v"))
    return module


# ---- of a largest stretch


class SpectralNorm:
    """w = v / s, s the largest singular value, found by a step of power iteration each call."""

    def __init__(self, name: str, count: int, dim: int, eps: float) -> None:
        self.name, self.count, self.dim, self.eps = name, count, dim, eps

    def matrix(self, weight: Tensor) -> Tensor:
        """The weight as rows: one axis, and all others."""
        moved = weight.movedim(self.dim, 0) if self.dim else weight
        return moved.flatten(1)

    def _unit(self, x: Tensor) -> Tensor:
        return normalize(x, axis=0, eps=self.eps)

    def improve(self, module: Module, count: int | None = None) -> None:
        """Assign better vectors."""
        with no_grad():
            w = self.matrix(getattr(module, f"{self.name}_orig").detach())
            u, v = (getattr(module, f"{self.name}_{part}") for part in "uv")
            new_u, new_v = u, v
            for _ in range(self.count if count is None else count):
                new_v = self._unit(matmul(w.T, new_u))
                new_u = self._unit(matmul(w, new_v))
            u.assign(new_u)
            v.assign(new_v)

    def before(self, module: Module, args: Any) -> None:
        """A step while training."""
        if module.training:
            self.improve(module)

    def __call__(self, module: Module) -> Tensor:
        weight: Tensor = getattr(module, f"{self.name}_orig")
        u, v = (getattr(module, f"{self.name}_{part}").detach() for part in "uv")
        return weight / vecdot(u, matmul(self.matrix(weight), v))


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> M:  # fmt: skip
    """Let a weight be `name_orig` over its largest singular value.

    - **n_power_iterations**: steps by which that is found, in every call while training
    - **dim**: the axis of the outputs; by default 0, and 1 for transposed convolutions
    """
    if n_power_iterations <= 0:
        wrong = "n_power_iterations is above 0"
        raise ArgumentError(explain("spectral_norm", wrong, got=n_power_iterations))
    weight = _take_over("spectral_norm", module, name)
    axis = (1 if getattr(module, "transposed", False) else 0) if dim is None else dim
    rule = SpectralNorm(name, n_power_iterations, axis, eps)
    rows, columns = rule.matrix(weight).shape
    module.register_parameter(f"{name}_orig", weight)
    place: dict[str, Any] = {"dtype": weight.dtype, "device": weight.device}
    for part, size in (("u", rows), ("v", columns)):
        module.register_buffer(f"{name}_{part}", rule._unit(normal((size,), **place)).detach())
    rule.improve(module, 15)
    module._compute(name, rule)
    module.register_forward_pre_hook(rule.before)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Make a weight a parameter of its own again, with the value it has."""
    rule = _give_back("remove_spectral_norm", module, name, SpectralNorm, ("orig", "u", "v"))
    table: Table = module.__dict__.get("_hooks", {}).get("before", {})
    for number, (hook, _) in list(table.items()):
        if getattr(hook, "__self__", None) is rule:
            del table[number]
    return module
