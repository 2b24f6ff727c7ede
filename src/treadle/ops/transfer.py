"""The elements on another device: the one op whose result lies elsewhere than its operand."""

from __future__ import annotations

from functools import partial
from typing import Any

from treadle.base.device import Device
from treadle.ops import rules
from treadle.ops.defs import Kind, Op


def _arguments(x: Any, where: Device) -> tuple[tuple[Any], Device]:
    return (x,), where


transfer: Op = Op(
    "transfer", Kind.TRANSFER, "The same elements on another device: arg is the device.",
    types=partial(rules.any_dtype, "transfer"), shape=lambda _, shapes: shapes[0],
    arguments=_arguments, grad=lambda g, y, x: (transfer(g, x.device),),
    reference=lambda np, x: x, flops=0.0, public=False,
)  # fmt: skip
