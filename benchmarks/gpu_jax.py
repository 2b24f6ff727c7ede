"""JAX's side of the GPU table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.gpu_rows import Row, arrays, labels

Made = tuple[Callable[[], Any], Callable[[Any], Any]]


def wait(result: Any) -> None:
    """Until it is computed."""
    jax.block_until_ready(result)


def begin() -> None:
    """A row finds what memory others have left: nothing gives it back."""


def peak() -> float:
    """Bytes of the device in use at most."""
    return float(jax.devices()[0].memory_stats()["peak_bytes_in_use"])


def shown(result: Any) -> list[float]:
    """Some numbers of the first result."""
    first = result[0] if isinstance(result, tuple | list) else result
    return [float(x) for x in first.reshape(-1)[:64].astype(jnp.float32)]


def inputs(row: Row) -> list[Any]:
    """On the device, in the row's dtype."""
    return [jnp.asarray(x, dtype=row.dtype) for x in arrays(row)]


def _function(define: Callable[..., Any]) -> Callable[[Row, bool], Made]:
    def make(row: Row, _: bool) -> Made:
        given = inputs(row)

        def forward(*x: Any) -> Any:
            return define(*x, **row.options)

        if not row.backward:
            run = jax.jit(forward)
            return lambda: run(*given), shown
        ones = jnp.ones_like(forward(*given))

        @jax.jit
        def both(ones: Any, *x: Any) -> Any:
            y, back = jax.vjp(forward, *x)
            return [y, *back(ones)]

        return lambda: both(ones, *given), shown

    return make


def _matmul(x: Any, y: Any, a: bool = False, b: bool = False, tf32: bool = False) -> Any:
    precision = "tensorfloat32" if tf32 else "highest" if x.dtype == jnp.float32 else None
    return jnp.matmul(x.T if a else x, y.T if b else y, precision=precision)


def _norm(x: Any, w: Any, b: Any) -> Any:
    wide = x.astype(jnp.float32)
    mean = wide.mean(-1, keepdims=True)
    spread = jax.lax.rsqrt(((wide - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
    return ((wide - mean) * spread).astype(x.dtype) * w + b


def _attention(q: Any, k: Any, v: Any, whole: bool = False) -> Any:
    turned = [x.swapaxes(1, 2) for x in (q, k, v)]
    mixed = jax.nn.dot_product_attention(*turned, is_causal=not whole, implementation="cudnn")
    return mixed.swapaxes(1, 2)


def _entropy(row: Row, _: bool) -> Made:
    (x,) = inputs(row)
    y = jnp.asarray(labels(*row.shapes[0]))

    def loss(x: Any) -> Any:
        logits = jax.nn.log_softmax(x.astype(jnp.float32))
        return -jnp.take_along_axis(logits, y[:, None], 1).mean()

    run = jax.jit(jax.value_and_grad(loss))
    return lambda: run(x), shown


def _convolve(x: Any, w: Any) -> Any:
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")


def _conv_last(x: Any, w: Any) -> Any:
    axes = ("NHWC", "OIHW", "NHWC")
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=axes)


MAKERS: dict[str, Callable[[Row, bool], Made]] = {
    "chain": _function(lambda a, b, c: jnp.tanh(a * b + c) * jax.nn.sigmoid(a) - jnp.abs(b)),
    "softmax": _function(lambda x: jax.nn.softmax(x, -1)),
    "norm": _function(_norm),
    "transpose": _function(lambda x: x.T.copy()),
    "sum0": _function(lambda x: x.sum(0)),
    "matmul": _function(_matmul),
    "linear": _function(lambda x, w, b: jax.nn.gelu(x @ w + b, approximate=True)),
    "attention": _function(_attention),
    "conv": _function(_convolve),
    "conv_last": _function(_conv_last),
    "cumsum": _function(jnp.cumsum),
    "sort": _function(jnp.sort),
    "topk": _function(lambda x: jax.lax.top_k(x, 100)[0]),
    "entropy": _entropy,
}
