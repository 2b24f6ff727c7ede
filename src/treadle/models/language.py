"""What language models share: configurations by the original's names, files, and writing."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from treadle.models.cache import Past
from treadle.models.generate import Decoders, generate
from treadle.nn import Module
from treadle.tensor.tensor import Tensor


class Pretrained(Module):
    """A model that is made from a configuration, and filled from the files of the original."""

    config: Any
    config_class: ClassVar[type[Any]]

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | Any) -> Self:
        """A new model of a configuration: an object, or a dict such as config.json holds."""
        made = config if not isinstance(config, Mapping) else chosen(cls.config_class, config)
        return cls(made)

    @classmethod
    def translated(cls, state: Mapping[str, Any]) -> dict[str, Any]:
        """Weights by this model's names, from any form in which the original's were written."""
        return dict(state)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """As of any module, in any form in which the original's weights were written."""
        found = state_dict
        if isinstance(state_dict, Mapping):
            found = self.translated(state_dict)
            own = self.state_dict(keep_vars=True)
            shared = {id(own[name]): value for name, value in found.items() if name in own}
            tied = {name: shared[id(x)] for name, x in own.items() if id(x) in shared}
            found = tied | found
        return super().load_state_dict(found, strict, assign)


def chosen(kind: type[Any], given: Mapping[str, Any]) -> Any:
    """A configuration from what it knows of a dict; originals hold much else."""
    known = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in given.items() if name in known})


class LanguageModel(Pretrained):
    """A model of the next token: `features` of tokens, `logits` of those, and `generate`."""

    vocabulary: int
    max_length: int | None = None
    end_of_text: Any = None

    def _writes(self) -> None:
        """Called once all layers are there: keeps room for what `generate` makes."""
        self._decoders = Decoders()

    def new_cache(self, batch: int, capacity: int) -> Any:
        """What the model remembers of so many rows of so many tokens."""
        raise NotImplementedError  # each model has its own

    def features(self, input_ids: Tensor, past: Any = None) -> Tensor:
        """(batch, length, width) of tokens (batch, length)."""
        raise NotImplementedError  # each model has its own

    def logits(self, features: Tensor) -> Tensor:
        """How likely each token comes next."""
        raise NotImplementedError  # each model has its own

    def forward(self, input_ids: Tensor, past: Past | None = None) -> Tensor:
        """Logits (batch, length, vocabulary) of the token after each."""
        return self.logits(self.features(input_ids, past))

    def next_logits(self, input_ids: Tensor, past: Any) -> Tensor:
        """Logits (batch, vocabulary) of the token after the last."""
        return self.logits(self.features(input_ids, past)[:, -1])

    def generate(self, prompt: Any, max_new_tokens: int = 20, **options: Any) -> Any:
        """What the model writes after a prompt; `td.models.generate` lists the options."""
        return generate(self, prompt, max_new_tokens, **options)
