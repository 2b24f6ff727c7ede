"""What a run learns from: samples to train and to judge by, and what is made of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from treadle import data, nn
from treadle.base.errors import ArgumentError, explain
from treadle.functions import argmax
from treadle.tensor.tensor import Tensor

HELD_OUT = 0.05  # of a text, its end
f = nn.functional


@dataclass(frozen=True)
class Task:
    """Data sets and the loss of a model on a batch of them."""

    train: Any
    valid: Any
    loss: Callable[[Any, Tensor, Tensor], Tensor]
    right: Callable[[Any, Tensor, Tensor], Tensor] | None = None
    """How many of a batch are right; None where that says nothing."""
    unit: str = "samples"
    each: int = 1
    """Units of a sample."""
    tokenizer: Any = None
    bytes_each: float = 0.0
    """Bytes of text that a token of the validation part stands for."""


def task_of(table: Mapping[str, Any], seed: int) -> Task:
    """The task that `[data]` names."""
    options = dict(table)
    kind = str(options.pop("kind"))
    if kind not in KINDS:
        raise ArgumentError(explain("data", "no such kind", ", ".join(KINDS), kind=repr(kind)))
    try:
        return KINDS[kind](seed, **options)
    except TypeError as error:  # a word that it does not know, or too few
        raise ArgumentError(explain("data", str(error), kind=kind)) from error


# ---- texts


def _stdlib(seed: int, bytes: int = 4_000_000, **options: Any) -> Task:  # noqa: A002
    return _language(data.stdlib_text(bytes), **options)


def _text(seed: int, path: str, **options: Any) -> Task:
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(explain("data", f"no text: {error}", path=path)) from error
    return _language(text, **options)


def _language(text: str, context: int = 128, tokenizer: str = "bytes", tokens: int = 1024) -> Task:
    """The next token at every place of windows of a text; its end is kept apart."""
    if context < 1:
        raise ArgumentError(explain("data", "a window holds a token or more", context=context))
    cut = int(len(text) * (1 - HELD_OUT))
    learnt, judged = text[:cut], text[cut:]
    codes = _tokenizer(tokenizer, learnt, tokens)
    train, valid = (np.array(codes.encode(part), np.int64) for part in (learnt, judged))
    if min(len(train), len(valid)) <= context:
        raise ArgumentError(explain("data", "the text is too short", bytes=len(text)))
    return Task(
        _windows(train, context), _windows(valid, context), _next_token, unit="tokens",
        each=context, tokenizer=codes, bytes_each=len(judged.encode()) / len(valid),
    )  # fmt: skip


def _tokenizer(kind: str, text: str, size: int) -> Any:
    if kind == "bytes":
        return data.ByteTokenizer()
    if kind == "bpe":
        return data.BPETokenizer.train(text[:1_000_000], size)
    return data.BPETokenizer.from_file(kind)


def _windows(tokens: np.ndarray[Any, Any], context: int) -> data.TensorDataset:
    """Windows side by side, and the same one token later; views, not copies."""
    views = np.lib.stride_tricks.sliding_window_view(tokens, context + 1)[::context]
    return data.TensorDataset(views[:, :-1], views[:, 1:])


def _next_token(model: Any, x: Tensor, y: Tensor) -> Tensor:
    if not hasattr(model, "logits"):
        hint = "GPT2, Llama, CharRNN, LSTMLanguageModel"
        kind = type(model).__name__
        raise ArgumentError(explain("model", "a text needs a language model", hint, kind=kind))
    return f.cross_entropy(model.logits(model.features(x)).flatten(0, 1), y.flatten())


# ---- samples with targets


def _bundled(seed: int, name: str, valid: float = 0.2) -> Task:
    """scikit-learn's sets; of tables, columns are scaled by what is trained on."""
    whole = data.bundled(name)
    train, test = _split(whole, valid, seed)
    inputs, targets = (np.asarray(part) for part in whole.tensors)
    if inputs.ndim == 2:
        seen = inputs[train.indices]
        inputs = (inputs - seen.mean(0)) / (seen.std(0) + np.float32(1e-6))
    places = (train.indices, test.indices)
    known, unseen = (data.TensorDataset(inputs[at], targets[at]) for at in places)
    if targets.dtype == np.float32:
        return Task(known, unseen, _distance)
    return Task(known, unseen, _class, _count_right)


def _images(seed: int, path: str, size: int = 64, valid: float = 0.1) -> Task:
    """Pictures in a folder for each class."""
    t = data.transforms
    change = t.Compose([t.Resize((size, size)), t.ToTensor()])
    whole = data.ImageFolder(path, change)
    train, test = _split(whole, valid, seed)
    return Task(train, test, _class, _count_right)


def _split(whole: Any, valid: float, seed: int) -> list[data.Subset]:
    """What to learn from, and the share that is kept apart."""
    parts = data.random_split(whole, [1 - valid, valid], generator=seed)
    if not all(map(len, parts)):
        wrong, hint = "nothing is left to learn from, or to judge by", "valid = 0.1"
        raise ArgumentError(explain("data", wrong, hint, valid=valid, samples=len(whole)))
    return parts


def _class(model: Any, x: Tensor, y: Tensor) -> Tensor:
    return f.cross_entropy(model(x), y)


def _count_right(model: Any, x: Tensor, y: Tensor) -> Tensor:
    return (argmax(model(x), axis=1) == y).sum()


def _distance(model: Any, x: Tensor, y: Tensor) -> Tensor:
    return f.mse_loss(model(x).reshape(y.shape), y)


KINDS: dict[str, Callable[..., Task]] = {
    "stdlib": _stdlib, "text": _text, "bundled": _bundled, "images": _images,
}  # fmt: skip
