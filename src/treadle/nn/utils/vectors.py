"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from treadle.base.errors import ShapeError, explain
from treadle.functions import concat
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, one after the other."""
    return concat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give parameters the elements of a vector, one after the other."""
    known = list(parameters)
    count = sum(p.size for p in known)
    if vec.shape != (count,):
        facts = {"expected": (count,), "got": vec.shape}
        raise ShapeError(explain("vector_to_parameters", "needs as many elements", **facts))
    start = 0
    with no_grad():
        for p in known:
            part = vec[start : start + p.size].reshape(p.shape)
            p.assign(part if part.dtype is p.dtype else part.cast(p.dtype))
            start += p.size
