"""Random tensors from a counter-based generator: the same bits on every backend."""

from treadle.random.discrete import (
    bernoulli,
    categorical,
    multinomial,
    permutation,
    poisson,
    randint,
)  # fmt: skip
from treadle.random.distributions import (
    exponential,
    gamma,
    gumbel,
    laplace,
    normal,
    rand,
    randn,
    truncated_normal,
    uniform,
)  # fmt: skip
from treadle.random.keys import fold_in, key, manual_seed, split

randperm = permutation

__all__ = [
    "bernoulli", "categorical", "exponential", "fold_in", "gamma", "gumbel", "key", "laplace",
    "manual_seed", "multinomial", "normal", "permutation", "poisson", "rand", "randint", "randn",
    "randperm", "split", "truncated_normal", "uniform",
]  # fmt: skip
