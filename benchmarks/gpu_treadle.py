"""Treadle's side of the GPU table."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import treadle as td
from benchmarks.gpu_rows import GPT2, MLP_SIZES, Row, arrays, labels
from treadle.models import gpt2, resnet

Made = tuple[Callable[[], Any], Callable[[Any], Any]]


def wait(result: Any) -> None:
    """Until it is computed."""
    done(*(result if isinstance(result, tuple | list) else [result]))
    td.cuda.synchronize()


def done(*results: Any) -> Any:
    """The results, asked for."""
    td.realize(*results)
    return results if len(results) > 1 else results[0]


def begin() -> None:
    """A row finds no memory that others have left."""
    gc.collect()
    td.cuda.empty_cache()


def peak() -> float:
    """Bytes of the device in use."""
    return float(td.cuda.memory_stats()["mapped"])


def shown(result: Any) -> list[float]:
    """Some numbers of the first result."""
    first = result[0] if isinstance(result, tuple | list) else result
    return first.reshape(-1)[:64].cast(td.float32).cpu().tolist()


def inputs(row: Row) -> list[Any]:
    """On the device, in the row's dtype."""
    dtype = getattr(td, row.dtype)
    given = [td.tensor(x).to("cuda").cast(dtype) for x in arrays(row)]
    td.realize(*given)
    return given


def _function(define: Callable[..., Any]) -> Callable[[Row, bool], Made]:
    def make(row: Row, _: bool) -> Made:
        given = inputs(row)

        def forward(*x: Any) -> Any:
            return define(*x, **row.options)

        if not row.backward:
            run = td.compile(forward)
            return lambda: done(run(*given)), shown
        ones = td.ones(forward(*given).shape, dtype=given[0].dtype, device="cuda").realize()

        def both(ones: Any, *x: Any) -> Any:
            y, back = td.vjp(forward, *x)
            return [y, *back(ones)]

        run = td.compile(both)
        return lambda: done(*run(ones, *given)), shown

    return make


def _matmul(x: Any, y: Any, a: bool = False, b: bool = False, tf32: bool = False) -> Any:
    td.set_matmul_precision("high" if tf32 else "highest")
    return (x.T if a else x) @ (y.T if b else y)


def _attention(q: Any, k: Any, v: Any, whole: bool = False) -> Any:
    return td.scaled_dot_product_attention(q, k, v, is_causal=not whole)


def _entropy(row: Row, _: bool) -> Made:
    (x,) = inputs(row)
    y = td.tensor(labels(*row.shapes[0])).to("cuda")
    run = td.compile(td.value_and_grad(lambda x: td.cross_entropy(x, y)))
    return lambda: done(*run(x)), shown


def _training(model: Any, x: Any, y: Any, optimizer: Any) -> Made:
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        logits = model(x)
        loss = td.cross_entropy(logits.reshape((-1, logits.shape[-1])).cast(td.float32), y)
        loss.backward()
        optimizer.step()
        return loss

    run = td.compile(step)
    return lambda: done(run(x, y)), lambda loss: [loss.detach().cpu().item() * 0]


def _mlp(row: Row, _: bool) -> Made:
    td.manual_seed(0)
    layers = [td.nn.Linear(*sizes) for sizes in MLP_SIZES]
    model = td.nn.Sequential(layers[0], td.nn.ReLU(), layers[1], td.nn.ReLU(), layers[2])
    model = model.to("cuda")
    y = td.tensor(labels(128, 10)).to("cuda")
    optimizer = td.optim.AdamW(model.parameters(), lr=1e-3)
    return _training(model, inputs(row)[0], y, optimizer)


def _gpt2(row: Row, _: bool) -> Made:
    config = gpt2.GPT2Config(
        vocab_size=GPT2["vocabulary"], resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
    )
    model = gpt2.GPT2(config).to("cuda").to(dtype=row.dtype)
    tokens = td.tensor(labels(row.shapes[0], GPT2["vocabulary"])).to("cuda")
    y = tokens.reshape((-1,)).realize()
    optimizer = td.optim.AdamW(model.parameters(), lr=1e-4)
    return _training(model, tokens, y, optimizer)


def _resnet(row: Row, _: bool) -> Made:
    td.manual_seed(0)
    model = resnet.resnet50().to("cuda").to(dtype=row.dtype)
    y = td.tensor(labels(row.shapes[0][0], 1000)).to("cuda")
    optimizer = td.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return _training(model, inputs(row)[0], y, optimizer)


def _conv_last(x: Any, w: Any) -> Any:
    """Images lie as PyTorch's in channels_last do, and so does the result."""
    return td.conv2d(x.permute(0, 3, 1, 2), w, padding=1).permute(0, 2, 3, 1)


MAKERS: dict[str, Callable[[Row, bool], Made]] = {
    "chain": _function(lambda a, b, c: td.tanh(a * b + c) * td.sigmoid(a) - td.abs(b)),
    "softmax": _function(lambda x: td.softmax(x, axis=-1)),
    "norm": _function(td.layer_norm),
    "transpose": _function(lambda x: x.T.contiguous()),
    "sum0": _function(lambda x: x.sum(0)),
    "matmul": _function(_matmul),
    "linear": _function(lambda x, w, b: td.gelu(x @ w + b, approximate="tanh")),
    "attention": _function(_attention),
    "conv": _function(lambda x, w: td.conv2d(x, w, padding=1)),
    "conv_last": _function(_conv_last),
    "cumsum": _function(lambda x: td.cumsum(x, axis=0)),
    "sort": _function(td.sort),
    "topk": _function(lambda x: td.topk(x, 100)[0]),
    "entropy": _entropy,
    "mlp": _mlp,
    "gpt2": _gpt2,
    "resnet": _resnet,
}
