"""An encoder–decoder Transformer from one language to another, on `nn.Transformer`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, explain
from treadle.functions import argmax, where
from treadle.models.generate import Kept, evaluating
from treadle.models.language import Pretrained, require_positions
from treadle.nn import Dropout, Embedding, Linear, Module, Transformer, init
from treadle.tensor.creation import arange, full, tensor
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor
from treadle.transforms.compile import compile as compiled

LEAST = 16  # sizes go up by twos from here: other sentences find the programs of earlier ones


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Sizes, under the names of PyTorch's translation tutorial."""

    num_encoder_layers: int = 3
    num_decoder_layers: int = 3
    emb_size: int = 512
    nhead: int = 8
    src_vocab_size: int = 10000
    tgt_vocab_size: int = 10000
    dim_feedforward: int = 512
    dropout: float = 0.1
    maxlen: int = 5000
    model_type: str = "seq2seq"


class TokenEmbedding(Module):
    """Learned vectors, as long as their size is large."""

    def __init__(self, vocab_size: int, emb_size: int) -> None:
        self.embedding, self.emb_size = Embedding(vocab_size, emb_size), emb_size

    def forward(self, tokens: Tensor) -> Tensor:
        """(batch, length, emb_size)."""
        return self.embedding(tokens) * math.sqrt(self.emb_size)


class PositionalEncoding(Module):
    """Fixed sines and cosines, added."""

    def __init__(self, emb_size: int, dropout: float, maxlen: int) -> None:
        steps = np.exp(-np.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        angles = np.outer(np.arange(maxlen), steps)
        table = np.zeros((maxlen, 1, emb_size), np.float32)
        table[:, 0, 0::2], table[:, 0, 1::2] = np.sin(angles), np.cos(angles)[:, : emb_size // 2]
        self.dropout = Dropout(dropout)
        self.register_buffer("pos_embedding", tensor(table))

    def forward(self, x: Tensor) -> Tensor:
        """The same shape (batch, length, emb_size)."""
        require_positions("Seq2SeqTransformer", x, self.pos_embedding.shape[0])
        return self.dropout(x + self.pos_embedding[: x.shape[1], 0])


class Seq2SeqTransformer(Pretrained):
    """Sentences to sentences; weights are those of PyTorch's translation tutorial.

    Tokens are (batch, length), where the tutorial has (length, batch). Masks of padding are True
    where there is no token.
    """

    config_class = Seq2SeqConfig

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        config = self.config
        self.transformer = Transformer(
            config.emb_size, config.nhead, config.num_encoder_layers, config.num_decoder_layers,
            config.dim_feedforward, config.dropout, batch_first=True,
        )  # fmt: skip
        self.generator = Linear(config.emb_size, config.tgt_vocab_size)
        self.src_tok_emb = TokenEmbedding(config.src_vocab_size, config.emb_size)
        self.tgt_tok_emb = TokenEmbedding(config.tgt_vocab_size, config.emb_size)
        sizes = (config.emb_size, config.dropout, config.maxlen)
        self.positional_encoding = PositionalEncoding(*sizes)
        for own in self.parameters():
            if own.ndim > 1:
                init.xavier_uniform_(own)
        self._kept_programs = Kept()

    def forward(
        self, src: Tensor, tgt: Tensor, src_padding_mask: Tensor | None = None,
        tgt_padding_mask: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Logits (batch, length, tokens) of the token after each of tgt."""
        memory = self.encode(src, src_padding_mask)
        return self.generator(self.decode(tgt, memory, tgt_padding_mask, src_padding_mask))

    def encode(self, src: Tensor, src_padding_mask: Tensor | None = None) -> Tensor:
        """(batch, length, emb_size) of a sentence."""
        x = self.positional_encoding(self.src_tok_emb(src))
        return self.transformer.encoder(x, src_key_padding_mask=src_padding_mask)

    def decode(
        self, tgt: Tensor, memory: Tensor, tgt_padding_mask: Tensor | None = None,
        memory_padding_mask: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """(batch, length, emb_size) of what was written so far."""
        places = arange(tgt.shape[1], device=tgt.device)
        x = self.positional_encoding(self.tgt_tok_emb(tgt))
        return self.transformer.decoder(
            x, memory, tgt_mask=places > places.unsqueeze(1),
            tgt_key_padding_mask=tgt_padding_mask, memory_key_padding_mask=memory_padding_mask,
        )  # fmt: skip

    def _next(self, written: Tensor, at: Tensor, memory: Tensor, hidden: Tensor) -> Any:
        """The likeliest token after place `at`, and all with it: places behind change nothing."""
        features = self.decode(written, memory, None, hidden)[:, at]
        token = argmax(self.generator(features), -1)
        places = arange(written.shape[1], device=written.device)
        return token, where(places == at + 1, token.unsqueeze(1), written), at + 1

    def translate(
        self, src: Sequence[Sequence[int]], start: int, end: int, max_new_tokens: int = 50
    ) -> list[list[int]]:
        """The likeliest tokens for sentences of any lengths, one after the other, up to `end`."""
        if not len(src) or not all(len(row) for row in src):
            raise ArgumentError(explain("translate", "a sentence has no tokens"))
        length = _size(max(map(len, src)), self.config.maxlen)
        rows = np.zeros((len(src), length), np.int64)
        for number, given in enumerate(src):
            rows[number, : len(given)] = given
        hidden = np.arange(length) >= np.array([[len(given)] for given in src])
        device = self.generator.weight.device
        found: list[list[int]] = [[] for _ in src]
        with evaluating(self), no_grad():
            masked = tensor(hidden, device=device)
            memory = self.encode(tensor(rows, device=device), masked).realize()
            sizes = (len(src), _size(max_new_tokens + 1, self.config.maxlen))
            written, at = full(sizes, start, dtype="int64", device=device), tensor(0, device=device)
            going = set(range(len(src)))
            step = self._kept_programs.setdefault("next", compiled(self._next))
            while going and len(found[min(going)]) < max_new_tokens:
                token, written, at = step(written, at, memory, masked)
                new = token.tolist()
                going -= {row for row in going if new[row] == end}
                for row in going:
                    found[row].append(new[row])
        return found


def _size(needed: int, most: int) -> int:
    return max(needed, min(most, max(LEAST, 1 << (needed - 1).bit_length())))
