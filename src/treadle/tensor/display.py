"""How a tensor prints."""

from __future__ import annotations

from typing import Any

from treadle.base.device import Device
from treadle.base.dtypes import DType, bool_, float32, int64
from treadle.ir.node import Type

USUAL = (float32, int64, bool_)


def text_of(array: Any, dtype: DType, device: Device, requires_grad: bool = False) -> str:
    """Like NumPy, summarised when large, with the dtype unless it is the usual one."""
    values = array.astype("float32") if dtype.is_storage else array
    indent = " " * len("tensor(")
    body = values.__repr__().removeprefix("array(")
    body = body[: body.rindex("]") + 1] if "]" in body else repr(values.item())
    body = body.replace("\n" + " " * 6, "\n" + indent)
    extra = "" if dtype in USUAL else f", dtype={dtype.name}"
    extra += "" if device.backend == "cpu" else f", device={device}"
    extra += ", requires_grad=True" if requires_grad else ""
    if not array.size:
        extra = f", shape={array.shape}" + extra
    return f"tensor({body}{extra})"


def pending_text(state: str, type_: Type) -> str:
    """What is known of a tensor whose value is not there to be shown."""
    where = "" if type_.device.backend == "cpu" else f", device={type_.device}"
    return f"tensor(<{state}>, shape={type_.shape}, dtype={type_.dtype.name}{where})"
