"""Models people know, short and complete, whose weights have the original's names."""

# One line for each model, sorted.
from treadle.models.generate import generate
from treadle.models.gpt2 import GPT2, GPT2Config

__all__ = ["GPT2", "GPT2Config", "generate"]
