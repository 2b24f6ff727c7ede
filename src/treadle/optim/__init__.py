"""Update rules for parameters."""

from treadle.optim.adam import Adam, AdamW
from treadle.optim.optimizer import Optimizer
from treadle.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
