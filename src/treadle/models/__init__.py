"""Models people know, short and complete, whose weights have the original's names."""

# One line for each model, sorted.
from treadle.models.bert import Bert, BertConfig
from treadle.models.generate import generate
from treadle.models.gpt2 import GPT2, GPT2Config
from treadle.models.llama import Llama
from treadle.models.llama_config import LlamaConfig
from treadle.models.recurrent import CharRNN, CharRNNConfig, LSTMConfig, LSTMLanguageModel
from treadle.models.seq2seq import Seq2SeqConfig, Seq2SeqTransformer
from treadle.models.whisper import Whisper, WhisperConfig

__all__ = [
    "GPT2", "Bert", "BertConfig", "CharRNN", "CharRNNConfig", "GPT2Config", "LSTMConfig",
    "LSTMLanguageModel", "Llama", "LlamaConfig", "Seq2SeqConfig",
    "Seq2SeqTransformer", "Whisper", "WhisperConfig",
    "generate",
]  # fmt: skip
