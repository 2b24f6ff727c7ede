"""Any of the models that files say they are of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from treadle.base.errors import ArgumentError, NotSupported, explain
from treadle.models.bert import Bert
from treadle.models.gpt2 import GPT2
from treadle.models.language import CONFIG, Pretrained
from treadle.models.llama import Llama
from treadle.models.llama_config import KINDS
from treadle.models.recurrent import CharRNN, LSTMLanguageModel
from treadle.models.seq2seq import Seq2SeqTransformer
from treadle.models.whisper import Whisper

MODELS: dict[str, type[Pretrained]] = {
    "bert": Bert, "char-rnn": CharRNN, "gpt2": GPT2, "lstm": LSTMLanguageModel,
    "seq2seq": Seq2SeqTransformer, "whisper": Whisper, **dict.fromkeys(KINDS, Llama),
}  # fmt: skip


def from_pretrained(path: Any, dtype: Any = "float32", device: Any = None) -> Any:
    """A model in evaluation from files on this machine, of the kind that they name.

    - **path**: a folder with config.json, whose model_type decides, and weights; or a GGUF file
    - **dtype**: of the weights; None: as in the file
    """
    place = Path(path)
    if place.suffix == ".gguf":
        return Llama.from_pretrained(place, dtype, device)
    if not (place / CONFIG).is_file():
        hint = "a folder as save_pretrained writes it, or a .gguf file"
        raise ArgumentError(explain("from_pretrained", f"no {CONFIG}", hint, path=place))
    kind = json.loads((place / CONFIG).read_text("utf-8")).get("model_type")
    if kind not in MODELS:
        hint = f"known are {', '.join(sorted(MODELS))}"
        raise NotSupported(explain("from_pretrained", "another model", hint, model_type=kind))
    return MODELS[kind].from_pretrained(place, dtype, device)
