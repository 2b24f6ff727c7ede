"""The ops of the table as typed functions."""

from __future__ import annotations

# <gen imports>
from collections.abc import Sequence
from typing import Any, Unpack

from treadle.ops import activations as activations_rows
from treadle.ops import added as added_rows
from treadle.ops import arithmetic as arithmetic_rows
from treadle.ops import arranging as arranging_rows
from treadle.ops import bessel as bessel_rows
from treadle.ops import composite as composite_rows
from treadle.ops import contract as contract_rows
from treadle.ops import convolution as convolution_rows
from treadle.ops import counting as counting_rows
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
from treadle.ops.options import Scalar
from treadle.ops.sets import Counts, Inverse, Unique
from treadle.ops.statistics import Extremes, Found
from treadle.ops.words import Words, accept_words
from treadle.tensor.tensor import Tensor

# <sums tgj7fvpa25pvsmkymah2xvyiz3pewjo6m2y6drl2mgqqfu2vb2fgkn2p4srfevaalb32jdqe4bzutyoe>
# <sums 6n5dtgtzmx5mpujuqtos24poxtsidvn4cuynrbhmukhfknm4gyji6keu4tomikgbsoi2stkhhscwaxz4>
# <sums foj6wcdvqu7te2pmu6xuof2p55pkjfc3azhb7iyl7newb7i7vj2ul5zye67edyko43kgudva52cduigd>
# </gen imports gsbpwcpsn7otixypvsmk>


