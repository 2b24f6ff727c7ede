"""Random tensors from a counter-based generator: the same bits on every backend."""

from treadle.random.distributions import bernoulli, manual_seed, normal, uniform

__all__ = ["bernoulli", "manual_seed", "normal", "uniform"]
