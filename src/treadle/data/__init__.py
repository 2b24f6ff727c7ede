"""Data sets, the order and the processes they are read in, and what is done to samples."""

from treadle.data import transforms
from treadle.data.collate import default_collate, default_convert
from treadle.data.datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    TransformedDataset,
    random_split,
)
from treadle.data.loader import DataLoader
from treadle.data.pool import WorkerError
from treadle.data.readers.arrays import MNIST, read_idx, read_npy, read_npz
from treadle.data.readers.bundled import BundledDataset, bundled, stdlib_text
from treadle.data.readers.pictures import ImageFolder, read_image
from treadle.data.readers.sound import read_wav
from treadle.data.readers.tables import Table, read_csv
from treadle.data.samplers import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from treadle.data.seeds import generator
from treadle.data.tokens.bytes import ByteTokenizer
from treadle.data.tokens.outside import Tokenizer
from treadle.data.tokens.pairs import BPETokenizer
from treadle.data.workers import WorkerInfo, get_worker_info

__all__ = [
    "MNIST",
    "BPETokenizer",
    "BatchSampler",
    "BundledDataset",
    "ByteTokenizer",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "ImageFolder",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "Table",
    "TensorDataset",
    "Tokenizer",
    "TransformedDataset",
    "WeightedRandomSampler",
    "WorkerError",
    "WorkerInfo",
    "bundled",
    "default_collate",
    "default_convert",
    "generator",
    "get_worker_info",
    "random_split",
    "read_csv",
    "read_idx",
    "read_image",
    "read_npy",
    "read_npz",
    "read_wav",
    "stdlib_text",
    "transforms",
]  # fmt: skip
