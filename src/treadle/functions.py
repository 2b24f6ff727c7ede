"""The ops of the table as typed functions."""

from __future__ import annotations

# <gen imports>
from collections.abc import Sequence
from typing import Any

from treadle.ops import activations as activations_rows
from treadle.ops import added as added_rows
from treadle.ops import arithmetic as arithmetic_rows
from treadle.ops import arranging as arranging_rows
from treadle.ops import bessel as bessel_rows
from treadle.ops import composite as composite_rows
from treadle.ops import contract as contract_rows
from treadle.ops import convolution as convolution_rows
from treadle.ops import distances as distances_rows
from treadle.ops import einsum as einsum_rows
from treadle.ops import elementwise as elementwise_rows
from treadle.ops import images as images_rows
from treadle.ops import joining as joining_rows
from treadle.ops import losses as losses_rows
from treadle.ops import margins as margins_rows
from treadle.ops import movement as movement_rows
from treadle.ops import neighbours as neighbours_rows
from treadle.ops import neural as neural_rows
from treadle.ops import normalisation as normalisation_rows
from treadle.ops import numeric as numeric_rows
from treadle.ops import ordering as ordering_rows
from treadle.ops import parts as parts_rows
from treadle.ops import picking as picking_rows
from treadle.ops import pieces as pieces_rows
from treadle.ops import pooling as pooling_rows
from treadle.ops import predicates as predicates_rows
from treadle.ops import products as products_rows
from treadle.ops import quantised as quantised_rows
from treadle.ops import reduce as reduce_rows
from treadle.ops import regions as regions_rows
from treadle.ops import scan as scan_rows
from treadle.ops import sets as sets_rows
from treadle.ops import shaping as shaping_rows
from treadle.ops import short_time as short_time_rows
from treadle.ops import special as special_rows
from treadle.ops import statistics as statistics_rows
from treadle.ops import totals as totals_rows
from treadle.ops import windows as windows_rows
from treadle.ops import writing as writing_rows
from treadle.ops import zetas as zetas_rows
from treadle.ops.arithmetic import Parts
from treadle.ops.neighbours import Histogram
from treadle.ops.sets import Counts, Inverse, Unique
from treadle.ops.statistics import Extremes, Found
from treadle.tensor.tensor import Tensor

# <sums tgj7fu6tklpvsmkymah2xvyiz3pewjo6m2y6drl2mgqqfu2vb2fgkn2evaalb32jdqe4bzutyoe6n5dt>
# <sums gtzmx5mpujuqtos24poxtsidvn4cuynrbhmukhfknm4gyji6keu4tomikgbsoi2stkhhscwaxz4foj6w>
# <sums cdvqu7te2pmu6xuof2p55pkjfc3azhb7iyl7newb7i7vj2ul5zye67edyko43kgudduigdgsbpwotixy>
# </gen imports pvsmk>


# <gen relu>
def relu(x: Tensor) -> Tensor:
    """x where positive, else 0."""
    return activations_rows.relu(x)
    # </gen relu yvvb7z5s3r5mqks>


