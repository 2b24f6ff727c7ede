"""Models people know, short and complete, whose weights have the original's names."""

# One line for each model, sorted.
from treadle.models.bert import Bert, BertConfig
from treadle.models.generate import generate
from treadle.models.gpt2 import GPT2, GPT2Config
from treadle.models.llama import Llama, LlamaConfig

__all__ = ["GPT2", "Bert", "BertConfig", "GPT2Config", "Llama", "LlamaConfig", "generate"]
