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
from treadle.data.workers import WorkerInfo, get_worker_info

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
    "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
    "SubsetRandomSampler", "TensorDataset", "TransformedDataset", "WeightedRandomSampler",
    "WorkerError", "WorkerInfo", "default_collate", "default_convert", "generator",
    "get_worker_info", "random_split", "transforms",
]  # fmt: skip
