"""Treadle: every op one row of a table, every program one graph, every kernel compiled from Python."""

from treadle import nn, optim, random
from treadle.base.dtypes import (
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip
from treadle.base.dtypes import bool_ as bool  # noqa: A004
from treadle.base.dtypes import (
    promote as promote_types,
)
from treadle.base.errors import TreadleError
from treadle.base.knobs import override
from treadle.ops.composite import (
    argmax,
    argmin,
    clip,
    cross_entropy,
    gelu,
    isnan,
    layer_norm,
    linear,
    log_softmax,
    logsumexp,
    matmul,
    mean,
    reciprocal,
    relu,
    rsqrt,
    scaled_dot_product_attention,
    sign,
    silu,
    softmax,
    square,
    take,
    var,
)  # fmt: skip
from treadle.ops.contract import gather, scatter_add
from treadle.ops.elementwise import abs_ as abs  # noqa: A004
from treadle.ops.elementwise import (
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    cast,
    cos,
    detach,
    div,
    eq,
    erf,
    exp,
    floor,
    floor_divide,
    ge,
    gt,
    le,
    log,
    lt,
    maximum,
    minimum,
    mul,
    ne,
    neg,
    remainder,
    shift_left,
    shift_right,
    sigmoid,
    sin,
    sqrt,
    sub,
    tanh,
    where,
)  # fmt: skip
from treadle.ops.elementwise import pow_ as pow  # noqa: A004
from treadle.ops.movement import concat, expand, flip, pad, permute, reshape
from treadle.ops.reduce import max_ as max  # noqa: A004
from treadle.ops.reduce import min_ as min  # noqa: A004
from treadle.ops.reduce import sum_ as sum  # noqa: A004
from treadle.random import manual_seed
from treadle.tensor.creation import (
    arange,
    from_numpy,
    full,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from treadle.tensor.tensor import Tensor, gradients, no_grad
from treadle.transforms.compile import compile  # noqa: A004
from treadle.transforms.explain import explain
from treadle.transforms.grad import grad, value_and_grad

__version__ = "0.1.0"


def realize(*tensors: Tensor) -> None:
    """Compute tensors together."""
    from treadle.tensor.tensor import realize_all

    realize_all(tensors)