# <gen hardtanh>
def hardtanh(x: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x kept within [min_val, max_val]."""
    return activations_rows.hardtanh(x, min_val, max_val)
    # </gen hardtanh lvfbeoxcocjvthz>


# <gen relu6>
def relu6(x: Tensor) -> Tensor:
    """x kept within [0, 6]."""
    return activations_rows.relu6(x)
    # </gen relu6 3cyvzwub2upmwtx>


# <gen leaky_relu>
def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x where positive, else a fraction of it."""
    return activations_rows.leaky_relu(x, negative_slope)
    # </gen leaky_relu wnio4jgeyttttnp>


# <gen prelu>
def prelu(x: Tensor, weight: Tensor | float) -> Tensor:
    """x where positive, else weight times x; there is one weight, or one a channel (axis 1)."""
    return activations_rows.prelu(x, weight)
    # </gen prelu jlsf6wuettnyi2x>


# <gen threshold>
def threshold(x: Tensor, threshold: float, value: float) -> Tensor:
    """x where it is above the threshold, else the value."""
    return activations_rows.threshold(x, threshold, value)
    # </gen threshold ftu7m6b5b4he5ba>


# <gen hardshrink>
def hardshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """x, or 0 where it is within lambd of 0."""
    return activations_rows.hardshrink(x, lambd)
    # </gen hardshrink glhgsqzadrsjcqa>


# <gen softshrink>
def softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by lambd."""
    return activations_rows.softshrink(x, lambd)
    # </gen softshrink lkarurm42xkttza>


# <gen hardsigmoid>
def hardsigmoid(x: Tensor) -> Tensor:
    """A sigmoid of three straight pieces: x / 6 + 1/2, kept within [0, 1]."""
    return activations_rows.hardsigmoid(x)
    # </gen hardsigmoid xp3o7mrnfnzdfsz>


# <gen hardswish>
def hardswish(x: Tensor) -> Tensor:
    """x times hardsigmoid(x)."""
    return activations_rows.hardswish(x)
    # </gen hardswish a2xcuacbacswheh>


# <gen silu>
def silu(x: Tensor) -> Tensor:
    """x times sigmoid(x)."""
    return activations_rows.silu(x)
    # </gen silu imsjvpqozzcy4hd>


# <gen gelu>
def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution function of x; approximate="tanh" uses a cheaper form."""
    return activations_rows.gelu(x, approximate)
    # </gen gelu 65m5i2aq3llyrv3>


# <gen elu>
def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where positive, else alpha * (exp(x) - 1)."""
    return activations_rows.elu(x, alpha)
    # </gen elu abkjsfwhednzs5l>


# <gen celu>
def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where positive, else alpha * (exp(x / alpha) - 1)."""
    return activations_rows.celu(x, alpha)
    # </gen celu jlwritqxrgk75vz>


# <gen selu>
def selu(x: Tensor) -> Tensor:
    """elu with the alpha and scale that keep mean 0 and variance 1 from layer to layer."""
    return activations_rows.selu(x)
    # </gen selu 3lel5mbcwhqbdxx>


# <gen mish>
def mish(x: Tensor) -> Tensor:
    """x times tanh(softplus(x))."""
    return activations_rows.mish(x)
    # </gen mish nysrr3a4lmrexzt>


# <gen logsigmoid>
def logsigmoid(x: Tensor) -> Tensor:
    """log(sigmoid(x)) without overflow."""
    return activations_rows.logsigmoid(x)
    # </gen logsigmoid aocpakduqtnl2dp>


# <gen softplus>
def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""
    return activations_rows.softplus(x, beta, threshold)
    # </gen softplus oqm7rgbbf6zm3hr>


# <gen softsign>
def softsign(x: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return activations_rows.softsign(x)
    # </gen softsign irb3qv5sndcplky>


# <gen tanhshrink>
def tanhshrink(x: Tensor) -> Tensor:
    """x - tanh(x)."""
    return activations_rows.tanhshrink(x)
    # </gen tanhshrink gvuo32mwoptft3y>


# <gen glu>
def glu(x: Tensor, axis: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of the second."""
    return activations_rows.glu(x, axis)
    # </gen glu 5kh4c3veprdvvoc>


# <gen mm>
def mm(a: Tensor, b: Tensor) -> Tensor:
    """A matrix times a matrix."""
    return added_rows.mm(a, b)
    # </gen mm 6ofzu5g4bssr43g>


# <gen addmm>
def addmm(x: Tensor, a: Tensor, b: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * x + alpha * (a matrix times a matrix); x broadcasts to it.

    With a beta of 0 x is not looked at, whatever is in it.
    """
    return added_rows.addmm(x, a, b, beta, alpha)
    # </gen addmm zokqs5vhh5pvsmkzkxznuqcdkuahf6>


# <gen addmv>
def addmv(x: Tensor, a: Tensor, b: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * x + alpha * (a matrix times a vector); x broadcasts to it.

    With a beta of 0 x is not looked at, whatever is in it.
    """
    return added_rows.addmv(x, a, b, beta, alpha)
    # </gen addmv uvqyufoocopvsmkzkxznuqcdkjq5yg>


# <gen addr>
def addr(x: Tensor, a: Tensor, b: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * x + alpha * (every element of a vector times every one of another); x broadcasts to
    it.

    With a beta of 0 x is not looked at, whatever is in it.
    """
    return added_rows.addr(x, a, b, beta, alpha)
    # </gen addr bgyvhmx3czievn3pvsmkzkxznuqcdkr3gyf>


# <gen baddbmm>
def baddbmm(x: Tensor, a: Tensor, b: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * x + alpha * (a batch of matrices times another); x broadcasts to it.

    With a beta of 0 x is not looked at, whatever is in it.
    """
    return added_rows.baddbmm(x, a, b, beta, alpha)
    # </gen baddbmm hf77jdix4fpvsmkzkxznuqcdkwquhp>


# <gen addbmm>
def addbmm(x: Tensor, a: Tensor, b: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * x + alpha * (the sum of a batch of products of matrices); x broadcasts to it.

    With a beta of 0 x is not looked at, whatever is in it.
    """
    return added_rows.addbmm(x, a, b, beta, alpha)
    # </gen addbmm 5xflqewg5cpvsmkzkxznuqcdkxjfmz>


# <gen addcmul>
def addcmul(x: Tensor, a: Tensor | float, b: Tensor, value: float = 1) -> Tensor:
    """x + value * a * b."""
    return added_rows.addcmul(x, a, b, value)
    # </gen addcmul ria6mhve4sczcog>


# <gen addcdiv>
def addcdiv(x: Tensor, a: Tensor | float, b: Tensor, value: float = 1) -> Tensor:
    """x + value * a / b, a float."""
    return added_rows.addcdiv(x, a, b, value)
    # </gen addcdiv a7wumqck7spfnfy>


# <gen chain_matmul>
def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of several matrices, multiplied in the order that takes fewest operations."""
    return added_rows.chain_matmul(*matrices)
    # </gen chain_matmul 2toit3kjyzdgix2>


# <gen cross>
def cross(a: Tensor, b: Tensor, axis: int = -1) -> Tensor:
    """The vector at right angles to two of three elements along an axis; the others broadcast."""
    return added_rows.cross(a, b, axis)
    # </gen cross a7x27ziw5loodnx>


# <gen logit>
def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; eps: x is kept within [eps, 1 - eps].

    >>> import treadle as td
    >>> td.logit(td.tensor([0.5, 1.0])).tolist()
    [0.0, inf]
    """
    return arithmetic_rows.logit(x, eps)
    # </gen logit hpeoxg7vrvpvsmkymuw3bl24cdbfq5uqcdkso4em>


# <gen xlogy>
def xlogy(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x * log(y), and 0 where x is 0, unless y is NaN."""
    return arithmetic_rows.xlogy(x, y)
    # </gen xlogy pokthq4zye35nih>


# <gen xlog1py>
def xlog1py(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x * log1p(y), and 0 where x is 0, unless y is NaN."""
    return arithmetic_rows.xlog1py(x, y)
    # </gen xlog1py wqey2zgz6275zh6>


# <gen logaddexp2>
def logaddexp2(x: Tensor | float, y: Tensor | float) -> Tensor:
    """log2(2**x + 2**y) without overflow."""
    return arithmetic_rows.logaddexp2(x, y)
    # </gen logaddexp2 r5naya454sfyien>


# <gen frac>
def frac(x: Tensor) -> Tensor:
    """What a number has behind its point, with its sign: x - trunc(x)."""
    return arithmetic_rows.frac(x)
    # </gen frac uxtfcwi5nq6gijw>


# <gen heaviside>
def heaviside(x: Tensor | float, values: Tensor | float) -> Tensor:
    """0 where x is negative, 1 where it is positive, values where it is 0; NaN where x is."""
    return arithmetic_rows.heaviside(x, values)
    # </gen heaviside zb3ga43j2bzdmur>


# <gen clamp_min>
def clamp_min(x: Tensor, min: Tensor | float) -> Tensor:
    """x where it is above min, a number or a tensor, else min."""
    return arithmetic_rows.clamp_min(x, min)
    # </gen clamp_min umgeruntubye3co>


# <gen clamp_max>
def clamp_max(x: Tensor, max: Tensor | float) -> Tensor:
    """x where it is below max, a number or a tensor, else max."""
    return arithmetic_rows.clamp_max(x, max)
    # </gen clamp_max udfmn4ly533o4b6>


# <gen isposinf>
def isposinf(x: Tensor) -> Tensor:
    """True where x is positive infinity."""
    return arithmetic_rows.isposinf(x)
    # </gen isposinf jixjwpwv6fnwrty>


# <gen isneginf>
def isneginf(x: Tensor) -> Tensor:
    """True where x is negative infinity."""
    return arithmetic_rows.isneginf(x)
    # </gen isneginf zkozz43jhr347hg>


# <gen deg2rad>
def deg2rad(x: Tensor) -> Tensor:
    """Degrees as radians."""
    return arithmetic_rows.deg2rad(x)
    # </gen deg2rad va5kcyqy4cbzbmc>


# <gen rad2deg>
def rad2deg(x: Tensor) -> Tensor:
    """Radians as degrees."""
    return arithmetic_rows.rad2deg(x)
    # </gen rad2deg ujlhhfs52vko44q>


# <gen sinc>
def sinc(x: Tensor) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0 and exactly 0 at the other integers."""
    return arithmetic_rows.sinc(x)
    # </gen sinc 6tmhy5hp3o64wkl>


# <gen ldexp>
def ldexp(x: Tensor | float, other: Tensor | float) -> Tensor:
    """x times 2 to the power other: a float; exact for whole powers, but where it underflows."""
    return arithmetic_rows.ldexp(x, other)
    # </gen ldexp waren5iwihblfvl>


# <gen frexp>
def frexp(x: Tensor) -> Parts:
    """(mantissa, exponent): x as mantissa * 2**exponent, with a mantissa in [0.5, 1), or 0.

    >>> import treadle as td
    >>> [part.tolist() for part in td.frexp(td.tensor([10.0, -0.25]))]
    [[0.625, -0.5], [4, -1]]
    """
    return arithmetic_rows.frexp(x)
    # </gen frexp uy3p5s6nvrpvsmkymuw3fhftp6rhtpuqcdk6iys6>


# <gen gcd>
def gcd(x: Tensor | float, y: Tensor | float) -> Tensor:
    """The greatest common divisor of integers, not negative; gcd(0, y) is |y|.

    >>> import treadle as td
    >>> td.gcd(td.tensor([12, -9, 0]), 6).tolist()
    [6, 3, 6]
    """
    return arithmetic_rows.gcd(x, y)
    # </gen gcd owhd4rqu25pvsmkymuw3v3qktahzyjuqcdkaoatn>


# <gen lcm>
def lcm(x: Tensor | float, y: Tensor | float) -> Tensor:
    """The least common multiple of integers, not negative; 0 if one is."""
    return arithmetic_rows.lcm(x, y)
    # </gen lcm jnclrut3mikxnds>


# <gen atleast_1d>
def atleast_1d(*tensors: Tensor) -> Tensor:
    """Each tensor with at least 1 axis, new ones of size 1; one, or a list."""
    return arranging_rows.atleast_1d(*tensors)
    # </gen atleast_1d 4qu6n4pp4fdmbbn>


# <gen atleast_2d>
def atleast_2d(*tensors: Tensor) -> Tensor:
    """Each tensor with at least 2 axes, new ones of size 1; one, or a list."""
    return arranging_rows.atleast_2d(*tensors)
    # </gen atleast_2d s6fpfvpj7wn5rex>


# <gen atleast_3d>
def atleast_3d(*tensors: Tensor) -> Tensor:
    """Each tensor with at least 3 axes, new ones of size 1; one, or a list."""
    return arranging_rows.atleast_3d(*tensors)
    # </gen atleast_3d 54u6qkvn6v4vge6>


# <gen column_stack>
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other along the second axis, a vector being a column."""
    return arranging_rows.column_stack(tensors)
    # </gen column_stack hprs4552hz6u3c6>


# <gen expand_as>
def expand_as(x: Tensor, other: Tensor) -> Tensor:
    """x broadcast to the shape of another."""
    return arranging_rows.expand_as(x, other)
    # </gen expand_as ublzlljwlpnoizr>


# <gen view_as>
def view_as(x: Tensor, other: Tensor | float) -> Tensor:
    """The elements of x under the shape of another."""
    return arranging_rows.view_as(x, other)
    # </gen view_as yryprwh55fglg5h>


# <gen fliplr>
def fliplr(x: Tensor) -> Tensor:
    """The order of the columns turned round: along axis 1."""
    return arranging_rows.fliplr(x)
    # </gen fliplr egn2hmhm3xt7rnm>


# <gen flipud>
def flipud(x: Tensor) -> Tensor:
    """The order of the rows turned round: along axis 0."""
    return arranging_rows.flipud(x)
    # </gen flipud 4frfeidp22bwov6>


# <gen take_along_dim>
def take_along_dim(x: Tensor, indices: Tensor, axis: int | None = None) -> Tensor:
    """take_along_axis, or without an axis the elements of flattened x at flattened indices."""
    return arranging_rows.take_along_dim(x, indices, axis)
    # </gen take_along_dim x6rgvzyxqdwaccc>


# <gen diag_embed>
def diag_embed(x: Tensor, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Tensor:
    """The last axis as a diagonal of two axes of the result, zeros beside it."""
    return arranging_rows.diag_embed(x, offset, axis1, axis2)
    # </gen diag_embed fmsmhztdjblitne>


# <gen diagflat>
def diagflat(x: Tensor, offset: int = 0) -> Tensor:
    """A matrix with the elements of x on a diagonal."""
    return arranging_rows.diagflat(x, offset)
    # </gen diagflat hk5g4ewfe4tijmi>


# <gen block_diag>
def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices one after the other along the diagonal of one matrix; vectors are rows."""
    return arranging_rows.block_diag(*tensors)
    # </gen block_diag m3xo7teuck7zsz6>


# <gen cartesian_prod>
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Every choice of one element of each vector, a row for each choice; of one vector, itself."""
    return arranging_rows.cartesian_prod(*tensors)
    # </gen cartesian_prod 56v4yedbvydxjgr>


# <gen combinations>
def combinations(x: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every choice of r elements of a vector in their order, a row for each choice.

    with_replacement: an element may be chosen several times.
    """
    return arranging_rows.combinations(x, r, with_replacement)
    # </gen combinations gvxen2du2wpvsmkne7xcuqcdki7ihp>


# <gen vander>
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of each element of a vector, a row for each: falling to 0, or rising from it.

    N: how many; as many as there are elements if left out.
    """
    return arranging_rows.vander(x, N, increasing)
    # </gen vander pe3kp7oklrpvsmkwhgpzuqcdk6k2dq>


# <gen i0>
def i0(x: Tensor) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
    return bessel_rows.i0(x)
    # </gen i0 tuoaqq2ifdzanun>


# <gen i1>
def i1(x: Tensor) -> Tensor:
    """The modified Bessel function of the first kind, of order 1."""
    return bessel_rows.i1(x)
    # </gen i1 vh4xhj2xrw2c4dv>


# <gen i0e>
def i0e(x: Tensor) -> Tensor:
    """The modified Bessel function of the first kind, of order 0 times exp(-|x|)."""
    return bessel_rows.i0e(x)
    # </gen i0e tcsk6eeq2dhciwa>


# <gen i1e>
def i1e(x: Tensor) -> Tensor:
    """The modified Bessel function of the first kind, of order 1 times exp(-|x|)."""
    return bessel_rows.i1e(x)
    # </gen i1e s5ops3lpjz6fa2r>


# <gen clip>
def clip(x: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """x kept within [min, max], numbers or tensors; either may be left out."""
    return activations_rows.clip(x, min, max)
    # </gen clip hktac6pnbykkhbt>


# <gen nan_to_num>
def nan_to_num(
    x: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """x with numbers in place of NaN and infinities: by default 0 and the largest of the dtype."""
    return activations_rows.nan_to_num(x, nan, posinf, neginf)
    # </gen nan_to_num piogfouw27q76qk7grw7lqp6q>


# <gen mean>
def mean(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Arithmetic mean along axes."""
    return composite_rows.mean(x, axis, keepdims)
    # </gen mean 3bs5te2mu6xfhm7>


# <gen var>
def var(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    correction: float = 0,
) -> Tensor:
    """Variance along axes: squared deviations over (count - correction); a float."""
    return composite_rows.var(x, axis, keepdims, correction)
    # </gen var mfrutelnnvpc4c3kg6swugucqq76qkowqgteaj47>


# <gen logsumexp>
def logsumexp(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """log(sum(exp(x))) along axes, without overflow."""
    return composite_rows.logsumexp(x, axis, keepdims)
    # </gen logsumexp unhtmb37mu5uxrr>


# <gen argmax>
def argmax(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Index of the first largest element (of the flattened tensor if axis is None)."""
    return composite_rows.argmax(x, axis, keepdims)
    # </gen argmax tdiqmlp6qerg4wr>


# <gen argmin>
def argmin(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Index of the first smallest element (of the flattened tensor if axis is None)."""
    return composite_rows.argmin(x, axis, keepdims)
    # </gen argmin g3h7fdvlqx7sl7q>


# <gen take>
def take(x: Tensor, indices: Tensor, axis: int | None = None) -> Tensor:
    """Slices of x at indices along an axis, the first if none is named: an embedding look-up."""
    return composite_rows.take(x, indices, axis)
    # </gen take 7oohjvok6c5vj54>


# <gen matmul>
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Matrix product; vectors are rows on the left and columns on the right.

    Products of 8-bit integers are int32, those of 16-bit ones int64; wider ones wrap around.

    >>> import treadle as td
    >>> x = td.ones(300, dtype="int8")
    >>> (x @ x).item()
    300
    """
    return composite_rows.matmul(a, b)
    # </gen matmul kblvsybqgupvsmk7mlyppvsmkymuw35k5cdq524g67nxtuqcdkdltbb>


# <gen linear>
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x times weight transposed, plus bias; weight is (out, in) as in PyTorch."""
    return composite_rows.linear(x, weight, bias)
    # </gen linear vjmrbmg42ii7plc>


# <gen matrix_product>
def matrix_product(a: Tensor, b: Tensor) -> Tensor:
    """Matrix product over the last two axes, broadcasting the others.

    Products of 8-bit integers add up in int32, those of 16-bit ones in int64, and the result is
    that; wider integers keep their type and wrap around.
    """
    return contract_rows.matrix_product(a, b)
    # </gen matrix_product uv5otdlxhppvsmkb2ildx6r2kuqcdkf2zym>


# <gen dot>
def dot(a: Tensor, b: Tensor) -> Tensor:
    """Sum of products of two vectors; of more axes, over the last of a and the last but one of b.

    Unlike matmul it pairs every row of a with every column of b; a 0-d operand scales.
    """
    return products_rows.dot(a, b)
    # </gen dot sruo7rogchpvsmkurzkeuqcdkd62i3>


# <gen inner>
def inner(a: Tensor, b: Tensor) -> Tensor:
    """Sums of products over the last axes of both; a 0-d operand scales."""
    return products_rows.inner(a, b)
    # </gen inner jsrteecuwudye4e>


# <gen outer>
def outer(a: Tensor, b: Tensor) -> Tensor:
    """Every element of a vector times every element of another."""
    return products_rows.outer(a, b)
    # </gen outer gdp4hrcqsktydpx>


# <gen vecdot>
def vecdot(a: Tensor, b: Tensor, axis: int = -1) -> Tensor:
    """Sum of products along one axis of both; the others broadcast. Complex a is conjugated."""
    return products_rows.vecdot(a, b, axis)
    # </gen vecdot bejnejwycefrgmy>


# <gen vdot>
def vdot(a: Tensor, b: Tensor) -> Tensor:
    """Sum of products of two vectors, of which a complex first one is conjugated."""
    return products_rows.vdot(a, b)
    # </gen vdot xyp4gxc546jsszx>


# <gen bmm>
def bmm(a: Tensor, b: Tensor) -> Tensor:
    """Matrix products of a batch: (batch, n, k) times (batch, k, m)."""
    return products_rows.bmm(a, b)
    # </gen bmm xxein6nf3ubjwan>


# <gen mv>
def mv(a: Tensor, b: Tensor) -> Tensor:
    """A matrix times a vector."""
    return products_rows.mv(a, b)
    # </gen mv fkhmwdoxhucktax>


# <gen kron>
def kron(a: Tensor, b: Tensor) -> Tensor:
    """Every element of a times all of b, laid side by side (the Kronecker product)."""
    return products_rows.kron(a, b)
    # </gen kron 4qwakxihkialdnk>


# <gen quantize>
def quantize(x: Tensor, scale: float, zero_point: int = 0, dtype: Any = "int8") -> Tensor:
    """The nearest integer to x / scale + zero_point that the dtype holds.

    >>> import treadle as td
    >>> td.quantize(td.tensor([0.0, 0.26, 99.0]), scale=0.1).tolist()
    [0, 3, 127]
    """
    return quantised_rows.quantize(x, scale, zero_point, dtype)
    # </gen quantize 6n6ee4asphpvsmkymuw3rdcqghbhhpuqcdkdnuw2>


# <gen dequantize>
def dequantize(x: Tensor, scale: float, zero_point: int = 0) -> Tensor:
    """(x - zero_point) * scale: the float32 that integers made by quantize stand for.

    A float keeps its dtype, and gradients flow to it.

    >>> import treadle as td
    >>> td.dequantize(td.tensor([0, 3], dtype="int8"), scale=0.5).tolist()
    [0.0, 1.5]
    """
    return quantised_rows.dequantize(x, scale, zero_point)
    # </gen dequantize 57vw3blj5apvsmk4qqclpvsmkymuw3wwtsecchveuqcdk6csvf>


# <gen gather>
def gather(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """Elements at indices along an axis; negative indices count from the end.

    Indices out of range are refused if they are known at the call. Of those computed later, the
    nearest element is read, and no gradient flows to it.
    """
    return contract_rows.gather(x, index, axis)
    # </gen gather b4tkefwo6bpvsmkqdbtqqgv3juqcdk4x5gl>


# <gen scatter_add>
def scatter_add(base: Tensor, index: Tensor, values: Tensor, axis: int) -> Tensor:
    """base with values added at indices along an axis; narrow floats add up in float32."""
    return contract_rows.scatter_add(base, index, values, axis)
    # </gen scatter_add ejmtv4sxr4syppu>


# <gen scatter>
def scatter(base: Tensor, index: Tensor, values: Tensor, axis: int) -> Tensor:
    """base with values put at indices along an axis; the last one stays."""
    return contract_rows.scatter(base, index, values, axis)
    # </gen scatter ysvdr3qlsllvwxd>


# <gen scatter_mul>
def scatter_mul(base: Tensor, index: Tensor, values: Tensor, axis: int) -> Tensor:
    """base multiplied by values at indices along an axis; narrow floats meet in float32."""
    return contract_rows.scatter_mul(base, index, values, axis)
    # </gen scatter_mul ys26up57ucaxr43>


# <gen scatter_max>
def scatter_max(base: Tensor, index: Tensor, values: Tensor, axis: int) -> Tensor:
    """The larger of base and the values at indices along an axis."""
    return contract_rows.scatter_max(base, index, values, axis)
    # </gen scatter_max t4v75rkssw6vh6g>


# <gen scatter_min>
def scatter_min(base: Tensor, index: Tensor, values: Tensor, axis: int) -> Tensor:
    """The smaller of base and the values at indices along an axis."""
    return contract_rows.scatter_min(base, index, values, axis)
    # </gen scatter_min xcu3rerotx245nt>


# <gen conv1d>
def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation over the last 1 axes of x with every kernel.

    x is (batch, channels, *spatial) or without batch, weight (outputs, channels / groups, *sizes);
    padding is a number, one for each axis, "same" or "valid".
    """
    return convolution_rows.conv1d(x, weight, bias, stride, padding, dilation, groups)
    # </gen conv1d q4qqyelnnvkq5sv6sl3uxyqv7zasvyqrsg6bgld4q76qkjyhgrpvsmktkusk564rluqcdk37dy3>


# <gen conv2d>
def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation over the last 2 axes of x with every kernel.

    x is (batch, channels, *spatial) or without batch, weight (outputs, channels / groups, *sizes);
    padding is a number, one for each axis, "same" or "valid".
    """
    return convolution_rows.conv2d(x, weight, bias, stride, padding, dilation, groups)
    # </gen conv2d 5vawkelnnvkq5sv6sl3uxyqv7zasvyqrsg6bgld4q76qk4twlnpvsmktkusk564rluqcdk6vvg2>


# <gen conv3d>
def conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation over the last 3 axes of x with every kernel.

    x is (batch, channels, *spatial) or without batch, weight (outputs, channels / groups, *sizes);
    padding is a number, one for each axis, "same" or "valid".
    """
    return convolution_rows.conv3d(x, weight, bias, stride, padding, dilation, groups)
    # </gen conv3d xj75xelnnvkq5sv6sl3uxyqv7zasvyqrsg6bgld4q76qktdeimpvsmktkusk564rluqcdkmt52f>


# <gen conv_transpose1d>
def conv_transpose1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """Every element of x times every kernel, added up 1-d.

    The transpose of conv1d: weight is (channels, outputs / groups, *sizes); padding is cut
    off, output_padding put on at the end.
    """
    return convolution_rows.conv_transpose1d(
        x, weight, bias, stride, padding, output_padding, groups, dilation
    )
    # <sums qdre5elnnvkq5sv6sl3uxyqv77czuhoxbisbgld4qrsg6q76qkhlqcipvsmksxdssmx4ne>
    # </gen conv_transpose1d uqcdkxgzd5luuutvzsie>


# <gen conv_transpose2d>
def conv_transpose2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """Every element of x times every kernel, added up 2-d.

    The transpose of conv2d: weight is (channels, outputs / groups, *sizes); padding is cut
    off, output_padding put on at the end.
    """
    return convolution_rows.conv_transpose2d(
        x, weight, bias, stride, padding, output_padding, groups, dilation
    )
    # <sums 237toelnnvkq5sv6sl3uxyqv77czuhoxbisbgld4qrsg6q76qk7ycjipvsmkrw4egmx4ne>
    # </gen conv_transpose2d uqcdkvtg4nluuutvzsie>


# <gen conv_transpose3d>
def conv_transpose3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """Every element of x times every kernel, added up 3-d.

    The transpose of conv3d: weight is (channels, outputs / groups, *sizes); padding is cut
    off, output_padding put on at the end.
    """
    return convolution_rows.conv_transpose3d(
        x, weight, bias, stride, padding, output_padding, groups, dilation
    )
    # <sums ro2hnelnnvkq5sv6sl3uxyqv77czuhoxbisbgld4qrsg6q76qkzr7pqpvsmkp2mxpmx4ne>
    # </gen conv_transpose3d uqcdklyk4nluuutvzsie>


# <gen dist>
def dist(a: Tensor, b: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm of a - b: all elements together."""
    return distances_rows.dist(a, b, p)
    # </gen dist x6ouievdf7tktjb>


# <gen cdist>
def cdist(a: Tensor, b: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of every row of a and every row of b; a batch broadcasts.

    Differences are taken one by one, so near rows are told apart. Equal rows have a gradient of 0.
    """
    return distances_rows.cdist(a, b, p)
    # </gen cdist jjjcpq56xqpvsmk45frruqcdkuiao4>


# <gen renorm>
def renorm(x: Tensor, p: float, axis: int, maxnorm: float) -> Tensor:
    """x with the slices along an axis that are longer than maxnorm made as short; p-norms."""
    return distances_rows.renorm(x, p, axis, maxnorm)
    # </gen renorm gmnu54hoose5brw>


# <gen cov>
def cov(
    x: Tensor, fweights: Tensor | None = None, aweights: Tensor | None = None, correction: int = 1
) -> Tensor:
    """How variables, a row each, vary together: sums of products of deviations over the count.

    correction is taken off the count, fweights says how often each sample (column) is there, and
    aweights how much it counts. A vector is one variable.
    """
    return distances_rows.cov(x, fweights, aweights, correction)
    # </gen cov riut767lroq76qkf2hhppvsmkelqe5wii4iuqcdkp6b7d>


# <gen corrcoef>
def corrcoef(x: Tensor) -> Tensor:
    """The covariance of variables, a row each, over their deviations: from -1 to 1."""
    return distances_rows.corrcoef(x)
    # </gen corrcoef k3ncdp46lqcet6c>


# <gen einsum>
def einsum(subscripts: str, *operands: Tensor) -> Tensor:
    """Sums of products by Einstein's notation: einsum("ij,jk->ik", a, b) is a @ b.

    Labels of axes that the result does not name are summed over; without "->" the result names
    those that occur once, in alphabetical order. A label twice in one operand takes a diagonal,
    "..." stands for axes that broadcast. Several operands are paired in the cheapest order.
    """
    return einsum_rows.einsum(subscripts, *operands)
    # </gen einsum cvaqss5oxipvsmkr454jl3xtojgmrbuqcdkwd6sa>


# <gen tensordot>
def tensordot(a: Tensor, b: Tensor, axes: int | Sequence[Any] = 2) -> Tensor:
    """Products summed over pairs of axes: the last of a with the first of b, or those named."""
    return products_rows.tensordot(a, b, axes)
    # </gen tensordot xbyejjxmpunqxwo>


# <gen neg>
def neg(x: Tensor) -> Tensor:
    """-x."""
    return elementwise_rows.neg(x)
    # </gen neg r6xalf57oqnx3b5>


# <gen abs>
def abs(x: Tensor) -> Tensor:
    """|x|; of a complex number a float."""
    return elementwise_rows.abs_(x)
    # </gen abs qwynijeh3p3sigz>


# <gen exp>
def exp(x: Tensor) -> Tensor:
    """e to the power x."""
    return elementwise_rows.exp(x)
    # </gen exp 7lpriscbnohdy44>


# <gen exp2>
def exp2(x: Tensor) -> Tensor:
    """2 to the power x."""
    return elementwise_rows.exp2(x)
    # </gen exp2 xyslka6wt76k3pc>


# <gen expm1>
def expm1(x: Tensor) -> Tensor:
    """exp(x) - 1, accurate near 0."""
    return elementwise_rows.expm1(x)
    # </gen expm1 5nsqhhp2piwzlmx>


# <gen log>
def log(x: Tensor) -> Tensor:
    """Natural logarithm."""
    return elementwise_rows.log(x)
    # </gen log kj65usjyidcivk6>


# <gen log2>
def log2(x: Tensor) -> Tensor:
    """Logarithm to base 2."""
    return elementwise_rows.log2(x)
    # </gen log2 rdx3tu5373ceq7b>


# <gen log10>
def log10(x: Tensor) -> Tensor:
    """Logarithm to base 10."""
    return elementwise_rows.log10(x)
    # </gen log10 mrqlrdrotx2gyqt>


# <gen log1p>
def log1p(x: Tensor) -> Tensor:
    """log(1 + x), accurate near 0."""
    return elementwise_rows.log1p(x)
    # </gen log1p by7n6izx7amzi44>


# <gen sqrt>
def sqrt(x: Tensor) -> Tensor:
    """Square root."""
    return elementwise_rows.sqrt(x)
    # </gen sqrt kgyqg3smpy6jq2q>


# <gen sin>
def sin(x: Tensor) -> Tensor:
    """Sine, in radians."""
    return elementwise_rows.sin(x)
    # </gen sin sihryc6ppdxnyuz>


# <gen cos>
def cos(x: Tensor) -> Tensor:
    """Cosine, in radians."""
    return elementwise_rows.cos(x)
    # </gen cos bbjpcoftck7qvfi>


# <gen atan>
def atan(x: Tensor) -> Tensor:
    """Inverse tangent, in radians."""
    return elementwise_rows.atan(x)
    # </gen atan ww6ji7xvzjfatdc>


# <gen tanh>
def tanh(x: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return elementwise_rows.tanh(x)
    # </gen tanh 53syzwkzogorosb>


# <gen sigmoid>
def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return elementwise_rows.sigmoid(x)
    # </gen sigmoid bpnb3rqldwndudg>


# <gen erf>
def erf(x: Tensor) -> Tensor:
    """Error function."""
    return elementwise_rows.erf(x)
    # </gen erf hp36dfr53sasbff>


# <gen floor>
def floor(x: Tensor) -> Tensor:
    """Largest integer not above x."""
    return elementwise_rows.floor(x)
    # </gen floor rms4jr4bcvwffzd>


# <gen ceil>
def ceil(x: Tensor) -> Tensor:
    """Smallest integer not below x."""
    return elementwise_rows.ceil(x)
    # </gen ceil xmiljb6q2v5zj6m>


# <gen round>
def round(x: Tensor, decimals: int = 0) -> Tensor:
    """Nearest number of so many decimals, ties to the even one."""
    return elementwise_rows.round_(x, decimals)
    # </gen round qcu4tarjkceril7>


# <gen trunc>
def trunc(x: Tensor) -> Tensor:
    """Nearest integer towards 0."""
    return elementwise_rows.trunc(x)
    # </gen trunc 46a257lfvpsmgz5>


# <gen add>
def add(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x + y; or, on bool."""
    return elementwise_rows.add(x, y)
    # </gen add a4o55yijjpy4teg>


# <gen sub>
def sub(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x - y."""
    return elementwise_rows.sub(x, y)
    # </gen sub vnrnm2ymy2hudyt>


# <gen mul>
def mul(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x * y; and, on bool."""
    return elementwise_rows.mul(x, y)
    # </gen mul 4nf5lhbfcah2huv>


# <gen div>
def div(x: Tensor | float, y: Tensor | float, rounding_mode: str | None = None) -> Tensor:
    """x / y, a float; rounding_mode 'floor' or 'trunc' rounds it and keeps integers."""
    return elementwise_rows.div(x, y, rounding_mode)
    # </gen div q2kv3hytwrxgbz2>


# <gen float_power>
def float_power(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x to the power y, always a float."""
    return elementwise_rows.float_power(x, y)
    # </gen float_power 6xll2xiwukszvn4>


# <gen minimum>
def minimum(x: Tensor | float, y: Tensor | float) -> Tensor:
    """The smaller; NaN if either is."""
    return elementwise_rows.minimum(x, y)
    # </gen minimum 3ucovqawrx3p5wd>


# <gen maximum>
def maximum(x: Tensor | float, y: Tensor | float) -> Tensor:
    """The larger; NaN if either is."""
    return elementwise_rows.maximum(x, y)
    # </gen maximum gx2wkbqngenl3k4>


# <gen floor_divide>
def floor_divide(x: Tensor | float, y: Tensor | float) -> Tensor:
    """floor(x / y)."""
    return elementwise_rows.floor_divide(x, y)
    # </gen floor_divide yz77eelt3p5u6zi>


# <gen remainder>
def remainder(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x - y * floor(x / y): the sign of y."""
    return elementwise_rows.remainder(x, y)
    # </gen remainder iwoacoftr4kcodp>


# <gen eq>
def eq(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x == y."""
    return elementwise_rows.eq(x, y)
    # </gen eq h7fgroors6a23db>


# <gen ne>
def ne(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x != y."""
    return elementwise_rows.ne(x, y)
    # </gen ne m73dd46lrzu636l>


# <gen lt>
def lt(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x < y."""
    return elementwise_rows.lt(x, y)
    # </gen lt geu7ajplj26ump6>


# <gen le>
def le(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x <= y."""
    return elementwise_rows.le(x, y)
    # </gen le zp3ug5ywvfxt6fz>


# <gen gt>
def gt(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x > y."""
    return elementwise_rows.gt(x, y)
    # </gen gt gp5gdaz4mwggdtt>


# <gen ge>
def ge(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x >= y."""
    return elementwise_rows.ge(x, y)
    # </gen ge 4fqcfrsxiifbr7j>


# <gen where>
def where(condition: Tensor | float, x: Tensor | float, y: Tensor | float) -> Tensor:
    """x where the condition holds, y elsewhere."""
    return elementwise_rows.where(condition, x, y)
    # </gen where 2y5yp6ijqptpsgr>


# <gen real>
def real(x: Tensor) -> Tensor:
    """The real part of a complex number; any other itself."""
    return elementwise_rows.real(x)
    # </gen real 5utatrt2jl27ee7>


# <gen imag>
def imag(x: Tensor) -> Tensor:
    """The imaginary part of a number; 0 if it is real."""
    return elementwise_rows.imag(x)
    # </gen imag lrrygpswtertbny>


# <gen conj>
def conj(x: Tensor) -> Tensor:
    """The conjugate: the imaginary part negated."""
    return elementwise_rows.conj(x)
    # </gen conj eece7maxhgwnio4>


# <gen complex>
def complex(real: Tensor | float, imag: Tensor | float) -> Tensor:
    """real + 1j * imag, of two floats."""
    return elementwise_rows.complex_(real, imag)
    # </gen complex ukfiglwgw4ldg4f>


# <gen bitwise_and>
def bitwise_and(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Bits set in both; and, on bool."""
    return elementwise_rows.bitwise_and(x, y)
    # </gen bitwise_and 4yjya226vm4td5p>


# <gen bitwise_or>
def bitwise_or(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Bits set in either; or, on bool."""
    return elementwise_rows.bitwise_or(x, y)
    # </gen bitwise_or hjifm6zm4pglmos>


# <gen bitwise_xor>
def bitwise_xor(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Bits set in one alone."""
    return elementwise_rows.bitwise_xor(x, y)
    # </gen bitwise_xor wc5m5gkntuusr6l>


# <gen shift_left>
def shift_left(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x << y; 0 where all bits are shifted out."""
    return elementwise_rows.shift_left(x, y)
    # </gen shift_left maezdxtembr6az2>


# <gen shift_right>
def shift_right(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x >> y, keeping the sign."""
    return elementwise_rows.shift_right(x, y)
    # </gen shift_right qoj3n5bkejyfvj6>


# <gen cast>
def cast(x: Tensor, dtype: Tensor) -> Tensor:
    """The elements converted to another dtype."""
    return elementwise_rows.cast(x, dtype)
    # </gen cast e26vr7l44o67mqo>


# <gen bitcast>
def bitcast(x: Tensor, dtype: Tensor) -> Tensor:
    """The bits of the elements read as another dtype of their width."""
    return elementwise_rows.bitcast(x, dtype)
    # </gen bitcast exckf5sm5bqokse>


# <gen detach>
def detach(x: Tensor) -> Tensor:
    """The same values, with no gradient flowing back."""
    return elementwise_rows.detach(x)
    # </gen detach qjjxiykdzwe5imk>


# <gen square>
def square(x: Tensor) -> Tensor:
    """x * x."""
    return numeric_rows.square(x)
    # </gen square czcynjhxzof76tf>


# <gen reciprocal>
def reciprocal(x: Tensor) -> Tensor:
    """1 / x."""
    return numeric_rows.reciprocal(x)
    # </gen reciprocal tlagjd2a4dhsi5k>


# <gen rsqrt>
def rsqrt(x: Tensor) -> Tensor:
    """1 / sqrt(x)."""
    return numeric_rows.rsqrt(x)
    # </gen rsqrt mgjjbwsregpibxt>


# <gen sign>
def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1; NaN where x is. Of a complex number x / |x|, and 0 at 0."""
    return numeric_rows.sign(x)
    # </gen sign xcmasnw5lhyib2x>


# <gen positive>
def positive(x: Tensor) -> Tensor:
    """x itself."""
    return numeric_rows.positive(x)
    # </gen positive 2vscwzf2k7nc324>


# <gen signbit>
def signbit(x: Tensor) -> Tensor:
    """True where the sign of x is set, also that of -0.0 and of NaN."""
    return numeric_rows.signbit(x)
    # </gen signbit rmjhassjulh4rxd>


# <gen copysign>
def copysign(x: Tensor | float, y: Tensor | float) -> Tensor:
    """The size of x with the sign of y."""
    return numeric_rows.copysign(x, y)
    # </gen copysign ebdrdvbid7gdlvh>


# <gen nextafter>
def nextafter(x: Tensor, y: Tensor | float) -> Tensor:
    """The next number of the type after x towards y."""
    return numeric_rows.nextafter(x, y)
    # </gen nextafter xuq5fokrtrpfmsf>


# <gen pow>
def pow(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x to the power y. Integers wrap around; to a negative power they are 1 for 1, +-1 for -1, 0.

    >>> import treadle as td
    >>> td.pow(td.tensor([2, 3, -1]), td.tensor([10, -1, -3])).tolist()
    [1024, 0, -1]
    """
    return numeric_rows.pow_(x, y)
    # </gen pow bxh6mqhglypvsmkymuw3fjv4mvruubuqcdkyifq2>


# <gen hypot>
def hypot(x: Tensor | float, y: Tensor | float) -> Tensor:
    """sqrt(x * x + y * y) without overflow."""
    return numeric_rows.hypot(x, y)
    # </gen hypot bzbsaijxeyk2b5s>


# <gen tan>
def tan(x: Tensor) -> Tensor:
    """Tangent, in radians."""
    return numeric_rows.tan(x)
    # </gen tan budebye55rfe3mq>


# <gen asin>
def asin(x: Tensor) -> Tensor:
    """Inverse sine, in radians."""
    return numeric_rows.asin(x)
    # </gen asin 4dfiy7i2pprg3g7>


# <gen acos>
def acos(x: Tensor) -> Tensor:
    """Inverse cosine, in radians."""
    return numeric_rows.acos(x)
    # </gen acos vej26oeyfuben66>


# <gen atan2>
def atan2(y: Tensor | float, x: Tensor | float) -> Tensor:
    """The angle from the positive x axis to the point (x, y), from -pi to pi."""
    return numeric_rows.atan2(y, x)
    # </gen atan2 dgpadqyqn36xibr>


# <gen sinh>
def sinh(x: Tensor) -> Tensor:
    """Hyperbolic sine."""
    return numeric_rows.sinh(x)
    # </gen sinh dscx3jzcmzrqz4o>


# <gen cosh>
def cosh(x: Tensor) -> Tensor:
    """Hyperbolic cosine."""
    return numeric_rows.cosh(x)
    # </gen cosh gse3g4mgqge4xfj>


# <gen asinh>
def asinh(x: Tensor) -> Tensor:
    """Inverse hyperbolic sine."""
    return numeric_rows.asinh(x)
    # </gen asinh v3miuacxdoxolxp>


# <gen acosh>
def acosh(x: Tensor) -> Tensor:
    """Inverse hyperbolic cosine."""
    return numeric_rows.acosh(x)
    # </gen acosh a4xljdpkcdd2wqu>


# <gen atanh>
def atanh(x: Tensor) -> Tensor:
    """Inverse hyperbolic tangent."""
    return numeric_rows.atanh(x)
    # </gen atanh k2xtkbutua4imtb>


# <gen fmod>
def fmod(x: Tensor | float, y: Tensor | float) -> Tensor:
    """What division leaves, with the sign of x."""
    return numeric_rows.fmod(x, y)
    # </gen fmod 27kgvbfrzhxbtty>


# <gen fmin>
def fmin(x: Tensor | float, y: Tensor | float) -> Tensor:
    """The smaller; the other where one is NaN."""
    return numeric_rows.fmin(x, y)
    # </gen fmin qt2nbcjajcdedaw>


# <gen fmax>
def fmax(x: Tensor | float, y: Tensor | float) -> Tensor:
    """The larger; the other where one is NaN."""
    return numeric_rows.fmax(x, y)
    # </gen fmax zmzpq45o5z5i7nt>


# <gen logaddexp>
def logaddexp(x: Tensor | float, y: Tensor | float) -> Tensor:
    """log(exp(x) + exp(y)) without overflow."""
    return numeric_rows.logaddexp(x, y)
    # </gen logaddexp twu7pflrhtazyct>


# <gen lerp>
def lerp(x: Tensor, y: Tensor | float, weight: Tensor | float) -> Tensor:
    """x where weight is 0, y where it is 1, and the straight line through both."""
    return numeric_rows.lerp(x, y, weight)
    # </gen lerp tliwva2fvy3ruzu>


# <gen resample>
def resample(
    x: Tensor,
    axis: int,
    size: int,
    mode: str = "linear",
    scale: float | None = None,
    align_corners: bool = False,
) -> Tensor:
    """One axis interpolated at size places: mode "nearest", "nearest-exact", "linear", "cubic".

    Places are scale elements apart: as far as they must be to cover the axis, if left out.
    """
    return images_rows.resample(x, axis, size, mode, scale, align_corners)
    # </gen resample dzu52elnnvcii4ikr5jonrnzlrlgfv45z2eq76qkw74zspvsmkpsz7tuqcdk6v6gl>


# <gen interpolate>
def interpolate(
    x: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
) -> Tensor:
    """x (batch, channels, *spatial) at another resolution: size, or scale_factor times as fine.

    mode is "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", or "area" for
    the means of the regions that outputs stand for.
    align_corners: do the first and last elements keep their places?
    """
    return images_rows.interpolate(x, size, scale_factor, mode, align_corners)
    # </gen interpolate d4fzjelnnvb3ytyr3yooe736x45z2eq76qkppxwvpvsmkbkkrabvepapkpb6uqcdkotasn>


# <gen pixel_shuffle>
def pixel_shuffle(x: Tensor, upscale_factor: int) -> Tensor:
    """Groups of factor² channels as pixels of an image factor times as high and as wide."""
    return images_rows.pixel_shuffle(x, upscale_factor)
    # </gen pixel_shuffle 7oftsqtjypdi2mx>


# <gen pixel_unshuffle>
def pixel_unshuffle(x: Tensor, downscale_factor: int) -> Tensor:
    """Pixels factor apart as channels of their own: undoes pixel_shuffle."""
    return images_rows.pixel_unshuffle(x, downscale_factor)
    # </gen pixel_unshuffle 67m2ghcxip6v346>


# <gen stack>
def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape along a new axis."""
    return joining_rows.stack(tensors, axis)
    # </gen stack 7vxuy4pupssynjd>


# <gen vstack>
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other: along the first axis, a vector being a row."""
    return joining_rows.vstack(tensors)
    # </gen vstack afwt2hi54pwexij>


# <gen hstack>
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other: along the second axis, vectors along their only one."""
    return joining_rows.hstack(tensors)
    # </gen hstack z746uzrmazvwotv>


# <gen dstack>
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors behind each other: along the third axis."""
    return joining_rows.dstack(tensors)
    # </gen dstack 3pfzkxn3i3kqqfa>


# <gen split>
def split(x: Tensor, size: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Parts along an axis: of one size (the last may be smaller), or of the sizes listed."""
    return joining_rows.split(x, size, axis)
    # </gen split vlcay6ztnecylue>


# <gen chunk>
def chunk(x: Tensor, chunks: int, axis: int = 0) -> list[Tensor]:
    """At most so many parts of equal size along an axis; the last may be smaller."""
    return joining_rows.chunk(x, chunks, axis)
    # </gen chunk gzb33rtawirssv4>


# <gen unstack>
def unstack(x: Tensor, axis: int = 0) -> list[Tensor]:
    """The slices along an axis, without it."""
    return joining_rows.unstack(x, axis)
    # </gen unstack sqcietlqitbjgmw>


# <gen repeat>
def repeat(x: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element several times in a row: one number for all, or one for each along the axis."""
    return joining_rows.repeat(x, repeats, axis)
    # </gen repeat 67esvtp53awek77>


# <gen mse_loss>
def mse_loss(x: Tensor, target: Tensor | float, reduction: str = "mean") -> Tensor:
    """Squared differences: their "mean", their "sum", or with "none" each."""
    return losses_rows.mse_loss(x, target, reduction)
    # </gen mse_loss i5gw47l6f4yad6b>


# <gen l1_loss>
def l1_loss(x: Tensor, target: Tensor | float, reduction: str = "mean") -> Tensor:
    """Sizes of the differences."""
    return losses_rows.l1_loss(x, target, reduction)
    # </gen l1_loss papzjgh47p2qmxo>


# <gen huber_loss>
def huber_loss(
    x: Tensor, target: Tensor | float, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Half the squares of differences up to delta, delta times the size of larger ones."""
    return losses_rows.huber_loss(x, target, reduction, delta)
    # </gen huber_loss 57xyo7n5sdq76qksseopvott7>


# <gen smooth_l1_loss>
def smooth_l1_loss(
    x: Tensor, target: Tensor | float, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """Sizes of differences, rounded off below beta: huber_loss over beta."""
    return losses_rows.smooth_l1_loss(x, target, reduction, beta)
    # </gen smooth_l1_loss bqhcflu7e3q76qk6665246ogf>


# <gen cosine_similarity>
def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along an axis; no length counts as less than eps."""
    return losses_rows.cosine_similarity(x1, x2, axis, eps)
    # </gen cosine_similarity fzxlg5jyhiszxlx>


# <gen nll_loss>
def nll_loss(
    x: Tensor, labels: Tensor, reduction: str = "mean", ignore_index: int = -100
) -> Tensor:
    """Less the log-probabilities x at the labels; classes are the last axis.

    Rows with the label ignore_index give 0 and do not count in the mean.
    """
    return losses_rows.nll_loss(x, labels, reduction, ignore_index)
    # </gen nll_loss 2lsahb3nvqq76qkj3m2tpvsmk2mg4juqcdkamvc5>


# <gen kl_div>
def kl_div(
    x: Tensor, target: Tensor | float, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """target * (log(target) - x) for log-probabilities x; log_target: is target a logarithm too?

    reduction "batchmean" is the sum over the size of the first axis.
    """
    return losses_rows.kl_div(x, target, reduction, log_target)
    # </gen kl_div jqtjfoax4aq76qkyg6q7pvsmkfrnanuqcdky6dfj>


# <gen binary_cross_entropy>
def binary_cross_entropy(
    x: Tensor, target: Tensor | float, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """-(target log(x) + (1 - target) log(1 - x)) for probabilities x; logarithms end at -100."""
    return losses_rows.binary_cross_entropy(x, target, weight, reduction)
    # </gen binary_cross_entropy hnz7dytr4nq76qkdecdg6v77g>


# <gen binary_cross_entropy_with_logits>
def binary_cross_entropy_with_logits(
    x: Tensor,
    target: Tensor | float,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """binary_cross_entropy of sigmoid(x), without overflow; pos_weight multiplies the targets."""
    return losses_rows.binary_cross_entropy_with_logits(x, target, weight, pos_weight, reduction)
    # </gen binary_cross_entropy_with_logits bdco2elnnvesxjgrlktsw4d3xc7fpyq76qkubgnev4dz6>


# <gen margin_ranking_loss>
def margin_ranking_loss(
    x1: Tensor,
    x2: Tensor | float,
    target: Tensor | float,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin - target (x1 - x2)): target is 1 where x1 should be larger, else -1."""
    return margins_rows.margin_ranking_loss(x1, x2, target, margin, reduction)
    # </gen margin_ranking_loss rphvucthcqvaqsjesxjgbm36qc7fpyq76qkrw24w62ztz>


# <gen hinge_embedding_loss>
def hinge_embedding_loss(
    x: Tensor, target: Tensor | float, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """x where target is 1, max(0, margin - x) where it is -1, both where it is neither."""
    return margins_rows.hinge_embedding_loss(x, target, margin, reduction)
    # </gen hinge_embedding_loss ubbbslbtk2q76qk7t4yj5w6vj>


# <gen gaussian_nll_loss>
def gaussian_nll_loss(
    x: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
) -> Tensor:
    """(log(var) + (x - target)² / var) / 2, var at least eps; full: with the constant.

    Gradients pass to a var below eps as if it were eps, so that it can grow.
    """
    return margins_rows.gaussian_nll_loss(x, target, var, full, eps, reduction)
    # </gen gaussian_nll_loss uzthzelnnvvulp6evgzu4axzbm27dqc7fpyq76qksmmfipvsmkjdzi6uqcdkxrsxt>


# <gen poisson_nll_loss>
def poisson_nll_loss(
    x: Tensor,
    target: Tensor | float,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-08,
    reduction: str = "mean",
) -> Tensor:
    """exp(x) - target x for the logarithm x of a rate; log_input=False: x - target log(x + eps).

    full: with Stirling's approximation of log(target!) where target is above 1.
    """
    return margins_rows.poisson_nll_loss(x, target, log_input, full, eps, reduction)
    # </gen poisson_nll_loss ybkb2elnnvesxjgfvrcg4axzbzgnhoc7fpyq76qkhyz6jpvsmkpua2tuqcdkbanub>


# <gen reshape>
def reshape(x: Tensor, shape: int | Sequence[int], *sizes: int, copy: bool | None = None) -> Tensor:
    """The same elements in row-major order under another shape; -1 is worked out."""
    return movement_rows.reshape(x, shape, *sizes, copy=copy)
    # </gen reshape t5wdbfchmq2jqxj>


# <gen permute>
def permute(x: Tensor, axes: int | Sequence[int], *more: int) -> Tensor:
    """The axes in another order."""
    return movement_rows.permute(x, axes, *more)
    # </gen permute 37texycestp2fhk>


# <gen expand>
def expand(x: Tensor, shape: int | Sequence[int], *more: int) -> Tensor:
    """Broadcast to a shape: size-1 axes repeat their element."""
    return movement_rows.expand(x, shape, *more)
    # </gen expand btzhvxicv5r4ln3>


# <gen slice>
def slice(x: Tensor, ranges: Sequence[tuple[int, int, int]]) -> Tensor:
    """A range (start, stop, step) of every axis; steps are positive."""
    return movement_rows.slice_(x, ranges)
    # </gen slice mr3a2ibojgmuhli>


# <gen pad>
def pad(
    x: Tensor, edges: int | Sequence[tuple[int, int]], value: float = 0, mode: str = "constant"
) -> Tensor:
    """A border, (before, after) for every axis: of one value, or as mode continues x; negative
    edges take elements away.
    """
    return movement_rows.pad(x, edges, value, mode)
    # </gen pad lnuumappwiq76qkhw63i472u6uqcdkxjhac>


# <gen flip>
def flip(x: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """The elements in reverse order along axes."""
    return movement_rows.flip(x, axis)
    # </gen flip elc7bmrjcqyoysx>


# <gen concat>
def concat(tensors: Sequence[Tensor], axis: int | None = 0) -> Tensor:
    """Tensors joined along an axis; None joins all their elements."""
    return movement_rows.concat(tensors, axis)
    # </gen concat irlqyci3ynolrcm>


# <gen unique_consecutive>
def unique_consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None
) -> Tensor:
    """x with runs of equal elements, or of equal slices along an axis, as one of them.

    With what is asked for behind it: for each element the index of its run; how long runs are.
    Without an axis x is flattened. How many runs there are is read, so it is computed now.
    """
    return neighbours_rows.unique_consecutive(x, return_inverse, return_counts, axis)
    # </gen unique_consecutive kupai2lpk6q76qkkfkdfpvsmk2b7tyqo4bquqcdkq7hd6>


# <gen trapezoid>
def trapezoid(y: Tensor, x: Tensor | None = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """The area below straight lines through y along an axis, at places x or dx apart."""
    return neighbours_rows.trapezoid(y, x, dx, axis)
    # </gen trapezoid ozyjae7yee5xgsg>


# <gen cumulative_trapezoid>
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, dx: float = 1.0, axis: int = -1
) -> Tensor:
    """The areas so far below straight lines through y along an axis: one fewer than elements."""
    return neighbours_rows.cumulative_trapezoid(y, x, dx, axis)
    # </gen cumulative_trapezoid bvu6un7t5uq76qkkwpnmitbtz>


# <gen bucketize>
def bucketize(
    x: Tensor, boundaries: Tensor, right: bool = False, out_int32: bool = False
) -> Tensor:
    """The bin of each element between boundaries in order: those below it; right: those up to it.

    out_int32: as int32, else int64.
    """
    return neighbours_rows.bucketize(x, boundaries, right, out_int32)
    # </gen bucketize knige3vuvfq76qklnseppvsmkfxcuxuqcdk5j2gl>


# <gen histc>
def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements lie in each of so many equal bins from min to max; others are left out.

    Of min = max = 0, those of the least and the greatest element. The last bin has its end; counts
    are in the dtype of x.
    """
    return neighbours_rows.histc(x, bins, min, max)
    # </gen histc rblw4jypxwpvsmkhra5rmsrwwuqcdkmqvie>


# <gen histogram>
def histogram(
    x: Tensor,
    weight: Tensor | None = None,
    bins: Any = 100,
    range: tuple[float, float] | None = None,
    density: bool = False,
) -> Histogram:
    """(hist, bin_edges): how many elements, or how much weight, lies in each bin.

    bins: how many equal ones, from the least element to the greatest or over a range; or the edges,
    as a tensor or a list. The last bin has its end, what lies outside is left out. density: the
    area of all bins together is 1.
    """
    return neighbours_rows.histogram(x, weight, bins, range, density)
    # </gen histogram tcw5celnnvrlktsfbqjlhfnm6anbmcv2my5ia5zypvsmk3z2dwq3vr6pk7mwuqcdkb72fs>


# <gen softmax>
def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis, without overflow."""
    return neural_rows.softmax(x, axis)
    # </gen softmax 5725fgypfpyugy6>


# <gen log_softmax>
def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """log(softmax(x)) along an axis."""
    return neural_rows.log_softmax(x, axis)
    # </gen log_softmax ztvtjllm4hhoewm>


# <gen layer_norm>
def layer_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05
) -> Tensor:
    """Normalise the last axis to mean 0 and variance 1, then scale and shift."""
    return neural_rows.layer_norm(x, weight, bias, eps)
    # </gen layer_norm 7h7zuhwztwq76qkdgg6cm7rn3>


# <gen cross_entropy>
def cross_entropy(
    logits: Tensor,
    labels: Tensor,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-log softmax(logits) at the labels: classes along the last axis, one label for each row.

    PyTorch has the classes of (N, C, d1, ...) along the second axis: move them to the end.

    - **ignore_index**: rows with this label give 0 and do not count in the mean
    - **reduction**: "mean", "sum", or "none" for a loss of each row
    - **label_smoothing**: the share of a label that is spread evenly over all classes
    """
    return neural_rows.cross_entropy(logits, labels, ignore_index, reduction, label_smoothing)
    # <sums 6zg7tqbb55u3m62rzqdpc7fpye5ymgq76qkemaabpvsmkgrslrpvsmkqoyyw36chb5ejfg>
    # </gen cross_entropy uqcdkx2m4l>


# <gen scaled_dot_product_attention>
def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = True,
) -> Tensor:
    """softmax(q kᵀ scale + mask) v over the last two axes; scale defaults to 1/sqrt(width).

    A mask of bool says what is seen, another one is added. is_causal: each row sees the columns up
    to its own number. Rows that see nothing give 0. enable_gqa: k and v may have fewer heads
    (axis -3) than q, which then share them in groups.
    """
    return neural_rows.scaled_dot_product_attention(q, k, v, mask, is_causal, scale, enable_gqa)
    # <sums ptlpg7hfjg2ame6ipmzte6rb7t7frmrlgfv22vz4q76qk55bgypvsmk>
    # </gen scaled_dot_product_attention els2n3moa7awnxkuqcdkjhlna>


# <gen group_norm>
def group_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    num_groups: int = 1,
    eps: float = 1e-05,
) -> Tensor:
    """Groups of channels (axis 1) normalised to mean 0 and variance 1, then scaled and shifted."""
    return normalisation_rows.group_norm(x, weight, bias, num_groups, eps)
    # </gen group_norm dvaluelnnvrlkts6sl3uiy7cbnk5etq76qkwmz6gnktyg>


# <gen instance_norm>
def instance_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05
) -> Tensor:
    """Each channel (axis 1) of each element of the batch normalised, then scaled and shifted."""
    return normalisation_rows.instance_norm(x, weight, bias, eps)
    # </gen instance_norm 5sqkvhwztwq76qkwpepshzd6q>


# <gen batch_norm>
def batch_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Channels (axis 1) less their mean over the root of their variance, then scaled and shifted.

    Without running_mean and running_var, the mean and variance of the batch.
    """
    return normalisation_rows.batch_norm(x, running_mean, running_var, weight, bias, eps)
    # </gen batch_norm mhl6uelnnvwetgxrffherlkts6sl3unk5etq76qkouemmpvsmkcvkv7uqcdkqrfnt>


# <gen rms_norm>
def rms_norm(x: Tensor, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """The last axis over the root of its mean square, then scaled.

    eps is added to the mean square: if left out, the distance from 1 to the next float, of 32 bits
    at least.
    """
    return normalisation_rows.rms_norm(x, weight, eps)
    # </gen rms_norm hsy5ro64ropvsmk5mxhf52zifuqcdksybo4>


# <gen normalize>
def normalize(x: Tensor, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
    """x over its p-norm along an axis, which counts as at least eps."""
    return normalisation_rows.normalize(x, p, axis, eps)
    # </gen normalize r7dghpigzkdgzfc>


# <gen sort>
def sort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along an axis, NaN counting as the largest; equal ones stay in order.

    >>> import treadle as td
    >>> td.sort(td.tensor([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    return ordering_rows.sort(x, axis, descending, stable)
    # </gen sort qbfqybjikbpvsmkymuw3qeb33c7mpyuqcdkx6tmm>


# <gen topk>
def topk(x: Tensor, k: int, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """(values, indices) of the k largest or smallest elements along an axis, in order."""
    return ordering_rows.topk(x, k, axis, largest)
    # </gen topk nwbm2fsakjhtadc>


# <gen median>
def median(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The middle element along axes, or the mean of the two in the middle; NaN if there is one."""
    return ordering_rows.median(x, axis, keepdims)
    # </gen median nbggdvckqlkrlob>


# <gen quantile>
def quantile(
    x: Tensor,
    q: float | Sequence[float],
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    interpolation: str = "linear",
) -> Tensor:
    """The value below which a fraction q of the elements along axes lies; NaN if there is one.

    Several q make a new first axis. Between two elements it is interpolated: linear, lower, higher,
    nearest (of two as near, the even one), midpoint.
    """
    return ordering_rows.quantile(x, q, axis, keepdims, interpolation)
    # </gen quantile je2hyelnnvahha5pc4c3kg6swsizndq76qkyvflxpvsmkmdqecm4unyuqcdkp44is>


# <gen searchsorted>
def searchsorted(
    sorted: Tensor, values: Tensor | float, sorter: Tensor | None = None, side: str = "left"
) -> Tensor:
    """Where values would stand in a sorted tensor of one axis: before equal elements or after.

    sorter: indices that sort the tensor, such as argsort(x), where it is not sorted.
    """
    return ordering_rows.searchsorted(sorted, values, sorter, side)
    # </gen searchsorted tu6md6mdlzq76qky6ordpvsmk7pklbuqcdkrdfgt>


# <gen bincount>
def bincount(
    x: Tensor, weights: Tensor | None = None, minlength: int = 0, length: int | None = None
) -> Tensor:
    """How often 0, 1, 2, ... occur in a tensor of one axis, or the sums of their weights.

    There are as many counts as the largest element asks for, at least minlength. That number has to
    be read, so a compiled function gives the length; elements outside of it are not counted.
    """
    return ordering_rows.bincount(x, weights, minlength, length)
    # </gen bincount xrm3jzzkqoq76qk72o7ppvsmkfiemafldobuqcdklzrxr>


# <gen cumulative_sum>
def cumulative_sum(
    x: Tensor, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Sums of the elements so far along an axis; include_initial: with 0 before the first."""
    return ordering_rows.cumulative_sum(x, axis, dtype, include_initial)
    # </gen cumulative_sum ontadcbluiq76qkyw6khpun7s>


# <gen cumulative_prod>
def cumulative_prod(
    x: Tensor, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Products of the elements so far along an axis; include_initial: with 1 before the first."""
    return ordering_rows.cumulative_prod(x, axis, dtype, include_initial)
    # </gen cumulative_prod q5opkcbluiq76qkk7qvfqudlz>


# <gen diff>
def diff(
    x: Tensor,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    axis: int = -1,
    n: int = 1,
) -> Tensor:
    """Each element less the one before it along an axis, n times; for bool whether they differ.

    prepend, append: tensors that are joined to x before.
    """
    return ordering_rows.diff(x, prepend, append, axis, n)
    # </gen diff e5o6oelnnvvpm57vmdry3cemjkruakq76qkbd2ngpvsmkh3w3tuqcdkqdpuv>


# <gen angle>
def angle(x: Tensor) -> Tensor:
    """The angle of a complex number with the positive axis, from -pi to pi; 0 or pi of a real one.

    >>> import treadle as td
    >>> td.angle(td.tensor([1j, -1.0])).tolist()
    [1.5707963705062866, 3.1415927410125732]
    """
    return parts_rows.angle(x)
    # </gen angle pq4te4dq6wpvsmkymuw3c77n7xvxaxuqcdkz5o3v>


# <gen polar>
def polar(abs: Tensor | float, angle: Tensor | float) -> Tensor:
    """The complex numbers of these sizes and angles.

    >>> import treadle as td
    >>> td.polar(td.tensor([2.0]), td.tensor([0.0])).tolist()
    [(2+0j)]
    """
    return parts_rows.polar(abs, angle)
    # </gen polar dms2dzmw47pvsmkymuw3m2c2slgnsjuqcdkw2ivk>


# <gen isreal>
def isreal(x: Tensor) -> Tensor:
    """True where the imaginary part is 0."""
    return parts_rows.isreal(x)
    # </gen isreal xjp5ramaojkumsf>


# <gen view_as_real>
def view_as_real(x: Tensor) -> Tensor:
    """Real and imaginary parts along a new last axis.

    >>> import treadle as td
    >>> td.view_as_real(td.tensor([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    return parts_rows.view_as_real(x)
    # </gen view_as_real hojbmp5ubfpvsmkymuw3kqeg2jao53uqcdkxpbcw>


# <gen view_as_complex>
def view_as_complex(x: Tensor) -> Tensor:
    """The numbers whose parts lie along the last axis, which has two elements.

    >>> import treadle as td
    >>> td.view_as_complex(td.tensor([[1.0, 2.0]])).tolist()
    [(1+2j)]
    """
    return parts_rows.view_as_complex(x)
    # </gen view_as_complex mqcy34uikapvsmkymuw3hqzmmeeimuuqcdkxyx4e>


# <gen take_along_axis>
def take_along_axis(x: Tensor, indices: Tensor, axis: int = -1) -> Tensor:
    """Elements at indices along an axis, one index for each; the other axes broadcast."""
    return picking_rows.take_along_axis(x, indices, axis)
    # </gen take_along_axis z4im4rtmpw75omz>


# <gen put_along_axis>
def put_along_axis(x: Tensor, indices: Tensor, values: Tensor, axis: int = -1) -> Tensor:
    """x with values at indices along an axis; the other axes broadcast."""
    return picking_rows.put_along_axis(x, indices, values, axis)
    # </gen put_along_axis yi2udploufgfpma>


# <gen index_add>
def index_add(x: Tensor, index: Tensor, values: Tensor, axis: int = 0) -> Tensor:
    """x with slices of values added at indices along an axis."""
    return picking_rows.index_add(x, index, values, axis)
    # </gen index_add thd42uwuqvqsvvj>


# <gen embedding>
def embedding(indices: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Rows of weight at indices; no gradient flows to row padding_idx."""
    return picking_rows.embedding(indices, weight, padding_idx)
    # </gen embedding rknttntb36roh3j>


# <gen scatter_reduce>
def scatter_reduce(
    x: Tensor, index: Tensor, values: Tensor, axis: int, reduce: str, include_self: bool = True
) -> Tensor:
    """Values that meet at one place become their sum, mean, prod, amax or amin, with x's or not."""
    return picking_rows.scatter_reduce(x, index, values, axis, reduce, include_self)
    # </gen scatter_reduce rznq3ikfuaq76qkexsl7fb2xp>


# <gen one_hot>
def one_hot(x: Tensor, num_classes: int = -1) -> Tensor:
    """A last axis of 0 with a 1 at each index; -1 classes: as many as the largest needs.

    An index that is out of range is refused if it is known at the call, else it gives zeros.
    """
    return picking_rows.one_hot(x, num_classes)
    # </gen one_hot 7p75igh4zspvsmkdgupmuqcdkggbmj>


# <gen masked_fill>
def masked_fill(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """value where mask is true, else x."""
    return picking_rows.masked_fill(x, mask, value)
    # </gen masked_fill lx6uooc3fop3chm>


# <gen masked_select>
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """The elements where mask is true, as one axis; their number is read, so it is computed now."""
    return picking_rows.masked_select(x, mask)
    # </gen masked_select 333pkb77j45fig2>


# <gen nonzero>
def nonzero(x: Tensor) -> list[Tensor]:
    """The indices of the elements that are not 0, a tensor for each axis; computed now."""
    return picking_rows.nonzero(x)
    # </gen nonzero mo3zn2a55tgvvbh>


# <gen argwhere>
def argwhere(x: Tensor) -> Tensor:
    """The indices of the elements that are not 0, a row for each; computed now."""
    return picking_rows.argwhere(x)
    # </gen argwhere 2fwgfnmulb2x7cu>


# <gen clone>
def clone(x: Tensor) -> Tensor:
    """A tensor of its own with the same value, through which gradients pass.

    Values are never written in place where anybody else can see it, so nothing is copied.
    """
    return picking_rows.clone(x)
    # </gen clone qzbtnbasmfpvsmkro5kfuqcdkbgrez>


# <gen contiguous>
def contiguous(x: Tensor) -> Tensor:
    """x: what is in memory always lies in row-major order."""
    return picking_rows.contiguous(x)
    # </gen contiguous olxqdid6oy2fzb6>


# <gen narrow>
def narrow(x: Tensor, axis: int, start: int, length: int) -> Tensor:
    """length elements along an axis, from start on; a negative start counts from the end."""
    return pieces_rows.narrow(x, axis, start, length)
    # </gen narrow xldwhtlwrhzhxwj>


# <gen select>
def select(x: Tensor, axis: int, index: int) -> Tensor:
    """The slice at one place along an axis, without it."""
    return pieces_rows.select(x, axis, index)
    # </gen select r7dpnbghblz5wl2>


# <gen slice_scatter>
def slice_scatter(
    x: Tensor,
    values: Tensor,
    axis: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """x with values in the range from start to end along an axis, every step-th place of it."""
    return pieces_rows.slice_scatter(x, values, axis, start, end, step)
    # </gen slice_scatter ijn2welnnvbkriyptskuj5hpyuoryreng4lq76qkhnok5jmssf>


# <gen select_scatter>
def select_scatter(x: Tensor, values: Tensor | float, axis: int, index: int) -> Tensor:
    """x with values as the slice at one place along an axis."""
    return pieces_rows.select_scatter(x, values, axis, index)
    # </gen select_scatter qd7qt57fbqcupev>


# <gen diagonal_scatter>
def diagonal_scatter(
    x: Tensor, values: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Tensor:
    """x with values on a diagonal of two axes, which is the last axis of values."""
    return pieces_rows.diagonal_scatter(x, values, offset, axis1, axis2)
    # </gen diagonal_scatter 5cqd53vkd6q76qknk4hvhwpvn>


# <gen tensor_split>
def tensor_split(x: Tensor, sections: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Parts along an axis: so many, the first ones longer by one, or cut before the places listed.

    A tensor may hold the places, or the number.
    """
    return pieces_rows.tensor_split(x, sections, axis)
    # </gen tensor_split gl53nxm7skpvsmkannvduqcdkrjfsp>


# <gen vsplit>
def vsplit(x: Tensor, sections: int | Sequence[int]) -> list[Tensor]:
    """Equal parts along axis 0, so many or cut before the places listed."""
    return pieces_rows.vsplit(x, sections)
    # </gen vsplit l5ad2muxk33eyfs>


# <gen hsplit>
def hsplit(x: Tensor, sections: int | Sequence[int]) -> list[Tensor]:
    """Equal parts along axis 1, so many or cut before the places listed.

    Of a vector, along its only axis.
    """
    return pieces_rows.hsplit(x, sections)
    # </gen hsplit pcifwycidypvsmkd4b4zuqcdknwl4q>


# <gen dsplit>
def dsplit(x: Tensor, sections: int | Sequence[int]) -> list[Tensor]:
    """Equal parts along axis 2, so many or cut before the places listed."""
    return pieces_rows.dsplit(x, sections)
    # </gen dsplit ng3oxf7mqyatukb>


# <gen pool>
def pool(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    how: str = "max",
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    norm_type: float = 2.0,
) -> Tensor:
    """One value for every window over the last axes, as many as kernel_size has numbers.

    how: "max", "avg", or "lp" for the norm (sum of x ** norm_type) ** (1 / norm_type). stride is
    kernel_size if left out. ceil_mode keeps windows that overhang the end.
    """
    return pooling_rows.pool(
        x,
        kernel_size,
        stride,
        padding,
        dilation,
        how,
        ceil_mode,
        count_include_pad,
        divisor_override,
        norm_type,
    )
    # <sums uxcyjelnnv56h2dgqiir7czuhqrsg6yofwqbq4mvhlpn2prkm5ccysmq76qkizea6pvsmklgwxmfctbl>
    # </gen pool uqcdkrd223vu4wzdq2iyoexj6xirnvtk2b4iz33qk6ngls76be6ux4txp5xrvzsie>


# <gen max_pool1d>
def max_pool1d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Largest element of every window over the last 1 axes."""
    return pooling_rows.max_pool1d(x, kernel_size, stride, padding, dilation, ceil_mode)
    # </gen max_pool1d my7kqelnnv2cagngqiir7czuhqrsg6bq4mvq76qkzy5yzsex2x>


# <gen max_pool2d>
def max_pool2d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Largest element of every window over the last 2 axes."""
    return pooling_rows.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode)
    # </gen max_pool2d tmvz7elnnv2cagngqiir7czuhqrsg6bq4mvq76qkeudhisioy2>


# <gen max_pool3d>
def max_pool3d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Largest element of every window over the last 3 axes."""
    return pooling_rows.max_pool3d(x, kernel_size, stride, padding, dilation, ceil_mode)
    # </gen max_pool3d xq4laelnnv2cagngqiir7czuhqrsg6bq4mvq76qkgv36gtdwaz>


# <gen avg_pool1d>
def avg_pool1d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of every window over the last 1 axes.

    count_include_pad: does padding count as zeros? divisor_override: divide by this instead.
    """
    return pooling_rows.avg_pool1d(
        x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    # <sums srd7kelnnv2cagngqiir7czuhbq4mvhlpn2prkm5q76qk7z3tgpvsmk7hfkfuqcdkqthqoyjgst>
    # </gen avg_pool1d vzsie>


# <gen avg_pool2d>
def avg_pool2d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of every window over the last 2 axes.

    count_include_pad: does padding count as zeros? divisor_override: divide by this instead.
    """
    return pooling_rows.avg_pool2d(
        x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    # <sums uozrselnnv2cagngqiir7czuhbq4mvhlpn2prkm5q76qkcf4izpvsmk7hfkfuqcdk77l7tyjgst>
    # </gen avg_pool2d vzsie>


# <gen avg_pool3d>
def avg_pool3d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of every window over the last 3 axes.

    count_include_pad: does padding count as zeros? divisor_override: divide by this instead.
    """
    return pooling_rows.avg_pool3d(
        x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    # <sums 2ax5velnnv2cagngqiir7czuhbq4mvhlpn2prkm5q76qkci5ejpvsmk7hfkfuqcdkca3wpyjgst>
    # </gen avg_pool3d vzsie>


# <gen lp_pool1d>
def lp_pool1d(
    x: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The norm_type-norm of every window over the last 1 axes."""
    return pooling_rows.lp_pool1d(x, norm_type, kernel_size, stride, ceil_mode)
    # </gen lp_pool1d terv2elnnvebppj2cagngqiirbq4mvq76qkgqd6kjexxq>


# <gen lp_pool2d>
def lp_pool2d(
    x: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The norm_type-norm of every window over the last 2 axes."""
    return pooling_rows.lp_pool2d(x, norm_type, kernel_size, stride, ceil_mode)
    # </gen lp_pool2d t6l32elnnvebppj2cagngqiirbq4mvq76qktliir5klc2>


# <gen lp_pool3d>
def lp_pool3d(
    x: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The norm_type-norm of every window over the last 3 axes."""
    return pooling_rows.lp_pool3d(x, norm_type, kernel_size, stride, ceil_mode)
    # </gen lp_pool3d 34mscelnnvebppj2cagngqiirbq4mvq76qk6jqeyznfdv>


# <gen isnan>
def isnan(x: Tensor) -> Tensor:
    """True where x is NaN."""
    return predicates_rows.isnan(x)
    # </gen isnan irjhiwarrbur6l3>


# <gen isinf>
def isinf(x: Tensor) -> Tensor:
    """True where x is infinite."""
    return predicates_rows.isinf(x)
    # </gen isinf ypprigxut2qclji>


# <gen isfinite>
def isfinite(x: Tensor) -> Tensor:
    """True where x is neither infinite nor NaN."""
    return predicates_rows.isfinite(x)
    # </gen isfinite 3munmop2kvsmu46>


# <gen logical_not>
def logical_not(x: Tensor) -> Tensor:
    """True where x is zero or false."""
    return predicates_rows.logical_not(x)
    # </gen logical_not bjgzz7gwzvu7fyd>


# <gen logical_and>
def logical_and(x: Tensor | float, y: Tensor | float) -> Tensor:
    """True where neither is zero or false."""
    return predicates_rows.logical_and(x, y)
    # </gen logical_and 7htputkqhbkfkwi>


# <gen logical_or>
def logical_or(x: Tensor | float, y: Tensor | float) -> Tensor:
    """True where not both are zero or false."""
    return predicates_rows.logical_or(x, y)
    # </gen logical_or 5gntioflbd53nfk>


# <gen logical_xor>
def logical_xor(x: Tensor | float, y: Tensor | float) -> Tensor:
    """True where one alone is zero or false."""
    return predicates_rows.logical_xor(x, y)
    # </gen logical_xor yxvg4gu7kd7xiov>


# <gen bitwise_not>
def bitwise_not(x: Tensor) -> Tensor:
    """All bits turned; not, on bool."""
    return predicates_rows.bitwise_not(x)
    # </gen bitwise_not k52sqqrdf7jnlcu>


# <gen isclose>
def isclose(
    x: Tensor | float,
    y: Tensor | float,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """True where |x - y| <= atol + rtol * |y|; infinities are close to themselves alone.

    equal_nan: is NaN close to NaN?
    """
    return predicates_rows.isclose(x, y, rtol, atol, equal_nan)
    # </gen isclose po3etzcrm6bu5xkevo4lqxdasjr3nuq76qkf7bx2pvsmkzay7muqcdk7f2su>


# <gen allclose>
def allclose(
    x: Tensor, y: Tensor | float, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Is every element of x close to that of y, as isclose says? A 0-d bool."""
    return predicates_rows.allclose(x, y, rtol, atol, equal_nan)
    # </gen allclose 5zw7fd5zicq76qkfnmb7yt6fv>


# <gen sum>
def sum(
    x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False, dtype: Any = None
) -> Tensor:
    """Sum of the elements along axes."""
    return reduce_rows.sum_(x, axis, keepdims, dtype)
    # </gen sum va4ha43jvwq76qk2gypc44xxd>


# <gen max>
def max(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Largest element along axes; NaN if there is one."""
    return reduce_rows.max_(x, axis, keepdims)
    # </gen max baclyrw53vcmqby>


# <gen min>
def min(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Smallest element along axes; NaN if there is one."""
    return reduce_rows.min_(x, axis, keepdims)
    # </gen min cjaao6fyeluniag>


# <gen adaptive_avg_pool1d>
def adaptive_avg_pool1d(x: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Mean of output_size regions that cover the last 1 axes.

    None among the sizes keeps an axis as it is.
    """
    return regions_rows.adaptive_avg_pool1d(x, output_size)
    # </gen adaptive_avg_pool1d 7snzpmc7appvsmk72bipuqcdknyr7r>


# <gen adaptive_avg_pool2d>
def adaptive_avg_pool2d(x: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Mean of output_size regions that cover the last 2 axes.

    None among the sizes keeps an axis as it is.
    """
    return regions_rows.adaptive_avg_pool2d(x, output_size)
    # </gen adaptive_avg_pool2d f2b2ew4hndpvsmk72bipuqcdkbcgpw>


# <gen adaptive_avg_pool3d>
def adaptive_avg_pool3d(x: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Mean of output_size regions that cover the last 3 axes.

    None among the sizes keeps an axis as it is.
    """
    return regions_rows.adaptive_avg_pool3d(x, output_size)
    # </gen adaptive_avg_pool3d agyxmsqspupvsmk72bipuqcdkjsm3u>


# <gen adaptive_max_pool1d>
def adaptive_max_pool1d(x: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Largest element of output_size regions that cover the last 1 axes.

    None among the sizes keeps an axis as it is.
    """
    return regions_rows.adaptive_max_pool1d(x, output_size)
    # </gen adaptive_max_pool1d 5jw65kz6odpvsmk72bipuqcdkgheti>


# <gen adaptive_max_pool2d>
def adaptive_max_pool2d(x: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Largest element of output_size regions that cover the last 2 axes.

    None among the sizes keeps an axis as it is.
    """
    return regions_rows.adaptive_max_pool2d(x, output_size)
    # </gen adaptive_max_pool2d pp4djd733qpvsmk72bipuqcdkd543y>


# <gen adaptive_max_pool3d>
def adaptive_max_pool3d(x: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Largest element of output_size regions that cover the last 3 axes.

    None among the sizes keeps an axis as it is.
    """
    return regions_rows.adaptive_max_pool3d(x, output_size)
    # </gen adaptive_max_pool3d xfcchzym7vpvsmk72bipuqcdklxws3>


# <gen fractional_max_pool2d>
def fractional_max_pool2d(
    x: Tensor,
    samples: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
) -> Tensor:
    """Largest element of windows at random places over the last 2 axes.

    samples are 2 random numbers in [0, 1) for every plane: they decide where windows start.
    """
    return regions_rows.fractional_max_pool2d(x, samples, kernel_size, output_size, output_ratio)
    # </gen fractional_max_pool2d cb3gmelnnv7jwu22cagne355et53r2q76qkk2jz6pvsmk7lemzuqcdkmuy3q>


# <gen fractional_max_pool3d>
def fractional_max_pool3d(
    x: Tensor,
    samples: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
) -> Tensor:
    """Largest element of windows at random places over the last 3 axes.

    samples are 3 random numbers in [0, 1) for every plane: they decide where windows start.
    """
    return regions_rows.fractional_max_pool3d(x, samples, kernel_size, output_size, output_ratio)
    # </gen fractional_max_pool3d oarjoelnnv7jwu22cagne355et53r2q76qkhkxrwpvsmkzclvuuqcdkwzenu>


# <gen cumsum>
def cumsum(x: Tensor, axis: int | None = None) -> Tensor:
    """Sums of the elements so far along an axis."""
    return scan_rows.cumsum(x, axis)
    # </gen cumsum 4n6yghqjqcq2bl5>


# <gen cumprod>
def cumprod(x: Tensor, axis: int | None = None) -> Tensor:
    """Products of the elements so far along an axis."""
    return scan_rows.cumprod(x, axis)
    # </gen cumprod rygwxtmtj5m7vlv>


# <gen cummax>
def cummax(x: Tensor, axis: int | None = None) -> Tensor:
    """Largest element so far along an axis; NaN once seen."""
    return scan_rows.cummax(x, axis)
    # </gen cummax p63ftidletgqj5y>


# <gen cummin>
def cummin(x: Tensor, axis: int | None = None) -> Tensor:
    """Smallest element so far along an axis; NaN once seen."""
    return scan_rows.cummin(x, axis)
    # </gen cummin egzq4yshx3rkz77>


# <gen logcumsumexp>
def logcumsumexp(x: Tensor, axis: int | None = None) -> Tensor:
    """log(cumsum(exp(x))), without overflow."""
    return scan_rows.logcumsumexp(x, axis)
    # </gen logcumsumexp v634mzxhnfb4mln>


# <gen argsort>
def argsort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Indices that sort along an axis; equal elements keep their order. NaN counts as the
    largest.
    """
    return scan_rows.argsort(x, axis, descending, stable)
    # </gen argsort 5q2scczljwsxdapuqcdkqdwaj>


# <gen unique>
def unique(x: Tensor, return_inverse: bool = False, return_counts: bool = False) -> Tensor:
    """The values in x, once each, in order.

    With what is asked for behind them: for each element the index of its value; how often each
    value is there.
    """
    return sets_rows.unique(x, return_inverse, return_counts)
    # </gen unique uafot6baampvsmkpxx4nx3hm4uqcdk3sf6j>


# <gen unique_counts>
def unique_counts(x: Tensor) -> Counts:
    """(values in order, how often each is there)."""
    return sets_rows.unique_counts(x)
    # </gen unique_counts bq7fqxd3j2tlcjf>


# <gen unique_inverse>
def unique_inverse(x: Tensor) -> Inverse:
    """(values in order, for each element of x the index of its value)."""
    return sets_rows.unique_inverse(x)
    # </gen unique_inverse yk2hchquoctssqb>


# <gen unique_all>
def unique_all(x: Tensor) -> Unique:
    """(values in order, where each stands first in flattened x, inverse indices, counts)."""
    return sets_rows.unique_all(x)
    # </gen unique_all 6vc5qlg3wiwvoo4>


# <gen isin>
def isin(x: Tensor, elements: Tensor, invert: bool = False) -> Tensor:
    """Is each element of x among the elements? The opposite if invert; NaN is among none."""
    return sets_rows.isin(x, elements, invert)
    # </gen isin hjrlijn6kzjxffu>


# <gen flatten>
def flatten(x: Tensor, start: int = 0, end: int = -1) -> Tensor:
    """The axes from start to end as one; a 0-d tensor gets one axis."""
    return shaping_rows.flatten(x, start, end)
    # </gen flatten ladass3c5vocx7i>


# <gen unflatten>
def unflatten(x: Tensor, axis: int, sizes: Sequence[int]) -> Tensor:
    """One axis as several; one of their sizes may be -1."""
    return shaping_rows.unflatten(x, axis, sizes)
    # </gen unflatten tzmoa65ov3k2kqn>


# <gen squeeze>
def squeeze(x: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """Without axes of size 1: those named, or all."""
    return shaping_rows.squeeze(x, axis)
    # </gen squeeze r34ukhwdadw2bns>


# <gen unsqueeze>
def unsqueeze(x: Tensor, axis: int | Sequence[int] = 0) -> Tensor:
    """New axes of size 1, at places of the result."""
    return shaping_rows.unsqueeze(x, axis)
    # </gen unsqueeze 3stbtdwmktdknvt>


# <gen transpose>
def transpose(x: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two axes exchanged."""
    return shaping_rows.transpose(x, axis0, axis1)
    # </gen transpose jsefobv7fpalv33>


# <gen matrix_transpose>
def matrix_transpose(x: Tensor) -> Tensor:
    """The last two axes exchanged."""
    return shaping_rows.matrix_transpose(x)
    # </gen matrix_transpose aum3wddozygzmxx>


# <gen movedim>
def movedim(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Axes at other places; those not named keep their order."""
    return shaping_rows.movedim(x, source, destination)
    # </gen movedim pq2sflst52wqyue>


# <gen broadcast_arrays>
def broadcast_arrays(*tensors: Tensor) -> list[Tensor]:
    """All tensors in the shape they broadcast to together."""
    return shaping_rows.broadcast_arrays(*tensors)
    # </gen broadcast_arrays nvuvp6xfud6omwu>


# <gen meshgrid>
def meshgrid(*tensors: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of a grid from those of its axes; "xy" exchanges the first two axes."""
    return shaping_rows.meshgrid(*tensors, indexing=indexing)
    # </gen meshgrid 5iat7nrlsqdc5bi>


# <gen tile>
def tile(x: Tensor, repetitions: int | Sequence[int], *more: int) -> Tensor:
    """x laid out several times along each axis; the numbers as one tuple or one by one."""
    return shaping_rows.tile(x, repetitions, *more)
    # </gen tile 24u5upcziyfaepr>


# <gen roll>
def roll(x: Tensor, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Tensor:
    """Elements moved along axes; what leaves at the end enters at the start."""
    return shaping_rows.roll(x, shift, axis)
    # </gen roll hrpz3crulgel6o4>


# <gen rot90>
def rot90(x: Tensor, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """Turned by k quarters in the plane of two axes, from the first towards the second."""
    return shaping_rows.rot90(x, k, axes)
    # </gen rot90 kxzgr4k5k77m6rd>


# <gen as_strided>
def as_strided(
    x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0
) -> Tensor:
    """Elements of flattened x: index times stride, plus an offset, says which one stands there."""
    return shaping_rows.as_strided(x, size, stride, storage_offset)
    # </gen as_strided hohyxf6dg5q76qki2yu4nxbad>


# <gen tril>
def tril(x: Tensor, k: int = 0) -> Tensor:
    """The last two axes' elements up to the k-th diagonal, 0 above it."""
    return shaping_rows.tril(x, k)
    # </gen tril xvswuilekxby3jq>


# <gen triu>
def triu(x: Tensor, k: int = 0) -> Tensor:
    """The last two axes' elements from the k-th diagonal on, 0 below it."""
    return shaping_rows.triu(x, k)
    # </gen triu lkeq5kahipblcqj>


# <gen diagonal>
def diagonal(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The elements of a diagonal of two axes, as a last axis."""
    return shaping_rows.diagonal(x, offset, axis1, axis2)
    # </gen diagonal if7n3vgzb23wslr>


# <gen trace>
def trace(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The sum of a diagonal of two axes."""
    return shaping_rows.trace(x, offset, axis1, axis2)
    # </gen trace xub6v5mjib653tp>


# <gen diag>
def diag(x: Tensor, k: int = 0) -> Tensor:
    """The k-th diagonal of a matrix, or the matrix with a vector there."""
    return shaping_rows.diag(x, k)
    # </gen diag y7pi6q2ikql6brf>


# <gen stft>
def stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """Spectra of n_fft elements every hop_length (a quarter of that): (..., frequency, frame).

    A window, of ones unless one is given, lies in their middle. center: the first frame is about
    the first element, and pad_mode continues the signal. normalized: over the root of n_fft.
    Half of each spectrum unless x is complex; complex unless return_complex is False.
    """
    return short_time_rows.stft(
        x,
        n_fft,
        hop_length,
        win_length,
        window,
        center,
        pad_mode,
        normalized,
        onesided,
        return_complex,
    )
    # <sums 55xyrelnnvx4bvuagqu6k2ddsm7a7qn7nnixkmmwqbz45w46x3zmh2zq76qkhtnyzpvsmkenunoxswlg>
    # </gen stft uotvluqcdkuvmq5vu4wzaplmaiwxoe6fz4eezqdqhol3rydaorxgv4jy6ch333i5fvzsie>


# <gen istft>
def istft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose stft with the same options is x, or is nearest to it.

    Frames are added up under the window and divided by the sum of its squares, which is NaN where
    no window reaches. length: of the signal, which the frames do not tell exactly.
    """
    return short_time_rows.istft(
        x,
        n_fft,
        hop_length,
        win_length,
        window,
        center,
        normalized,
        onesided,
        length,
        return_complex,
    )
    # <sums a6zjlelnnvx4bvuagqu6k2ddsm7a7qn7nniqbz45w46x3wdcuy2hb6lq76qkwnixzpvsmkp6tv4guxly>
    # </gen istft uqcdkkxotwvu4wzaplmaiwxoe6fz4eezqdqhol3rxgv4jy6ch34z4x233i5fvzsie>


# <gen erfc>
def erfc(x: Tensor) -> Tensor:
    """1 - erf(x), accurate where that is small."""
    return special_rows.erfc(x)
    # </gen erfc jvrvk33xnc46xee>


# <gen erfinv>
def erfinv(x: Tensor) -> Tensor:
    """The y for which erf(y) is x."""
    return special_rows.erfinv(x)
    # </gen erfinv x3dxqfeperhmjvs>


# <gen lgamma>
def lgamma(x: Tensor) -> Tensor:
    """log(|gamma(x)|), infinite at 0 and the negative integers."""
    return special_rows.lgamma(x)
    # </gen lgamma zzoynp2cnvmimos>


# <gen digamma>
def digamma(x: Tensor) -> Tensor:
    """The derivative of lgamma."""
    return special_rows.digamma(x)
    # </gen digamma zvzedrujalokpxt>


# <gen nansum>
def nansum(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Sum of the elements along axes that are not NaN."""
    return statistics_rows.nansum(x, axis, keepdims)
    # </gen nansum vdgba775w5wceox>


# <gen nanmean>
def nanmean(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Mean of the elements along axes that are not NaN; NaN if there are none."""
    return statistics_rows.nanmean(x, axis, keepdims)
    # </gen nanmean 5uzpwloracv4o6r>


# <gen nanmedian>
def nanmedian(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The middle of the elements along axes that are not NaN, or the mean of the two there."""
    return statistics_rows.nanmedian(x, axis, keepdims)
    # </gen nanmedian i44tsphe7j2s2xn>


# <gen nanquantile>
def nanquantile(
    x: Tensor,
    q: float | tuple[float, ...],
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    interpolation: str = "linear",
) -> Tensor:
    """quantile of the elements along axes that are not NaN; NaN if there are none."""
    return statistics_rows.nanquantile(x, q, axis, keepdims, interpolation)
    # </gen nanquantile di6pzelnnvjk4lrpc4c3kg6swsizndq76qkoy2e46lemj>


# <gen aminmax>
def aminmax(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Extremes:
    """(smallest, largest) element along axes; NaN if there is one."""
    return statistics_rows.aminmax(x, axis, keepdims)
    # </gen aminmax vrvum2jhght6okc>


# <gen var_mean>
def var_mean(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    correction: float = 1,
) -> tuple[Tensor, Tensor]:
    """(variance, mean) along axes; squares are divided by (count - correction).

    The correction is 1, as in PyTorch, which alone has this function; that of var is 0.
    """
    return statistics_rows.var_mean(x, axis, keepdims, correction)
    # </gen var_mean k6hr3elnnvpc4c3kg6swbhkjjikppo72vbxpvsmkhprdsuqcdkega2f>


# <gen std_mean>
def std_mean(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    correction: float = 1,
) -> tuple[Tensor, Tensor]:
    """(standard deviation, mean) along axes; squares are divided by (count - correction).

    The correction is 1, as in PyTorch, which alone has this function; that of std is 0.
    """
    return statistics_rows.std_mean(x, axis, keepdims, correction)
    # </gen std_mean d7cnaelnnvpc4c3kg6swbhkjjikppoewqlspvsmkouijzuqcdk5nhql>


# <gen kthvalue>
def kthvalue(x: Tensor, k: int, axis: int = -1, keepdims: bool = False) -> Found:
    """(values, indices) of the k-th smallest element along an axis, counted from 1."""
    return statistics_rows.kthvalue(x, k, axis, keepdims)
    # </gen kthvalue gxkltwv467gkedf>


# <gen mode>
def mode(x: Tensor, axis: int = -1, keepdims: bool = False) -> Found:
    """(values, indices) of the most frequent element along an axis: the least, where it last is."""
    return statistics_rows.mode(x, axis, keepdims)
    # </gen mode cpgxig4jdwji4at>


# <gen msort>
def msort(x: Tensor) -> Tensor:
    """The elements in order along the first axis."""
    return statistics_rows.msort(x)
    # </gen msort pjgfpq6gjdaq2dh>


# <gen prod>
def prod(
    x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False, dtype: Any = None
) -> Tensor:
    """Product of the elements along axes."""
    return totals_rows.prod_(x, axis, keepdims, dtype)
    # </gen prod gj5a243jvwq76qkmup3yultwm>


# <gen count_nonzero>
def count_nonzero(
    x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """How many elements along axes are not 0."""
    return totals_rows.count_nonzero(x, axis, keepdims)
    # </gen count_nonzero hthazks2m3q76qksuitzz7dwj>


# <gen any>
def any(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Is an element along axes not 0?"""
    return totals_rows.any_(x, axis, keepdims)
    # </gen any mbuv7nglomfifjc>


# <gen all>
def all(x: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Is no element along axes 0?"""
    return totals_rows.all_(x, axis, keepdims)
    # </gen all sdgcgsxpcw7fx5z>


# <gen std>
def std(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    correction: float = 0,
) -> Tensor:
    """Standard deviation along axes: the root of the variance; flat where all are equal."""
    return totals_rows.std(x, axis, keepdims, correction)
    # </gen std h4hkielnnvpc4c3kg6swugucqq76qknlx5bwp5qq>


# <gen norm>
def norm(
    x: Tensor, ord: float = 2, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """(sum |x|**ord)**(1/ord) along axes; inf and -inf give the largest and smallest, 0 a count.

    Zeros have a gradient of 0, also below ord 1, where their powers are steep.
    """
    return totals_rows.norm(x, ord, axis, keepdims)
    # </gen norm wnub5z635zq76qkah25upvsmkrz65uuqcdkqsun7>


# <gen windows>
def windows(
    x: Tensor,
    sizes: Sequence[int],
    strides: int | Sequence[int] = 1,
    dilations: int | Sequence[int] = 1,
    edges: Sequence[tuple[int, int]] = (),
    value: float = 0,
) -> Tensor:
    """Windows over the last axes of x: (..., *sizes, *number of windows).

    strides lie between windows, dilations between the elements of one. edges are (before, after)
    for each axis, filled with value; negative ones cut off.
    """
    return windows_rows.windows(x, sizes, strides, dilations, edges, value)
    # </gen windows f6vjzelnnvr5fbqpccxctk5u6big7lksz3uq76qktmnzhpvsmk3akfld3imyuqcdkc344v>


# <gen fold>
def fold(
    x: Tensor,
    sizes: Sequence[int],
    strides: int | Sequence[int] = 1,
    dilations: int | Sequence[int] = 1,
    starts: int | Sequence[int] = 0,
) -> Tensor:
    """Windows laid back and added up where they meet: the transpose of `windows`.

    x is (..., *windows' sizes, *number of windows), the result (..., *sizes) from starts on.
    """
    return windows_rows.fold(x, sizes, strides, dilations, starts)
    # </gen fold ujh4zelnnvr5fbqpccxctk5u675trpq76qk6d2ocpvsmkfas2nuqcdkljjbe>


# <gen unfold>
def unfold(x: Tensor, axis: int = -1, size: int = 1, step: int = 1, dilation: int = 1) -> Tensor:
    """Windows of size elements along an axis, step apart, as a new last axis.

    Elements of a window are dilation apart.
    """
    return windows_rows.unfold(x, axis, size, step, dilation)
    # </gen unfold ilnk6rbqivpvsmkybqjfuqcdkjj2z3>


# <gen index_copy>
def index_copy(x: Tensor, index: Tensor, values: Tensor, axis: int = 0) -> Tensor:
    """x with slices of values in place of those at indices along an axis."""
    return writing_rows.index_copy(x, index, values, axis)
    # </gen index_copy ip6s4wrb36rpjjy>


# <gen index_fill>
def index_fill(x: Tensor, index: Tensor, value: Any, axis: int = 0) -> Tensor:
    """x with a value, a number or a 0-d tensor, in the slices at indices along an axis."""
    return writing_rows.index_fill(x, index, value, axis)
    # </gen index_fill uzqynvlbr4tmcuz>


# <gen index_put>
def index_put(
    x: Tensor, indices: Tensor | Sequence[Tensor], values: Tensor | float, accumulate: bool = False
) -> Tensor:
    """x with values at indices: a tuple of tensors, one for each of the first axes, or a mask.

    accumulate: values are added to what is there, and to each other where indices meet.

    >>> import treadle as td
    >>> x, i, j = td.zeros(2, 3), td.tensor([0, 1, 1]), td.tensor([2, 0, 0])
    >>> td.index_put(x, (i, j), td.ones(3), accumulate=True).tolist()
    [[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]
    """
    return writing_rows.index_put(x, indices, values, accumulate)
    # </gen index_put qxedbuqlorq76qkocr6jpvsmkb4tlvpvsmkymuw3apw7eejha72dyetuqcdkxemjh>


# <gen masked_scatter>
def masked_scatter(x: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    """x with the elements of values, one after the other, where mask is true."""
    return writing_rows.masked_scatter(x, mask, values)
    # </gen masked_scatter s4l5xvpbmbf7k7m>


# <gen zeta>
def zeta(x: Tensor | float, q: Tensor | float) -> Tensor:
    """The sum of 1 / (k + q)**x over k = 0, 1, 2, ... (Hurwitz's zeta function), for x > 1.

    At q of 0 and the negative integers it is infinite; between them x must be whole. Below q of -12
    it is NaN.

    >>> import treadle as td
    >>> round(td.zeta(td.tensor(2.0), 1.0).item(), 4)
    1.6449
    """
    return zetas_rows.zeta(x, q)
    # </gen zeta i3a43noz6ipvsmkisl3vkrxgrpvsmkymuw3jbwqze7menuqcdkucemj>


# <gen polygamma>
def polygamma(x: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma; n and x may be given in either order.

    >>> import treadle as td
    >>> round(td.polygamma(1, td.tensor(1.0)).item(), 4)
    1.6449
    """
    return zetas_rows.polygamma(x, n)
    # </gen polygamma qzwowy3fzkpvsmkymuw3c3jree7menuqcdkvwu7o>


# <gen mvlgamma>
def mvlgamma(x: Tensor, p: int) -> Tensor:
    """The logarithm of the gamma function of p dimensions, for x above (p - 1) / 2; else NaN."""
    return zetas_rows.mvlgamma(x, p)
    # </gen mvlgamma otzikr7iwhopmi3>


# <gen aliases>
clamp = clip
reshape_as = view_as
index_select = take
negative = neg
absolute = abs
arctan = atan
fix = trunc
subtract = sub
multiply = mul
divide = div
true_divide = div
equal = eq
not_equal = ne
less = lt
less_equal = le
greater = gt
greater_equal = ge
bitwise_left_shift = shift_left
bitwise_right_shift = shift_right
row_stack = vstack
unbind = unstack
repeat_interleave = repeat
view = reshape
permute_dims = permute
broadcast_to = expand
cat = concat
concatenate = concat
trapz = trapezoid
sgn = sign
arcsin = asin
arccos = acos
arctan2 = atan2
arcsinh = asinh
arccosh = acosh
arctanh = atanh
bitwise_invert = bitwise_not
ger = outer
amax = max
amin = min
unique_values = unique
ravel = flatten
expand_dims = unsqueeze
swapaxes = transpose
swapdims = transpose
moveaxis = movedim
broadcast_tensors = broadcast_arrays
vector_norm = norm
# <sums iyfy6b2spm7clnuup7vybwwtbrgunl7qeorubj5hfw6stwz5a4zxevjnrwpky6fysd5uph72kj33g3rt>
# <sums fwo2is2aqriyfo6erafxnp7mi5gtnla7wo34cera3ff7vruizo43rwlfjcmxlrnoacglu3xoashybxmp>
# </gen aliases 4o6fig7kwz65alfovinah7byup724haa4d74umgc6c5h5winioafwz7fxpaij2zar6ori3vybpo>
