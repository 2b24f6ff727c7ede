"""Recurrent language models: characters one by one, and words through an LSTM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.functions import one_hot, where
from treadle.models.language import LanguageModel, tie
from treadle.nn import GRU, LSTM, RNN, Dropout, Embedding, Linear, init
from treadle.tensor.creation import zeros
from treadle.tensor.tensor import Tensor

KINDS: dict[str, type[Any]] = {"rnn": RNN, "lstm": LSTM, "gru": GRU}


class States:
    """What a recurrent model remembers: (layers, batch, width) of each state, whatever came."""

    reads_prompts = False  # steps are written out: a prompt at once would be a program per length

    def __init__(self, model: Any, batch: int) -> None:
        rnn, weight = model.rnn, next(iter(model.parameters()))
        shape, count = (rnn.num_layers, batch, rnn.hidden_size), 2 if rnn.mode == "LSTM" else 1
        place = {"dtype": weight.dtype, "device": weight.device}
        self.states = [zeros(*shape, **place).realize() for _ in range(count)]

    def begin(self) -> None:
        """Another text: forget."""
        for state in self.states:
            state.assign(state.zeros_like()).realize()

    def next(self, at: Tensor, filled: Any = None, starts: Tensor | None = None) -> States:
        """For a call that reads one more token; a row that begins later stays as it is."""
        self.begun = None if starts is None else (at >= starts).reshape(1, -1, 1)
        return self

    def take(self) -> Any:
        """First states of a call, as a layer wants them."""
        return tuple(self.states) if len(self.states) == 2 else self.states[0]

    def keep(self, given: Any) -> None:
        """Last states of it."""
        for state, new in zip(
            self.states, given if isinstance(given, tuple) else [given], strict=True
        ):
            state.assign(new if self.begun is None else where(self.begun, new, state))


class _Recurrent(LanguageModel):
    """What both share: `rnn` between what tokens are made and `decoder`."""

    rnn: Any
    decoder: Linear
    embedded: Callable[[Tensor], Tensor]
    """(batch, length, width) of tokens."""

    def forward(self, input_ids: Tensor, hidden: Any = None) -> Any:
        """Logits (batch, length, tokens) and last states; hidden: the first ones, zeros if None."""
        x, last = self.rnn(self.embedded(input_ids), hidden)
        return self.logits(x), last

    def features(self, input_ids: Tensor, past: Any = None) -> Tensor:
        """(batch, length, width) of tokens (batch, length)."""
        if past is None:
            return self.rnn(self.embedded(input_ids))[0]
        x, last = self.rnn(self.embedded(input_ids), past.take())
        past.keep(last)
        return x

    def logits(self, features: Tensor) -> Tensor:
        """How likely each token comes next."""
        return self.decoder(features)

    def new_cache(self, batch: int, capacity: int) -> States:
        """States of so many rows; capacity does not matter."""
        return States(self, batch)


@dataclass(frozen=True)
class CharRNNConfig:
    """Sizes of a character model."""

    vocab_size: int = 96
    rnn_size: int = 128
    num_layers: int = 2
    model: str = "lstm"
    dropout: float = 0.0
    model_type: str = "char-rnn"


class CharRNN(_Recurrent):
    """Characters as they are (one-hot) through an RNN, LSTM or GRU: weights `rnn.*`, `decoder.*`.

    >>> model = CharRNN(CharRNNConfig(vocab_size=10, rnn_size=8))
    >>> len(model.generate([1, 2], 3, seed=0))
    3
    """

    config_class = CharRNNConfig

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        config = self.config
        if config.model not in KINDS:
            known = ", ".join(KINDS)
            raise ArgumentError(explain("CharRNN", "no such layer", known, model=config.model))
        self.vocabulary = config.vocab_size
        options: Any = {"batch_first": True, "dropout": config.dropout}
        sizes = (config.vocab_size, config.rnn_size, config.num_layers)
        self.rnn = KINDS[config.model](*sizes, **options)
        self.decoder = Linear(config.rnn_size, config.vocab_size)
        self._writes()

    def embedded(self, input_ids: Tensor) -> Tensor:
        """1 at the place of the character, else 0."""
        return one_hot(input_ids, self.vocabulary).cast(self.decoder.weight.dtype)


@dataclass(frozen=True)
class LSTMConfig:
    """Sizes of a word model, under the names of PyTorch's example."""

    ntoken: int = 33278
    ninp: int = 200
    nhid: int = 200
    nlayers: int = 2
    dropout: float = 0.2
    tie_weights: bool = False
    model_type: str = "lstm"


class LSTMLanguageModel(_Recurrent):
    """Words through an LSTM: `encoder`, `rnn` and `decoder` of PyTorch's word language model.

    - **input_ids**: (batch, length), where the example has (length, batch)
    """

    config_class = LSTMConfig

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        config = self.config
        self.vocabulary = config.ntoken
        self.drop = Dropout(config.dropout)
        self.encoder = Embedding(config.ntoken, config.ninp)
        sizes = (config.ninp, config.nhid, config.nlayers)
        self.rnn = LSTM(*sizes, batch_first=True, dropout=config.dropout)
        self.decoder = Linear(config.nhid, config.ntoken)
        init.uniform_(self.encoder.weight, -0.1, 0.1)
        init.uniform_(self.decoder.weight, -0.1, 0.1)
        init.zeros_(self.decoder.bias)
        if config.tie_weights:
            if config.nhid != config.ninp:
                wrong = "tied weights need nhid equal to ninp"
                facts = {"nhid": config.nhid, "ninp": config.ninp}
                raise ArgumentError(explain("LSTMLanguageModel", wrong, **facts))
            tie(self.decoder, self.encoder)
        self._writes()

    def embedded(self, input_ids: Tensor) -> Tensor:
        """A learned vector for each word."""
        return self.drop(self.encoder(input_ids))

    def logits(self, features: Tensor) -> Tensor:
        """How likely each word comes next."""
        return self.decoder(self.drop(features))
