"""What the array API standard asks of a namespace beyond its functions."""

from __future__ import annotations

import math
from typing import Any

from treadle.backends.registry import BACKENDS, backend_of
from treadle.base.device import CPU, Device, device
from treadle.base.dtypes import ALL, COMPLEX, STORAGE, DType, complex64, float32, int64
from treadle.base.errors import DeviceError, ShapeError, explain
from treadle.base.limits import isdtype
from treadle.base.shapes import Shape, broadcast, sizes_in
from treadle.tensor.tensor import Tensor

version = "2024.12"
e, inf, nan, pi = math.e, math.inf, math.nan, math.pi
newaxis = None


def astype(x: Tensor, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """x in another dtype; copy=False gives x itself where nothing changes.

    >>> import treadle as td
    >>> td.astype(td.tensor([1.5]), td.int32).tolist()
    [1]
    """
    return x.astype(dtype, copy=copy, device=device)


def is_complex(x: Tensor) -> bool:
    """Has a tensor a complex dtype?

    >>> import treadle as td
    >>> td.is_complex(td.tensor([1j])), td.is_complex(td.tensor([1.0]))
    (True, False)
    """
    return x.dtype.is_complex


def broadcast_shapes(*shapes: Shape | int) -> Shape:
    """The shape that tensors of these shapes broadcast to together; a number is one axis.

    >>> broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    name = "broadcast_shapes"
    found = [sizes_in(name, s if isinstance(s, tuple | list) else (s,)) for s in shapes]
    if any(size < 0 for shape in found for size in shape):
        raise ShapeError(explain(name, "sizes are not negative", shapes=shapes))
    return broadcast(name, *found) if found else ()


class Namespace:
    """Devices, dtypes and abilities, as the standard wants them told."""

    def capabilities(self) -> dict[str, Any]:
        """Abilities that not every library has.

        Ops take any number of axes; values are read as NumPy arrays, which have 64 at most.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Where tensors are made if nothing is said."""
        return CPU

    def devices(self) -> list[Device]:
        """The first of every kind of device that this machine has."""
        return [each for name in BACKENDS if _is_there(each := device(name))]

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """Dtypes that are taken if nothing is said."""
        inexact = {"real floating": float32, "complex floating": complex64}
        return inexact | {"integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The standard's dtypes by name, of one kind or several if kind is given."""
        standard = [d for d in (*ALL, *COMPLEX) if d not in STORAGE]
        return {d.name: d for d in standard if kind is None or isdtype(d, kind)}


def _is_there(where: Device) -> bool:
    try:
        backend_of(where)
    except DeviceError:
        return False
    return True


def namespace_info() -> Namespace:
    """Devices, dtypes and abilities of this namespace."""
    return Namespace()
