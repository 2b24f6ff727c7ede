"""How a tensor gives its value away: as numbers, arrays, text, copies, or on another device."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from treadle.backends.exhausted import HOLDERS
from treadle.backends.registry import backend_of
from treadle.base.device import CPU, Device, device
from treadle.base.dtypes import dtype
from treadle.base.errors import ArgumentError, DeviceError, OperandError, explain
from treadle.base.trees import flatten, unflatten
from treadle.ir.node import leaf, type_of
from treadle.ops.picking import clone
from treadle.runtime.pending import bound_pending
from treadle.runtime.realize import in_memory, realize_one
from treadle.tensor.display import pending_text, text_of
from treadle.tensor.gradients import INSIDE, Differentiable, owned
from treadle.tensor.hosted import peek
from treadle.tensor.placing import is_pinned, moved_tensor, pinned_tensor, target_of
from treadle.tensor.tracing import TRACE


class Readable(Differentiable):
    """The part of a tensor that gives its value to others."""

    __slots__ = ()

    if TYPE_CHECKING:  # in Tensor, and in what the op table writes

        @property
        def size(self) -> int: ...
        @property
        def device(self) -> Device: ...

        def __getitem__(self, key: Any) -> Self: ...

    def realize(self) -> Self:
        """Compute the value now, if it is not there yet; in a compiled function, with the rest."""
        if self._node.buffer is None and not TRACE:
            realize_one(self._node)
        return self

    # ---- arrays

    def numpy(self) -> Any:
        """The value as a NumPy array; it shares memory and must not be written."""
        array = peek(self._node)
        if array is None:
            if self._node.buffer is None:
                realize_one(self._node)
            array = backend_of(self.device).download(self._node.buffer, self._node.type)
        array.flags.writeable = False
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                hint = "leave copy out, or cast the tensor first"
                facts = {"own": array.dtype, "asked": dtype}
                raise ArgumentError(explain("__array__", "another dtype is a copy", hint, **facts))
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """NumPy's functions compute with arrays of the values, and give arrays."""
        leaves: list[Any] = []
        form = flatten((args, options), Differentiable, leaves)
        args, options = unflatten(form, [x.numpy() for x in leaves])
        return function(*args, **options)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The module with the functions of the Python array API standard."""
        if api_version is not None and api_version not in VERSIONS:
            facts = {"known": ", ".join(VERSIONS), "got": api_version}
            raise ArgumentError(explain("__array_namespace__", "no such version", **facts))
        return sys.modules["treadle"]

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule through which another library reads the memory; it must not write there.

        stream is the one on which it reads the memory of a GPU: 1 and 2 are the default ones, None
        is the first, -1 means that it waits by itself.
        """
        from treadle.tensor import dlpack

        if self.device.backend == "cuda":
            shared = import_module("treadle.tensor.device_memory")
            return shared.capsule(self, stream, max_version, dl_device, copy)
        if self.device is not CPU:
            hint, on = "share x.to('cpu')", self.device
            raise DeviceError(explain("dlpack", "only memory of the host and of GPUs", hint, on=on))
        return dlpack.capsule(self.numpy(), self._node.type, max_version, dl_device, copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Where the elements lie on a GPU, for libraries that ask so; other tensors have none."""
        if self.device.backend != "cuda":
            raise AttributeError("__cuda_array_interface__ is for tensors on a GPU")
        found: dict[str, Any] = import_module("treadle.tensor.device_memory").interface(self)
        return found

    def __dlpack_device__(self) -> tuple[int, int]:
        from treadle.tensor import dlpack

        return dlpack.place_of(self.device)

    # ---- numbers

    def item(self) -> Any:
        """The one element as a Python number."""
        return self._one("item", "use tolist() or index one element")

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self.numpy().tolist()

    def _one(self, what: str, hint: str, real: bool = False) -> Any:
        if real and self.dtype.is_complex:
            hint = "take x.real, x.imag or abs(x)"
            raise OperandError(explain(what, "a complex number", hint, dtype=self.dtype.name))
        if self.size != 1:
            raise ArgumentError(explain(what, "needs one element", hint, shape=self.shape))
        return self.numpy().item()

    # fmt: off
    def __float__(self) -> float: return float(self._one("float", REDUCE, real=True))
    def __int__(self) -> int: return int(self._one("int", REDUCE, real=True))
    def __complex__(self) -> complex: return complex(self._one("complex", REDUCE))
    # fmt: on

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            hint = "cast it to int64 first"
            facts = {"dtype": self.dtype.name}
            raise OperandError(explain("index", "needs an integer tensor", hint, **facts))
        return int(self._one("index", "index with the tensor itself: x[index]"))

    def __bool__(self) -> bool:
        if self.size != 1:
            hint = "compare elementwise with & and |, or reduce first"
            raise ArgumentError(explain("bool", "is ambiguous", hint, shape=self.shape))
        return bool(self.numpy().item())

    # ---- containers

    def __len__(self) -> int:
        if not self.shape:
            raise OperandError(explain("len", "a 0-d tensor has no length", "see size and ndim"))
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        if not self.shape:
            raise OperandError(explain("iter", "a 0-d tensor has no axis to go along", "item()"))
        if not TRACE:
            self.realize()
        return (self[k] for k in range(self.shape[0]))

    def __contains__(self, item: Any) -> bool:
        return bool((self == item).numpy().any())

    # ---- text

    def __repr__(self) -> str:
        """The value; what is known without it where it cannot be computed: never an error."""
        if TRACE and not in_memory(self._node):
            return pending_text("traced", self._node.type)
        try:
            return text_of(self.numpy(), self.dtype, self.device, self.requires_grad)
        except Exception as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
            return pending_text(f"pending {self._node.op}: {reason}", self._node.type)

    def _repr_html_(self) -> str | None:
        """What a notebook shows; its text where the value cannot be computed."""
        from treadle.tensor.notebook import html_of

        if TRACE and not in_memory(self._node):
            return None
        try:
            return html_of(self.numpy(), self.dtype, self.device)
        except Exception:
            return None

    def __format__(self, form: str) -> str:
        return format(self.item() if form else repr(self), form)

    # ---- copies

    def __reduce__(self) -> tuple[Any, ...]:
        facts = (self.dtype.name, repr(self.device), self.requires_grad)
        return (_restored, (self.__class__, self.numpy(), *facts))

    def __deepcopy__(self, memo: Any) -> Self:
        """A tensor of its own with the same value and gradient."""
        node = self.detach()._node
        if node.buffer is None:
            realize_one(node)
        fresh = self.__class__(leaf(node.type, backend_of(self.device).copy(node.buffer)))
        owned(fresh, self.requires_grad)
        fresh._grad = self._grad if self._grad is INSIDE else copy.deepcopy(self._grad, memo)
        return fresh

    # ---- placement

    def to(
        self,
        *where: Any,
        device: str | Device | None = None,
        dtype: Any = None,
        non_blocking: bool = False,
        copy: bool = False,
    ) -> Self:
        """On another device ("cuda"), in another dtype (td.float16), both, or as another tensor is.

        Gradients flow back. With non_blocking=True the copy goes on beside what is computed;
        whoever looks at the result waits for it. With copy=True it is never this tensor itself.
        """
        place, kind = target_of(where, {"device": device, "dtype": dtype})
        result = self if kind is None or kind is self.dtype else self.cast(kind)
        if place is not None:
            result = result._moved(place, non_blocking or any(x is True for x in where))
        return clone(result) if copy and result is self else result

    def cpu(self) -> Self:
        """On the CPU."""
        return self._moved(CPU)

    def astype(self, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Self:
        """In another dtype; copy=False gives this tensor itself where nothing changes."""
        found = self.cast(dtype)
        found = found if device is None else found._moved(device)
        same = found.dtype is self.dtype and found.device is self.device
        return self if same and not copy else found

    def to_device(self, device: str | Device, /, *, stream: Any = None) -> Self:
        """On another device, as the array API standard spells it."""
        if stream is not None:
            hint = "transfers wait for what they read; leave stream out"
            raise ArgumentError(explain("to_device", "streams are not taken", hint, got=stream))
        return self._moved(device)

    def _moved(self, where: str | Device, hurried: bool = False) -> Self:
        made: Self = moved_tensor(self, where, hurried)
        return made

    def cuda(self, device: int | str | Device | None = None, non_blocking: bool = False) -> Self:
        """On a GPU: the first, or the one of a number."""
        where = f"cuda:{device}" if isinstance(device, int) else device or "cuda"
        return self._moved(where, non_blocking)

    def pin_memory(self) -> Self:
        """The value in memory that GPUs copy from and to beside their work; the same if it is."""
        return self if self.is_pinned() else pinned_tensor(self)

    def is_pinned(self) -> bool:
        """Does the value lie in such memory? What is not computed yet lies nowhere."""
        return is_pinned(self)


VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
REDUCE = "index one element, or reduce first"


def _restored(kind: Any, array: Any, dtype_name: str, device_name: str, grad: bool) -> Any:
    type_ = type_of(array.shape, dtype(dtype_name), device(device_name))
    return owned(kind(leaf(type_, backend_of(type_.device).upload(array, type_, True))), grad)


def _held(backend: str) -> str:
    """What an error says of memory that is used up."""
    return str(import_module("treadle.tensor.living").largest(backend))


HOLDERS.append(_held)
bound_pending()
