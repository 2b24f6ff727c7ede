"""Files of tensors: safetensors, NPZ, PyTorch's, GGUF, trees, and checkpoints of a training run."""

from treadle.base.errors import FileError
from treadle.io.checkpointer import Checkpointer, Restored
from treadle.io.files import Entry, TensorFile
from treadle.io.gguf import GGUF
from treadle.io.npz import NPZ
from treadle.io.pytorch import PyTorchFile
from treadle.io.safetensors import SafeTensors
from treadle.io.saving import load, open_file, save
from treadle.io.shards import Shards, save_safetensors

open = open_file  # noqa: A001 - as users write it: td.io.open

__all__ = [
    "GGUF", "NPZ", "Checkpointer", "Entry", "FileError", "PyTorchFile", "Restored", "SafeTensors",
    "Shards", "TensorFile", "load", "open", "save", "save_safetensors",
]  # fmt: skip
