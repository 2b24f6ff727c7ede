"""Update rules for parameters, PyTorch's and a few more, and schedules for their numbers."""

from treadle.optim import lr_scheduler, swa_utils
from treadle.optim.adam import LAMB, Adam, Adamax, AdamW, NAdam, RAdam
from treadle.optim.adaptive import Adadelta, Adafactor, Adagrad, RMSprop
from treadle.optim.descent import ASGD, SGD, Lion, Rprop
from treadle.optim.lbfgs import LBFGS
from treadle.optim.muon import Muon
from treadle.optim.optimizer import Optimizer

__all__ = [
    "ASGD", "LAMB", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax",
    "Lion", "Muon", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "lr_scheduler",
    "swa_utils",
]  # fmt: skip
