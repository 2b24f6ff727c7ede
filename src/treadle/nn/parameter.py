"""What a module learns: a tensor of a class of its own, whose value is changed in place."""

from __future__ import annotations

from typing import Any

from treadle.base.errors import GradientError, explain
from treadle.tensor.creation import empty, tensor
from treadle.tensor.gradients import is_grad_enabled, own_node
from treadle.tensor.tensor import Tensor


class Parameter(Tensor):
    """A tensor that a module learns: set as an attribute, it is among the module's parameters.

    A frozen one (requires_grad=False) stays a parameter. What is computed from it is a Tensor.
    `p -= step` under `td.no_grad()` gives the parameter another value, and it stays the same
    object, which the optimizer holds.

    >>> import treadle as td
    >>> p = Parameter(td.ones(2))
    >>> with td.no_grad():
    ...     p -= 0.5
    >>> p.tolist(), isinstance(p, Parameter)
    ([0.5, 0.5], True)
    """

    __slots__ = ()

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        if hasattr(data, "call"):  # a node: copies are made of it
            super().__init__(data)
            return
        value = empty(0) if data is None else data if isinstance(data, Tensor) else tensor(data)
        if requires_grad and not value.dtype.is_inexact:
            hint = "Parameter(x, requires_grad=False), or cast it to float32"
            facts = {"dtype": value.dtype.name}
            raise GradientError(explain("Parameter", "only floats have gradients", hint, **facts))
        super().__init__(value._node)
        self._node = own_node(value._node, self, requires_grad)

    def _set(self, what: str, value: Tensor) -> Parameter:
        if is_grad_enabled() and self.requires_grad:
            hint = "with td.no_grad(): p -= ...; or p - ... for another tensor"
            wrong = "a parameter that requires a gradient is not changed while one is recorded"
            raise GradientError(explain(what, wrong, hint, shape=self.shape))
        self.assign(value if value.dtype is self.dtype else value.cast(self.dtype))
        return self

    # fmt: off
    def __iadd__(self, other: Any) -> Parameter: return self._set("+=", self + other)
    def __isub__(self, other: Any) -> Parameter: return self._set("-=", self - other)
    def __imul__(self, other: Any) -> Parameter: return self._set("*=", self * other)
    def __itruediv__(self, other: Any) -> Parameter: return self._set("/=", self / other)
    # fmt: on


class Buffer(Tensor):
    """A tensor that a module keeps and does not learn: set as an attribute, it is registered.

    - **persistent**: is it part of `state_dict`?
    """

    __slots__ = ("persistent",)

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        self.persistent = persistent
        if hasattr(data, "call"):
            super().__init__(data)
            return
        value = empty(0) if data is None else data if isinstance(data, Tensor) else tensor(data)
        super().__init__(value._node)
        self._node = own_node(value._node, self, False)