# <gen relu>
def relu(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """x where positive, else 0."""
    if words:
        return activations_rows.relu(x, **words)
    return activations_rows.relu(x)
    # </gen relu qnttoz5s3rmusmv44lle5mqks>


# <gen hardtanh>
def hardtanh(
    x: Tensor, min_val: float = -1.0, max_val: float = 1.0, **words: Unpack[Words]
) -> Tensor:
    """x kept within [min_val, max_val]."""
    if words:
        return activations_rows.hardtanh(x, min_val, max_val, **words)
    return activations_rows.hardtanh(x, min_val, max_val)
    # </gen hardtanh tb6cplj6ssq76qkoxcocmusmvlgxjxjvthz>


# <gen relu6>
def relu6(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """x kept within [0, 6]."""
    if words:
        return activations_rows.relu6(x, **words)
    return activations_rows.relu6(x)
    # </gen relu6 5ujn2wub2umusmvfdla5pmwtx>


# <gen leaky_relu>
def leaky_relu(x: Tensor, negative_slope: float = 0.01, **words: Unpack[Words]) -> Tensor:
    """x where positive, else a fraction of it."""
    if words:
        return activations_rows.leaky_relu(x, negative_slope, **words)
    return activations_rows.leaky_relu(x, negative_slope)
    # </gen leaky_relu exlrrjgeytmusmvvuhbdtttnp>


# <gen prelu>
def prelu(x: Tensor, weight: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x where positive, else weight times x; there is one weight, or one a channel (axis 1)."""
    if words:
        return activations_rows.prelu(x, weight, **words)
    return activations_rows.prelu(x, weight)
    # </gen prelu 2vegcwuettmusmvwzkrgnyi2x>


# <gen threshold>
def threshold(x: Tensor, threshold: float, value: float, **words: Any) -> Tensor:
    """x where it is above the threshold, else the value."""
    if words:
        return activations_rows.threshold(x, threshold, value, **words)
    return activations_rows.threshold(x, threshold, value)
    # </gen threshold panyt6b5b4musmvn74xthe5ba>


# <gen hardshrink>
def hardshrink(x: Tensor, lambd: float = 0.5, **words: Unpack[Words]) -> Tensor:
    """x, or 0 where it is within lambd of 0."""
    if words:
        return activations_rows.hardshrink(x, lambd, **words)
    return activations_rows.hardshrink(x, lambd)
    # </gen hardshrink idlwjqzadrmusmve3htusjcqa>


# <gen softshrink>
def softshrink(x: Tensor, lambd: float = 0.5, **words: Unpack[Words]) -> Tensor:
    """x moved towards 0 by lambd, which is not negative."""
    if words:
        return activations_rows.softshrink(x, lambd, **words)
    return activations_rows.softshrink(x, lambd)
    # </gen softshrink yyasspyb2tmusmvsvma7kttza>


# <gen hardsigmoid>
def hardsigmoid(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """A sigmoid of three straight pieces: x / 6 + 1/2, kept within [0, 1]."""
    if words:
        return activations_rows.hardsigmoid(x, **words)
    return activations_rows.hardsigmoid(x)
    # </gen hardsigmoid xhxammrnfnmusmv4ot2ezdfsz>


# <gen hardswish>
def hardswish(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """x times hardsigmoid(x)."""
    if words:
        return activations_rows.hardswish(x, **words)
    return activations_rows.hardswish(x)
    # </gen hardswish demqyacbacmusmv2c3tgswheh>


# <gen silu>
def silu(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """x times sigmoid(x)."""
    if words:
        return activations_rows.silu(x, **words)
    return activations_rows.silu(x)
    # </gen silu kfr77pqozzmusmvlhtetcy4hd>


# <gen gelu>
def gelu(x: Tensor, approximate: str = "none", **words: Unpack[Words]) -> Tensor:
    """x times the normal distribution function of x; approximate="tanh" uses a cheaper form."""
    if words:
        return activations_rows.gelu(x, approximate, **words)
    return activations_rows.gelu(x, approximate)
    # </gen gelu u6url2aq3lmusmvdlchilyrv3>


# <gen elu>
def elu(x: Tensor, alpha: float = 1.0, **words: Any) -> Tensor:
    """x where positive, else alpha * (exp(x) - 1)."""
    if words:
        return activations_rows.elu(x, alpha, **words)
    return activations_rows.elu(x, alpha)
    # </gen elu u6r55fwhedmusmvxvmbrnzs5l>


# <gen celu>
def celu(x: Tensor, alpha: float = 1.0, **words: Any) -> Tensor:
    """x where positive, else alpha * (exp(x / alpha) - 1)."""
    if words:
        return activations_rows.celu(x, alpha, **words)
    return activations_rows.celu(x, alpha)
    # </gen celu 7ipz6tqxrgmusmvybhp6k75vz>


# <gen selu>
def selu(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """elu with the alpha and scale that keep mean 0 and variance 1 from layer to layer."""
    if words:
        return activations_rows.selu(x, **words)
    return activations_rows.selu(x)
    # </gen selu yyui7mbcwhmusmv7ztelqbdxx>


# <gen mish>
def mish(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """x times tanh(softplus(x))."""
    if words:
        return activations_rows.mish(x, **words)
    return activations_rows.mish(x)
    # </gen mish va4ij3a4lmmusmvasmubrexzt>


# <gen logsigmoid>
def logsigmoid(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """log(sigmoid(x)) without overflow."""
    if words:
        return activations_rows.logsigmoid(x, **words)
    return activations_rows.logsigmoid(x)
    # </gen logsigmoid a3s63kduqtmusmvpon2mnl2dp>


# <gen softplus>
def softplus(
    x: Tensor, beta: float = 1.0, threshold: float = 20.0, **words: Unpack[Words]
) -> Tensor:
    """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""
    if words:
        return activations_rows.softplus(x, beta, threshold, **words)
    return activations_rows.softplus(x, beta, threshold)
    # </gen softplus blndgwlltsq76qkgbbf6musmvjvx6wzm3hr>


# <gen softsign>
def softsign(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """x / (1 + |x|)."""
    if words:
        return activations_rows.softsign(x, **words)
    return activations_rows.softsign(x)
    # </gen softsign yafb3v5sndmusmvez3z2cplky>


# <gen tanhshrink>
def tanhshrink(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """x - tanh(x)."""
    if words:
        return activations_rows.tanhshrink(x, **words)
    return activations_rows.tanhshrink(x)
    # </gen tanhshrink 5v5t32mwopmusmv53pixtft3y>


# <gen glu>
def glu(x: Tensor, axis: int = -1, **words: Unpack[Words]) -> Tensor:
    """The first half of an axis times the sigmoid of the second."""
    if words:
        return activations_rows.glu(x, axis, **words)
    return activations_rows.glu(x, axis)
    # </gen glu 7zfwj3veprmusmvcrvh5dvvoc>


# <gen mm>
def mm(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """A matrix times a matrix."""
    if words:
        return added_rows.mm(a, b, **words)
    return added_rows.mm(a, b)
    # </gen mm m4shx5g4bsmusmvphntcsr43g>


# <gen addmm>
def addmm(
    x: Tensor, a: Tensor, b: Tensor, beta: Scalar = 1, alpha: Scalar = 1, **words: Any
) -> Tensor:
    """beta * x + alpha * (a matrix times a matrix); x broadcasts to it.

    With a beta of 0 x is not looked at, whatever is in it.
    """
    if words:
        return added_rows.addmm(x, a, b, beta, alpha, **words)
    return added_rows.addmm(x, a, b, beta, alpha)
    # </gen addmm etmkhgzrcjq76qk5vhh5pvsmkzkxznuqcdkmusmvhcsjbuahf6>


# <gen addmv>
def addmv(
    x: Tensor, a: Tensor, b: Tensor, beta: Scalar = 1, alpha: Scalar = 1, **words: Any
) -> Tensor:
    """beta * x + alpha * (a matrix times a vector); x broadcasts to it.

    With a beta of 0 x is not looked at, whatever is in it.
    """
    if words:
        return added_rows.addmv(x, a, b, beta, alpha, **words)
    return added_rows.addmv(x, a, b, beta, alpha)
    # </gen addmv cwzcugzrcjq76qkfoocopvsmkzkxznuqcdkmusmvgfuigjq5yg>


# <gen addr>
def addr(
    x: Tensor, a: Tensor, b: Tensor, beta: Scalar = 1, alpha: Scalar = 1, **words: Any
) -> Tensor:
    """beta * x + alpha * (every element of a vector times every one of another); x broadcasts to
    it.

    With a beta of 0 x is not looked at, whatever is in it.
    """
    if words:
        return added_rows.addr(x, a, b, beta, alpha, **words)
    return added_rows.addr(x, a, b, beta, alpha)
    # </gen addr r3v4dgzrcjq76qkmx3czievn3pvsmkzkxznuqcdkmusmvxxvdar3gyf>


# <gen baddbmm>
def baddbmm(
    x: Tensor, a: Tensor, b: Tensor, beta: Scalar = 1, alpha: Scalar = 1, **words: Any
) -> Tensor:
    """beta * x + alpha * (a batch of matrices times another); x broadcasts to it.

    With a beta of 0 x is not looked at, whatever is in it.
    """
    if words:
        return added_rows.baddbmm(x, a, b, beta, alpha, **words)
    return added_rows.baddbmm(x, a, b, beta, alpha)
    # </gen baddbmm efsuwgzrcjq76qkdix4fpvsmkzkxznuqcdkmusmvnxjxdwquhp>


# <gen addbmm>
def addbmm(
    x: Tensor, a: Tensor, b: Tensor, beta: Scalar = 1, alpha: Scalar = 1, **words: Any
) -> Tensor:
    """beta * x + alpha * (the sum of a batch of products of matrices); x broadcasts to it.

    With a beta of 0 x is not looked at, whatever is in it.
    """
    if words:
        return added_rows.addbmm(x, a, b, beta, alpha, **words)
    return added_rows.addbmm(x, a, b, beta, alpha)
    # </gen addbmm frx3kgzrcjq76qkewg5cpvsmkzkxznuqcdkmusmvtylnpxjfmz>


# <gen addcmul>
def addcmul(x: Tensor, a: Tensor | float, b: Tensor, value: Scalar = 1, **words: Any) -> Tensor:
    """x + value * a * b."""
    if words:
        return added_rows.addcmul(x, a, b, value, **words)
    return added_rows.addcmul(x, a, b, value)
    # </gen addcmul h5tnkhve4smusmvrmeecczcog>


# <gen addcdiv>
def addcdiv(x: Tensor, a: Tensor | float, b: Tensor, value: Scalar = 1, **words: Any) -> Tensor:
    """x + value * a / b, a float."""
    if words:
        return added_rows.addcdiv(x, a, b, value, **words)
    return added_rows.addcdiv(x, a, b, value)
    # </gen addcdiv zlrgzqck7smusmvs2crbpfnfy>


# <gen chain_matmul>
def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of several matrices, multiplied in the order that takes fewest operations."""
    return added_rows.chain_matmul(*matrices)
    # </gen chain_matmul 2toit3kjyzdgix2>


# <gen cross>
def cross(a: Tensor, b: Tensor, axis: int = -1, **words: Unpack[Words]) -> Tensor:
    """The vector at right angles to two of three elements along an axis; the others broadcast."""
    if words:
        return added_rows.cross(a, b, axis, **words)
    return added_rows.cross(a, b, axis)
    # </gen cross oisnrziw5lmusmv7k7w3oodnx>


# <gen logit>
def logit(x: Tensor, eps: float | None = None, **words: Unpack[Words]) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; eps: x is kept within [eps, 1 - eps].

    >>> import treadle as td
    >>> td.logit(td.tensor([0.5, 1.0])).tolist()
    [0.0, inf]
    """
    if words:
        return arithmetic_rows.logit(x, eps, **words)
    return arithmetic_rows.logit(x, eps)
    # </gen logit lub7ig7vrvpvsmkymuw3bl24cdbfq5uqcdkmusmvblo4vso4em>


# <gen xlogy>
def xlogy(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x * log(y), and 0 where x is 0, unless y is NaN."""
    if words:
        return arithmetic_rows.xlogy(x, y, **words)
    return arithmetic_rows.xlogy(x, y)
    # </gen xlogy 4xi67q4zyemusmvoxn4635nih>


# <gen xlog1py>
def xlog1py(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x * log1p(y), and 0 where x is 0, unless y is NaN."""
    if words:
        return arithmetic_rows.xlog1py(x, y, **words)
    return arithmetic_rows.xlog1py(x, y)
    # </gen xlog1py cw25tzgz62musmvekcdb75zh6>


# <gen logaddexp2>
def logaddexp2(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """log2(2**x + 2**y) without overflow."""
    if words:
        return arithmetic_rows.logaddexp2(x, y, **words)
    return arithmetic_rows.logaddexp2(x, y)
    # </gen logaddexp2 ckvvsa454smusmv3g6ksfyien>


# <gen frac>
def frac(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """What a number has behind its point, with its sign: x - trunc(x)."""
    if words:
        return arithmetic_rows.frac(x, **words)
    return arithmetic_rows.frac(x)
    # </gen frac blf56wi5nqmusmvsmiju6gijw>


# <gen heaviside>
def heaviside(x: Tensor | float, values: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """0 where x is negative, 1 where it is positive, values where it is 0; NaN where x is."""
    if words:
        return arithmetic_rows.heaviside(x, values, **words)
    return arithmetic_rows.heaviside(x, values)
    # </gen heaviside rxefl43j2bmusmv7oocxzdmur>


# <gen clamp_min>
def clamp_min(x: Tensor, min: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x where it is above min, a number or a tensor, else min."""
    if words:
        return arithmetic_rows.clamp_min(x, min, **words)
    return arithmetic_rows.clamp_min(x, min)
    # </gen clamp_min iwpx7untubmusmvdk7kdye3co>


# <gen clamp_max>
def clamp_max(x: Tensor, max: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x where it is below max, a number or a tensor, else max."""
    if words:
        return arithmetic_rows.clamp_max(x, max, **words)
    return arithmetic_rows.clamp_max(x, max)
    # </gen clamp_max lmemq4ly53musmvpp2cd3o4b6>


# <gen isposinf>
def isposinf(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """True where x is positive infinity."""
    if words:
        return arithmetic_rows.isposinf(x, **words)
    return arithmetic_rows.isposinf(x)
    # </gen isposinf 5xq7tpwv6fmusmvzhlkunwrty>


# <gen isneginf>
def isneginf(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """True where x is negative infinity."""
    if words:
        return arithmetic_rows.isneginf(x, **words)
    return arithmetic_rows.isneginf(x)
    # </gen isneginf 6fuqv43jhrmusmvluhji347hg>


# <gen deg2rad>
def deg2rad(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Degrees as radians."""
    if words:
        return arithmetic_rows.deg2rad(x, **words)
    return arithmetic_rows.deg2rad(x)
    # </gen deg2rad xty22yqy4cmusmvds3zibzbmc>


# <gen rad2deg>
def rad2deg(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Radians as degrees."""
    if words:
        return arithmetic_rows.rad2deg(x, **words)
    return arithmetic_rows.rad2deg(x)
    # </gen rad2deg ldljkfs52vmusmv7a5ffko44q>


# <gen sinc>
def sinc(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0 and exactly 0 at the other integers."""
    if words:
        return arithmetic_rows.sinc(x, **words)
    return arithmetic_rows.sinc(x)
    # </gen sinc pfdzx5hp3omusmvng3qa64wkl>


# <gen ldexp>
def ldexp(x: Tensor | float, other: Tensor | float, **words: Any) -> Tensor:
    """x times 2 to the power other: a float; exact for whole powers, but where it underflows."""
    if words:
        return arithmetic_rows.ldexp(x, other, **words)
    return arithmetic_rows.ldexp(x, other)
    # </gen ldexp nfakj5iwihmusmvtzlhtblfvl>


# <gen frexp>
def frexp(x: Tensor, **words: Unpack[Words]) -> Parts:
    """(mantissa, exponent): x as mantissa * 2**exponent, with a mantissa in [0.5, 1), or 0.

    >>> import treadle as td
    >>> [part.tolist() for part in td.frexp(td.tensor([10.0, -0.25]))]
    [[0.625, -0.5], [4, -1]]
    """
    if words:
        return arithmetic_rows.frexp(x, **words)
    return arithmetic_rows.frexp(x)
    # </gen frexp 5cbnbs6nvrpvsmkymuw3fhftp6rhtpuqcdkmusmvumzgf6iys6>


# <gen gcd>
def gcd(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The greatest common divisor of integers, not negative; gcd(0, y) is |y|.

    >>> import treadle as td
    >>> td.gcd(td.tensor([12, -9, 0]), 6).tolist()
    [6, 3, 6]
    """
    if words:
        return arithmetic_rows.gcd(x, y, **words)
    return arithmetic_rows.gcd(x, y)
    # </gen gcd qzp4frqu25pvsmkymuw3v3qktahzyjuqcdkmusmvqqj3waoatn>


# <gen lcm>
def lcm(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The least common multiple of integers, not negative; 0 if one is."""
    if words:
        return arithmetic_rows.lcm(x, y, **words)
    return arithmetic_rows.lcm(x, y)
    # </gen lcm h3lqwut3mimusmvaly3ukxnds>


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
def column_stack(tensors: Sequence[Tensor], **words: Unpack[Words]) -> Tensor:
    """Tensors beside each other along the second axis, a vector being a column."""
    if words:
        return arranging_rows.column_stack(tensors, **words)
    return arranging_rows.column_stack(tensors)
    # </gen column_stack sz2ck552hzmusmvzxpnw6u3c6>


# <gen expand_as>
def expand_as(x: Tensor, other: Tensor, **words: Any) -> Tensor:
    """x broadcast to the shape of another."""
    if words:
        return arranging_rows.expand_as(x, other, **words)
    return arranging_rows.expand_as(x, other)
    # </gen expand_as pbstsljwlpmusmvjb2stnoizr>


# <gen view_as>
def view_as(x: Tensor, other: Tensor | float, **words: Any) -> Tensor:
    """The elements of x under the shape of another."""
    if words:
        return arranging_rows.view_as(x, other, **words)
    return arranging_rows.view_as(x, other)
    # </gen view_as kspeewh55fmusmvcb32bglg5h>


# <gen fliplr>
def fliplr(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The order of the columns turned round: along axis 1."""
    if words:
        return arranging_rows.fliplr(x, **words)
    return arranging_rows.fliplr(x)
    # </gen fliplr 6frw6mhm3xmusmvffkp6t7rnm>


# <gen flipud>
def flipud(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The order of the rows turned round: along axis 0."""
    if words:
        return arranging_rows.flipud(x, **words)
    return arranging_rows.flipud(x)
    # </gen flipud dmxvhidp22musmvfuzbfbwov6>


# <gen take_along_dim>
def take_along_dim(
    x: Tensor, indices: Tensor, axis: int | None = None, **words: Unpack[Words]
) -> Tensor:
    """take_along_axis, or without an axis the elements of flattened x at flattened indices."""
    if words:
        return arranging_rows.take_along_dim(x, indices, axis, **words)
    return arranging_rows.take_along_dim(x, indices, axis)
    # </gen take_along_dim owrjiufthiq76qkzyxqdmusmvzoz3ywaccc>


# <gen diag_embed>
def diag_embed(
    x: Tensor, offset: int = 0, axis1: int = -2, axis2: int = -1, **words: Unpack[Words]
) -> Tensor:
    """The last axis as a diagonal of two axes of the result, zeros beside it."""
    if words:
        return arranging_rows.diag_embed(x, offset, axis1, axis2, **words)
    return arranging_rows.diag_embed(x, offset, axis1, axis2)
    # </gen diag_embed zc7jbzkmrxq76qkztdjbmusmv2qvnelitne>


# <gen diagflat>
def diagflat(x: Tensor, offset: int = 0, **words: Unpack[Words]) -> Tensor:
    """A matrix with the elements of x on a diagonal."""
    if words:
        return arranging_rows.diagflat(x, offset, **words)
    return arranging_rows.diagflat(x, offset)
    # </gen diagflat jdr62ewfe4musmvmxxxwtijmi>


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
def combinations(
    x: Tensor, r: int = 2, with_replacement: bool = False, **words: Unpack[Words]
) -> Tensor:
    """Every choice of r elements of a vector in their order, a row for each choice.

    with_replacement: an element may be chosen several times.
    """
    if words:
        return arranging_rows.combinations(x, r, with_replacement, **words)
    return arranging_rows.combinations(x, r, with_replacement)
    # </gen combinations krtyvybu2lq76qk2du2wpvsmkne7xcuqcdkmusmvspdaui7ihp>


# <gen vander>
def vander(
    x: Tensor, N: int | None = None, increasing: bool = False, **words: Unpack[Words]
) -> Tensor:
    """The powers of each element of a vector, a row for each: falling to 0, or rising from it.

    N: how many; as many as there are elements if left out.
    """
    if words:
        return arranging_rows.vander(x, N, increasing, **words)
    return arranging_rows.vander(x, N, increasing)
    # </gen vander f2r6bht6gtq76qk7oklrpvsmkwhgpzuqcdkmusmvcja3f6k2dq>


# <gen i0>
def i0(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
    if words:
        return bessel_rows.i0(x, **words)
    return bessel_rows.i0(x)
    # </gen i0 gl6p5q2ifdmusmvtedeqzanun>


# <gen i1>
def i1(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The modified Bessel function of the first kind, of order 1."""
    if words:
        return bessel_rows.i1(x, **words)
    return bessel_rows.i1(x)
    # </gen i1 rso73j2xrwmusmvqhrjn2c4dv>


# <gen i0e>
def i0e(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The modified Bessel function of the first kind, of order 0 times exp(-|x|)."""
    if words:
        return bessel_rows.i0e(x, **words)
    return bessel_rows.i0e(x)
    # </gen i0e yqplheeq2dmusmv5d5s2hciwa>


# <gen i1e>
def i1e(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The modified Bessel function of the first kind, of order 1 times exp(-|x|)."""
    if words:
        return bessel_rows.i1e(x, **words)
    return bessel_rows.i1e(x)
    # </gen i1e ktidw3lpjzmusmvf3nsr6fa2r>


# <gen clip>
def clip(
    x: Tensor,
    min: Tensor | float | None = None,
    max: Tensor | float | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """x kept within [min, max], numbers or tensors; either may be left out."""
    if words:
        return activations_rows.clip(x, min, max, **words)
    return activations_rows.clip(x, min, max)
    # </gen clip ivjnvelnnvm7r3vndnor6raroq76qk6pnbymusmvf3hk2kkhbt>


# <gen clamp>
def clamp(
    x: Tensor,
    min: Tensor | float | None = None,
    max: Tensor | float | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """clip, which asks for one bound at least."""
    if words:
        return activations_rows.clamp(x, min, max, **words)
    return activations_rows.clamp(x, min, max)
    # </gen clamp tjzzrelnnvm7r3vndnor6raroq76qkzj34smusmv7hmwvdvgse>


# <gen nan_to_num>
def nan_to_num(
    x: Tensor,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """x with numbers in place of NaN and infinities: by default 0 and the largest of the dtype."""
    if words:
        return activations_rows.nan_to_num(x, nan, posinf, neginf, **words)
    return activations_rows.nan_to_num(x, nan, posinf, neginf)
    # </gen nan_to_num piogfelnnv7tcfjul672ivx5s6raroq76qk7grw7musmvses6slqp6q>


# <gen mean>
def mean(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Arithmetic mean along axes."""
    if words:
        return composite_rows.mean(x, axis, keepdims, **words)
    return composite_rows.mean(x, axis, keepdims)
    # </gen mean qmhufelnnvpc4c3kg6sw6raroq76qke2mu6musmvm7kyixfhm7>


# <gen var>
def var(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    correction: float = 0,
    **words: Unpack[Words],
) -> Tensor:
    """Variance along axes: squared deviations over (count - correction); a float."""
    if words:
        return composite_rows.var(x, axis, keepdims, correction, **words)
    return composite_rows.var(x, axis, keepdims, correction)
    # </gen var mfrutelnnvpc4c3kg6swugucq6raroq76qkowqgtmusmvbzc5keaj47>


# <gen logsumexp>
def logsumexp(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """log(sum(exp(x))) along axes, without overflow."""
    if words:
        return composite_rows.logsumexp(x, axis, keepdims, **words)
    return composite_rows.logsumexp(x, axis, keepdims)
    # </gen logsumexp qhdzfelnnvpc4c3kg6sw6raroq76qkb37mumusmv3ys6l5uxrr>


# <gen argmax>
def argmax(
    x: Tensor, axis: int | None = None, keepdims: bool = False, **words: Unpack[Words]
) -> Tensor:
    """Index of the first largest element (of the flattened tensor if axis is None)."""
    if words:
        return composite_rows.argmax(x, axis, keepdims, **words)
    return composite_rows.argmax(x, axis, keepdims)
    # </gen argmax igyvczodc7q76qklp6qemusmv5sajgrg4wr>


# <gen argmin>
def argmin(
    x: Tensor, axis: int | None = None, keepdims: bool = False, **words: Unpack[Words]
) -> Tensor:
    """Index of the first smallest element (of the flattened tensor if axis is None)."""
    if words:
        return composite_rows.argmin(x, axis, keepdims, **words)
    return composite_rows.argmin(x, axis, keepdims)
    # </gen argmin ocx3qzodc7q76qkdvlqxmusmv3i7by7sl7q>


# <gen take>
def take(x: Tensor, indices: Tensor, axis: int | None = None, **words: Unpack[Words]) -> Tensor:
    """Slices of x at indices along an axis; elements of flattened x if none is named."""
    if words:
        return composite_rows.take(x, indices, axis, **words)
    return composite_rows.take(x, indices, axis)
    # </gen take ps2rnpo6jpmusmvxpffj5vj54>


# <gen matmul>
def matmul(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """Matrix product; vectors are rows on the left and columns on the right.

    Products of 8-bit integers are int32, those of 16-bit ones int64; wider ones wrap around.

    >>> import treadle as td
    >>> x = td.ones(300, dtype="int8")
    >>> (x @ x).item()
    300
    """
    if words:
        return composite_rows.matmul(a, b, **words)
    return composite_rows.matmul(a, b)
    # </gen matmul oaivkybqgupvsmk7mlyppvsmkymuw35k5cdq524g67nxtuqcdkmusmvx4hsjdltbb>


# <gen linear>
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, **words: Unpack[Words]) -> Tensor:
    """x times weight transposed, plus bias; weight is (out, in) as in PyTorch."""
    if words:
        return composite_rows.linear(x, weight, bias, **words)
    return composite_rows.linear(x, weight, bias)
    # </gen linear 35h6omg42imusmvhxexyi7plc>


# <gen matrix_product>
def matrix_product(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """Matrix product over the last two axes, broadcasting the others.

    Products of 8-bit integers add up in int32, those of 16-bit ones in int64, and the result is
    that; wider integers keep their type and wrap around.
    """
    if words:
        return contract_rows.matrix_product(a, b, **words)
    return contract_rows.matrix_product(a, b)
    # </gen matrix_product n5u26dlxhppvsmkb2ildx6r2kuqcdkmusmvzx6zsf2zym>


# <gen dot>
def dot(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """Sum of products of two vectors; of more axes, over the last of a and the last but one of b.

    Unlike matmul it pairs every row of a with every column of b; a 0-d operand scales.
    """
    if words:
        return products_rows.dot(a, b, **words)
    return products_rows.dot(a, b)
    # </gen dot 62hsqrogchpvsmkurzkeuqcdkmusmv2biv5d62i3>


# <gen inner>
def inner(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """Sums of products over the last axes of both; a 0-d operand scales."""
    if words:
        return products_rows.inner(a, b, **words)
    return products_rows.inner(a, b)
    # </gen inner nefmzecuwumusmvaw6wqdye4e>


# <gen outer>
def outer(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """Every element of a vector times every element of another."""
    if words:
        return products_rows.outer(a, b, **words)
    return products_rows.outer(a, b)
    # </gen outer nh4wprcqskmusmvto67rtydpx>


# <gen vecdot>
def vecdot(a: Tensor, b: Tensor, axis: int = -1, **words: Unpack[Words]) -> Tensor:
    """Sum of products along one axis of both; the others broadcast. Complex a is conjugated."""
    if words:
        return products_rows.vecdot(a, b, axis, **words)
    return products_rows.vecdot(a, b, axis)
    # </gen vecdot 4tgeqjwycemusmvtqxiofrgmy>


# <gen vdot>
def vdot(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """Sum of products of two vectors, of which a complex first one is conjugated."""
    if words:
        return products_rows.vdot(a, b, **words)
    return products_rows.vdot(a, b)
    # </gen vdot 5m7j7xc546musmv3xggcjsszx>


# <gen bmm>
def bmm(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """Matrix products of a batch: (batch, n, k) times (batch, k, m)."""
    if words:
        return products_rows.bmm(a, b, **words)
    return products_rows.bmm(a, b)
    # </gen bmm yp65f6nf3umusmvyrgtobjwan>


# <gen mv>
def mv(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """A matrix times a vector."""
    if words:
        return products_rows.mv(a, b, **words)
    return products_rows.mv(a, b)
    # </gen mv bd434doxhumusmvtpknocktax>


# <gen kron>
def kron(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """Every element of a times all of b, laid side by side (the Kronecker product)."""
    if words:
        return products_rows.kron(a, b, **words)
    return products_rows.kron(a, b)
    # </gen kron jgbpqxihkimusmvd5pozaldnk>


# <gen quantize>
def quantize(
    x: Tensor, scale: float, zero_point: int = 0, dtype: Any = "int8", **words: Any
) -> Tensor:
    """The nearest integer to x / scale + zero_point that the dtype holds.

    >>> import treadle as td
    >>> td.quantize(td.tensor([0.0, 0.26, 99.0]), scale=0.1).tolist()
    [0, 3, 127]
    """
    if words:
        return quantised_rows.quantize(x, scale, zero_point, dtype, **words)
    return quantised_rows.quantize(x, scale, zero_point, dtype)
    # </gen quantize zjdg63mvyeq76qk4asphpvsmkymuw3rdcqghbhhpuqcdkmusmvnctepdnuw2>


# <gen dequantize>
def dequantize(x: Tensor, scale: float, zero_point: int = 0, **words: Unpack[Words]) -> Tensor:
    """(x - zero_point) * scale: the float32 that integers made by quantize stand for.

    A float keeps its dtype, and gradients flow to it.

    >>> import treadle as td
    >>> td.dequantize(td.tensor([0, 3], dtype="int8"), scale=0.5).tolist()
    [0.0, 1.5]
    """
    if words:
        return quantised_rows.dequantize(x, scale, zero_point, **words)
    return quantised_rows.dequantize(x, scale, zero_point)
    # </gen dequantize qedrtblj5apvsmk4qqclpvsmkymuw3wwtsecchveuqcdkmusmvqjtgp6csvf>


# <gen gather>
def gather(x: Tensor, index: Tensor, axis: int, **words: Any) -> Tensor:
    """Elements at indices along an axis; negative indices count from the end.

    Indices out of range are refused if they are known at the call. Of those computed later, the
    nearest element is read, and no gradient flows to it.
    """
    if words:
        return contract_rows.gather(x, index, axis, **words)
    return contract_rows.gather(x, index, axis)
    # </gen gather dsfaufwo6bpvsmkqdbtqqgv3juqcdkmusmvkqc4s4x5gl>


# <gen scatter_add>
def scatter_add(base: Tensor, index: Tensor, values: Tensor, axis: int, **words: Any) -> Tensor:
    """base with values added at indices along an axis; narrow floats add up in float32."""
    if words:
        return contract_rows.scatter_add(base, index, values, axis, **words)
    return contract_rows.scatter_add(base, index, values, axis)
    # </gen scatter_add vcuyo4sxr4musmvqslolsyppu>


# <gen scatter>
def scatter(
    base: Tensor, index: Tensor, values: Tensor, axis: int, reduce: str | None = None, **words: Any
) -> Tensor:
    """base with values put at indices along an axis; the last one stays. reduce: add or
    multiply.
    """
    if words:
        return contract_rows.scatter(base, index, values, axis, reduce, **words)
    return contract_rows.scatter(base, index, values, axis, reduce)
    # </gen scatter isppnvgg22q76qkj4iszjao6tuqcdkmusmvuyy5mdsgux>


# <gen scatter_mul>
def scatter_mul(base: Tensor, index: Tensor, values: Tensor, axis: int, **words: Any) -> Tensor:
    """base multiplied by values at indices along an axis; narrow floats meet in float32."""
    if words:
        return contract_rows.scatter_mul(base, index, values, axis, **words)
    return contract_rows.scatter_mul(base, index, values, axis)
    # </gen scatter_mul pais7p57ucmusmvansgqaxr43>


# <gen scatter_max>
def scatter_max(base: Tensor, index: Tensor, values: Tensor, axis: int, **words: Any) -> Tensor:
    """The larger of base and the values at indices along an axis."""
    if words:
        return contract_rows.scatter_max(base, index, values, axis, **words)
    return contract_rows.scatter_max(base, index, values, axis)
    # </gen scatter_max wpzahrksswmusmvrfxvn6vh6g>


# <gen scatter_min>
def scatter_min(base: Tensor, index: Tensor, values: Tensor, axis: int, **words: Any) -> Tensor:
    """The smaller of base and the values at indices along an axis."""
    if words:
        return contract_rows.scatter_min(base, index, values, axis, **words)
    return contract_rows.scatter_min(base, index, values, axis)
    # </gen scatter_min nviljerotxmusmvfgltf245nt>


# <gen conv1d>
def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    **words: Unpack[Words],
) -> Tensor:
    """Cross-correlation over the last 1 axes of x with every kernel.

    x is (batch, channels, *spatial) or without batch, weight (outputs, channels / groups, *sizes);
    padding is a number, one for each axis, "same" or "valid".
    """
    if words:
        return convolution_rows.conv1d(x, weight, bias, stride, padding, dilation, groups, **words)
    return convolution_rows.conv1d(x, weight, bias, stride, padding, dilation, groups)
    # <sums q4qqyelnnvkq5sv6sl3uxyqv7zasvyqrsg6bgld46raroq76qkjyhgrpvsmktkusk564rluqcdkmusmv>
    # </gen conv1d tnsu437dy3>


# <gen conv2d>
def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    **words: Unpack[Words],
) -> Tensor:
    """Cross-correlation over the last 2 axes of x with every kernel.

    x is (batch, channels, *spatial) or without batch, weight (outputs, channels / groups, *sizes);
    padding is a number, one for each axis, "same" or "valid".
    """
    if words:
        return convolution_rows.conv2d(x, weight, bias, stride, padding, dilation, groups, **words)
    return convolution_rows.conv2d(x, weight, bias, stride, padding, dilation, groups)
    # <sums 5vawkelnnvkq5sv6sl3uxyqv7zasvyqrsg6bgld46raroq76qk4twlnpvsmktkusk564rluqcdkmusmv>
    # </gen conv2d c3il66vvg2>


# <gen conv3d>
def conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    **words: Unpack[Words],
) -> Tensor:
    """Cross-correlation over the last 3 axes of x with every kernel.

    x is (batch, channels, *spatial) or without batch, weight (outputs, channels / groups, *sizes);
    padding is a number, one for each axis, "same" or "valid".
    """
    if words:
        return convolution_rows.conv3d(x, weight, bias, stride, padding, dilation, groups, **words)
    return convolution_rows.conv3d(x, weight, bias, stride, padding, dilation, groups)
    # <sums xj75xelnnvkq5sv6sl3uxyqv7zasvyqrsg6bgld46raroq76qktdeimpvsmktkusk564rluqcdkmusmv>
    # </gen conv3d rfvjzmt52f>


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
    **words: Unpack[Words],
) -> Tensor:
    """Every element of x times every kernel, added up 1-d.

    The transpose of conv1d: weight is (channels, outputs / groups, *sizes); padding is cut
    off, output_padding put on at the end.
    """
    if words:
        return convolution_rows.conv_transpose1d(
            x, weight, bias, stride, padding, output_padding, groups, dilation, **words
        )
    return convolution_rows.conv_transpose1d(
        x, weight, bias, stride, padding, output_padding, groups, dilation
    )
    # <sums qdre5elnnvkq5sv6sl3uxyqv77czuhoxbisbgld4qrsg66raroq76qkhlqcipvsmksxdss>
    # </gen conv_transpose1d mx4neuqcdkmusmvqb2j5gpmyb7tujoxgzd5luuutvzsie>


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
    **words: Unpack[Words],
) -> Tensor:
    """Every element of x times every kernel, added up 2-d.

    The transpose of conv2d: weight is (channels, outputs / groups, *sizes); padding is cut
    off, output_padding put on at the end.
    """
    if words:
        return convolution_rows.conv_transpose2d(
            x, weight, bias, stride, padding, output_padding, groups, dilation, **words
        )
    return convolution_rows.conv_transpose2d(
        x, weight, bias, stride, padding, output_padding, groups, dilation
    )
    # <sums 237toelnnvkq5sv6sl3uxyqv77czuhoxbisbgld4qrsg66raroq76qk7ycjipvsmkrw4eg>
    # </gen conv_transpose2d mx4neuqcdkmusmv3um7kgpmyb7tujovtg4nluuutvzsie>


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
    **words: Unpack[Words],
) -> Tensor:
    """Every element of x times every kernel, added up 3-d.

    The transpose of conv3d: weight is (channels, outputs / groups, *sizes); padding is cut
    off, output_padding put on at the end.
    """
    if words:
        return convolution_rows.conv_transpose3d(
            x, weight, bias, stride, padding, output_padding, groups, dilation, **words
        )
    return convolution_rows.conv_transpose3d(
        x, weight, bias, stride, padding, output_padding, groups, dilation
    )
    # <sums ro2hnelnnvkq5sv6sl3uxyqv77czuhoxbisbgld4qrsg66raroq76qkzr7pqpvsmkp2mxp>
    # </gen conv_transpose3d mx4neuqcdkmusmvzlnrzgpmyb7tujolyk4nluuutvzsie>


# <gen dist>
def dist(a: Tensor, b: Tensor, p: float = 2.0, **words: Any) -> Tensor:
    """The p-norm of a - b: all elements together."""
    if words:
        return distances_rows.dist(a, b, p, **words)
    return distances_rows.dist(a, b, p)
    # </gen dist r4nkgevdf7musmvrvr4etktjb>


# <gen cdist>
def cdist(a: Tensor, b: Tensor, p: float = 2.0, **words: Any) -> Tensor:
    """The p-norms of the differences of every row of a and every row of b; a batch broadcasts.

    Differences are taken one by one, so near rows are told apart. Equal rows have a gradient of 0.
    """
    if words:
        return distances_rows.cdist(a, b, p, **words)
    return distances_rows.cdist(a, b, p)
    # </gen cdist sbvofq56xqpvsmk45frruqcdkmusmv43xx4uiao4>


# <gen renorm>
def renorm(x: Tensor, p: float, axis: int, maxnorm: float, **words: Any) -> Tensor:
    """x with the slices along an axis that are longer than maxnorm made as short; p-norms."""
    if words:
        return distances_rows.renorm(x, p, axis, maxnorm, **words)
    return distances_rows.renorm(x, p, axis, maxnorm)
    # </gen renorm cnllq4hoosmusmvohilce5brw>


# <gen cov>
def cov(
    x: Tensor,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
    correction: int = 1,
    **words: Unpack[Words],
) -> Tensor:
    """How variables, a row each, vary together: sums of products of deviations over the count.

    correction is taken off the count, fweights says how often each sample (column) is there, and
    aweights how much it counts. A vector is one variable; of one variable there is one number.
    """
    if words:
        return distances_rows.cov(x, fweights, aweights, correction, **words)
    return distances_rows.cov(x, fweights, aweights, correction)
    # </gen cov riut7elnnvjm7s6p3jzlppqw36raroq76qkf2hhppvsmkelqe5ojezmuqcdkmusmvjvtmip6b7d>


# <gen corrcoef>
def corrcoef(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The covariance of variables, a row each, over their deviations: from -1 to 1."""
    if words:
        return distances_rows.corrcoef(x, **words)
    return distances_rows.corrcoef(x)
    # </gen corrcoef enwtqp46lqmusmv4fsgucet6c>


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
def tensordot(
    a: Tensor, b: Tensor, axes: int | Sequence[Any] = 2, **words: Unpack[Words]
) -> Tensor:
    """Products summed over pairs of axes: the last of a with the first of b, or those named."""
    if words:
        return products_rows.tensordot(a, b, axes, **words)
    return products_rows.tensordot(a, b, axes)
    # </gen tensordot zgaugyuae3q76qkjxmpumusmvrcemcnqxwo>


# <gen neg>
def neg(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """-x."""
    if words:
        return elementwise_rows.neg(x, **words)
    return elementwise_rows.neg(x)
    # </gen neg hfah3f57oqmusmvy4rccnx3b5>


# <gen abs>
def abs(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """|x|; of a complex number a float."""
    if words:
        return elementwise_rows.abs_(x, **words)
    return elementwise_rows.abs_(x)
    # </gen abs w2ya5jeh3pmusmvu57mb3sigz>


# <gen exp>
def exp(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """e to the power x."""
    if words:
        return elementwise_rows.exp(x, **words)
    return elementwise_rows.exp(x)
    # </gen exp pot4kscbnomusmv7gyw7hdy44>


# <gen exp2>
def exp2(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """2 to the power x."""
    if words:
        return elementwise_rows.exp2(x, **words)
    return elementwise_rows.exp2(x)
    # </gen exp2 7ehd6a6wt7musmv46rfn6k3pc>


# <gen expm1>
def expm1(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """exp(x) - 1, accurate near 0."""
    if words:
        return elementwise_rows.expm1(x, **words)
    return elementwise_rows.expm1(x)
    # </gen expm1 hywijhp2pimusmv2zq3twzlmx>


# <gen log>
def log(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Natural logarithm."""
    if words:
        return elementwise_rows.log(x, **words)
    return elementwise_rows.log(x)
    # </gen log lsibhsjyidmusmvl5vtucivk6>


# <gen log2>
def log2(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Logarithm to base 2."""
    if words:
        return elementwise_rows.log2(x, **words)
    return elementwise_rows.log2(x)
    # </gen log2 3trq5u5373musmvdq32tceq7b>


# <gen log10>
def log10(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Logarithm to base 10."""
    if words:
        return elementwise_rows.log10(x, **words)
    return elementwise_rows.log10(x)
    # </gen log10 rfcv7drotxmusmvyrym22gyqt>


# <gen log1p>
def log1p(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """log(1 + x), accurate near 0."""
    if words:
        return elementwise_rows.log1p(x, **words)
    return elementwise_rows.log1p(x)
    # </gen log1p 2vsg7izx7amusmv7tvntmzi44>


# <gen sqrt>
def sqrt(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Square root."""
    if words:
        return elementwise_rows.sqrt(x, **words)
    return elementwise_rows.sqrt(x)
    # </gen sqrt fesfm3smpymusmvnwjdy6jq2q>


# <gen sin>
def sin(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Sine, in radians."""
    if words:
        return elementwise_rows.sin(x, **words)
    return elementwise_rows.sin(x)
    # </gen sin jqw4kc6ppdmusmv2hyykxnyuz>


# <gen cos>
def cos(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Cosine, in radians."""
    if words:
        return elementwise_rows.cos(x, **words)
    return elementwise_rows.cos(x)
    # </gen cos b62wkoftckmusmvskgeu7qvfi>


# <gen atan>
def atan(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Inverse tangent, in radians."""
    if words:
        return elementwise_rows.atan(x, **words)
    return elementwise_rows.atan(x)
    # </gen atan nvkr37xvzjmusmvtwam4fatdc>


# <gen tanh>
def tanh(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Hyperbolic tangent."""
    if words:
        return elementwise_rows.tanh(x, **words)
    return elementwise_rows.tanh(x)
    # </gen tanh 2gxziwkzogmusmv2btsiorosb>


# <gen sigmoid>
def sigmoid(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """1 / (1 + exp(-x))."""
    if words:
        return elementwise_rows.sigmoid(x, **words)
    return elementwise_rows.sigmoid(x)
    # </gen sigmoid scx4prqldwmusmvngx7rndudg>


# <gen erf>
def erf(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Error function."""
    if words:
        return elementwise_rows.erf(x, **words)
    return elementwise_rows.erf(x)
    # </gen erf uzow2fr53smusmvoe357asbff>


# <gen floor>
def floor(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Largest integer not above x."""
    if words:
        return elementwise_rows.floor(x, **words)
    return elementwise_rows.floor(x)
    # </gen floor 5s3glr4bcvmusmvzuhs6wffzd>


# <gen ceil>
def ceil(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Smallest integer not below x."""
    if words:
        return elementwise_rows.ceil(x, **words)
    return elementwise_rows.ceil(x)
    # </gen ceil cenzpb6q2vmusmv7uf7k5zj6m>


# <gen round>
def round(x: Tensor, decimals: int = 0, **words: Unpack[Words]) -> Tensor:
    """Nearest number of so many decimals, ties to the even one."""
    if words:
        return elementwise_rows.round_(x, decimals, **words)
    return elementwise_rows.round_(x, decimals)
    # </gen round lsusqarjkcmusmvi3ovzeril7>


# <gen trunc>
def trunc(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Nearest integer towards 0."""
    if words:
        return elementwise_rows.trunc(x, **words)
    return elementwise_rows.trunc(x)
    # </gen trunc 5otwq7lfvpmusmv2nlxxsmgz5>


# <gen add>
def add(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x + y; or, on bool."""
    if words:
        return elementwise_rows.add(x, y, **words)
    return elementwise_rows.add(x, y)
    # </gen add wcjwvyijjpmusmvflwwny4teg>


# <gen sub>
def sub(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x - y."""
    if words:
        return elementwise_rows.sub(x, y, **words)
    return elementwise_rows.sub(x, y)
    # </gen sub oqat52ymy2musmvynjr3hudyt>


# <gen mul>
def mul(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x * y; and, on bool."""
    if words:
        return elementwise_rows.mul(x, y, **words)
    return elementwise_rows.mul(x, y)
    # </gen mul ibsdphbfcamusmvvqzt4h2huv>


# <gen div>
def div(
    x: Tensor | float, y: Tensor | float, rounding_mode: str | None = None, **words: Unpack[Words]
) -> Tensor:
    """x / y, a float; rounding_mode 'floor' or 'trunc' rounds it and keeps integers."""
    if words:
        return elementwise_rows.div(x, y, rounding_mode, **words)
    return elementwise_rows.div(x, y, rounding_mode)
    # </gen div fapo2ibn32q76qkhytwrmusmvxo6l7xgbz2>


# <gen float_power>
def float_power(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x to the power y, in 64 bits."""
    if words:
        return elementwise_rows.float_power(x, y, **words)
    return elementwise_rows.float_power(x, y)
    # </gen float_power 4yynd3yueumusmvjf7iiszvn4>


# <gen minimum>
def minimum(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The smaller; NaN if either is."""
    if words:
        return elementwise_rows.minimum(x, y, **words)
    return elementwise_rows.minimum(x, y)
    # </gen minimum ld2vhqawrxmusmvx5mgd3p5wd>


# <gen maximum>
def maximum(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The larger; NaN if either is."""
    if words:
        return elementwise_rows.maximum(x, y, **words)
    return elementwise_rows.maximum(x, y)
    # </gen maximum a2euibqngemusmvuw6yxnl3k4>


# <gen floor_divide>
def floor_divide(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """floor(x / y)."""
    if words:
        return elementwise_rows.floor_divide(x, y, **words)
    return elementwise_rows.floor_divide(x, y)
    # </gen floor_divide k2jppelt3pmusmveqsh45u6zi>


# <gen remainder>
def remainder(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x - y * floor(x / y): the sign of y."""
    if words:
        return elementwise_rows.remainder(x, y, **words)
    return elementwise_rows.remainder(x, y)
    # </gen remainder ovyueoftr4musmv7j3kekcodp>


# <gen eq>
def eq(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x == y."""
    if words:
        return elementwise_rows.eq(x, y, **words)
    return elementwise_rows.eq(x, y)
    # </gen eq o2kfqoors6musmvlcy6pa23db>


# <gen ne>
def ne(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x != y."""
    if words:
        return elementwise_rows.ne(x, y, **words)
    return elementwise_rows.ne(x, y)
    # </gen ne wg4y446lrzmusmvjbtndu636l>


# <gen lt>
def lt(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x < y."""
    if words:
        return elementwise_rows.lt(x, y, **words)
    return elementwise_rows.lt(x, y)
    # </gen lt ic7g6jplj2musmvs573u6ump6>


# <gen le>
def le(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x <= y."""
    if words:
        return elementwise_rows.le(x, y, **words)
    return elementwise_rows.le(x, y)
    # </gen le zpfng5ywvfmusmvxi2vhxt6fz>


# <gen gt>
def gt(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x > y."""
    if words:
        return elementwise_rows.gt(x, y, **words)
    return elementwise_rows.gt(x, y)
    # </gen gt roxy6az4mwmusmvupavzggdtt>


# <gen ge>
def ge(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x >= y."""
    if words:
        return elementwise_rows.ge(x, y, **words)
    return elementwise_rows.ge(x, y)
    # </gen ge aw6cprsxiimusmv4mx37fbr7j>


# <gen where>
def where(
    condition: Tensor | float, x: Tensor | float, y: Tensor | float, **words: Unpack[Words]
) -> Tensor:
    """x where the condition holds, y elsewhere."""
    if words:
        return elementwise_rows.where(condition, x, y, **words)
    return elementwise_rows.where(condition, x, y)
    # </gen where qo22soex2uq76qk6ijqpmusmvasvuotpsgr>


# <gen real>
def real(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The real part of a complex number; any other itself."""
    if words:
        return elementwise_rows.real(x, **words)
    return elementwise_rows.real(x)
    # </gen real mivagrt2jlmusmvrzfnb27ee7>


# <gen imag>
def imag(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The imaginary part of a number; 0 if it is real."""
    if words:
        return elementwise_rows.imag(x, **words)
    return elementwise_rows.imag(x)
    # </gen imag scobvpswtemusmvamsgvrtbny>


# <gen conj>
def conj(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The conjugate: the imaginary part negated."""
    if words:
        return elementwise_rows.conj(x, **words)
    return elementwise_rows.conj(x)
    # </gen conj qs456maxhgmusmvreswwwnio4>


# <gen complex>
def complex(real: Tensor | float, imag: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """real + 1j * imag, of two floats."""
    if words:
        return elementwise_rows.complex_(real, imag, **words)
    return elementwise_rows.complex_(real, imag)
    # </gen complex g2l4mlwgw4musmvdg736ldg4f>


# <gen bitwise_and>
def bitwise_and(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """Bits set in both; and, on bool."""
    if words:
        return elementwise_rows.bitwise_and(x, y, **words)
    return elementwise_rows.bitwise_and(x, y)
    # </gen bitwise_and zgvwy226vmmusmv3tuvb4td5p>


# <gen bitwise_or>
def bitwise_or(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """Bits set in either; or, on bool."""
    if words:
        return elementwise_rows.bitwise_or(x, y, **words)
    return elementwise_rows.bitwise_or(x, y)
    # </gen bitwise_or sobsx6zm4pmusmvc7dklglmos>


# <gen bitwise_xor>
def bitwise_xor(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """Bits set in one alone."""
    if words:
        return elementwise_rows.bitwise_xor(x, y, **words)
    return elementwise_rows.bitwise_xor(x, y)
    # </gen bitwise_xor 7kqiegkntumusmv77oxxusr6l>


# <gen shift_left>
def shift_left(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x << y; 0 where all bits are shifted out."""
    if words:
        return elementwise_rows.shift_left(x, y, **words)
    return elementwise_rows.shift_left(x, y)
    # </gen shift_left mmtyoxtembmusmvcoi7dr6az2>


# <gen shift_right>
def shift_right(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x >> y, keeping the sign."""
    if words:
        return elementwise_rows.shift_right(x, y, **words)
    return elementwise_rows.shift_right(x, y)
    # </gen shift_right drkcs5bkejmusmvdj65eyfvj6>


# <gen cast>
def cast(x: Tensor, dtype: Tensor, **words: Any) -> Tensor:
    """The elements converted to another dtype."""
    if words:
        return elementwise_rows.cast(x, dtype, **words)
    return elementwise_rows.cast(x, dtype)
    # </gen cast fvsr77l44omusmvlx6cd67mqo>


# <gen bitcast>
def bitcast(x: Tensor, dtype: Tensor, **words: Any) -> Tensor:
    """The bits of the elements read as another dtype of their width."""
    if words:
        return elementwise_rows.bitcast(x, dtype, **words)
    return elementwise_rows.bitcast(x, dtype)
    # </gen bitcast wqqmd5sm5bmusmvogjebqokse>


# <gen detach>
def detach(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The same values, with no gradient flowing back."""
    if words:
        return elementwise_rows.detach(x, **words)
    return elementwise_rows.detach(x)
    # </gen detach p6ivuykdzwmusmvop2tse5imk>


# <gen square>
def square(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """x * x."""
    if words:
        return numeric_rows.square(x, **words)
    return numeric_rows.square(x)
    # </gen square 2a4orjhxzomusmvzh4fof76tf>


# <gen reciprocal>
def reciprocal(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """1 / x."""
    if words:
        return numeric_rows.reciprocal(x, **words)
    return numeric_rows.reciprocal(x)
    # </gen reciprocal s6qqed2a4dmusmvyzbljhsi5k>


# <gen rsqrt>
def rsqrt(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """1 / sqrt(x)."""
    if words:
        return numeric_rows.rsqrt(x, **words)
    return numeric_rows.rsqrt(x)
    # </gen rsqrt irjhwwsregmusmvyggf4pibxt>


# <gen sign>
def sign(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """-1, 0 or 1; NaN where x is. Of a complex number x / |x|, and 0 at 0."""
    if words:
        return numeric_rows.sign(x, **words)
    return numeric_rows.sign(x)
    # </gen sign k7hdhnw5lhmusmvgddnfyib2x>


# <gen positive>
def positive(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """x itself."""
    if words:
        return numeric_rows.positive(x, **words)
    return numeric_rows.positive(x)
    # </gen positive 22vi5zf2k7musmvhxksznc324>


# <gen signbit>
def signbit(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """True where the sign of x is set, also that of -0.0 and of NaN."""
    if words:
        return numeric_rows.signbit(x, **words)
    return numeric_rows.signbit(x)
    # </gen signbit dfgmtssjulmusmvkhsgxh4rxd>


# <gen copysign>
def copysign(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The size of x with the sign of y."""
    if words:
        return numeric_rows.copysign(x, y, **words)
    return numeric_rows.copysign(x, y)
    # </gen copysign anj2avbid7musmvpv72xgdlvh>


# <gen nextafter>
def nextafter(x: Tensor, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The next number of the type after x towards y."""
    if words:
        return numeric_rows.nextafter(x, y, **words)
    return numeric_rows.nextafter(x, y)
    # </gen nextafter 5eiymokrtrmusmv7f2fypfmsf>


# <gen pow>
def pow(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x to the power y. Integers wrap around; to a negative power they are 1 for 1, +-1 for -1, 0.

    >>> import treadle as td
    >>> td.pow(td.tensor([2, 3, -1]), td.tensor([10, -1, -3])).tolist()
    [1024, 0, -1]
    """
    if words:
        return numeric_rows.pow_(x, y, **words)
    return numeric_rows.pow_(x, y)
    # </gen pow 5q6mfqhglypvsmkymuw3fjv4mvruubuqcdkmusmv7u4ebyifq2>


# <gen hypot>
def hypot(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """sqrt(x * x + y * y) without overflow."""
    if words:
        return numeric_rows.hypot(x, y, **words)
    return numeric_rows.hypot(x, y)
    # </gen hypot jqgydijxeymusmvsyfnqk2b5s>


# <gen tan>
def tan(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Tangent, in radians."""
    if words:
        return numeric_rows.tan(x, **words)
    return numeric_rows.tan(x)
    # </gen tan tdjy5ye55rmusmvnzxswfe3mq>


# <gen asin>
def asin(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Inverse sine, in radians."""
    if words:
        return numeric_rows.asin(x, **words)
    return numeric_rows.asin(x)
    # </gen asin kmea77i2ppmusmvybzparg3g7>


# <gen acos>
def acos(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Inverse cosine, in radians."""
    if words:
        return numeric_rows.acos(x, **words)
    return numeric_rows.acos(x)
    # </gen acos z7d7loeyfumusmvqvivkben66>


# <gen atan2>
def atan2(y: Tensor | float, x: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The angle from the positive x axis to the point (x, y), from -pi to pi."""
    if words:
        return numeric_rows.atan2(y, x, **words)
    return numeric_rows.atan2(y, x)
    # </gen atan2 f6rbuqyqn3musmvuipzp6xibr>


# <gen sinh>
def sinh(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Hyperbolic sine."""
    if words:
        return numeric_rows.sinh(x, **words)
    return numeric_rows.sinh(x)
    # </gen sinh 2scpmjzcmzmusmv6ktugrqz4o>


# <gen cosh>
def cosh(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Hyperbolic cosine."""
    if words:
        return numeric_rows.cosh(x, **words)
    return numeric_rows.cosh(x)
    # </gen cosh rp4rx4mgqgmusmvjjfh3e4xfj>


# <gen asinh>
def asinh(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Inverse hyperbolic sine."""
    if words:
        return numeric_rows.asinh(x, **words)
    return numeric_rows.asinh(x)
    # </gen asinh ww3cgacxdomusmvya25nxolxp>


# <gen acosh>
def acosh(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Inverse hyperbolic cosine."""
    if words:
        return numeric_rows.acosh(x, **words)
    return numeric_rows.acosh(x)
    # </gen acosh hzftfdpkcdmusmvxtziid2wqu>


# <gen atanh>
def atanh(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Inverse hyperbolic tangent."""
    if words:
        return numeric_rows.atanh(x, **words)
    return numeric_rows.atanh(x)
    # </gen atanh og5ecbutuamusmvk5kwl4imtb>


# <gen fmod>
def fmod(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """What division leaves, with the sign of x."""
    if words:
        return numeric_rows.fmod(x, y, **words)
    return numeric_rows.fmod(x, y)
    # </gen fmod e32udbfrzhmusmvbny62xbtty>


# <gen fmin>
def fmin(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The smaller; the other where one is NaN."""
    if words:
        return numeric_rows.fmin(x, y, **words)
    return numeric_rows.fmin(x, y)
    # </gen fmin 3lxovcjajcmusmvk5kgrdedaw>


# <gen fmax>
def fmax(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The larger; the other where one is NaN."""
    if words:
        return numeric_rows.fmax(x, y, **words)
    return numeric_rows.fmax(x, y)
    # </gen fmax 4ezlj45o5zmusmvxwuoo5i7nt>


# <gen logaddexp>
def logaddexp(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """log(exp(x) + exp(y)) without overflow."""
    if words:
        return arithmetic_rows.logaddexp(x, y, **words)
    return arithmetic_rows.logaddexp(x, y)
    # </gen logaddexp 3zjcyflrhtmusmvidm232haqm>


# <gen lerp>
def lerp(x: Tensor, y: Tensor | float, weight: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """x where weight is 0, y where it is 1, and the straight line through both."""
    if words:
        return numeric_rows.lerp(x, y, weight, **words)
    return numeric_rows.lerp(x, y, weight)
    # </gen lerp tmbt7a2fvymusmvwcorj3ruzu>


# <gen resample>
def resample(
    x: Tensor,
    axis: int,
    size: int,
    mode: str = "linear",
    scale: float | None = None,
    align_corners: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """One axis interpolated at size places: mode "nearest", "nearest-exact", "linear", "cubic".

    Places are scale elements apart: as far as they must be to cover the axis, if left out.
    """
    if words:
        return images_rows.resample(x, axis, size, mode, scale, align_corners, **words)
    return images_rows.resample(x, axis, size, mode, scale, align_corners)
    # <sums dzu52elnnvcii4ikr5jonrnzlrlgfv45z2e6raroq76qkw74zspvsmkpsz7tuqcdkmusmv5qib6>
    # </gen resample 6v6gl>


# <gen interpolate>
def interpolate(
    x: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """x (batch, channels, *spatial) at another resolution: size, or scale_factor times as fine.

    mode is "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", or "area" for
    the means of the regions that outputs stand for.
    align_corners: do the first and last elements keep their places?
    """
    if words:
        return images_rows.interpolate(x, size, scale_factor, mode, align_corners, **words)
    return images_rows.interpolate(x, size, scale_factor, mode, align_corners)
    # <sums d4fzjelnnvb3ytyr3yooe736x45z2e6raroq76qkppxwvpvsmkbkkrabvepapkpb6uqcdkmusmv>
    # </gen interpolate xrk3iotasn>


# <gen pixel_shuffle>
def pixel_shuffle(x: Tensor, upscale_factor: int, **words: Unpack[Words]) -> Tensor:
    """Groups of factor² channels as pixels of an image factor times as high and as wide."""
    if words:
        return images_rows.pixel_shuffle(x, upscale_factor, **words)
    return images_rows.pixel_shuffle(x, upscale_factor)
    # </gen pixel_shuffle gknm3qtjypmusmvtew52di2mx>


# <gen pixel_unshuffle>
def pixel_unshuffle(x: Tensor, downscale_factor: int, **words: Unpack[Words]) -> Tensor:
    """Pixels factor apart as channels of their own: undoes pixel_shuffle."""
    if words:
        return images_rows.pixel_unshuffle(x, downscale_factor, **words)
    return images_rows.pixel_unshuffle(x, downscale_factor)
    # </gen pixel_unshuffle gedghhcxipmusmvg5efl6v346>


# <gen stack>
def stack(tensors: Sequence[Tensor], axis: int = 0, **words: Unpack[Words]) -> Tensor:
    """Tensors of one shape along a new axis."""
    if words:
        return joining_rows.stack(tensors, axis, **words)
    return joining_rows.stack(tensors, axis)
    # </gen stack 3llza4pupsmusmvkn6rgsynjd>


# <gen vstack>
def vstack(tensors: Sequence[Tensor], **words: Unpack[Words]) -> Tensor:
    """Tensors below each other: along the first axis, a vector being a row."""
    if words:
        return joining_rows.vstack(tensors, **words)
    return joining_rows.vstack(tensors)
    # </gen vstack h7pzmhi54pmusmvikpbwwexij>


# <gen hstack>
def hstack(tensors: Sequence[Tensor], **words: Unpack[Words]) -> Tensor:
    """Tensors beside each other: along the second axis, vectors along their only one."""
    if words:
        return joining_rows.hstack(tensors, **words)
    return joining_rows.hstack(tensors)
    # </gen hstack pp3xxzrmazmusmvjobfyvwotv>


# <gen dstack>
def dstack(tensors: Sequence[Tensor], **words: Unpack[Words]) -> Tensor:
    """Tensors behind each other: along the third axis."""
    if words:
        return joining_rows.dstack(tensors, **words)
    return joining_rows.dstack(tensors)
    # </gen dstack f4dvjxn3i3musmvtfvgskqqfa>


# <gen split>
def split(
    x: Tensor, size: int | Sequence[int], axis: int = 0, **words: Unpack[Words]
) -> tuple[Tensor, ...]:
    """Parts along an axis: of one size (the last may be smaller), or of the sizes listed."""
    if words:
        return joining_rows.split(x, size, axis, **words)
    return joining_rows.split(x, size, axis)
    # </gen split f6vpiwbzzxzoobs6ztnemusmvmspgtcylue>


# <gen chunk>
def chunk(x: Tensor, chunks: int, axis: int = 0, **words: Unpack[Words]) -> tuple[Tensor, ...]:
    """At most so many parts of equal size along an axis; the last may be smaller."""
    if words:
        return joining_rows.chunk(x, chunks, axis, **words)
    return joining_rows.chunk(x, chunks, axis)
    # </gen chunk chvoprtawimusmv4mrgwrssv4>


# <gen unstack>
def unstack(x: Tensor, axis: int = 0, **words: Unpack[Words]) -> tuple[Tensor, ...]:
    """The slices along an axis, without it."""
    if words:
        return joining_rows.unstack(x, axis, **words)
    return joining_rows.unstack(x, axis)
    # </gen unstack 6yt7rtlqitmusmvimgtobjgmw>


# <gen repeat>
def repeat(x: Tensor, repeats: Any, axis: int | None = None, **words: Unpack[Words]) -> Tensor:
    """Each element several times in a row: one number for all, or one for each along the axis."""
    if words:
        return joining_rows.repeat(x, repeats, axis, **words)
    return joining_rows.repeat(x, repeats, axis)
    # </gen repeat ek424tp53amusmvi6wztwek77>


# <gen mse_loss>
def mse_loss(x: Tensor, target: Tensor | float, reduction: str = "mean", **words: Any) -> Tensor:
    """Squared differences: their "mean", their "sum", or with "none" each."""
    if words:
        return losses_rows.mse_loss(x, target, reduction, **words)
    return losses_rows.mse_loss(x, target, reduction)
    # </gen mse_loss eunxq7l6f4musmv624sfyad6b>


# <gen l1_loss>
def l1_loss(x: Tensor, target: Tensor | float, reduction: str = "mean", **words: Any) -> Tensor:
    """Sizes of the differences."""
    if words:
        return losses_rows.l1_loss(x, target, reduction, **words)
    return losses_rows.l1_loss(x, target, reduction)
    # </gen l1_loss sasmmgh47pmusmv5jkke2qmxo>


# <gen huber_loss>
def huber_loss(
    x: Tensor, target: Tensor | float, reduction: str = "mean", delta: float = 1.0, **words: Any
) -> Tensor:
    """Half the squares of differences up to delta, delta times the size of larger ones."""
    if words:
        return losses_rows.huber_loss(x, target, reduction, delta, **words)
    return losses_rows.huber_loss(x, target, reduction, delta)
    # </gen huber_loss 57xyox6up7q76qksseopmusmvk3x7yvott7>


# <gen smooth_l1_loss>
def smooth_l1_loss(
    x: Tensor, target: Tensor | float, reduction: str = "mean", beta: float = 1.0, **words: Any
) -> Tensor:
    """Sizes of differences, rounded off below beta: huber_loss over beta."""
    if words:
        return losses_rows.smooth_l1_loss(x, target, reduction, beta, **words)
    return losses_rows.smooth_l1_loss(x, target, reduction, beta)
    # </gen smooth_l1_loss bqhcf2wjz3q76qk66652musmvm5h7f46ogf>


# <gen cosine_similarity>
def cosine_similarity(
    x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-08, **words: Unpack[Words]
) -> Tensor:
    """The cosine of the angle between vectors along an axis; no length counts as less than eps."""
    if words:
        return losses_rows.cosine_similarity(x1, x2, axis, eps, **words)
    return losses_rows.cosine_similarity(x1, x2, axis, eps)
    # </gen cosine_similarity nllpdqk5nwq76qk5jyhimusmvnjvyqszxlx>


# <gen nll_loss>
def nll_loss(
    x: Tensor,
    labels: Tensor,
    reduction: str = "mean",
    ignore_index: int = -100,
    **words: Unpack[Words],
) -> Tensor:
    """Less the log-probabilities x at the labels; classes are the last axis.

    Rows with the label ignore_index give 0 and do not count in the mean.
    """
    if words:
        return losses_rows.nll_loss(x, labels, reduction, ignore_index, **words)
    return losses_rows.nll_loss(x, labels, reduction, ignore_index)
    # </gen nll_loss 2lsahelnnvu3m62c7fpyrzqdp6raroq76qkj3m2tpvsmk2mg4juqcdkmusmvzxd7ramvc5>


# <gen kl_div>
def kl_div(
    x: Tensor,
    target: Tensor | float,
    reduction: str = "mean",
    log_target: bool = False,
    **words: Any,
) -> Tensor:
    """target * (log(target) - x) for log-probabilities x; log_target: is target a logarithm too?

    reduction "batchmean" is the sum over the size of the first axis.
    """
    if words:
        return losses_rows.kl_div(x, target, reduction, log_target, **words)
    return losses_rows.kl_div(x, target, reduction, log_target)
    # </gen kl_div jqtjfelnnvesxjgc7fpyil7uym2dg4q76qkyg6q7pvsmkfrnanuqcdkmusmvalql5y6dfj>


# <gen binary_cross_entropy>
def binary_cross_entropy(
    x: Tensor,
    target: Tensor | float,
    weight: Tensor | None = None,
    reduction: str = "mean",
    **words: Any,
) -> Tensor:
    """-(target log(x) + (1 - target) log(1 - x)) for probabilities x; logarithms end at -100."""
    if words:
        return losses_rows.binary_cross_entropy(x, target, weight, reduction, **words)
    return losses_rows.binary_cross_entropy(x, target, weight, reduction)
    # </gen binary_cross_entropy hnz7delnnvesxjgrlktsc7fpym2dg4q76qkdecdgmusmvuwa4i6v77g>


# <gen binary_cross_entropy_with_logits>
def binary_cross_entropy_with_logits(
    x: Tensor,
    target: Tensor | float,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: str = "mean",
    **words: Any,
) -> Tensor:
    """binary_cross_entropy of sigmoid(x), without overflow; pos_weight multiplies the targets."""
    if words:
        return losses_rows.binary_cross_entropy_with_logits(
            x, target, weight, pos_weight, reduction, **words
        )
    return losses_rows.binary_cross_entropy_with_logits(x, target, weight, pos_weight, reduction)
    # <sums bdco2elnnvesxjgrlktsw4d3xc7fpym2dg4q76qkubgnemusmv>
    # </gen binary_cross_entropy_with_logits jlur2u7b2z7tujov4dz6>


# <gen margin_ranking_loss>
def margin_ranking_loss(
    x1: Tensor,
    x2: Tensor | float,
    target: Tensor | float,
    margin: float = 0.0,
    reduction: str = "mean",
    **words: Any,
) -> Tensor:
    """max(0, margin - target (x1 - x2)): target is 1 where x1 should be larger, else -1."""
    if words:
        return margins_rows.margin_ranking_loss(x1, x2, target, margin, reduction, **words)
    return margins_rows.margin_ranking_loss(x1, x2, target, margin, reduction)
    # </gen margin_ranking_loss rphvucthcqvaqsjesxjgbm36qc7fpym2dg4q76qkrw24wmusmvkevnb62ztz>


# <gen hinge_embedding_loss>
def hinge_embedding_loss(
    x: Tensor, target: Tensor | float, margin: float = 1.0, reduction: str = "mean", **words: Any
) -> Tensor:
    """x where target is 1, max(0, margin - x) where it is -1, both where it is neither."""
    if words:
        return margins_rows.hinge_embedding_loss(x, target, margin, reduction, **words)
    return margins_rows.hinge_embedding_loss(x, target, margin, reduction)
    # </gen hinge_embedding_loss ubbbsujglqq76qk7t4yjmusmvsnex55w6vj>


# <gen gaussian_nll_loss>
def gaussian_nll_loss(
    x: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
    **words: Any,
) -> Tensor:
    """(log(var) + (x - target)² / var) / 2, var at least eps; full: with the constant.

    Gradients pass to a var below eps as if it were eps, so that it can grow.
    """
    if words:
        return margins_rows.gaussian_nll_loss(x, target, var, full, eps, reduction, **words)
    return margins_rows.gaussian_nll_loss(x, target, var, full, eps, reduction)
    # <sums uzthzelnnvvulp6evgzu4axzbm27dqc7fpym2dg4q76qksmmfipvsmkjdzi6uqcdk>
    # </gen gaussian_nll_loss musmvqxevwxrsxt>


# <gen poisson_nll_loss>
def poisson_nll_loss(
    x: Tensor,
    target: Tensor | float,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-08,
    reduction: str = "mean",
    **words: Any,
) -> Tensor:
    """exp(x) - target x for the logarithm x of a rate; log_input=False: x - target log(x + eps).

    full: with Stirling's approximation of log(target!) where target is above 1.
    """
    if words:
        return margins_rows.poisson_nll_loss(x, target, log_input, full, eps, reduction, **words)
    return margins_rows.poisson_nll_loss(x, target, log_input, full, eps, reduction)
    # <sums ybkb2elnnvesxjgfvrcg4axzbzgnhoc7fpym2dg4q76qkhyz6jpvsmkpua2tuqcdkmusmv>
    # </gen poisson_nll_loss 2okpfbanub>


# <gen reshape>
def reshape(
    x: Tensor,
    shape: int | Sequence[int],
    *sizes: int,
    copy: bool | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """The same elements in row-major order under another shape; -1 is worked out."""
    if words:
        return movement_rows.reshape(x, shape, *sizes, copy=copy, **words)
    return movement_rows.reshape(x, shape, *sizes, copy=copy)
    # </gen reshape 22qxnelnnvuoyxvzeyyjykmqa6raroq76qkfchmqmusmv66kxu2jqxj>


# <gen permute>
def permute(x: Tensor, axes: int | Sequence[int], *more: int, **words: Unpack[Words]) -> Tensor:
    """The axes in another order."""
    if words:
        return movement_rows.permute(x, axes, *more, **words)
    return movement_rows.permute(x, axes, *more)
    # </gen permute n3vmaycestmusmvui5pnp2fhk>


# <gen expand>
def expand(x: Tensor, shape: int | Sequence[int], *more: int, **words: Unpack[Words]) -> Tensor:
    """Broadcast to a shape: size-1 axes repeat their element."""
    if words:
        return movement_rows.expand(x, shape, *more, **words)
    return movement_rows.expand(x, shape, *more)
    # </gen expand 27dagxicv5musmvxd5sor4ln3>


# <gen slice>
def slice(x: Tensor, ranges: Sequence[tuple[int, int, int]], **words: Unpack[Words]) -> Tensor:
    """A range (start, stop, step) of every axis; steps are positive."""
    if words:
        return movement_rows.slice_(x, ranges, **words)
    return movement_rows.slice_(x, ranges)
    # </gen slice fnx43ibojgmusmvhopivmuhli>


# <gen pad>
def pad(
    x: Tensor,
    edges: int | Sequence[tuple[int, int]],
    value: float = 0,
    mode: str = "constant",
    **words: Any,
) -> Tensor:
    """A border, (before, after) for every axis: of one value, or as mode continues x; negative
    edges take elements away.
    """
    if words:
        return movement_rows.pad(x, edges, value, mode, **words)
    return movement_rows.pad(x, edges, value, mode)
    # </gen pad lnuumelnnvbxqa4ksz3udhfxwm2dg4q76qkhw63i472u6uqcdkmusmvralrfxjhac>


# <gen flip>
def flip(
    x: Tensor, axis: int | Sequence[int] | None = None, *more: int, **words: Unpack[Words]
) -> Tensor:
    """The elements in reverse order along axes; these as one tuple or one by one."""
    if words:
        return movement_rows.flip(x, axis, *more, **words)
    return movement_rows.flip(x, axis, *more)
    # </gen flip xbepvhcaf2q76qkv4x4smusmvudiu7l3qhn>


# <gen concat>
def concat(tensors: Sequence[Tensor], axis: int | None = 0, **words: Unpack[Words]) -> Tensor:
    """Tensors joined along an axis; None joins all their elements."""
    if words:
        return movement_rows.concat(tensors, axis, **words)
    return movement_rows.concat(tensors, axis)
    # </gen concat amywpci3ynmusmv2jb5wolrcm>


# <gen unique_consecutive>
def unique_consecutive(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """x with runs of equal elements, or of equal slices along an axis, as one of them.

    With what is asked for behind it: for each element the index of its run; how long runs are.
    Without an axis x is flattened. How many runs there are is read, so it is computed now.
    """
    if words:
        return neighbours_rows.unique_consecutive(x, return_inverse, return_counts, axis, **words)
    return neighbours_rows.unique_consecutive(x, return_inverse, return_counts, axis)
    # <sums kupaielnnvujbkeyyawecq4ai6raroq76qkkfkdfpvsmk2b7tyqo4bquqcdkmusmv>
    # </gen unique_consecutive ef6x2q7hd6>


# <gen trapezoid>
def trapezoid(
    y: Tensor, x: Tensor | None = None, dx: float = 1.0, axis: int = -1, **words: Unpack[Words]
) -> Tensor:
    """The area below straight lines through y along an axis, at places x or dx apart."""
    if words:
        return neighbours_rows.trapezoid(y, x, dx, axis, **words)
    return neighbours_rows.trapezoid(y, x, dx, axis)
    # </gen trapezoid dztbqd5p47q76qke7yeemusmv7xc5i5xgsg>


# <gen cumulative_trapezoid>
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, dx: float = 1.0, axis: int = -1, **words: Unpack[Words]
) -> Tensor:
    """The areas so far below straight lines through y along an axis: one fewer than elements."""
    if words:
        return neighbours_rows.cumulative_trapezoid(y, x, dx, axis, **words)
    return neighbours_rows.cumulative_trapezoid(y, x, dx, axis)
    # </gen cumulative_trapezoid bvu6ud5p47q76qkkwpnmmusmve6ybwitbtz>


# <gen bucketize>
def bucketize(
    x: Tensor, boundaries: Tensor, right: bool = False, out_int32: bool = False, **words: Any
) -> Tensor:
    """The bin of each element between boundaries in order: those below it; right: those up to it.

    out_int32: as int32, else int64.
    """
    if words:
        return neighbours_rows.bucketize(x, boundaries, right, out_int32, **words)
    return neighbours_rows.bucketize(x, boundaries, right, out_int32)
    # </gen bucketize knigeentjkq76qklnseppvsmkfxcuxuqcdkmusmvhdvry5j2gl>


# <gen histc>
def histc(
    x: Tensor, bins: int = 100, min: float = 0, max: float = 0, **words: Unpack[Words]
) -> Tensor:
    """How many elements lie in each of so many equal bins from min to max; others are left out.

    Of min = max = 0, those of the least and the greatest element. The last bin has its end; counts
    are in the dtype of x.
    """
    if words:
        return neighbours_rows.histc(x, bins, min, max, **words)
    return neighbours_rows.histc(x, bins, min, max)
    # </gen histc lj4aysdssrq76qkjypxwpvsmkhra5rmsrwwuqcdkmusmvcw6epmqvie>


# <gen histogram>
def histogram(
    x: Tensor,
    bins: Any = 100,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weight: Any = None,
    **words: Unpack[Words],
) -> Histogram:
    """(hist, bin_edges): how many elements, or how much weight, lies in each bin.

    bins: how many equal ones, from the least element to the greatest or over a range; or the edges,
    as a tensor or a list. The last bin has its end, what lies outside is left out. density: the
    area of all bins together is 1.
    """
    if words:
        return neighbours_rows.histogram(x, bins, range, density, weight, **words)
    return neighbours_rows.histogram(x, bins, range, density, weight)
    # <sums tcw5celnnvfbqjlhfnm6anbmc6zchm6rarov2my5ia5zypvsmk3z2dwq3vr6pk7mwuqcdkmusmv>
    # </gen histogram kq5dzxsy26>


# <gen softmax>
def softmax(x: Tensor, axis: int = -1, **words: Unpack[Words]) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis, without overflow."""
    if words:
        return neural_rows.softmax(x, axis, **words)
    return neural_rows.softmax(x, axis)
    # </gen softmax kfuy6gypfpmusmvewzmcyugy6>


# <gen log_softmax>
def log_softmax(x: Tensor, axis: int = -1, **words: Unpack[Words]) -> Tensor:
    """log(softmax(x)) along an axis."""
    if words:
        return neural_rows.log_softmax(x, axis, **words)
    return neural_rows.log_softmax(x, axis)
    # </gen log_softmax ecfbjllm4hmusmvv4uihhoewm>


# <gen layer_norm>
def layer_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    **words: Unpack[Words],
) -> Tensor:
    """Normalise the last axis to mean 0 and variance 1, then scale and shift."""
    if words:
        return neural_rows.layer_norm(x, weight, bias, eps, **words)
    return neural_rows.layer_norm(x, weight, bias, eps)
    # </gen layer_norm 7h7zuelnnvrlkts6sl3unk5et6raroq76qkdgg6cmusmvjyh25m7rn3>


# <gen cross_entropy>
def cross_entropy(
    logits: Tensor,
    labels: Tensor,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    **words: Unpack[Words],
) -> Tensor:
    """-log softmax(logits) at the labels: classes along the last axis, one label for each row.

    PyTorch has the classes of (N, C, d1, ...) along the second axis: move them to the end.

    - **ignore_index**: rows with this label give 0 and do not count in the mean
    - **reduction**: "mean", "sum", or "none" for a loss of each row
    - **label_smoothing**: the share of a label that is spread evenly over all classes
    """
    if words:
        return neural_rows.cross_entropy(
            logits, labels, ignore_index, reduction, label_smoothing, **words
        )
    return neural_rows.cross_entropy(logits, labels, ignore_index, reduction, label_smoothing)
    # <sums 6zg7tqbb55u3m62rzqdpc7fpye5ymg6raroq76qkemaabpvsmkgrslrpvsmkqoyyw36chb>
    # </gen cross_entropy 5ejfguqcdkmusmvgwfpspy22t7tujox2m4l>


# <gen scaled_dot_product_attention>
def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = True,
    **words: Unpack[Words],
) -> Tensor:
    """softmax(q kᵀ scale + mask) v over the last two axes; scale defaults to 1/sqrt(width).

    A mask of bool says what is seen, another one is added. is_causal: each row sees the columns up
    to its own number. Rows that see nothing give 0. enable_gqa: k and v may have fewer heads
    (axis -3) than q, which then share them in groups.
    """
    if words:
        return neural_rows.scaled_dot_product_attention(
            q, k, v, mask, is_causal, scale, enable_gqa, **words
        )
    return neural_rows.scaled_dot_product_attention(q, k, v, mask, is_causal, scale, enable_gqa)
    # <sums ptlpg7hfjg2ame6ipmzte6rb7t7frmrlgfv22vz46raroq76qk55bgy>
    # </gen scaled_dot_product_attention pvsmkels2n3moa7awnxkuqcdkmusmv6qtsfd7ysh7tujojhlna>


# <gen group_norm>
def group_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    num_groups: int = 1,
    eps: float = 1e-05,
    **words: Unpack[Words],
) -> Tensor:
    """Groups of channels (axis 1) normalised to mean 0 and variance 1, then scaled and shifted."""
    if words:
        return normalisation_rows.group_norm(x, weight, bias, num_groups, eps, **words)
    return normalisation_rows.group_norm(x, weight, bias, num_groups, eps)
    # </gen group_norm dvaluelnnvrlkts6sl3uiy7cbnk5et6raroq76qkwmz6gmusmvfedsjnktyg>


# <gen instance_norm>
def instance_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    **words: Unpack[Words],
) -> Tensor:
    """Each channel (axis 1) of each element of the batch normalised, then scaled and shifted."""
    if words:
        return normalisation_rows.instance_norm(x, weight, bias, eps, **words)
    return normalisation_rows.instance_norm(x, weight, bias, eps)
    # </gen instance_norm 5sqkvelnnvrlkts6sl3unk5et6raroq76qkwpepsmusmvrlx45hzd6q>


# <gen batch_norm>
def batch_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    **words: Unpack[Words],
) -> Tensor:
    """Channels (axis 1) less their mean over the root of their variance, then scaled and shifted.

    Without running_mean and running_var, the mean and variance of the batch.
    """
    if words:
        return normalisation_rows.batch_norm(
            x, running_mean, running_var, weight, bias, eps, **words
        )
    return normalisation_rows.batch_norm(x, running_mean, running_var, weight, bias, eps)
    # <sums mhl6uelnnvwetgxrffherlkts6sl3unk5et6raroq76qkouemmpvsmkcvkv7uqcdkmusmvdsv4o>
    # </gen batch_norm 25tpy7tujoqrfnt>


# <gen rms_norm>
def rms_norm(
    x: Tensor, weight: Tensor | None = None, eps: float | None = None, **words: Unpack[Words]
) -> Tensor:
    """The last axis over the root of its mean square, then scaled.

    eps is added to the mean square: if left out, the distance from 1 to the next float, of 32 bits
    at least.
    """
    if words:
        return normalisation_rows.rms_norm(x, weight, eps, **words)
    return normalisation_rows.rms_norm(x, weight, eps)
    # </gen rms_norm oxobstlnloq76qko64ropvsmk5mxhf52zifuqcdkmusmvw7nl3sybo4>


# <gen normalize>
def normalize(x: Tensor, p: float = 2.0, axis: int = 1, eps: float = 1e-12, **words: Any) -> Tensor:
    """x over its p-norm along an axis, which counts as at least eps."""
    if words:
        return normalisation_rows.normalize(x, p, axis, eps, **words)
    return normalisation_rows.normalize(x, p, axis, eps)
    # </gen normalize pnchlpigzkmusmv3pbiidgzfc>


# <gen sort>
def sort(
    x: Tensor, axis: int = -1, descending: bool = False, stable: bool = True, **words: Unpack[Words]
) -> Tensor:
    """The elements in order along an axis, NaN counting as the largest; equal ones stay in order.

    >>> import treadle as td
    >>> td.sort(td.tensor([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    if words:
        return ordering_rows.sort(x, axis, descending, stable, **words)
    return ordering_rows.sort(x, axis, descending, stable)
    # </gen sort y54xp42dxgq76qkbjikbpvsmkymuw3qeb33c7mpyuqcdkmusmvr4iiwx6tmm>


# <gen topk>
def topk(
    x: Tensor, k: int, axis: int = -1, largest: bool = True, **words: Unpack[Words]
) -> tuple[Tensor, Tensor]:
    """(values, indices) of the k largest or smallest elements along an axis, in order."""
    if words:
        return ordering_rows.topk(x, k, axis, largest, **words)
    return ordering_rows.topk(x, k, axis, largest)
    # </gen topk wdkm43k4naikppofsakjmusmvo5kzfhtadc>


# <gen median>
def median(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    return_indices: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """The middle element along axes, or the mean of the two in the middle; NaN if there is one.

    return_indices: (values, indices) along one axis. An index names one element: of two in the
    middle the lower is taken, of several NaN the first.
    """
    if words:
        return ordering_rows.median(x, axis, keepdims, return_indices, **words)
    return ordering_rows.median(x, axis, keepdims, return_indices)
    # </gen median ae26celnnvpc4c3kg6sw7y4556raroq76qkxfpxapvsmkvi3h4bjt3quqcdkmusmvhmwy4tmey3>


# <gen quantile>
def quantile(
    x: Tensor,
    q: Any,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    interpolation: str = "linear",
    **words: Unpack[Words],
) -> Tensor:
    """The value below which a fraction q of the elements along axes lies; NaN if there is one.

    q is a number, several, or a tensor of them: several make a new first axis. Between two elements
    it is interpolated: linear, lower, higher, nearest (of two as near, the even one), midpoint.
    """
    if words:
        return ordering_rows.quantile(x, q, axis, keepdims, interpolation, **words)
    return ordering_rows.quantile(x, q, axis, keepdims, interpolation)
    # <sums je2hyelnnvz6cgwpc4c3kg6swsiznd6raroq76qkyvflxpvsmk6hhq7e65h3uqcdkmusmvbxbay>
    # </gen quantile p44is>


# <gen searchsorted>
def searchsorted(
    sorted: Tensor,
    values: Tensor | float,
    sorter: Tensor | None = None,
    side: str = "left",
    out_int32: bool = False,
    **words: Any,
) -> Tensor:
    """Where values would stand in a sorted tensor: before equal elements or after.

    One line is searched for all values, several each for those of its place in the other axes.
    sorter: indices that sort the tensor, such as argsort(x), where it is not. out_int32: as int32.
    """
    if words:
        return ordering_rows.searchsorted(sorted, values, sorter, side, out_int32, **words)
    return ordering_rows.searchsorted(sorted, values, sorter, side, out_int32)
    # <sums tu6mdhtgzaioou777jsupksgsngam6m2dg4q76qk4mivspvsmka4scfdrhvbuqcdkmusmv>
    # </gen searchsorted marjt5l6w6>


# <gen bincount>
def bincount(
    x: Tensor,
    weights: Tensor | None = None,
    minlength: int = 0,
    length: int | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """How often 0, 1, 2, ... occur in a tensor of one axis, or the sums of their weights.

    There are as many counts as the largest element asks for, at least minlength. That number has to
    be read, so a compiled function gives the length; elements outside of it are not counted.
    """
    if words:
        return counting_rows.bincount(x, weights, minlength, length, **words)
    return counting_rows.bincount(x, weights, minlength, length)
    # </gen bincount xrm3jelnnvnngu66iwrswdcuy6raroq76qk72o7ppvsmkfiemafldobuqcdkmusmvlgfy46ent4>


# <gen cumulative_sum>
def cumulative_sum(
    x: Tensor,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
    **words: Any,
) -> Tensor:
    """Sums of the elements so far along an axis; include_initial: with 0 before the first."""
    if words:
        return ordering_rows.cumulative_sum(x, axis, dtype, include_initial, **words)
    return ordering_rows.cumulative_sum(x, axis, dtype, include_initial)
    # </gen cumulative_sum ontadelnnvcq4ai3ve4zzqd3bm2dg4q76qkyw6khmusmvacifcpun7s>


# <gen cumulative_prod>
def cumulative_prod(
    x: Tensor,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
    **words: Any,
) -> Tensor:
    """Products of the elements so far along an axis; include_initial: with 1 before the first."""
    if words:
        return ordering_rows.cumulative_prod(x, axis, dtype, include_initial, **words)
    return ordering_rows.cumulative_prod(x, axis, dtype, include_initial)
    # </gen cumulative_prod q5opkelnnvcq4ai3ve4zzqd3bm2dg4q76qkk7qvfmusmvxgvbiqudlz>


# <gen diff>
def diff(
    x: Tensor,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    axis: int = -1,
    n: int = 1,
    **words: Unpack[Words],
) -> Tensor:
    """Each element less the one before it along an axis, n times; for bool whether they differ.

    prepend, append: tensors that are joined to x before. 0 times is x itself, without them.
    """
    if words:
        return ordering_rows.diff(x, prepend, append, axis, n, **words)
    return ordering_rows.diff(x, prepend, append, axis, n)
    # </gen diff e5o6oelnnvvpm57vmdry3cemjkruak6raroq76qkbd2ngpvsmkb7rn5uqcdkmusmvj646aqdpuv>


# <gen angle>
def angle(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The angle of a complex number with the positive axis, from -pi to pi; 0 or pi of a real one.

    >>> import treadle as td
    >>> td.angle(td.tensor([1j, -1.0])).tolist()
    [1.5707963705062866, 3.1415927410125732]
    """
    if words:
        return parts_rows.angle(x, **words)
    return parts_rows.angle(x)
    # </gen angle nzxqi4dq6wpvsmkymuw3c77n7xvxaxuqcdkmusmvfuyg5z5o3v>


# <gen polar>
def polar(abs: Tensor | float, angle: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The complex numbers of these sizes and angles.

    >>> import treadle as td
    >>> td.polar(td.tensor([2.0]), td.tensor([0.0])).tolist()
    [(2+0j)]
    """
    if words:
        return parts_rows.polar(abs, angle, **words)
    return parts_rows.polar(abs, angle)
    # </gen polar 56vmmzmw47pvsmkymuw3m2c2slgnsjuqcdkmusmv4zefkw2ivk>


# <gen isreal>
def isreal(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """True where the imaginary part is 0."""
    if words:
        return parts_rows.isreal(x, **words)
    return parts_rows.isreal(x)
    # </gen isreal dxibuamaojmusmv5lyn3kumsf>


# <gen view_as_real>
def view_as_real(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Real and imaginary parts along a new last axis.

    >>> import treadle as td
    >>> td.view_as_real(td.tensor([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    if words:
        return parts_rows.view_as_real(x, **words)
    return parts_rows.view_as_real(x)
    # </gen view_as_real tuhdip5ubfpvsmkymuw3kqeg2jao53uqcdkmusmvujmhmxpbcw>


# <gen view_as_complex>
def view_as_complex(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The numbers whose parts lie along the last axis, which has two elements.

    >>> import treadle as td
    >>> td.view_as_complex(td.tensor([[1.0, 2.0]])).tolist()
    [(1+2j)]
    """
    if words:
        return parts_rows.view_as_complex(x, **words)
    return parts_rows.view_as_complex(x)
    # </gen view_as_complex leci54uikapvsmkymuw3hqzmmeeimuuqcdkmusmvtpijixyx4e>


# <gen take_along_axis>
def take_along_axis(x: Tensor, indices: Tensor, axis: int = -1, **words: Unpack[Words]) -> Tensor:
    """Elements at indices along an axis, one index for each; the other axes broadcast."""
    if words:
        return picking_rows.take_along_axis(x, indices, axis, **words)
    return picking_rows.take_along_axis(x, indices, axis)
    # </gen take_along_axis gnzbfrtmpwmusmvnm4bz75omz>


# <gen index_select>
def index_select(x: Tensor, indices: Tensor, axis: int = 0, **words: Unpack[Words]) -> Tensor:
    """Slices of x at indices along an axis."""
    if words:
        return picking_rows.index_select(x, indices, axis, **words)
    return picking_rows.index_select(x, indices, axis)
    # </gen index_select rml2asftelmusmvccrgmccxio>


# <gen put_along_axis>
def put_along_axis(
    x: Tensor, indices: Tensor, values: Tensor, axis: int = -1, **words: Unpack[Words]
) -> Tensor:
    """x with values at indices along an axis; the other axes broadcast."""
    if words:
        return picking_rows.put_along_axis(x, indices, values, axis, **words)
    return picking_rows.put_along_axis(x, indices, values, axis)
    # </gen put_along_axis smkkmsdpb3q76qkploufmusmvw477lgfpma>


# <gen index_add>
def index_add(
    x: Tensor, index: Tensor, values: Tensor, axis: int = 0, alpha: float = 1, **words: Any
) -> Tensor:
    """x with slices of values, times alpha, added at indices along an axis."""
    if words:
        return picking_rows.index_add(x, index, values, axis, alpha, **words)
    return picking_rows.index_add(x, index, values, axis, alpha)
    # </gen index_add vca5lveuurq76qkig65xmusmvt2vlgn2lql>


# <gen embedding>
def embedding(
    indices: Tensor, weight: Tensor, padding_idx: int | None = None, **words: Unpack[Words]
) -> Tensor:
    """Rows of weight at indices; no gradient flows to row padding_idx."""
    if words:
        return picking_rows.embedding(indices, weight, padding_idx, **words)
    return picking_rows.embedding(indices, weight, padding_idx)
    # </gen embedding xmoioai2giq76qkntb36musmvtj3l6roh3j>


# <gen scatter_reduce>
def scatter_reduce(
    x: Tensor,
    index: Tensor,
    values: Tensor,
    axis: int,
    reduce: str,
    include_self: bool = True,
    **words: Any,
) -> Tensor:
    """Values that meet at one place become their sum, mean, prod, amax or amin, with x's or not."""
    if words:
        return picking_rows.scatter_reduce(x, index, values, axis, reduce, include_self, **words)
    return picking_rows.scatter_reduce(x, index, values, axis, reduce, include_self)
    # </gen scatter_reduce rznq3elnnveuwmhbkriycii4i4leq42umcnm2dg4q76qkexsl7musmvec2nzfb2xp>


# <gen one_hot>
def one_hot(x: Tensor, num_classes: int = -1, **words: Unpack[Words]) -> Tensor:
    """A last axis of 0 with a 1 at each index; -1 classes: as many as the largest needs.

    An index that is out of range is refused if it is known at the call, else it gives zeros.
    """
    if words:
        return picking_rows.one_hot(x, num_classes, **words)
    return picking_rows.one_hot(x, num_classes)
    # </gen one_hot h474ygh4zspvsmkdgupmuqcdkmusmv255vyggbmj>


# <gen masked_fill>
def masked_fill(x: Tensor, mask: Tensor, value: Any, **words: Any) -> Tensor:
    """value where mask is true, else x."""
    if words:
        return picking_rows.masked_fill(x, mask, value, **words)
    return picking_rows.masked_fill(x, mask, value)
    # </gen masked_fill dssjdoc3fomusmv66wj6p3chm>


# <gen masked_select>
def masked_select(x: Tensor, mask: Tensor, **words: Unpack[Words]) -> Tensor:
    """The elements where mask is true, as one axis; their number is read, so it is computed now."""
    if words:
        return picking_rows.masked_select(x, mask, **words)
    return picking_rows.masked_select(x, mask)
    # </gen masked_select q634vb77j4musmvsmkx55fig2>


# <gen nonzero>
def nonzero(x: Tensor, **words: Unpack[Words]) -> tuple[Tensor, ...]:
    """The indices of the elements that are not 0, a tensor for each axis; computed now."""
    if words:
        return picking_rows.nonzero(x, **words)
    return picking_rows.nonzero(x)
    # </gen nonzero pdwji2a55tmusmvotoyegvvbh>


# <gen argwhere>
def argwhere(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The indices of the elements that are not 0, a row for each; computed now."""
    if words:
        return picking_rows.argwhere(x, **words)
    return picking_rows.argwhere(x)
    # </gen argwhere yp4v4nmulbmusmvd2elc2x7cu>


# <gen clone>
def clone(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """A tensor of its own with the same value, through which gradients pass.

    Values are never written in place where anybody else can see it, so nothing is copied.
    """
    if words:
        return picking_rows.clone(x, **words)
    return picking_rows.clone(x)
    # </gen clone lnd7sbasmfpvsmkro5kfuqcdkmusmvwnfzabgrez>


# <gen contiguous>
def contiguous(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """x: what is in memory always lies in row-major order."""
    if words:
        return picking_rows.contiguous(x, **words)
    return picking_rows.contiguous(x)
    # </gen contiguous kqfpyid6oymusmvrcmb22fzb6>


# <gen narrow>
def narrow(x: Tensor, axis: int, start: int, length: int, **words: Unpack[Words]) -> Tensor:
    """length elements along an axis, from start on; a negative start counts from the end."""
    if words:
        return pieces_rows.narrow(x, axis, start, length, **words)
    return pieces_rows.narrow(x, axis, start, length)
    # </gen narrow e52dgtlwrhmusmvr2zg3zhxwj>


# <gen select>
def select(x: Tensor, axis: int, index: int, **words: Any) -> Tensor:
    """The slice at one place along an axis, without it."""
    if words:
        return pieces_rows.select(x, axis, index, **words)
    return pieces_rows.select(x, axis, index)
    # </gen select 4t5ntbghblmusmv5ge6iz5wl2>


# <gen slice_scatter>
def slice_scatter(
    x: Tensor,
    values: Tensor,
    axis: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    **words: Any,
) -> Tensor:
    """x with values in the range from start to end along an axis, every step-th place of it."""
    if words:
        return pieces_rows.slice_scatter(x, values, axis, start, end, step, **words)
    return pieces_rows.slice_scatter(x, values, axis, start, end, step)
    # </gen slice_scatter ijn2welnnvbkriyptskuj5hpyuoryreng4lm2dg4q76qkhnok5musmvdpj2pjmssf>


# <gen select_scatter>
def select_scatter(
    x: Tensor, values: Tensor | float, axis: int, index: int, **words: Any
) -> Tensor:
    """x with values as the slice at one place along an axis."""
    if words:
        return pieces_rows.select_scatter(x, values, axis, index, **words)
    return pieces_rows.select_scatter(x, values, axis, index)
    # </gen select_scatter 2yqcefplklq76qk57fbqmusmvkndwdcupev>


# <gen diagonal_scatter>
def diagonal_scatter(
    x: Tensor,
    values: Tensor,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    **words: Unpack[Words],
) -> Tensor:
    """x with values on a diagonal of two axes, which is the last axis of values."""
    if words:
        return pieces_rows.diagonal_scatter(x, values, offset, axis1, axis2, **words)
    return pieces_rows.diagonal_scatter(x, values, offset, axis1, axis2)
    # </gen diagonal_scatter 5cqd5elnnvbkriyx2beyusseo235yc6raroq76qknk4hvmusmvhbz2nhwpvn>


# <gen tensor_split>
def tensor_split(
    x: Tensor, sections: int | Sequence[int], axis: int = 0, **words: Unpack[Words]
) -> list[Tensor]:
    """Parts along an axis: so many, the first ones longer by one, or cut before the places listed.

    A tensor may hold the places, or the number.
    """
    if words:
        return pieces_rows.tensor_split(x, sections, axis, **words)
    return pieces_rows.tensor_split(x, sections, axis)
    # </gen tensor_split u6l7edlkmahjtcqxm7skpvsmkannvduqcdkmusmvajhqtrjfsp>


# <gen vsplit>
def vsplit(x: Tensor, sections: int | Sequence[int], **words: Unpack[Words]) -> list[Tensor]:
    """Equal parts along axis 0, so many or cut before the places listed."""
    if words:
        return pieces_rows.vsplit(x, sections, **words)
    return pieces_rows.vsplit(x, sections)
    # </gen vsplit itsz4muxk3musmvz4u6b3eyfs>


# <gen hsplit>
def hsplit(x: Tensor, sections: int | Sequence[int], **words: Unpack[Words]) -> list[Tensor]:
    """Equal parts along axis 1, so many or cut before the places listed.

    Of a vector, along its only axis.
    """
    if words:
        return pieces_rows.hsplit(x, sections, **words)
    return pieces_rows.hsplit(x, sections)
    # </gen hsplit joa3cycidypvsmkd4b4zuqcdkmusmvy3er6nwl4q>


# <gen dsplit>
def dsplit(x: Tensor, sections: int | Sequence[int], **words: Unpack[Words]) -> list[Tensor]:
    """Equal parts along axis 2, so many or cut before the places listed."""
    if words:
        return pieces_rows.dsplit(x, sections, **words)
    return pieces_rows.dsplit(x, sections)
    # </gen dsplit mswmtf7mqymusmv44q24atukb>


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
    **words: Unpack[Words],
) -> Tensor:
    """One value for every window over the last axes, as many as kernel_size has numbers.

    how: "max", "avg", or "lp" for the norm (sum of x ** norm_type) ** (1 / norm_type). stride is
    kernel_size if left out. ceil_mode keeps windows that overhang the end.
    """
    if words:
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
            **words,
        )
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
    # <sums uxcyjelnnv56h2dgqiir7czuhqrsg6yofwqbq4mvhlpn2prkm5ccysm6raroq76qkizea6pvsmklgwxm>
    # <sums fctbluqcdkmusmvaqitewgtlxjp47xykapgdmktkovwezacfzefxezu6pz64ont6cggrjclqfye7tujo>
    # </gen pool rd223vu4wzdq2iyoexj6xirnvtk2b4iz33qk6ngls76be6ux4txp5xrvzsie>


# <gen max_pool1d>
def max_pool1d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Largest element of every window over the last 1 axes."""
    if words:
        return pooling_rows.max_pool1d(
            x, kernel_size, stride, padding, dilation, ceil_mode, **words
        )
    return pooling_rows.max_pool1d(x, kernel_size, stride, padding, dilation, ceil_mode)
    # </gen max_pool1d my7kqelnnv2cagngqiir7czuhqrsg6bq4mv6raroq76qkzy5yzmusmv56kyxcxood7tujosex2x>


# <gen max_pool2d>
def max_pool2d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Largest element of every window over the last 2 axes."""
    if words:
        return pooling_rows.max_pool2d(
            x, kernel_size, stride, padding, dilation, ceil_mode, **words
        )
    return pooling_rows.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode)
    # </gen max_pool2d tmvz7elnnv2cagngqiir7czuhqrsg6bq4mv6raroq76qkeudhimusmvczhnqcxood7tujosioy2>


# <gen max_pool3d>
def max_pool3d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Largest element of every window over the last 3 axes."""
    if words:
        return pooling_rows.max_pool3d(
            x, kernel_size, stride, padding, dilation, ceil_mode, **words
        )
    return pooling_rows.max_pool3d(x, kernel_size, stride, padding, dilation, ceil_mode)
    # </gen max_pool3d xq4laelnnv2cagngqiir7czuhqrsg6bq4mv6raroq76qkgv36gmusmvwvzsacxood7tujotdwaz>


# <gen avg_pool1d>
def avg_pool1d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """Mean of every window over the last 1 axes.

    count_include_pad: does padding count as zeros? divisor_override: divide by this instead.
    """
    if words:
        return pooling_rows.avg_pool1d(
            x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, **words
        )
    return pooling_rows.avg_pool1d(
        x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    # <sums srd7kelnnv2cagngqiir7czuhbq4mvhlpn2prkm56raroq76qk7z3tgpvsmk7hfkfuqcdkmusmv>
    # </gen avg_pool1d ntpwcuvx6d7tujoqthqoyjgstvzsie>


# <gen avg_pool2d>
def avg_pool2d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """Mean of every window over the last 2 axes.

    count_include_pad: does padding count as zeros? divisor_override: divide by this instead.
    """
    if words:
        return pooling_rows.avg_pool2d(
            x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, **words
        )
    return pooling_rows.avg_pool2d(
        x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    # <sums uozrselnnv2cagngqiir7czuhbq4mvhlpn2prkm56raroq76qkcf4izpvsmk7hfkfuqcdkmusmv>
    # </gen avg_pool2d 2tkpcuvx6d7tujo77l7tyjgstvzsie>


# <gen avg_pool3d>
def avg_pool3d(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """Mean of every window over the last 3 axes.

    count_include_pad: does padding count as zeros? divisor_override: divide by this instead.
    """
    if words:
        return pooling_rows.avg_pool3d(
            x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, **words
        )
    return pooling_rows.avg_pool3d(
        x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    # <sums 2ax5velnnv2cagngqiir7czuhbq4mvhlpn2prkm56raroq76qkci5ejpvsmk7hfkfuqcdkmusmv>
    # </gen avg_pool3d ysjceuvx6d7tujoca3wpyjgstvzsie>


# <gen lp_pool1d>
def lp_pool1d(
    x: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """The norm_type-norm of every window over the last 1 axes."""
    if words:
        return pooling_rows.lp_pool1d(x, norm_type, kernel_size, stride, ceil_mode, **words)
    return pooling_rows.lp_pool1d(x, norm_type, kernel_size, stride, ceil_mode)
    # </gen lp_pool1d terv2elnnvebppj2cagngqiirbq4mv6raroq76qkgqd6kmusmv7ywn6jexxq>


# <gen lp_pool2d>
def lp_pool2d(
    x: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """The norm_type-norm of every window over the last 2 axes."""
    if words:
        return pooling_rows.lp_pool2d(x, norm_type, kernel_size, stride, ceil_mode, **words)
    return pooling_rows.lp_pool2d(x, norm_type, kernel_size, stride, ceil_mode)
    # </gen lp_pool2d t6l32elnnvebppj2cagngqiirbq4mv6raroq76qktliirmusmvt4icw5klc2>


# <gen lp_pool3d>
def lp_pool3d(
    x: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """The norm_type-norm of every window over the last 3 axes."""
    if words:
        return pooling_rows.lp_pool3d(x, norm_type, kernel_size, stride, ceil_mode, **words)
    return pooling_rows.lp_pool3d(x, norm_type, kernel_size, stride, ceil_mode)
    # </gen lp_pool3d 34mscelnnvebppj2cagngqiirbq4mv6raroq76qk6jqeymusmv4rqd7znfdv>


# <gen isnan>
def isnan(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """True where x is NaN."""
    if words:
        return predicates_rows.isnan(x, **words)
    return predicates_rows.isnan(x)
    # </gen isnan cylonwarrbmusmvvy3h7ur6l3>


# <gen isinf>
def isinf(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """True where x is infinite."""
    if words:
        return predicates_rows.isinf(x, **words)
    return predicates_rows.isinf(x)
    # </gen isinf xcfvqgxut2musmvticjbqclji>


# <gen isfinite>
def isfinite(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """True where x is neither infinite nor NaN."""
    if words:
        return predicates_rows.isfinite(x, **words)
    return predicates_rows.isfinite(x)
    # </gen isfinite i543sop2kvmusmv5iymssmu46>


# <gen logical_not>
def logical_not(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """True where x is zero or false."""
    if words:
        return predicates_rows.logical_not(x, **words)
    return predicates_rows.logical_not(x)
    # </gen logical_not w36f37gwzvmusmvx3md2u7fyd>


# <gen logical_and>
def logical_and(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """True where neither is zero or false."""
    if words:
        return predicates_rows.logical_and(x, y, **words)
    return predicates_rows.logical_and(x, y)
    # </gen logical_and 4i2q4tkqhbmusmvbcdu5kfkwi>


# <gen logical_or>
def logical_or(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """True where not both are zero or false."""
    if words:
        return predicates_rows.logical_or(x, y, **words)
    return predicates_rows.logical_or(x, y)
    # </gen logical_or zv3ywoflbdmusmvp2oqw53nfk>


# <gen logical_xor>
def logical_xor(x: Tensor | float, y: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """True where one alone is zero or false."""
    if words:
        return predicates_rows.logical_xor(x, y, **words)
    return predicates_rows.logical_xor(x, y)
    # </gen logical_xor 6behdgu7kdmusmvbot257xiov>


# <gen bitwise_not>
def bitwise_not(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """All bits turned; not, on bool."""
    if words:
        return predicates_rows.bitwise_not(x, **words)
    return predicates_rows.bitwise_not(x)
    # </gen bitwise_not x3nidqrdf7musmvt36v5jnlcu>


# <gen isclose>
def isclose(
    x: Tensor | float,
    y: Tensor | float,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """True where |x - y| <= atol + rtol * |y|; infinities are close to themselves alone.

    equal_nan: is NaN close to NaN?
    """
    if words:
        return predicates_rows.isclose(x, y, rtol, atol, equal_nan, **words)
    return predicates_rows.isclose(x, y, rtol, atol, equal_nan)
    # </gen isclose po3etzcrm6bu5xkevo4lqxdasjr3nu6raroq76qkf7bx2pvsmkzay7muqcdkmusmvgw75x7f2su>


# <gen allclose>
def allclose(
    x: Tensor,
    y: Tensor | float,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Is every element of x close to that of y, as isclose says? A 0-d bool."""
    if words:
        return predicates_rows.allclose(x, y, rtol, atol, equal_nan, **words)
    return predicates_rows.allclose(x, y, rtol, atol, equal_nan)
    # </gen allclose 5zw7felnnvbu5xkevo4lqxdasjr3nu6raroq76qkfnmb7musmvptnnryt6fv>


# <gen sum>
def sum(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    dtype: Any = None,
    **words: Any,
) -> Tensor:
    """Sum of the elements along axes."""
    if words:
        return reduce_rows.sum_(x, axis, keepdims, dtype, **words)
    return reduce_rows.sum_(x, axis, keepdims, dtype)
    # </gen sum va4haelnnvpc4c3kg6sw3ve4zm2dg4q76qk2gypcmusmvdypis44xxd>


# <gen max>
def max(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Largest element along axes; NaN if there is one."""
    if words:
        return reduce_rows.max_(x, axis, keepdims, **words)
    return reduce_rows.max_(x, axis, keepdims)
    # </gen max sntihelnnvpc4c3kg6sw6raroq76qkrw53vmusmvaje5acmqby>


# <gen min>
def min(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Smallest element along axes; NaN if there is one."""
    if words:
        return reduce_rows.min_(x, axis, keepdims, **words)
    return reduce_rows.min_(x, axis, keepdims)
    # </gen min f7pzwelnnvpc4c3kg6sw6raroq76qk6fyelmusmv2522huniag>


# <gen adaptive_avg_pool1d>
def adaptive_avg_pool1d(
    x: Tensor, output_size: int | Sequence[int | None], **words: Unpack[Words]
) -> Tensor:
    """Mean of output_size regions that cover the last 1 axes.

    None among the sizes keeps an axis as it is.
    """
    if words:
        return regions_rows.adaptive_avg_pool1d(x, output_size, **words)
    return regions_rows.adaptive_avg_pool1d(x, output_size)
    # </gen adaptive_avg_pool1d lqdiaoh5hgq76qkmc7appvsmk72bipuqcdkmusmvgx5cynyr7r>


# <gen adaptive_avg_pool2d>
def adaptive_avg_pool2d(
    x: Tensor, output_size: int | Sequence[int | None], **words: Unpack[Words]
) -> Tensor:
    """Mean of output_size regions that cover the last 2 axes.

    None among the sizes keeps an axis as it is.
    """
    if words:
        return regions_rows.adaptive_avg_pool2d(x, output_size, **words)
    return regions_rows.adaptive_avg_pool2d(x, output_size)
    # </gen adaptive_avg_pool2d uayqnoh5hgq76qkw4hndpvsmk72bipuqcdkmusmvfrcbjbcgpw>


# <gen adaptive_avg_pool3d>
def adaptive_avg_pool3d(
    x: Tensor, output_size: int | Sequence[int | None], **words: Unpack[Words]
) -> Tensor:
    """Mean of output_size regions that cover the last 3 axes.

    None among the sizes keeps an axis as it is.
    """
    if words:
        return regions_rows.adaptive_avg_pool3d(x, output_size, **words)
    return regions_rows.adaptive_avg_pool3d(x, output_size)
    # </gen adaptive_avg_pool3d 2ghlkoh5hgq76qksqspupvsmk72bipuqcdkmusmvq265xjsm3u>


# <gen adaptive_max_pool1d>
def adaptive_max_pool1d(
    x: Tensor, output_size: int | Sequence[int | None], **words: Unpack[Words]
) -> Tensor:
    """Largest element of output_size regions that cover the last 1 axes.

    None among the sizes keeps an axis as it is.
    """
    if words:
        return regions_rows.adaptive_max_pool1d(x, output_size, **words)
    return regions_rows.adaptive_max_pool1d(x, output_size)
    # </gen adaptive_max_pool1d 64xktoh5hgq76qkkz6odpvsmk72bipuqcdkmusmvpukppgheti>


# <gen adaptive_max_pool2d>
def adaptive_max_pool2d(
    x: Tensor, output_size: int | Sequence[int | None], **words: Unpack[Words]
) -> Tensor:
    """Largest element of output_size regions that cover the last 2 axes.

    None among the sizes keeps an axis as it is.
    """
    if words:
        return regions_rows.adaptive_max_pool2d(x, output_size, **words)
    return regions_rows.adaptive_max_pool2d(x, output_size)
    # </gen adaptive_max_pool2d p3t43oh5hgq76qkd733qpvsmk72bipuqcdkmusmvpqbnyd543y>


# <gen adaptive_max_pool3d>
def adaptive_max_pool3d(
    x: Tensor, output_size: int | Sequence[int | None], **words: Unpack[Words]
) -> Tensor:
    """Largest element of output_size regions that cover the last 3 axes.

    None among the sizes keeps an axis as it is.
    """
    if words:
        return regions_rows.adaptive_max_pool3d(x, output_size, **words)
    return regions_rows.adaptive_max_pool3d(x, output_size)
    # </gen adaptive_max_pool3d 36zeaoh5hgq76qkzym7vpvsmk72bipuqcdkmusmvf2w2hlxws3>


# <gen fractional_max_pool2d>
def fractional_max_pool2d(
    x: Tensor,
    samples: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """Largest element of windows at random places over the last 2 axes.

    samples are 2 random numbers in [0, 1) for every plane: they decide where windows start.
    """
    if words:
        return regions_rows.fractional_max_pool2d(
            x, samples, kernel_size, output_size, output_ratio, **words
        )
    return regions_rows.fractional_max_pool2d(x, samples, kernel_size, output_size, output_ratio)
    # <sums cb3gmelnnv7jwu22cagne355et53r26raroq76qkk2jz6pvsmk7lemzuqcdkmusmv>
    # </gen fractional_max_pool2d wmitsjlgmt7tujomuy3q>


# <gen fractional_max_pool3d>
def fractional_max_pool3d(
    x: Tensor,
    samples: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """Largest element of windows at random places over the last 3 axes.

    samples are 3 random numbers in [0, 1) for every plane: they decide where windows start.
    """
    if words:
        return regions_rows.fractional_max_pool3d(
            x, samples, kernel_size, output_size, output_ratio, **words
        )
    return regions_rows.fractional_max_pool3d(x, samples, kernel_size, output_size, output_ratio)
    # <sums oarjoelnnv7jwu22cagne355et53r26raroq76qkhkxrwpvsmkzclvuuqcdkmusmv>
    # </gen fractional_max_pool3d dqukpjlgmt7tujowzenu>


# <gen cumsum>
def cumsum(x: Tensor, axis: int | None = None, dtype: Any = None, **words: Any) -> Tensor:
    """Sums of the elements so far along an axis."""
    if words:
        return scan_rows.cumsum(x, axis, dtype, **words)
    return scan_rows.cumsum(x, axis, dtype)
    # </gen cumsum jmg7nhqjqcmusmvoqkth2bece>


# <gen cumprod>
def cumprod(x: Tensor, axis: int | None = None, dtype: Any = None, **words: Any) -> Tensor:
    """Products of the elements so far along an axis."""
    if words:
        return scan_rows.cumprod(x, axis, dtype, **words)
    return scan_rows.cumprod(x, axis, dtype)
    # </gen cumprod ai3rmtmtj5musmvtn6bjg5bf7>


# <gen cummax>
def cummax(
    x: Tensor, axis: int | None = None, return_indices: bool = False, **words: Unpack[Words]
) -> Tensor:
    """Largest element so far along an axis; NaN once seen. return_indices: and where."""
    if words:
        return scan_rows.cummax(x, axis, return_indices, **words)
    return scan_rows.cummax(x, axis, return_indices)
    # </gen cummax 6rsm2wzckoq76qkyrdtcmusmv6fy4uft7jz>


# <gen cummin>
def cummin(
    x: Tensor, axis: int | None = None, return_indices: bool = False, **words: Unpack[Words]
) -> Tensor:
    """Smallest element so far along an axis; NaN once seen. return_indices: and where."""
    if words:
        return scan_rows.cummin(x, axis, return_indices, **words)
    return scan_rows.cummin(x, axis, return_indices)
    # </gen cummin htqyywzckoq76qkqg2v6musmv7jqtml4kgk>


# <gen logcumsumexp>
def logcumsumexp(x: Tensor, axis: int | None = None, **words: Unpack[Words]) -> Tensor:
    """log(cumsum(exp(x))), without overflow."""
    if words:
        return scan_rows.logcumsumexp(x, axis, **words)
    return scan_rows.logcumsumexp(x, axis)
    # </gen logcumsumexp 75k5azxhnfmusmvnzbr4b4mln>


# <gen argsort>
def argsort(
    x: Tensor, axis: int = -1, descending: bool = False, stable: bool = True, **words: Unpack[Words]
) -> Tensor:
    """Indices that sort along an axis; equal elements keep their order. NaN counts as the
    largest.
    """
    if words:
        return scan_rows.argsort(x, axis, descending, stable, **words)
    return scan_rows.argsort(x, axis, descending, stable)
    # </gen argsort v4gj742dxgq76qkczljwsxdapuqcdkmusmvjv5q6qdwaj>


# <gen unique>
def unique(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """The values in x, once each, in order; with an axis, the slices along it.

    With what is asked for behind them: for each element the index of its value; how often each
    value is there.
    """
    if words:
        return sets_rows.unique(x, return_inverse, return_counts, axis, **words)
    return sets_rows.unique(x, return_inverse, return_counts, axis)
    # </gen unique abd54elnnvujbkeyyawecq4ai6raroq76qkkrpmfpvsmkpxx4nx3hm4uqcdkmusmvls72j7sr52>


# <gen unique_counts>
def unique_counts(x: Tensor, **words: Unpack[Words]) -> Counts:
    """(values in order, how often each is there)."""
    if words:
        return sets_rows.unique_counts(x, **words)
    return sets_rows.unique_counts(x)
    # </gen unique_counts kqwcmxd3j2musmved2vptlcjf>


# <gen unique_inverse>
def unique_inverse(x: Tensor, **words: Unpack[Words]) -> Inverse:
    """(values in order, for each element of x the index of its value)."""
    if words:
        return sets_rows.unique_inverse(x, **words)
    return sets_rows.unique_inverse(x)
    # </gen unique_inverse szxdehquocmusmvuvz6ntssqb>


# <gen unique_all>
def unique_all(x: Tensor, **words: Unpack[Words]) -> Unique:
    """(values in order, where each stands first in flattened x, inverse indices, counts)."""
    if words:
        return sets_rows.unique_all(x, **words)
    return sets_rows.unique_all(x)
    # </gen unique_all 3fucilg3wimusmv3lyskwvoo4>


# <gen isin>
def isin(x: Tensor, elements: Tensor, invert: bool = False, **words: Unpack[Words]) -> Tensor:
    """Is each element of x among the elements? The opposite if invert; NaN is among none."""
    if words:
        return sets_rows.isin(x, elements, invert, **words)
    return sets_rows.isin(x, elements, invert)
    # </gen isin 3had5jn6kzmusmv4oetyjxffu>


# <gen flatten>
def flatten(x: Tensor, start: int = 0, end: int = -1, **words: Any) -> Tensor:
    """The axes from start to end as one; a 0-d tensor gets one axis."""
    if words:
        return shaping_rows.flatten(x, start, end, **words)
    return shaping_rows.flatten(x, start, end)
    # </gen flatten py2bms3c5vmusmvpoiwcocx7i>


# <gen unflatten>
def unflatten(x: Tensor, axis: int, sizes: Sequence[int], **words: Unpack[Words]) -> Tensor:
    """One axis as several; one of their sizes may be -1."""
    if words:
        return shaping_rows.unflatten(x, axis, sizes, **words)
    return shaping_rows.unflatten(x, axis, sizes)
    # </gen unflatten pbkcr65ov3musmvy7w5ik2kqn>


# <gen squeeze>
def squeeze(x: Tensor, axis: int | Sequence[int] | None = None, **words: Unpack[Words]) -> Tensor:
    """Without axes of size 1: those named, or all."""
    if words:
        return shaping_rows.squeeze(x, axis, **words)
    return shaping_rows.squeeze(x, axis)
    # </gen squeeze 3sbeghwdadmusmvitv6kw2bns>


# <gen unsqueeze>
def unsqueeze(x: Tensor, axis: int | Sequence[int] = 0, **words: Unpack[Words]) -> Tensor:
    """New axes of size 1, at places of the result."""
    if words:
        return shaping_rows.unsqueeze(x, axis, **words)
    return shaping_rows.unsqueeze(x, axis)
    # </gen unsqueeze m7euedwmktmusmvi6uhtdknvt>


# <gen transpose>
def transpose(x: Tensor, axis0: int, axis1: int, **words: Unpack[Words]) -> Tensor:
    """Two axes exchanged."""
    if words:
        return shaping_rows.transpose(x, axis0, axis1, **words)
    return shaping_rows.transpose(x, axis0, axis1)
    # </gen transpose e7jowbv7fpmusmvjdnnsalv33>


# <gen matrix_transpose>
def matrix_transpose(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The last two axes exchanged."""
    if words:
        return shaping_rows.matrix_transpose(x, **words)
    return shaping_rows.matrix_transpose(x)
    # </gen matrix_transpose bnvkdddozymusmvxjqytgzmxx>


# <gen movedim>
def movedim(
    x: Tensor, source: int | Sequence[int], destination: int | Sequence[int], **words: Any
) -> Tensor:
    """Axes at other places; those not named keep their order."""
    if words:
        return shaping_rows.movedim(x, source, destination, **words)
    return shaping_rows.movedim(x, source, destination)
    # </gen movedim eejxuoajc2q76qklst52musmvkevf5wqyue>


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
def tile(x: Tensor, repetitions: int | Sequence[int], *more: int, **words: Unpack[Words]) -> Tensor:
    """x laid out several times along each axis; the numbers as one tuple or one by one."""
    if words:
        return shaping_rows.tile(x, repetitions, *more, **words)
    return shaping_rows.tile(x, repetitions, *more)
    # </gen tile dkf2upcziymusmv3yob4faepr>


# <gen roll>
def roll(
    x: Tensor,
    shift: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """Elements moved along axes; what leaves at the end enters at the start."""
    if words:
        return shaping_rows.roll(x, shift, axis, **words)
    return shaping_rows.roll(x, shift, axis)
    # </gen roll hsxtfelnnvfw2fopc4c36raroq76qkcrulgmusmv2uyx6el6o4>


# <gen rot90>
def rot90(x: Tensor, k: int = 1, axes: Sequence[int] = (0, 1), **words: Unpack[Words]) -> Tensor:
    """Turned by k quarters in the plane of two axes, from the first towards the second."""
    if words:
        return shaping_rows.rot90(x, k, axes, **words)
    return shaping_rows.rot90(x, k, axes)
    # </gen rot90 lct6v4k5k7musmvngk4p7m6rd>


# <gen as_strided>
def as_strided(
    x: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int = 0,
    **words: Unpack[Words],
) -> Tensor:
    """Elements of flattened x: index times stride, plus an offset, says which one stands there."""
    if words:
        return shaping_rows.as_strided(x, size, stride, storage_offset, **words)
    return shaping_rows.as_strided(x, size, stride, storage_offset)
    # </gen as_strided hohyxelnnvst4u4okyl6tn6zs6raroq76qki2yu4musmvjf7vinxbad>


# <gen tril>
def tril(x: Tensor, k: int = 0, **words: Unpack[Words]) -> Tensor:
    """The last two axes' elements up to the k-th diagonal, 0 above it."""
    if words:
        return shaping_rows.tril(x, k, **words)
    return shaping_rows.tril(x, k)
    # </gen tril xlmcyilekxmusmvvnd2gby3jq>


# <gen triu>
def triu(x: Tensor, k: int = 0, **words: Unpack[Words]) -> Tensor:
    """The last two axes' elements from the k-th diagonal on, 0 below it."""
    if words:
        return shaping_rows.triu(x, k, **words)
    return shaping_rows.triu(x, k)
    # </gen triu vqtztkahipmusmvtbrfrblcqj>


# <gen diagonal>
def diagonal(
    x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, **words: Unpack[Words]
) -> Tensor:
    """The elements of a diagonal of two axes, as a last axis."""
    if words:
        return shaping_rows.diagonal(x, offset, axis1, axis2, **words)
    return shaping_rows.diagonal(x, offset, axis1, axis2)
    # </gen diagonal w2ahpnvxe2q76qkvgzb2musmvlwfzl3wslr>


# <gen trace>
def trace(
    x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, **words: Unpack[Words]
) -> Tensor:
    """The sum of a diagonal of two axes."""
    if words:
        return shaping_rows.trace(x, offset, axis1, axis2, **words)
    return shaping_rows.trace(x, offset, axis1, axis2)
    # </gen trace bid73nvxe2q76qk5mjibmusmvsvh4y653tp>


# <gen diag>
def diag(x: Tensor, k: int = 0, **words: Unpack[Words]) -> Tensor:
    """The k-th diagonal of a matrix, or the matrix with a vector there."""
    if words:
        return shaping_rows.diag(x, k, **words)
    return shaping_rows.diag(x, k)
    # </gen diag 33ne5q2ikqmusmvjnnstl6brf>


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
    **words: Unpack[Words],
) -> Tensor:
    """Spectra of n_fft elements every hop_length (a quarter of that): (..., frequency, frame).

    A window, of ones unless one is given, lies in their middle. center: the first frame is about
    the first element, and pad_mode continues the signal. normalized: over the root of n_fft.
    Half of each spectrum unless x is complex; complex unless return_complex is False.
    """
    if words:
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
            **words,
        )
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
    # <sums 55xyrelnnvx4bvuagqu6k2ddsm7a7qn7nnixkmmwqbz45w46x3zmh2z6raroq76qkhtnyzpvsmkenuno>
    # <sums xswlguotvluqcdkmusmvhitqwwgtlxyybgl2fqup7cnjt6xqi6lgkaa52caaommpkdjnapmpokilqfye>
    # </gen stft 7tujouvmq5vu4wzaplmaiwxoe6fz4eezqdqhol3rydaorxgv4jy6ch333i5fvzsie>


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
    **words: Unpack[Words],
) -> Tensor:
    """The signal whose stft with the same options is x, or is nearest to it.

    Frames are added up under the window and divided by the sum of its squares, which is NaN where
    no window reaches. length: of the signal, which the frames do not tell exactly.
    """
    if words:
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
            **words,
        )
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
    # <sums a6zjlelnnvx4bvuagqu6k2ddsm7a7qn7nniqbz45w46x3wdcuy2hb6l6raroq76qkwnixzpvsmkp6tv4>
    # <sums guxlyuqcdkmusmvy4o55wgtlxyybgl2fqup7cnjt6xqi6lgkaaommpkdjnapmntljmpokilqfye7tujo>
    # </gen istft kxotwvu4wzaplmaiwxoe6fz4eezqdqhol3rxgv4jy6ch34z4x233i5fvzsie>


# <gen erfc>
def erfc(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """1 - erf(x), accurate where that is small."""
    if words:
        return special_rows.erfc(x, **words)
    return special_rows.erfc(x)
    # </gen erfc v5qlt33xncmusmv5g4q246xee>


# <gen erfinv>
def erfinv(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The y for which erf(y) is x."""
    if words:
        return special_rows.erfinv(x, **words)
    return special_rows.erfinv(x)
    # </gen erfinv 2wsagfepermusmvrvb7hhmjvs>


# <gen lgamma>
def lgamma(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """log(|gamma(x)|), infinite at 0 and the negative integers."""
    if words:
        return special_rows.lgamma(x, **words)
    return special_rows.lgamma(x)
    # </gen lgamma s5mtlp2cnvmusmvgst3jmimos>


# <gen digamma>
def digamma(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The derivative of lgamma."""
    if words:
        return special_rows.digamma(x, **words)
    return special_rows.digamma(x)
    # </gen digamma txhjgrujalmusmvgkakvokpxt>


# <gen nansum>
def nansum(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Sum of the elements along axes that are not NaN."""
    if words:
        return statistics_rows.nansum(x, axis, keepdims, **words)
    return statistics_rows.nansum(x, axis, keepdims)
    # </gen nansum 4o5znelnnvpc4c3kg6sw6raroq76qk775w5musmve7mh2wceox>


# <gen nanmean>
def nanmean(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Mean of the elements along axes that are not NaN; NaN if there are none."""
    if words:
        return statistics_rows.nanmean(x, axis, keepdims, **words)
    return statistics_rows.nanmean(x, axis, keepdims)
    # </gen nanmean oy52lelnnvpc4c3kg6sw6raroq76qkloracmusmvzn6wxv4o6r>


# <gen nanmedian>
def nanmedian(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """The middle of the elements along axes that are not NaN, or the mean of the two there."""
    if words:
        return statistics_rows.nanmedian(x, axis, keepdims, **words)
    return statistics_rows.nanmedian(x, axis, keepdims)
    # </gen nanmedian pqqakelnnvpc4c3kg6sw6raroq76qkphe7jmusmvg2ap42s2xn>


# <gen nanquantile>
def nanquantile(
    x: Tensor,
    q: Any,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    interpolation: str = "linear",
    **words: Unpack[Words],
) -> Tensor:
    """quantile of the elements along axes that are not NaN; NaN if there are none."""
    if words:
        return statistics_rows.nanquantile(x, q, axis, keepdims, interpolation, **words)
    return statistics_rows.nanquantile(x, q, axis, keepdims, interpolation)
    # </gen nanquantile di6pzelnnvz6cgwpc4c3kg6swsiznd6raroq76qkoy2e4musmvp4iwb6lemj>


# <gen aminmax>
def aminmax(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Extremes:
    """(smallest, largest) element along axes; NaN if there is one."""
    if words:
        return statistics_rows.aminmax(x, axis, keepdims, **words)
    return statistics_rows.aminmax(x, axis, keepdims)
    # </gen aminmax uakeselnnvpc4c3kg6sw6raroog2pm2jhghmusmvfybyzt6okc>


# <gen var_mean>
def var_mean(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    correction: float = 1,
    **words: Unpack[Words],
) -> tuple[Tensor, Tensor]:
    """(variance, mean) along axes; squares are divided by (count - correction).

    The correction is 1, as in PyTorch, which alone has this function; that of var is 0.
    """
    if words:
        return statistics_rows.var_mean(x, axis, keepdims, correction, **words)
    return statistics_rows.var_mean(x, axis, keepdims, correction)
    # </gen var_mean k6hr3elnnvpc4c3kg6swbhkjj6raroikppo72vbxpvsmkhprdsuqcdkmusmvccclqega2f>


# <gen std_mean>
def std_mean(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    correction: float = 1,
    **words: Unpack[Words],
) -> tuple[Tensor, Tensor]:
    """(standard deviation, mean) along axes; squares are divided by (count - correction).

    The correction is 1, as in PyTorch, which alone has this function; that of std is 0.
    """
    if words:
        return statistics_rows.std_mean(x, axis, keepdims, correction, **words)
    return statistics_rows.std_mean(x, axis, keepdims, correction)
    # </gen std_mean d7cnaelnnvpc4c3kg6swbhkjj6raroikppoewqlspvsmkouijzuqcdkmusmviycbk5nhql>


# <gen kthvalue>
def kthvalue(
    x: Tensor, k: int, axis: int = -1, keepdims: bool = False, **words: Unpack[Words]
) -> Found:
    """(values, indices) of the k-th smallest element along an axis, counted from 1."""
    if words:
        return statistics_rows.kthvalue(x, k, axis, keepdims, **words)
    return statistics_rows.kthvalue(x, k, axis, keepdims)
    # </gen kthvalue 3ihpljc7stdcfswwv467musmvtwpeagkedf>


# <gen mode>
def mode(x: Tensor, axis: int = -1, keepdims: bool = False, **words: Unpack[Words]) -> Found:
    """(values, indices) of the most frequent element along an axis: the least, where it last is."""
    if words:
        return statistics_rows.mode(x, axis, keepdims, **words)
    return statistics_rows.mode(x, axis, keepdims)
    # </gen mode mlqzvg4jdwmusmvgr5m4ji4at>


# <gen msort>
def msort(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The elements in order along the first axis."""
    if words:
        return statistics_rows.msort(x, **words)
    return statistics_rows.msort(x)
    # </gen msort ebyibq6gjdmusmvxog4jaq2dh>


# <gen prod>
def prod(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    dtype: Any = None,
    **words: Any,
) -> Tensor:
    """Product of the elements along axes."""
    if words:
        return totals_rows.prod_(x, axis, keepdims, dtype, **words)
    return totals_rows.prod_(x, axis, keepdims, dtype)
    # </gen prod gj5a2elnnvpc4c3kg6sw3ve4zm2dg4q76qkmup3ymusmvbfb4xultwm>


# <gen count_nonzero>
def count_nonzero(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """How many elements along axes are not 0."""
    if words:
        return totals_rows.count_nonzero(x, axis, keepdims, **words)
    return totals_rows.count_nonzero(x, axis, keepdims)
    # </gen count_nonzero hthazelnnvpc4c3kg6sw6raroq76qksuitzmusmvn7qvsz7dwj>


# <gen any>
def any(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Is an element along axes not 0?"""
    if words:
        return totals_rows.any_(x, axis, keepdims, **words)
    return totals_rows.any_(x, axis, keepdims)
    # </gen any hct63elnnvpc4c3kg6sw6raroq76qknglommusmvwx575fifjc>


# <gen all>
def all(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """Is no element along axes 0?"""
    if words:
        return totals_rows.all_(x, axis, keepdims, **words)
    return totals_rows.all_(x, axis, keepdims)
    # </gen all ko7ojelnnvpc4c3kg6sw6raroq76qksxpcwmusmvqa4pe7fx5z>


# <gen std>
def std(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    correction: float = 0,
    **words: Unpack[Words],
) -> Tensor:
    """Standard deviation along axes: the root of the variance; flat where all are equal."""
    if words:
        return totals_rows.std(x, axis, keepdims, correction, **words)
    return totals_rows.std(x, axis, keepdims, correction)
    # </gen std h4hkielnnvpc4c3kg6swugucq6raroq76qknlx5bmusmv4czjawp5qq>


# <gen norm>
def norm(
    x: Tensor,
    ord: float = 2,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """(sum |x|**ord)**(1/ord) along axes; inf and -inf give the largest and smallest, 0 a count.

    Zeros have a gradient of 0, also below ord 1, where their powers are steep.
    """
    if words:
        return totals_rows.norm(x, ord, axis, keepdims, **words)
    return totals_rows.norm(x, ord, axis, keepdims)
    # </gen norm wnub5elnnvz6dhlpc4c3kg6sw6raroq76qkah25upvsmkrz65uuqcdkmusmvpkzbvqsun7>


# <gen windows>
def windows(
    x: Tensor,
    sizes: Sequence[int],
    strides: int | Sequence[int] = 1,
    dilations: int | Sequence[int] = 1,
    edges: Sequence[tuple[int, int]] = (),
    value: float = 0,
    **words: Any,
) -> Tensor:
    """Windows over the last axes of x: (..., *sizes, *number of windows).

    strides lie between windows, dilations between the elements of one. edges are (before, after)
    for each axis, filled with value; negative ones cut off.
    """
    if words:
        return windows_rows.windows(x, sizes, strides, dilations, edges, value, **words)
    return windows_rows.windows(x, sizes, strides, dilations, edges, value)
    # <sums f6vjzelnnvr5fbqpccxctk5u6big7lksz3um2dg4q76qktmnzhpvsmk3akfld3imyuqcdkmusmv>
    # </gen windows hek7uc344v>


# <gen fold>
def fold(
    x: Tensor,
    sizes: Sequence[int],
    strides: int | Sequence[int] = 1,
    dilations: int | Sequence[int] = 1,
    starts: int | Sequence[int] = 0,
    **words: Unpack[Words],
) -> Tensor:
    """Windows laid back and added up where they meet: the transpose of `windows`.

    x is (..., *windows' sizes, *number of windows), the result (..., *sizes) from starts on.
    """
    if words:
        return windows_rows.fold(x, sizes, strides, dilations, starts, **words)
    return windows_rows.fold(x, sizes, strides, dilations, starts)
    # </gen fold ujh4zelnnvr5fbqpccxctk5u675trp6raroq76qk6d2ocpvsmkfas2nuqcdkmusmvauddeljjbe>


# <gen unfold>
def unfold(
    x: Tensor,
    axis: int = -1,
    size: int = 1,
    step: int = 1,
    dilation: int = 1,
    **words: Unpack[Words],
) -> Tensor:
    """Windows of size elements along an axis, step apart, as a new last axis.

    Elements of a window are dilation apart.
    """
    if words:
        return windows_rows.unfold(x, axis, size, step, dilation, **words)
    return windows_rows.unfold(x, axis, size, step, dilation)
    # </gen unfold itykyelnnv3cemje2memeng4lyi4it6raroq76qkrbqivpvsmkybqjfuqcdkmusmvi6pvtjj2z3>


# <gen index_copy>
def index_copy(x: Tensor, index: Tensor, values: Tensor, axis: int = 0, **words: Any) -> Tensor:
    """x with slices of values in place of those at indices along an axis."""
    if words:
        return writing_rows.index_copy(x, index, values, axis, **words)
    return writing_rows.index_copy(x, index, values, axis)
    # </gen index_copy 7sh54wrb36musmvw4xmlrpjjy>


# <gen index_fill>
def index_fill(x: Tensor, index: Tensor, value: Any, axis: int = 0, **words: Any) -> Tensor:
    """x with a value, a number or a 0-d tensor, in the slices at indices along an axis."""
    if words:
        return writing_rows.index_fill(x, index, value, axis, **words)
    return writing_rows.index_fill(x, index, value, axis)
    # </gen index_fill wwiozvlbr4musmvudccptmcuz>


# <gen index_put>
def index_put(
    x: Tensor,
    indices: Tensor | Sequence[Tensor],
    values: Tensor | float,
    accumulate: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """x with values at indices: a tuple of tensors, one for each of the first axes, or a mask.

    accumulate: values are added to what is there, and to each other where indices meet.

    >>> import treadle as td
    >>> x, i, j = td.zeros(2, 3), td.tensor([0, 1, 1]), td.tensor([2, 0, 0])
    >>> td.index_put(x, (i, j), td.ones(3), accumulate=True).tolist()
    [[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]
    """
    if words:
        return writing_rows.index_put(x, indices, values, accumulate, **words)
    return writing_rows.index_put(x, indices, values, accumulate)
    # <sums qxedbelnnv26kzxioou7onmot6raroq76qkocr6jpvsmkb4tlvpvsmkymuw3apw7eejha72dyet>
    # </gen index_put uqcdkmusmvgkgsgxemjh>


# <gen masked_scatter>
def masked_scatter(x: Tensor, mask: Tensor, values: Tensor, **words: Unpack[Words]) -> Tensor:
    """x with the elements of values, one after the other, where mask is true."""
    if words:
        return writing_rows.masked_scatter(x, mask, values, **words)
    return writing_rows.masked_scatter(x, mask, values)
    # </gen masked_scatter 5kr7mvpbmbmusmvpkyecf7k7m>


# <gen zeta>
def zeta(x: Tensor | float, q: Tensor | float, **words: Unpack[Words]) -> Tensor:
    """The sum of 1 / (k + q)**x over k = 0, 1, 2, ... (Hurwitz's zeta function), for x > 1.

    At q of 0 and the negative integers it is infinite; between them x must be whole. Below q of -12
    it is NaN.

    >>> import treadle as td
    >>> f"{td.zeta(td.tensor(2.0), 1.0).item():.4f}"
    '1.6449'
    """
    if words:
        return zetas_rows.zeta(x, q, **words)
    return zetas_rows.zeta(x, q)
    # </gen zeta dgzyjnoz6ipvsmkisl3vkrxgrpvsmkymuw3eaupvqv72uuqcdkmusmvjddgrucemj>


# <gen polygamma>
def polygamma(x: Tensor, n: int, **words: Unpack[Words]) -> Tensor:
    """The n-th derivative of digamma; n and x may be given in either order.

    >>> import treadle as td
    >>> f"{td.polygamma(1, td.tensor(1.0)).item():.4f}"
    '1.6449'
    """
    if words:
        return zetas_rows.polygamma(x, n, **words)
    return zetas_rows.polygamma(x, n)
    # </gen polygamma rhsnry3fzkpvsmkymuw3i5qm2qv72uuqcdkmusmvamrikvwu7o>


# <gen mvlgamma>
def mvlgamma(x: Tensor, p: int, **words: Any) -> Tensor:
    """The logarithm of the gamma function of p dimensions, for x above (p - 1) / 2; else NaN."""
    if words:
        return zetas_rows.mvlgamma(x, p, **words)
    return zetas_rows.mvlgamma(x, p)
    # </gen mvlgamma vzyq4r7iwhmusmvdhtisopmi3>


# <gen aliases>
reshape_as = view_as
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
# <sums b2spmup7vybwwtbrgunl7qeorubj5hfw6stwz5a4zxevjnrwpky6fysd5uph72kj33g3rtfwo2is2aqr>
# <sums iyfo6erafxnp7mi5gtnla7wo34cera3ff7vruizo43rwlfjcmxlrnoacglu3xoashybxmp4o6fig7kwz>
# </gen aliases 65alfovinah7byup724haa4d74umgc6c5h5winioafwz7fxpaij2zar6ori3vybpo>


# <gen words>
accept_words(globals().values())
# </gen words j5pez>
