"""Random tensors from a counter-based generator: the same bits on every backend."""

from treadle.random.alike import rand_like, randint_like, randn_like
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
from treadle.random.keys import (
    fold_in,
    get_rng_state,
    key,
    manual_seed,
    set_rng_state,
    split,
)  # fmt: skip

randperm = permutation

__all__ = [
    "bernoulli", "categorical", "exponential", "fold_in", "gamma", "get_rng_state", "gumbel",
    "key", "laplace", "manual_seed", "multinomial", "normal", "permutation", "poisson", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "set_rng_state",
    "split", "truncated_normal", "uniform",
]  # fmt: skip
