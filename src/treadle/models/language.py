"""What language models share: configurations by the original's names, files, and writing."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from treadle.base.dtypes import dtype as dtype_of
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.files import write
from treadle.io import open as open_file
from treadle.io import save
from treadle.models.cache import Past
from treadle.models.generate import Kept, generate
from treadle.nn import Module
from treadle.tensor.tensor import Tensor, realize

CONFIG, WEIGHTS, PICKLED = "config.json", "model.safetensors", "pytorch_model.bin"


class Pretrained(Module):
    """A model that is made from a configuration, and filled from the files of the original."""

    config: Any
    config_class: ClassVar[type[Any]]

    def __init__(self, config: Any = None) -> None:
        self.config = self.config_class() if config is None else config

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | Any) -> Self:
        """A new model of a configuration: an object, or a dict such as config.json holds."""
        made = config if not isinstance(config, Mapping) else chosen(cls.config_class, config)
        return cls(made)

    @classmethod
    def from_pretrained(cls, path: Any, dtype: Any = "float32", device: Any = None) -> Self:
        """A model in evaluation from files on this machine: nothing is fetched.

        - **path**: a folder with config.json and model.safetensors (or its index, or
          pytorch_model.bin)
        - **dtype**: of the weights; None: as in the file, read as they are computed with
        """
        folder = Path(path)
        if not (folder / CONFIG).is_file():
            hint = "a folder as Hugging Face's save_pretrained writes it"
            raise ArgumentError(explain("from_pretrained", f"no {CONFIG}", hint, path=folder))
        config = json.loads((folder / CONFIG).read_text("utf-8"))
        pickled = folder / PICKLED
        with open_file(pickled if pickled.is_file() else folder) as file:
            state = file.load(device)
        return cls.from_config(config)._filled(state, dtype)

    def _filled(self, state: Mapping[str, Any], dtype: Any) -> Self:
        """The model with these weights, in evaluation."""
        if dtype is not None:
            if not dtype_of(dtype).is_float:
                hint = "float32, float16, bfloat16"
                raise ArgumentError(explain("from_pretrained", "not a float", hint, dtype=dtype))
            state = {name: x.cast(dtype) if x.dtype.is_float else x for name, x in state.items()}
        self.load_state_dict(state, assign=True)
        realize(*self.parameters())
        return self.eval()

    def save_pretrained(self, path: Any) -> None:
        """Write config.json and model.safetensors into a folder; shared weights once."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        save(dict(self.named_parameters()) | dict(self.named_buffers()), folder / WEIGHTS)
        text = json.dumps(dataclasses.asdict(self.config), indent=2)
        write(folder / CONFIG, text)

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


def tie(layer: Any, table: Any) -> None:
    """Let an output layer and an embedding be one parameter."""
    layer.weight = table.weight


def require_positions(what: str, tokens: Tensor, most: int | None = None) -> None:
    """Refuse what is not (batch, length), or longer than a table of positions."""
    if tokens.ndim < 2:
        hint = "tokens.unsqueeze(0) is a batch of one"
        raise ShapeError(explain(what, "tokens are (batch, length)", hint, shape=tokens.shape))
    length = tokens.shape[1]
    if most is not None and length > most:
        wrong = "the text is longer than the positions that the model has"
        raise ShapeError(explain(what, wrong, "cut the text", tokens=length, positions=most))


class LanguageModel(Pretrained):
    """A model of the next token: `features` of tokens, `logits` of those, and `generate`."""

    vocabulary: int
    max_length: int | None = None
    end_of_text: Any = None
    new_cache: Callable[[int, int], Any]
    """What the model remembers of so many rows of so many tokens."""
    features: Callable[..., Tensor]
    """(batch, length, width) of tokens (batch, length), and of the cache if there is one."""
    logits: Callable[[Tensor], Tensor]
    """How likely each token comes next."""

    def _writes(self) -> None:
        """Called once all layers are there: keeps room for what `generate` makes."""
        self._kept_programs = Kept()

    def forward(self, input_ids: Tensor, past: Past | None = None) -> Tensor:
        """Logits (batch, length, vocabulary) of the token after each."""
        return self.logits(self.features(input_ids, past))

    def next_logits(self, input_ids: Tensor, past: Any) -> Tensor:
        """Logits (batch, vocabulary) of the token after the last."""
        return self.logits(self.features(input_ids, past)[:, -1])

    def generate(self, prompt: Any, max_new_tokens: int = 20, **options: Any) -> Any:
        """What the model writes after a prompt; `td.models.generate` lists the options."""
        return generate(self, prompt, max_new_tokens, **options)
