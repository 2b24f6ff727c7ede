"""PyTorch's side of the GPU table, eager and compiled."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from benchmarks.gpu_resnet import resnet50
from benchmarks.gpu_rows import GPT2, MLP_SIZES, Row, arrays, labels

F = nn.functional
Made = tuple[Callable[[], Any], Callable[[Any], Any]]


def wait(_: Any) -> None:
    """Until everything is computed."""
    torch.cuda.synchronize()


def begin() -> None:
    """A row finds no memory that others have left."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def peak() -> float:
    """Bytes of the device in use at most."""
    return float(torch.cuda.max_memory_reserved())


def shown(result: Any) -> list[float]:
    """Some numbers of the first result."""
    first = result[0] if isinstance(result, tuple | list) else result
    return first.detach().reshape(-1)[:64].float().cpu().tolist()


def inputs(row: Row) -> list[Any]:
    """On the device, in the row's dtype."""
    dtype = getattr(torch, row.dtype)
    return [torch.tensor(x, device="cuda").to(dtype) for x in arrays(row)]


def _function(define: Callable[..., Any]) -> Callable[[Row, bool], Made]:
    def make(row: Row, compiled: bool) -> Made:
        given = inputs(row)

        def forward(*x: Any) -> Any:
            return define(*x, **row.options)

        torch._dynamo.reset()
        f = torch.compile(forward) if compiled else forward
        if not row.backward:
            return lambda: f(*given), shown
        leaves = [x.requires_grad_() for x in given]
        ones = torch.ones_like(forward(*given))

        def both() -> Any:
            y = f(*leaves)
            return [y, *torch.autograd.grad(y, leaves, ones)]

        return both, shown

    return make


def _matmul(x: Any, y: Any, a: bool = False, b: bool = False, tf32: bool = False) -> Any:
    return (x.T if a else x) @ (y.T if b else y)


def _matmul_row(row: Row, compiled: bool) -> Made:
    torch.backends.cuda.matmul.allow_tf32 = row.options.get("tf32", False)
    return _function(_matmul)(row, compiled)


def _attention(q: Any, k: Any, v: Any, whole: bool = False) -> Any:
    return F.scaled_dot_product_attention(q, k, v, is_causal=not whole)


def _entropy(row: Row, compiled: bool) -> Made:
    (x,) = inputs(row)
    x.requires_grad_()
    y = torch.tensor(labels(*row.shapes[0]), device="cuda")
    f = torch.compile(F.cross_entropy) if compiled else F.cross_entropy

    def run() -> Any:
        loss = f(x, y)
        return [loss, *torch.autograd.grad(loss, [x])]

    return run, shown


def _training(model: Any, x: Any, y: Any, optimizer: Any, compiled: bool) -> Made:
    def losses(x: Any, y: Any) -> Any:
        logits = model(x)
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]).float(), y)

    f = torch.compile(losses) if compiled else losses

    def step() -> Any:
        optimizer.zero_grad(set_to_none=True)
        loss = f(x, y)
        loss.backward()
        optimizer.step()
        return loss

    return step, lambda loss: [loss.item() * 0]


def _mlp(row: Row, compiled: bool) -> Made:
    layers = [nn.Linear(*sizes) for sizes in MLP_SIZES]
    model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    y = torch.tensor(labels(128, 10), device="cuda")
    return _training(model, inputs(row)[0], y, optimizer, compiled)


class Block(nn.Module):
    """Attention, then a hidden layer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        """The residual stream after this block."""
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (t.view(shape).transpose(1, 2) for t in self.qkv(self.ln1(x)).split(width, 2))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.fc2(F.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    """GPT-2 small."""

    def __init__(self) -> None:
        super().__init__()
        width = GPT2["width"]
        self.wte = nn.Embedding(GPT2["vocabulary"], width)
        self.wpe = nn.Embedding(GPT2["length"], width)
        self.h = nn.ModuleList(Block(width, GPT2["heads"]) for _ in range(GPT2["layers"]))
        self.ln = nn.LayerNorm(width)
        for weight in self.parameters():  # else all gradients are zero, which a GPU is quicker at
            if weight.ndim > 1:
                nn.init.normal_(weight, std=0.02)

    def forward(self, tokens: Any) -> Any:
        """Logits."""
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for block in self.h:
            x = block(x)
        return self.ln(x) @ self.wte.weight.T


def _gpt2(row: Row, compiled: bool) -> Made:
    model = Gpt2().cuda().to(getattr(torch, row.dtype))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    tokens = torch.tensor(labels(row.shapes[0], GPT2["vocabulary"]), device="cuda")
    return _training(model, tokens, tokens.reshape(-1), optimizer, compiled)


def _conv_last(x: Any, w: Any) -> Any:
    """x (batch, height, width, channels) is a tensor in channels_last as it lies."""
    w = w.to(memory_format=torch.channels_last)
    return F.conv2d(x.permute(0, 3, 1, 2), w, padding=1).permute(0, 2, 3, 1)


def _resnet(row: Row, compiled: bool) -> Made:
    torch.backends.cudnn.benchmark = True
    layout = {"memory_format": torch.channels_last}
    model = resnet50().cuda().to(getattr(torch, row.dtype)).to(**layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    y = torch.tensor(labels(row.shapes[0][0], 1000), device="cuda")
    return _training(model, inputs(row)[0].to(**layout), y, optimizer, compiled)


MAKERS: dict[str, Callable[[Row, bool], Made]] = {
    "chain": _function(lambda a, b, c: torch.tanh(a * b + c) * torch.sigmoid(a) - torch.abs(b)),
    "softmax": _function(lambda x: torch.softmax(x, -1)),
    "norm": _function(lambda x, w, b: F.layer_norm(x, w.shape, w, b)),
    "transpose": _function(lambda x: x.T.contiguous()),
    "sum0": _function(lambda x: x.sum(0)),
    "matmul": _matmul_row,
    "linear": _function(lambda x, w, b: F.gelu(x @ w + b, approximate="tanh")),
    "attention": _function(_attention),
    "conv": _function(lambda x, w: F.conv2d(x, w, padding=1)),
    "conv_last": _function(_conv_last),
    "cumsum": _function(lambda x: torch.cumsum(x, 0)),
    "sort": _function(lambda x: torch.sort(x)[0]),
    "topk": _function(lambda x: torch.topk(x, 100)[0]),
    "entropy": _entropy,
    "mlp": _mlp,
    "gpt2": _gpt2,
    "resnet": _resnet,
}
