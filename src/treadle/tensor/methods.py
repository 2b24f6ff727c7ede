"""The ops of the table as methods of a tensor."""

from __future__ import annotations

# <gen imports>
from collections.abc import Sequence
from typing import Any, Self

from treadle.ops import activations as activations_rows
from treadle.ops import added as added_rows
from treadle.ops import arithmetic as arithmetic_rows
from treadle.ops import arranging as arranging_rows
from treadle.ops import bessel as bessel_rows
from treadle.ops import composite as composite_rows
from treadle.ops import contract as contract_rows
from treadle.ops import convolution as convolution_rows
from treadle.ops import distances as distances_rows
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

# <sums tgj7fneh5npvsmkymah2xvyiz3pewjo6m2y6drl2mgqqfu2vb2fgkn2evaalqe4bzutyoe6n5dtgtzmx>
# <sums 5mpujuqtos24poxtsidvn4cuynrbhmukhfknm4gyji6keu4tomikgbsoi2stkhhscwaxz4cdvqu7te2p>
# </gen imports mu6xuof2p55pkjfc3azhb7iyl7newb7i7vj2ul5zye67edyko43kgudduigdgsbpwpvsmk>
from treadle.ops.syntax import Syntax


class Methods(Syntax):
    """Every op that can be called on its first operand."""

    __slots__ = ()

    # <gen relu>
    def relu(self) -> Self:
        """x where positive, else 0."""
        return activations_rows.relu(self)
        # </gen relu j26fuuvypjcuac4>

    # <gen hardtanh>
    def hardtanh(self, min_val: float = -1.0, max_val: float = 1.0) -> Self:
        """x kept within [min_val, max_val]."""
        return activations_rows.hardtanh(self, min_val, max_val)
        # </gen hardtanh mtmbvnvffine4s7>

    # <gen relu6>
    def relu6(self) -> Self:
        """x kept within [0, 6]."""
        return activations_rows.relu6(self)
        # </gen relu6 fx4fyv6xqygedoe>

    # <gen leaky_relu>
    def leaky_relu(self, negative_slope: float = 0.01) -> Self:
        """x where positive, else a fraction of it."""
        return activations_rows.leaky_relu(self, negative_slope)
        # </gen leaky_relu 5zpw5gb46qx2az7>

    # <gen prelu>
    def prelu(self, weight: Self | float) -> Self:
        """x where positive, else weight times x; there is one weight, or one a channel (axis 1)."""
        return activations_rows.prelu(self, weight)
        # </gen prelu xv6nmh4weajj6lq>

    # <gen threshold>
    def threshold(self, threshold: float, value: float) -> Self:
        """x where it is above the threshold, else the value."""
        return activations_rows.threshold(self, threshold, value)
        # </gen threshold bcfrgmzlastofo5>

    # <gen hardshrink>
    def hardshrink(self, lambd: float = 0.5) -> Self:
        """x, or 0 where it is within lambd of 0."""
        return activations_rows.hardshrink(self, lambd)
        # </gen hardshrink nvnnqiktk4b2vpp>

    # <gen softshrink>
    def softshrink(self, lambd: float = 0.5) -> Self:
        """x moved towards 0 by lambd."""
        return activations_rows.softshrink(self, lambd)
        # </gen softshrink 43peqsty6mkuwzi>

    # <gen hardsigmoid>
    def hardsigmoid(self) -> Self:
        """A sigmoid of three straight pieces: x / 6 + 1/2, kept within [0, 1]."""
        return activations_rows.hardsigmoid(self)
        # </gen hardsigmoid kdcdfbqbib722yy>

    # <gen hardswish>
    def hardswish(self) -> Self:
        """x times hardsigmoid(x)."""
        return activations_rows.hardswish(self)
        # </gen hardswish dsah5nvgml72epd>

    # <gen silu>
    def silu(self) -> Self:
        """x times sigmoid(x)."""
        return activations_rows.silu(self)
        # </gen silu 7fqo7j2bnbxvejh>

    # <gen gelu>
    def gelu(self, approximate: str = "none") -> Self:
        """x times the normal distribution function of x; approximate="tanh" uses a cheaper form."""
        return activations_rows.gelu(self, approximate)
        # </gen gelu 53am5vehecii3my>

    # <gen elu>
    def elu(self, alpha: float = 1.0) -> Self:
        """x where positive, else alpha * (exp(x) - 1)."""
        return activations_rows.elu(self, alpha)
        # </gen elu v3qtswyjnrerdby>

    # <gen celu>
    def celu(self, alpha: float = 1.0) -> Self:
        """x where positive, else alpha * (exp(x / alpha) - 1)."""
        return activations_rows.celu(self, alpha)
        # </gen celu w4u7fnn64ehjexi>

    # <gen selu>
    def selu(self) -> Self:
        """elu with the alpha and scale that keep mean 0 and variance 1 from layer to layer."""
        return activations_rows.selu(self)
        # </gen selu gsbyjkat3jl2eky>

    # <gen mish>
    def mish(self) -> Self:
        """x times tanh(softplus(x))."""
        return activations_rows.mish(self)
        # </gen mish 6mrguqxwgkdfknf>

    # <gen logsigmoid>
    def logsigmoid(self) -> Self:
        """log(sigmoid(x)) without overflow."""
        return activations_rows.logsigmoid(self)
        # </gen logsigmoid m47br63i2ajcznb>

    # <gen softplus>
    def softplus(self, beta: float = 1.0, threshold: float = 20.0) -> Self:
        """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""
        return activations_rows.softplus(self, beta, threshold)
        # </gen softplus o7w2qgfjdlw5a6s>

    # <gen softsign>
    def softsign(self) -> Self:
        """x / (1 + |x|)."""
        return activations_rows.softsign(self)
        # </gen softsign 2b6ydpnzpmwnkvh>

    # <gen tanhshrink>
    def tanhshrink(self) -> Self:
        """x - tanh(x)."""
        return activations_rows.tanhshrink(self)
        # </gen tanhshrink ev3og5twchjhrft>

    # <gen glu>
    def glu(self, axis: int = -1) -> Self:
        """The first half of an axis times the sigmoid of the second."""
        return activations_rows.glu(self, axis)
        # </gen glu hbjevaeeys2ig32>

    # <gen mm>
    def mm(self, b: Self) -> Self:
        """A matrix times a matrix."""
        return added_rows.mm(self, b)
        # </gen mm zlkp4s2qhqeal2y>

    # <gen addmm>
    def addmm(self, a: Self, b: Self, beta: float = 1, alpha: float = 1) -> Self:
        """beta * x + alpha * (a matrix times a matrix); x broadcasts to it."""
        return added_rows.addmm(self, a, b, beta, alpha)
        # </gen addmm ddrhxginvmpoduw>

    # <gen addmv>
    def addmv(self, a: Self, b: Self, beta: float = 1, alpha: float = 1) -> Self:
        """beta * x + alpha * (a matrix times a vector); x broadcasts to it."""
        return added_rows.addmv(self, a, b, beta, alpha)
        # </gen addmv xjyidr2ttno4riy>

    # <gen addr>
    def addr(self, a: Self, b: Self, beta: float = 1, alpha: float = 1) -> Self:
        """beta * x + alpha * (every element of a vector times every one of another); x
        broadcasts to it.
        """
        return added_rows.addr(self, a, b, beta, alpha)
        # </gen addr uo5gzulnfxupiodsdaupm57es>

    # <gen baddbmm>
    def baddbmm(self, a: Self, b: Self, beta: float = 1, alpha: float = 1) -> Self:
        """beta * x + alpha * (a batch of matrices times another); x broadcasts to it."""
        return added_rows.baddbmm(self, a, b, beta, alpha)
        # </gen baddbmm ui3apfnsop4zkqv>

    # <gen addbmm>
    def addbmm(self, a: Self, b: Self, beta: float = 1, alpha: float = 1) -> Self:
        """beta * x + alpha * (the sum of a batch of products of matrices); x broadcasts to it."""
        return added_rows.addbmm(self, a, b, beta, alpha)
        # </gen addbmm a7ynkn3ws7cm3j7>

    # <gen addcmul>
    def addcmul(self, a: Self | float, b: Self, value: float = 1) -> Self:
        """x + value * a * b."""
        return added_rows.addcmul(self, a, b, value)
        # </gen addcmul uld7bs46dy24nni>

    # <gen addcdiv>
    def addcdiv(self, a: Self | float, b: Self, value: float = 1) -> Self:
        """x + value * a / b, a float."""
        return added_rows.addcdiv(self, a, b, value)
        # </gen addcdiv sp5eldibh7wifbw>

    # <gen cross>
    def cross(self, b: Self, axis: int = -1) -> Self:
        """The vector at right angles to two of three elements along an axis; the others
        broadcast.
        """
        return added_rows.cross(self, b, axis)
        # </gen cross cgkcvn6n2xkctshsdaupnn2ow>

    # <gen logit>
    def logit(self, eps: float | None = None) -> Self:
        """log(x / (1 - x)), the inverse of sigmoid; eps: x is kept within [eps, 1 - eps]."""
        return arithmetic_rows.logit(self, eps)
        # </gen logit v4mlvw6zjeqv2f3>

    # <gen xlogy>
    def xlogy(self, y: Self | float) -> Self:
        """x * log(y), and 0 where x is 0, unless y is NaN."""
        return arithmetic_rows.xlogy(self, y)
        # </gen xlogy owmai2jzl25nhjc>

    # <gen xlog1py>
    def xlog1py(self, y: Self | float) -> Self:
        """x * log1p(y), and 0 where x is 0, unless y is NaN."""
        return arithmetic_rows.xlog1py(self, y)
        # </gen xlog1py xegu7kf77tqgpg3>

    # <gen logaddexp2>
    def logaddexp2(self, y: Self | float) -> Self:
        """log2(2**x + 2**y) without overflow."""
        return arithmetic_rows.logaddexp2(self, y)
        # </gen logaddexp2 l4e4dg5vehj6by2>

    # <gen frac>
    def frac(self) -> Self:
        """What a number has behind its point, with its sign: x - trunc(x)."""
        return arithmetic_rows.frac(self)
        # </gen frac tfzkbm2eyf44dwq>

    # <gen heaviside>
    def heaviside(self, values: Self | float) -> Self:
        """0 where x is negative, 1 where it is positive, values where it is 0; NaN where x is."""
        return arithmetic_rows.heaviside(self, values)
        # </gen heaviside ucddh7efsle3qck>

    # <gen clamp_min>
    def clamp_min(self, min: Self | float) -> Self:
        """x where it is above min, a number or a tensor, else min."""
        return arithmetic_rows.clamp_min(self, min)
        # </gen clamp_min 4ekok4idm7ubypf>

    # <gen clamp_max>
    def clamp_max(self, max: Self | float) -> Self:
        """x where it is below max, a number or a tensor, else max."""
        return arithmetic_rows.clamp_max(self, max)
        # </gen clamp_max gcrmysrgqcxt3nu>

    # <gen isposinf>
    def isposinf(self) -> Self:
        """True where x is positive infinity."""
        return arithmetic_rows.isposinf(self)
        # </gen isposinf 46qsuo45x2sb7hq>

    # <gen isneginf>
    def isneginf(self) -> Self:
        """True where x is negative infinity."""
        return arithmetic_rows.isneginf(self)
        # </gen isneginf tbfmkdjgx7frtjt>

    # <gen deg2rad>
    def deg2rad(self) -> Self:
        """Degrees as radians."""
        return arithmetic_rows.deg2rad(self)
        # </gen deg2rad q3jfmzwradaorxk>

    # <gen rad2deg>
    def rad2deg(self) -> Self:
        """Radians as degrees."""
        return arithmetic_rows.rad2deg(self)
        # </gen rad2deg zhmmxvfs4bvz7os>

    # <gen sinc>
    def sinc(self) -> Self:
        """sin(pi x) / (pi x), 1 at 0 and exactly 0 at the other integers."""
        return arithmetic_rows.sinc(self)
        # </gen sinc i2jtygznyyvry3w>

    # <gen ldexp>
    def ldexp(self, other: Self | float) -> Self:
        """x times 2 to the power other: a float; exact for whole powers, but where it
        underflows.
        """
        return arithmetic_rows.ldexp(self, other)
        # </gen ldexp jmhtw6zc5b453tasdaupjmo4t>

    # <gen frexp>
    def frexp(self) -> Parts:
        """(mantissa, exponent): x as mantissa * 2**exponent, with a mantissa in [0.5, 1), or 0."""
        return arithmetic_rows.frexp(self)
        # </gen frexp seb5vo7uk3kmupg>

    # <gen gcd>
    def gcd(self, y: Self | float) -> Self:
        """The greatest common divisor of integers, not negative; gcd(0, y) is |y|."""
        return arithmetic_rows.gcd(self, y)
        # </gen gcd jnshzf773362udf>

    # <gen lcm>
    def lcm(self, y: Self | float) -> Self:
        """The least common multiple of integers, not negative; 0 if one is."""
        return arithmetic_rows.lcm(self, y)
        # </gen lcm hos63dm3fnluhdo>

    # <gen expand_as>
    def expand_as(self, other: Self) -> Self:
        """x broadcast to the shape of another."""
        return arranging_rows.expand_as(self, other)
        # </gen expand_as poeaefrduwqww3c>

    # <gen view_as>
    def view_as(self, other: Self | float) -> Self:
        """The elements of x under the shape of another."""
        return arranging_rows.view_as(self, other)
        # </gen view_as 5jsvoch6pfe3rxo>

    # <gen fliplr>
    def fliplr(self) -> Self:
        """The order of the columns turned round: along axis 1."""
        return arranging_rows.fliplr(self)
        # </gen fliplr gqcln4iqwydajpm>

    # <gen flipud>
    def flipud(self) -> Self:
        """The order of the rows turned round: along axis 0."""
        return arranging_rows.flipud(self)
        # </gen flipud 25btn7izrhw2bxw>

    # <gen take_along_dim>
    def take_along_dim(self, indices: Self, axis: int | None = None) -> Self:
        """take_along_axis, or without an axis the elements of flattened x at flattened indices."""
        return arranging_rows.take_along_dim(self, indices, axis)
        # </gen take_along_dim emsxdwxhazght7x>

    # <gen diag_embed>
    def diag_embed(self, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Self:
        """The last axis as a diagonal of two axes of the result, zeros beside it."""
        return arranging_rows.diag_embed(self, offset, axis1, axis2)
        # </gen diag_embed 2dthepdq32h2hp6>

    # <gen diagflat>
    def diagflat(self, offset: int = 0) -> Self:
        """A matrix with the elements of x on a diagonal."""
        return arranging_rows.diagflat(self, offset)
        # </gen diagflat xgbj356nxcjgb3h>

    # <gen combinations>
    def combinations(self, r: int = 2, with_replacement: bool = False) -> Self:
        """Every choice of r elements of a vector in their order, a row for each choice."""
        return arranging_rows.combinations(self, r, with_replacement)
        # </gen combinations bz5ldvdi7ime7qh>

    # <gen vander>
    def vander(self, N: int | None = None, increasing: bool = False) -> Self:
        """The powers of each element of a vector, a row for each: falling to 0, or rising from
        it.
        """
        return arranging_rows.vander(self, N, increasing)
        # </gen vander p2za3jtto37hwpusdauph3hwb>

    # <gen i0>
    def i0(self) -> Self:
        """The modified Bessel function of the first kind, of order 0."""
        return bessel_rows.i0(self)
        # </gen i0 rhhvbgcnrv5j5di>

    # <gen i1>
    def i1(self) -> Self:
        """The modified Bessel function of the first kind, of order 1."""
        return bessel_rows.i1(self)
        # </gen i1 bcl2d3o3uvnkmdp>

    # <gen i0e>
    def i0e(self) -> Self:
        """The modified Bessel function of the first kind, of order 0 times exp(-|x|)."""
        return bessel_rows.i0e(self)
        # </gen i0e 3qt5kicvldlonbv>

    # <gen i1e>
    def i1e(self) -> Self:
        """The modified Bessel function of the first kind, of order 1 times exp(-|x|)."""
        return bessel_rows.i1e(self)
        # </gen i1e sbytnlvovlrkjwo>

    # <gen clip>
    def clip(self, min: Self | float | None = None, max: Self | float | None = None) -> Self:
        """x kept within [min, max], numbers or tensors; either may be left out."""
        return activations_rows.clip(self, min, max)
        # </gen clip zyq53en6izievhj>

    # <gen nan_to_num>
    def nan_to_num(
        self, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
    ) -> Self:
        """x with numbers in place of NaN and infinities: by default 0 and the largest of the
        dtype.
        """
        return activations_rows.nan_to_num(self, nan, posinf, neginf)
        # </gen nan_to_num bodtul4knhprv3yi72vdrwbp3sdaupcmocc>

    # <gen mean>
    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Self:
        """Arithmetic mean along axes."""
        return composite_rows.mean(self, axis, keepdims)
        # </gen mean dhjikvgfqhptnqp>

    # <gen var>
    def var(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False, correction: float = 0
    ) -> Self:
        """Variance along axes: squared deviations over (count - correction); a float."""
        return composite_rows.var(self, axis, keepdims, correction)
        # </gen var cqsy4cehanprv3yt2trz54g2x>

    # <gen logsumexp>
    def logsumexp(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Self:
        """log(sum(exp(x))) along axes, without overflow."""
        return composite_rows.logsumexp(self, axis, keepdims)
        # </gen logsumexp mzcfb2lruzcrcyo>

    # <gen argmax>
    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Self:
        """Index of the first largest element (of the flattened tensor if axis is None)."""
        return composite_rows.argmax(self, axis, keepdims)
        # </gen argmax jsxox5xe35kzt3z>

    # <gen argmin>
    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Self:
        """Index of the first smallest element (of the flattened tensor if axis is None)."""
        return composite_rows.argmin(self, axis, keepdims)
        # </gen argmin f4tq4wtz6f2pdqa>

    # <gen take>
    def take(self, indices: Self, axis: int | None = None) -> Self:
        """Slices of x at indices along an axis, the first if none is named: an embedding look-
        up.
        """
        return composite_rows.take(self, indices, axis)
        # </gen take ai7fgjxs6tf5n4ysdaupi6alr>

    # <gen matmul>
    def matmul(self, b: Self) -> Self:
        """Matrix product; vectors are rows on the left and columns on the right."""
        return composite_rows.matmul(self, b)
        # </gen matmul snantwppflsbifb>

    # <gen linear>
    def linear(self, weight: Self, bias: Self | None = None) -> Self:
        """x times weight transposed, plus bias; weight is (out, in) as in PyTorch."""
        return composite_rows.linear(self, weight, bias)
        # </gen linear ugaaaawrq7ytsns>

    # <gen matrix_product>
    def matrix_product(self, b: Self) -> Self:
        """Matrix product over the last two axes, broadcasting the others."""
        return contract_rows.matrix_product(self, b)
        # </gen matrix_product ufp6o36eh5hnz6l>

    # <gen dot>
    def dot(self, b: Self) -> Self:
        """Sum of products of two vectors; of more axes, over the last of a and the last but one
        of b.
        """
        return products_rows.dot(self, b)
        # </gen dot q7faxskggzc5bzxsdaupxoepj>

    # <gen inner>
    def inner(self, b: Self) -> Self:
        """Sums of products over the last axes of both; a 0-d operand scales."""
        return products_rows.inner(self, b)
        # </gen inner ziu262zx72462pv>

    # <gen outer>
    def outer(self, b: Self) -> Self:
        """Every element of a vector times every element of another."""
        return products_rows.outer(self, b)
        # </gen outer e23adnpvkxekvef>

    # <gen vecdot>
    def vecdot(self, b: Self, axis: int = -1) -> Self:
        """Sum of products along one axis of both; the others broadcast. Complex a is conjugated."""
        return products_rows.vecdot(self, b, axis)
        # </gen vecdot 735jnh3thhusv4g>

    # <gen vdot>
    def vdot(self, b: Self) -> Self:
        """Sum of products of two vectors, of which a complex first one is conjugated."""
        return products_rows.vdot(self, b)
        # </gen vdot xshlfxgfq6a3l6t>

    # <gen bmm>
    def bmm(self, b: Self) -> Self:
        """Matrix products of a batch: (batch, n, k) times (batch, k, m)."""
        return products_rows.bmm(self, b)
        # </gen bmm u4hnohwktp4wwle>

    # <gen mv>
    def mv(self, b: Self) -> Self:
        """A matrix times a vector."""
        return products_rows.mv(self, b)
        # </gen mv qiz3prlo7rxkfj5>

    # <gen kron>
    def kron(self, b: Self) -> Self:
        """Every element of a times all of b, laid side by side (the Kronecker product)."""
        return products_rows.kron(self, b)
        # </gen kron hnv7ahwcktabp3s>

    # <gen quantize>
    def quantize(self, scale: float, zero_point: int = 0, dtype: Any = "int8") -> Self:
        """The nearest integer to x / scale + zero_point that the dtype holds."""
        return quantised_rows.quantize(self, scale, zero_point, dtype)
        # </gen quantize a6y37yh45j3mf2q>

    # <gen dequantize>
    def dequantize(self, scale: float, zero_point: int = 0) -> Self:
        """(x - zero_point) * scale: the float32 that integers made by quantize stand for."""
        return quantised_rows.dequantize(self, scale, zero_point)
        # </gen dequantize yt64izhyu2vc27o>

    # <gen gather>
    def gather(self, index: Self, axis: int) -> Self:
        """Elements at indices along an axis; negative indices count from the end."""
        return contract_rows.gather(self, index, axis)
        # </gen gather 675xb7cnsji5g7k>

    # <gen scatter_add>
    def scatter_add(self, index: Self, values: Self, axis: int) -> Self:
        """base with values added at indices along an axis; narrow floats add up in float32."""
        return contract_rows.scatter_add(self, index, values, axis)
        # </gen scatter_add il6l7jb7rje52eb>

    # <gen scatter>
    def scatter(self, index: Self, values: Self, axis: int) -> Self:
        """base with values put at indices along an axis; the last one stays."""
        return contract_rows.scatter(self, index, values, axis)
        # </gen scatter fx5aqof7ifc35e5>

    # <gen scatter_mul>
    def scatter_mul(self, index: Self, values: Self, axis: int) -> Self:
        """base multiplied by values at indices along an axis; narrow floats meet in float32."""
        return contract_rows.scatter_mul(self, index, values, axis)
        # </gen scatter_mul glpg5zeotomkib4>

    # <gen scatter_max>
    def scatter_max(self, index: Self, values: Self, axis: int) -> Self:
        """The larger of base and the values at indices along an axis."""
        return contract_rows.scatter_max(self, index, values, axis)
        # </gen scatter_max drgqy6glcl6wkyy>

    # <gen scatter_min>
    def scatter_min(self, index: Self, values: Self, axis: int) -> Self:
        """The smaller of base and the values at indices along an axis."""
        return contract_rows.scatter_min(self, index, values, axis)
        # </gen scatter_min 3vahepdzazgsw2m>

    # <gen conv1d>
    def conv1d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | str = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Self:
        """Cross-correlation over the last 1 axes of x with every kernel."""
        return convolution_rows.conv1d(self, weight, bias, stride, padding, dilation, groups)
        # </gen conv1d sc4ee6a6rsowstufjn6ic2trdm7fbijqr3jtdszqprv3ymw777p2rce>

    # <gen conv2d>
    def conv2d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | str = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Self:
        """Cross-correlation over the last 2 axes of x with every kernel."""
        return convolution_rows.conv2d(self, weight, bias, stride, padding, dilation, groups)
        # </gen conv2d guw6f6a6rsowstufjn6ic2trdm7fbijqr3jtdszqprv3yc5xpznpcfy>

    # <gen conv3d>
    def conv3d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | str = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Self:
        """Cross-correlation over the last 3 axes of x with every kernel."""
        return convolution_rows.conv3d(self, weight, bias, stride, padding, dilation, groups)
        # </gen conv3d t2r4j6a6rsowstufjn6ic2trdm7fbijqr3jtdszqprv3yutykya4raj>

    # <gen conv_transpose1d>
    def conv_transpose1d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        dilation: int | Sequence[int] = 1,
    ) -> Self:
        """Every element of x times every kernel, added up 1-d."""
        return convolution_rows.conv_transpose1d(
            self, weight, bias, stride, padding, output_padding, groups, dilation
        )
        # <sums 3aamg6a6rsowstufjn6ic2trdwwrn3hbr33tdszqjqr3jprv3yhb4xoqb2j5ve7cx>
        # </gen conv_transpose1d 7tujo>

    # <gen conv_transpose2d>
    def conv_transpose2d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        dilation: int | Sequence[int] = 1,
    ) -> Self:
        """Every element of x times every kernel, added up 2-d."""
        return convolution_rows.conv_transpose2d(
            self, weight, bias, stride, padding, output_padding, groups, dilation
        )
        # <sums ewqjq6a6rsowstufjn6ic2trdwwrn3hbr33tdszqjqr3jprv3yu3i2i3um7kve7cx>
        # </gen conv_transpose2d 7tujo>

    # <gen conv_transpose3d>
    def conv_transpose3d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        dilation: int | Sequence[int] = 1,
    ) -> Self:
        """Every element of x times every kernel, added up 3-d."""
        return convolution_rows.conv_transpose3d(
            self, weight, bias, stride, padding, output_padding, groups, dilation
        )
        # <sums jadyh6a6rsowstufjn6ic2trdwwrn3hbr33tdszqjqr3jprv3ybuiw5zlnrzve7cx>
        # </gen conv_transpose3d 7tujo>

    # <gen dist>
    def dist(self, b: Self, p: float = 2.0) -> Self:
        """The p-norm of a - b: all elements together."""
        return distances_rows.dist(self, b, p)
        # </gen dist 4c7pdggosimmlqs>

    # <gen cdist>
    def cdist(self, b: Self, p: float = 2.0) -> Self:
        """The p-norms of the differences of every row of a and every row of b; a batch
        broadcasts.
        """
        return distances_rows.cdist(self, b, p)
        # </gen cdist iignyebv2uts7rvsdaupi5gwj>

    # <gen renorm>
    def renorm(self, p: float, axis: int, maxnorm: float) -> Self:
        """x with the slices along an axis that are longer than maxnorm made as short; p-norms."""
        return distances_rows.renorm(self, p, axis, maxnorm)
        # </gen renorm zzyg7vt7uzzp3u5>

    # <gen cov>
    def cov(
        self, fweights: Self | None = None, aweights: Self | None = None, correction: int = 1
    ) -> Self:
        """How variables, a row each, vary together: sums of products of deviations over the
        count.
        """
        return distances_rows.cov(self, fweights, aweights, correction)
        # </gen cov sh3mym2kuaprv3y6jtunleoq4sdaupebtv2>

    # <gen corrcoef>
    def corrcoef(self) -> Self:
        """The covariance of variables, a row each, over their deviations: from -1 to 1."""
        return distances_rows.corrcoef(self)
        # </gen corrcoef uzcuw6zaxwugzco>

    # <gen tensordot>
    def tensordot(self, b: Self, axes: int | Sequence[Any] = 2) -> Self:
        """Products summed over pairs of axes: the last of a with the first of b, or those named."""
        return products_rows.tensordot(self, b, axes)
        # </gen tensordot itumcgddew3xab3>

    # <gen neg>
    def neg(self) -> Self:
        """-x."""
        return elementwise_rows.neg(self)
        # </gen neg grr2vs22v3lahju>

    # <gen abs>
    def abs(self) -> Self:
        """|x|; of a complex number a float."""
        return elementwise_rows.abs_(self)
        # </gen abs yrm6p67psnrsoua>

    # <gen exp>
    def exp(self) -> Self:
        """e to the power x."""
        return elementwise_rows.exp(self)
        # </gen exp g6jpfsqmrghpw44>

    # <gen exp2>
    def exp2(self) -> Self:
        """2 to the power x."""
        return elementwise_rows.exp2(self)
        # </gen exp2 resg3fpbsmothjw>

    # <gen expm1>
    def expm1(self) -> Self:
        """exp(x) - 1, accurate near 0."""
        return elementwise_rows.expm1(self)
        # </gen expm1 77ztbjha4ofajcf>

    # <gen log>
    def log(self) -> Self:
        """Natural logarithm."""
        return elementwise_rows.log(self)
        # </gen log f4wfrfqfixnzm3d>

    # <gen log2>
    def log2(self) -> Self:
        """Logarithm to base 2."""
        return elementwise_rows.log2(self)
        # </gen log2 hj2dqh5424yzvtp>

    # <gen log10>
    def log10(self) -> Self:
        """Logarithm to base 10."""
        return elementwise_rows.log10(self)
        # </gen log10 b4bzp64peyjrcm4>

    # <gen log1p>
    def log1p(self) -> Self:
        """log(1 + x), accurate near 0."""
        return elementwise_rows.log1p(self)
        # </gen log1p rlqbqs73ro2bmso>

    # <gen sqrt>
    def sqrt(self) -> Self:
        """Square root."""
        return elementwise_rows.sqrt(self)
        # </gen sqrt 6ro2ir4u5mysax4>

    # <gen sin>
    def sin(self) -> Self:
        """Sine, in radians."""
        return elementwise_rows.sin(self)
        # </gen sin xrvcymwwzyvnnsd>

    # <gen cos>
    def cos(self) -> Self:
        """Cosine, in radians."""
        return elementwise_rows.cos(self)
        # </gen cos fuiifutlpfmxjrx>

    # <gen atan>
    def atan(self) -> Self:
        """Inverse tangent, in radians."""
        return elementwise_rows.atan(self)
        # </gen atan f57wnluaxqa5kc7>

    # <gen tanh>
    def tanh(self) -> Self:
        """Hyperbolic tangent."""
        return elementwise_rows.tanh(self)
        # </gen tanh 5yo2qblzhh76qjq>

    # <gen sigmoid>
    def sigmoid(self) -> Self:
        """1 / (1 + exp(-x))."""
        return elementwise_rows.sigmoid(self)
        # </gen sigmoid bkquyzaeplhxzcg>

    # <gen erf>
    def erf(self) -> Self:
        """Error function."""
        return elementwise_rows.erf(self)
        # </gen erf vcnpf7kshhmxljo>

    # <gen floor>
    def floor(self) -> Self:
        """Largest integer not above x."""
        return elementwise_rows.floor(self)
        # </gen floor zmpty7jbogjihlt>

    # <gen ceil>
    def ceil(self) -> Self:
        """Smallest integer not below x."""
        return elementwise_rows.ceil(self)
        # </gen ceil oob7nqw7fh257e3>

    # <gen round>
    def round(self, decimals: int = 0) -> Self:
        """Nearest number of so many decimals, ties to the even one."""
        return elementwise_rows.round_(self, decimals)
        # </gen round kaosgm7gkd3wbki>

    # <gen trunc>
    def trunc(self) -> Self:
        """Nearest integer towards 0."""
        return elementwise_rows.trunc(self)
        # </gen trunc gvjyxmtw3b7zlcx>

    # <gen add>
    def add(self, y: Self | float) -> Self:
        """x + y; or, on bool."""
        return elementwise_rows.add(self, y)
        # </gen add aqoihuwuuvrvdnk>

    # <gen sub>
    def sub(self, y: Self | float) -> Self:
        """x - y."""
        return elementwise_rows.sub(self, y)
        # </gen sub c523l4pq5qcutjj>

    # <gen mul>
    def mul(self, y: Self | float) -> Self:
        """x * y; and, on bool."""
        return elementwise_rows.mul(self, y)
        # </gen mul chn5sjxwge6riiu>

    # <gen div>
    def div(self, y: Self | float, rounding_mode: str | None = None) -> Self:
        """x / y, a float; rounding_mode 'floor' or 'trunc' rounds it and keeps integers."""
        return elementwise_rows.div(self, y, rounding_mode)
        # </gen div vupgkr4ox2u4n7f>

    # <gen float_power>
    def float_power(self, y: Self | float) -> Self:
        """x to the power y, always a float."""
        return elementwise_rows.float_power(self, y)
        # </gen float_power mfcq7dftcxsry6k>

    # <gen minimum>
    def minimum(self, y: Self | float) -> Self:
        """The smaller; NaN if either is."""
        return elementwise_rows.minimum(self, y)
        # </gen minimum czhne6v52dsfncf>

    # <gen maximum>
    def maximum(self, y: Self | float) -> Self:
        """The larger; NaN if either is."""
        return elementwise_rows.maximum(self, y)
        # </gen maximum ozrkxysvuicpwgs>

    # <gen floor_divide>
    def floor_divide(self, y: Self | float) -> Self:
        """floor(x / y)."""
        return elementwise_rows.floor_divide(self, y)
        # </gen floor_divide jtamkq6zd47s3td>

    # <gen remainder>
    def remainder(self, y: Self | float) -> Self:
        """x - y * floor(x / y): the sign of y."""
        return elementwise_rows.remainder(self, y)
        # </gen remainder 7acofcgxqzclsbc>

    # <gen eq>
    def eq(self, y: Self | float) -> Self:
        """x == y."""
        return elementwise_rows.eq(self, y)
        # </gen eq dkwxx5qhl3eh2y5>

    # <gen ne>
    def ne(self, y: Self | float) -> Self:
        """x != y."""
        return elementwise_rows.ne(self, y)
        # </gen ne yeax3o3n54g6k36>

    # <gen lt>
    def lt(self, y: Self | float) -> Self:
        """x < y."""
        return elementwise_rows.lt(self, y)
        # </gen lt dm6gtrdj7gjouhc>

    # <gen le>
    def le(self, y: Self | float) -> Self:
        """x <= y."""
        return elementwise_rows.le(self, y)
        # </gen le oije33ifhcl5i5j>

    # <gen gt>
    def gt(self, y: Self | float) -> Self:
        """x > y."""
        return elementwise_rows.gt(self, y)
        # </gen gt hpei2tkuxqkxkov>

    # <gen ge>
    def ge(self, y: Self | float) -> Self:
        """x >= y."""
        return elementwise_rows.ge(self, y)
        # </gen ge 7j2ewzbg7bk6f4x>

    # <gen conj>
    def conj(self) -> Self:
        """The conjugate: the imaginary part negated."""
        return elementwise_rows.conj(self)
        # </gen conj elicdn35u5jbsv5>

    # <gen complex>
    def complex(self, imag: Self | float) -> Self:
        """real + 1j * imag, of two floats."""
        return elementwise_rows.complex_(self, imag)
        # </gen complex ystddt7emg722fm>

    # <gen bitwise_and>
    def bitwise_and(self, y: Self | float) -> Self:
        """Bits set in both; and, on bool."""
        return elementwise_rows.bitwise_and(self, y)
        # </gen bitwise_and nuqin7aeebcve6q>

    # <gen bitwise_or>
    def bitwise_or(self, y: Self | float) -> Self:
        """Bits set in either; or, on bool."""
        return elementwise_rows.bitwise_or(self, y)
        # </gen bitwise_or pqe4633tcv4r5qk>

    # <gen bitwise_xor>
    def bitwise_xor(self, y: Self | float) -> Self:
        """Bits set in one alone."""
        return elementwise_rows.bitwise_xor(self, y)
        # </gen bitwise_xor bo6rtjyoya7yjyy>

    # <gen shift_left>
    def shift_left(self, y: Self | float) -> Self:
        """x << y; 0 where all bits are shifted out."""
        return elementwise_rows.shift_left(self, y)
        # </gen shift_left q33vkkwp6tvtxbj>

    # <gen shift_right>
    def shift_right(self, y: Self | float) -> Self:
        """x >> y, keeping the sign."""
        return elementwise_rows.shift_right(self, y)
        # </gen shift_right 43xe64jihyunjuo>

    # <gen bitcast>
    def bitcast(self, dtype: Self) -> Self:
        """The bits of the elements read as another dtype of their width."""
        return elementwise_rows.bitcast(self, dtype)
        # </gen bitcast 6bj4wjbwhyq24ed>

    # <gen square>
    def square(self) -> Self:
        """x * x."""
        return numeric_rows.square(self)
        # </gen square dqxgljipooismvd>

    # <gen reciprocal>
    def reciprocal(self) -> Self:
        """1 / x."""
        return numeric_rows.reciprocal(self)
        # </gen reciprocal qv2rbf775yxvf5r>

    # <gen rsqrt>
    def rsqrt(self) -> Self:
        """1 / sqrt(x)."""
        return numeric_rows.rsqrt(self)
        # </gen rsqrt k2uedvgocixfibw>

    # <gen sign>
    def sign(self) -> Self:
        """-1, 0 or 1; NaN where x is. Of a complex number x / |x|, and 0 at 0."""
        return numeric_rows.sign(self)
        # </gen sign j73qcmnsw5c5wnc>

    # <gen positive>
    def positive(self) -> Self:
        """x itself."""
        return numeric_rows.positive(self)
        # </gen positive osbwq5pnpp5hwae>

    # <gen signbit>
    def signbit(self) -> Self:
        """True where the sign of x is set, also that of -0.0 and of NaN."""
        return numeric_rows.signbit(self)
        # </gen signbit srgdced64r2uq5y>

    # <gen copysign>
    def copysign(self, y: Self | float) -> Self:
        """The size of x with the sign of y."""
        return numeric_rows.copysign(self, y)
        # </gen copysign 2v36iwcxpqx2jyd>

    # <gen nextafter>
    def nextafter(self, y: Self | float) -> Self:
        """The next number of the type after x towards y."""
        return numeric_rows.nextafter(self, y)
        # </gen nextafter shd3wsq4drv6xxm>

    # <gen pow>
    def pow(self, y: Self | float) -> Self:
        """x to the power y. Integers wrap around; to a negative power they are 1 for 1, +-1 for
        -1, 0.
        """
        return numeric_rows.pow_(self, y)
        # </gen pow x4d7wylvdekpestsdaup7l34o>

    # <gen hypot>
    def hypot(self, y: Self | float) -> Self:
        """sqrt(x * x + y * y) without overflow."""
        return numeric_rows.hypot(self, y)
        # </gen hypot 3xl6mnkdmggxucn>

    # <gen tan>
    def tan(self) -> Self:
        """Tangent, in radians."""
        return numeric_rows.tan(self)
        # </gen tan u6w3uoofxmqb67q>

    # <gen asin>
    def asin(self) -> Self:
        """Inverse sine, in radians."""
        return numeric_rows.asin(self)
        # </gen asin n34l3poy54i35ce>

    # <gen acos>
    def acos(self) -> Self:
        """Inverse cosine, in radians."""
        return numeric_rows.acos(self)
        # </gen acos 22zjv5knytgouzg>

    # <gen atan2>
    def atan2(self, x: Self | float) -> Self:
        """The angle from the positive x axis to the point (x, y), from -pi to pi."""
        return numeric_rows.atan2(self, x)
        # </gen atan2 alifnq5ul2nnwgf>

    # <gen sinh>
    def sinh(self) -> Self:
        """Hyperbolic sine."""
        return numeric_rows.sinh(self)
        # </gen sinh 62qf2ny2ev2bjod>

    # <gen cosh>
    def cosh(self) -> Self:
        """Hyperbolic cosine."""
        return numeric_rows.cosh(self)
        # </gen cosh a6o5ov7fsy3uvxe>

    # <gen asinh>
    def asinh(self) -> Self:
        """Inverse hyperbolic sine."""
        return numeric_rows.asinh(self)
        # </gen asinh a7bbfbqnkhhtjgj>

    # <gen acosh>
    def acosh(self) -> Self:
        """Inverse hyperbolic cosine."""
        return numeric_rows.acosh(self)
        # </gen acosh 7xbnxookymuydz7>

    # <gen atanh>
    def atanh(self) -> Self:
        """Inverse hyperbolic tangent."""
        return numeric_rows.atanh(self)
        # </gen atanh jy7vmxf5wtmrpju>

    # <gen fmod>
    def fmod(self, y: Self | float) -> Self:
        """What division leaves, with the sign of x."""
        return numeric_rows.fmod(self, y)
        # </gen fmod 42khw7g34w4c6z6>

    # <gen fmin>
    def fmin(self, y: Self | float) -> Self:
        """The smaller; the other where one is NaN."""
        return numeric_rows.fmin(self, y)
        # </gen fmin a2ynpr36fpgth42>

    # <gen fmax>
    def fmax(self, y: Self | float) -> Self:
        """The larger; the other where one is NaN."""
        return numeric_rows.fmax(self, y)
        # </gen fmax 2jx5yakln4p632o>

    # <gen logaddexp>
    def logaddexp(self, y: Self | float) -> Self:
        """log(exp(x) + exp(y)) without overflow."""
        return numeric_rows.logaddexp(self, y)
        # </gen logaddexp asodqzaws3sl2xm>

    # <gen lerp>
    def lerp(self, y: Self | float, weight: Self | float) -> Self:
        """x where weight is 0, y where it is 1, and the straight line through both."""
        return numeric_rows.lerp(self, y, weight)
        # </gen lerp v3664ghefucvj7s>

    # <gen resample>
    def resample(
        self,
        axis: int,
        size: int,
        mode: str = "linear",
        scale: float | None = None,
        align_corners: bool = False,
    ) -> Self:
        """One axis interpolated at size places: mode "nearest", "nearest-exact", "linear",
        "cubic".
        """
        return images_rows.resample(self, axis, size, mode, scale, align_corners)
        # </gen resample 2lb5j6a6rs5wyma3phwm2iteargven77dvaprv3yz35663jumosdaupf3gxc>

    # <gen interpolate>
    def interpolate(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool = False,
    ) -> Self:
        """x (batch, channels, *spatial) at another resolution: size, or scale_factor times as
        fine.
        """
        return images_rows.interpolate(self, size, scale_factor, mode, align_corners)
        # </gen interpolate rmgef6a6rsemmxia3wvmcf6nr77dvaprv3ypt3p2bqkhdsdauptcu3e>

    # <gen pixel_shuffle>
    def pixel_shuffle(self, upscale_factor: int) -> Self:
        """Groups of factor² channels as pixels of an image factor times as high and as wide."""
        return images_rows.pixel_shuffle(self, upscale_factor)
        # </gen pixel_shuffle brwdjazzddiogwt>

    # <gen pixel_unshuffle>
    def pixel_unshuffle(self, downscale_factor: int) -> Self:
        """Pixels factor apart as channels of their own: undoes pixel_shuffle."""
        return images_rows.pixel_unshuffle(self, downscale_factor)
        # </gen pixel_unshuffle soepf5abbq7z5zi>

    # <gen split>
    def split(self, size: int | Sequence[int], axis: int = 0) -> list[Self]:
        """Parts along an axis: of one size (the last may be smaller), or of the sizes listed."""
        return joining_rows.split(self, size, axis)
        # </gen split xxvl4keefr4gmfy>

    # <gen chunk>
    def chunk(self, chunks: int, axis: int = 0) -> list[Self]:
        """At most so many parts of equal size along an axis; the last may be smaller."""
        return joining_rows.chunk(self, chunks, axis)
        # </gen chunk bonbbgb2fb5gyj6>

    # <gen unstack>
    def unstack(self, axis: int = 0) -> list[Self]:
        """The slices along an axis, without it."""
        return joining_rows.unstack(self, axis)
        # </gen unstack 5eq6vlerbcwvin6>

    # <gen repeat>
    def repeat(self, repeats: Any, axis: int | None = None) -> Self:
        """Each element several times in a row: one number for all, or one for each along the
        axis.
        """
        return joining_rows.repeat(self, repeats, axis)
        # </gen repeat decx7ahtw5lkwxssdaupvn2ja>

    # <gen mse_loss>
    def mse_loss(self, target: Self | float, reduction: str = "mean") -> Self:
        """Squared differences: their "mean", their "sum", or with "none" each."""
        return losses_rows.mse_loss(self, target, reduction)
        # </gen mse_loss mehyb6p6bi7rfrz>

    # <gen l1_loss>
    def l1_loss(self, target: Self | float, reduction: str = "mean") -> Self:
        """Sizes of the differences."""
        return losses_rows.l1_loss(self, target, reduction)
        # </gen l1_loss it5ileosn3b42ik>

    # <gen huber_loss>
    def huber_loss(self, target: Self | float, reduction: str = "mean", delta: float = 1.0) -> Self:
        """Half the squares of differences up to delta, delta times the size of larger ones."""
        return losses_rows.huber_loss(self, target, reduction, delta)
        # </gen huber_loss jeewqf6x5ovhdti>

    # <gen smooth_l1_loss>
    def smooth_l1_loss(
        self, target: Self | float, reduction: str = "mean", beta: float = 1.0
    ) -> Self:
        """Sizes of differences, rounded off below beta: huber_loss over beta."""
        return losses_rows.smooth_l1_loss(self, target, reduction, beta)
        # </gen smooth_l1_loss ejvnfv2bvaprv3y3ohanoyzvz>

    # <gen cosine_similarity>
    def cosine_similarity(self, x2: Self, axis: int = 1, eps: float = 1e-08) -> Self:
        """The cosine of the angle between vectors along an axis; no length counts as less than
        eps.
        """
        return losses_rows.cosine_similarity(self, x2, axis, eps)
        # </gen cosine_similarity ckl6nbcxwne4zensdaup7hvex>

    # <gen nll_loss>
    def nll_loss(self, labels: Self, reduction: str = "mean", ignore_index: int = -100) -> Self:
        """Less the log-probabilities x at the labels; classes are the last axis."""
        return losses_rows.nll_loss(self, labels, reduction, ignore_index)
        # </gen nll_loss qmxgdqs7incgf25>

    # <gen kl_div>
    def kl_div(
        self, target: Self | float, reduction: str = "mean", log_target: bool = False
    ) -> Self:
        """target * (log(target) - x) for log-probabilities x; log_target: is target a logarithm
        too?
        """
        return losses_rows.kl_div(self, target, reduction, log_target)
        # </gen kl_div lvaqyw2o27prv3ysyo26htsr5sdaupymlfx>

    # <gen binary_cross_entropy>
    def binary_cross_entropy(
        self, target: Self | float, weight: Self | None = None, reduction: str = "mean"
    ) -> Self:
        """-(target log(x) + (1 - target) log(1 - x)) for probabilities x; logarithms end at
        -100.
        """
        return losses_rows.binary_cross_entropy(self, target, weight, reduction)
        # </gen binary_cross_entropy gq4pah5hqcprv3y7cmvm4tyqlsdaupudsos>

    # <gen binary_cross_entropy_with_logits>
    def binary_cross_entropy_with_logits(
        self,
        target: Self | float,
        weight: Self | None = None,
        pos_weight: Self | None = None,
        reduction: str = "mean",
    ) -> Self:
        """binary_cross_entropy of sigmoid(x), without overflow; pos_weight multiplies the
        targets.
        """
        return losses_rows.binary_cross_entropy_with_logits(
            self, target, weight, pos_weight, reduction
        )
        # <sums jfrqk6a6rs5khuusrr5ttefa23x6ilprv3yelidork2znsdaup>
        # </gen binary_cross_entropy_with_logits jlur2ow5277tujo>

    # <gen margin_ranking_loss>
    def margin_ranking_loss(
        self, x2: Self | float, target: Self | float, margin: float = 0.0, reduction: str = "mean"
    ) -> Self:
        """max(0, margin - target (x1 - x2)): target is 1 where x1 should be larger, else -1."""
        return margins_rows.margin_ranking_loss(self, x2, target, margin, reduction)
        # </gen margin_ranking_loss 2vmxjl2mt3prv3yr62pag2224>

    # <gen hinge_embedding_loss>
    def hinge_embedding_loss(
        self, target: Self | float, margin: float = 1.0, reduction: str = "mean"
    ) -> Self:
        """x where target is 1, max(0, margin - x) where it is -1, both where it is neither."""
        return margins_rows.hinge_embedding_loss(self, target, margin, reduction)
        # </gen hinge_embedding_loss lvyqicome4prv3ysjcabt6grc>

    # <gen gaussian_nll_loss>
    def gaussian_nll_loss(
        self,
        target: Self,
        var: Self,
        full: bool = False,
        eps: float = 1e-06,
        reduction: str = "mean",
    ) -> Self:
        """(log(var) + (x - target)² / var) / 2, var at least eps; full: with the constant."""
        return margins_rows.gaussian_nll_loss(self, target, var, full, eps, reduction)
        # </gen gaussian_nll_loss q6qid6a6rsjh2uusniwbaskc26yvdt3x6ilprv3yp2dy2z2haf>

    # <gen poisson_nll_loss>
    def poisson_nll_loss(
        self,
        target: Self | float,
        log_input: bool = True,
        full: bool = False,
        eps: float = 1e-08,
        reduction: str = "mean",
    ) -> Self:
        """exp(x) - target x for the logarithm x of a rate; log_input=False: x - target log(x +
        eps).
        """
        return margins_rows.poisson_nll_loss(self, target, log_input, full, eps, reduction)
        # </gen poisson_nll_loss yy6nk6a6rs5khuuhbvr5askc26a5ro3x6ilprv3ysntnupnshcsdaupdt73a>

    # <gen slice>
    def slice(self, ranges: Sequence[tuple[int, int, int]]) -> Self:
        """A range (start, stop, step) of every axis; steps are positive."""
        return movement_rows.slice_(self, ranges)
        # </gen slice yc5bv3tmkcw2h6q>

    # <gen pad>
    def pad(
        self, edges: int | Sequence[tuple[int, int]], value: float = 0, mode: str = "constant"
    ) -> Self:
        """A border, (before, after) for every axis: of one value, or as mode continues x;
        negative edges take elements away.
        """
        return movement_rows.pad(self, edges, value, mode)
        # </gen pad 7pcr65pzy3prv3yvoegpqxxovsdaupqzmic>

    # <gen flip>
    def flip(self, axis: int | Sequence[int] | None = None) -> Self:
        """The elements in reverse order along axes."""
        return movement_rows.flip(self, axis)
        # </gen flip iqmpox6ob57ehxv>

    # <gen unique_consecutive>
    def unique_consecutive(
        self, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None
    ) -> Self:
        """x with runs of equal elements, or of equal slices along an axis, as one of them."""
        return neighbours_rows.unique_consecutive(self, return_inverse, return_counts, axis)
        # </gen unique_consecutive csati2mfedprv3y4j7qbpwdqf>

    # <gen trapezoid>
    def trapezoid(self, x: Self | None = None, dx: float = 1.0, axis: int = -1) -> Self:
        """The area below straight lines through y along an axis, at places x or dx apart."""
        return neighbours_rows.trapezoid(self, x, dx, axis)
        # </gen trapezoid vwtr4hoqqdwtt5m>

    # <gen cumulative_trapezoid>
    def cumulative_trapezoid(self, x: Self | None = None, dx: float = 1.0, axis: int = -1) -> Self:
        """The areas so far below straight lines through y along an axis: one fewer than
        elements.
        """
        return neighbours_rows.cumulative_trapezoid(self, x, dx, axis)
        # </gen cumulative_trapezoid 2t4foute5t723kasdaupd55yb>

    # <gen bucketize>
    def bucketize(self, boundaries: Self, right: bool = False, out_int32: bool = False) -> Self:
        """The bin of each element between boundaries in order: those below it; right: those up
        to it.
        """
        return neighbours_rows.bucketize(self, boundaries, right, out_int32)
        # </gen bucketize sskxhratjy6pcomsdaupqmvrl>

    # <gen histc>
    def histc(self, bins: int = 100, min: float = 0, max: float = 0) -> Self:
        """How many elements lie in each of so many equal bins from min to max; others are left
        out.
        """
        return neighbours_rows.histc(self, bins, min, max)
        # </gen histc lwxeh3bilaulz5asdaup4y7cg>

    # <gen histogram>
    def histogram(
        self,
        weight: Self | None = None,
        bins: Any = 100,
        range: tuple[float, float] | None = None,
        density: bool = False,
    ) -> Histogram:
        """(hist, bin_edges): how many elements, or how much weight, lies in each bin."""
        return neighbours_rows.histogram(self, weight, bins, range, density)
        # </gen histogram qm7ve6a6rssrr5ttwocl325ileibxzmiv7pdu2gau7cjo>

    # <gen softmax>
    def softmax(self, axis: int = -1) -> Self:
        """exp(x) / sum(exp(x)) along an axis, without overflow."""
        return neural_rows.softmax(self, axis)
        # </gen softmax ahncqtku2wf6esb>

    # <gen log_softmax>
    def log_softmax(self, axis: int = -1) -> Self:
        """log(softmax(x)) along an axis."""
        return neural_rows.log_softmax(self, axis)
        # </gen log_softmax zykahtgtf7tcxyp>

    # <gen layer_norm>
    def layer_norm(
        self, weight: Self | None = None, bias: Self | None = None, eps: float = 1e-05
    ) -> Self:
        """Normalise the last axis to mean 0 and variance 1, then scale and shift."""
        return neural_rows.layer_norm(self, weight, bias, eps)
        # </gen layer_norm yfemybhbh7prv3yfaqrpmlmzd>

    # <gen cross_entropy>
    def cross_entropy(
        self,
        labels: Self,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> Self:
        """-log softmax(logits) at the labels: classes along the last axis, one label for each
        row.
        """
        return neural_rows.cross_entropy(self, labels, ignore_index, reduction, label_smoothing)
        # </gen cross_entropy qzlk46a6rsybssbvyvfc3x6ilcjlzaprv3yvl6bfyqngnsdaupwa47u>

    # <gen scaled_dot_product_attention>
    def scaled_dot_product_attention(
        self,
        k: Self,
        v: Self,
        mask: Self | None = None,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = True,
    ) -> Self:
        """softmax(q kᵀ scale + mask) v over the last two axes; scale defaults to 1/sqrt(width)."""
        return neural_rows.scaled_dot_product_attention(
            self, k, v, mask, is_causal, scale, enable_gqa
        )
        # <sums n6rrz6a6rsxthi5wdk5e5ebtlultoorgvenwvowpprv3yc3dlg>
        # </gen scaled_dot_product_attention 6qtsfa6nrh7tujo>

    # <gen group_norm>
    def group_norm(
        self,
        weight: Self | None = None,
        bias: Self | None = None,
        num_groups: int = 1,
        eps: float = 1e-05,
    ) -> Self:
        """Groups of channels (axis 1) normalised to mean 0 and variance 1, then scaled and
        shifted.
        """
        return normalisation_rows.group_norm(self, weight, bias, num_groups, eps)
        # </gen group_norm n7ley6a6rssrr5tfjn6ik5ytq7h2rgprv3y2bmqxj5xbzsdaupzbvxe>

    # <gen instance_norm>
    def instance_norm(
        self, weight: Self | None = None, bias: Self | None = None, eps: float = 1e-05
    ) -> Self:
        """Each channel (axis 1) of each element of the batch normalised, then scaled and
        shifted.
        """
        return normalisation_rows.instance_norm(self, weight, bias, eps)
        # </gen instance_norm tvanbbhbh7prv3yoi7qvj5xbzsdaupxqnvl>

    # <gen batch_norm>
    def batch_norm(
        self,
        running_mean: Self | None = None,
        running_var: Self | None = None,
        weight: Self | None = None,
        bias: Self | None = None,
        eps: float = 1e-05,
    ) -> Self:
        """Channels (axis 1) less their mean over the root of their variance, then scaled and
        shifted.
        """
        return normalisation_rows.batch_norm(self, running_mean, running_var, weight, bias, eps)
        # </gen batch_norm jxjso6a6rs4pzto4e3besrr5tfjn6i7h2rgprv3yc4lu5j5xbzsdaupgjetc>

    # <gen rms_norm>
    def rms_norm(self, weight: Self | None = None, eps: float | None = None) -> Self:
        """The last axis over the root of its mean square, then scaled."""
        return normalisation_rows.rms_norm(self, weight, eps)
        # </gen rms_norm aiapvkuocqdb4jh>

    # <gen normalize>
    def normalize(self, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Self:
        """x over its p-norm along an axis, which counts as at least eps."""
        return normalisation_rows.normalize(self, p, axis, eps)
        # </gen normalize 77tzbsyejdhxq4n>

    # <gen sort>
    def sort(self, axis: int = -1, descending: bool = False, stable: bool = True) -> Self:
        """The elements in order along an axis, NaN counting as the largest; equal ones stay in
        order.
        """
        return ordering_rows.sort(self, axis, descending, stable)
        # </gen sort pjqwmthwzlic3lfsdaupk6bh7>

    # <gen topk>
    def topk(self, k: int, axis: int = -1, largest: bool = True) -> tuple[Self, Self]:
        """(values, indices) of the k largest or smallest elements along an axis, in order."""
        return ordering_rows.topk(self, k, axis, largest)
        # </gen topk 736vnc7atghimbj>

    # <gen median>
    def median(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Self:
        """The middle element along axes, or the mean of the two in the middle; NaN if there is
        one.
        """
        return ordering_rows.median(self, axis, keepdims)
        # </gen median uo7ci5nrfhxoxh3sdaup4xgxo>

    # <gen quantile>
    def quantile(
        self,
        q: float | Sequence[float],
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        interpolation: str = "linear",
    ) -> Self:
        """The value below which a fraction q of the elements along axes lies; NaN if there is
        one.
        """
        return ordering_rows.quantile(self, q, axis, keepdims, interpolation)
        # </gen quantile 2b6sd6a6rsbpynojlzedmbc33uew72prv3y7nuikxoxh3sdaupazooa>

    # <gen searchsorted>
    def searchsorted(
        self, values: Self | float, sorter: Self | None = None, side: str = "left"
    ) -> Self:
        """Where values would stand in a sorted tensor of one axis: before equal elements or
        after.
        """
        return ordering_rows.searchsorted(self, values, sorter, side)
        # </gen searchsorted vgg4ehopysprv3ycisia6ggiosdaupkek6i>

    # <gen bincount>
    def bincount(
        self, weights: Self | None = None, minlength: int = 0, length: int | None = None
    ) -> Self:
        """How often 0, 1, 2, ... occur in a tensor of one axis, or the sums of their weights."""
        return ordering_rows.bincount(self, weights, minlength, length)
        # </gen bincount m3nfljpiz2prv3yhtxylfgehc>

    # <gen cumulative_sum>
    def cumulative_sum(
        self, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Self:
        """Sums of the elements so far along an axis; include_initial: with 0 before the first."""
        return ordering_rows.cumulative_sum(self, axis, dtype, include_initial)
        # </gen cumulative_sum ojybriekjtprv3y4vddi7pmyn>

    # <gen cumulative_prod>
    def cumulative_prod(
        self, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Self:
        """Products of the elements so far along an axis; include_initial: with 1 before the
        first.
        """
        return ordering_rows.cumulative_prod(self, axis, dtype, include_initial)
        # </gen cumulative_prod r2cxmiekjtprv3yv4ozcdsnktsdauprqy2x>

    # <gen diff>
    def diff(
        self, prepend: Self | None = None, append: Self | None = None, axis: int = -1, n: int = 1
    ) -> Self:
        """Each element less the one before it along an axis, n times; for bool whether they
        differ.
        """
        return ordering_rows.diff(self, prepend, append, axis, n)
        # </gen diff pgczuqlodmprv3yr46pw2heg4sdaup572jn>

    # <gen angle>
    def angle(self) -> Self:
        """The angle of a complex number with the positive axis, from -pi to pi; 0 or pi of a
        real one.
        """
        return parts_rows.angle(self)
        # </gen angle zybo7uzwnoqmxxusdaupgfcz2>

    # <gen polar>
    def polar(self, angle: Self | float) -> Self:
        """The complex numbers of these sizes and angles."""
        return parts_rows.polar(self, angle)
        # </gen polar lskyidb26lih4ew>

    # <gen isreal>
    def isreal(self) -> Self:
        """True where the imaginary part is 0."""
        return parts_rows.isreal(self)
        # </gen isreal 6ybmh3qvfzr2tqv>

    # <gen view_as_real>
    def view_as_real(self) -> Self:
        """Real and imaginary parts along a new last axis."""
        return parts_rows.view_as_real(self)
        # </gen view_as_real 2cwljy523phaqhj>

    # <gen view_as_complex>
    def view_as_complex(self) -> Self:
        """The numbers whose parts lie along the last axis, which has two elements."""
        return parts_rows.view_as_complex(self)
        # </gen view_as_complex 747shceztwtvfes>

    # <gen take_along_axis>
    def take_along_axis(self, indices: Self, axis: int = -1) -> Self:
        """Elements at indices along an axis, one index for each; the other axes broadcast."""
        return picking_rows.take_along_axis(self, indices, axis)
        # </gen take_along_axis 6blpjxtj2mv3itw>

    # <gen put_along_axis>
    def put_along_axis(self, indices: Self, values: Self, axis: int = -1) -> Self:
        """x with values at indices along an axis; the other axes broadcast."""
        return picking_rows.put_along_axis(self, indices, values, axis)
        # </gen put_along_axis orkwgdmhcrytwi6>

    # <gen index_add>
    def index_add(self, index: Self, values: Self, axis: int = 0) -> Self:
        """x with slices of values added at indices along an axis."""
        return picking_rows.index_add(self, index, values, axis)
        # </gen index_add f7p7agccaovdv32>

    # <gen embedding>
    def embedding(self, weight: Self, padding_idx: int | None = None) -> Self:
        """Rows of weight at indices; no gradient flows to row padding_idx."""
        return picking_rows.embedding(self, weight, padding_idx)
        # </gen embedding 7udbqzvhphxxcxj>

    # <gen scatter_reduce>
    def scatter_reduce(
        self, index: Self, values: Self, axis: int, reduce: str, include_self: bool = True
    ) -> Self:
        """Values that meet at one place become their sum, mean, prod, amax or amin, with x's or
        not.
        """
        return picking_rows.scatter_reduce(self, index, values, axis, reduce, include_self)
        # </gen scatter_reduce v4udc4bfxxprv3y3nbxhjofawsdaupwuf6g>

    # <gen one_hot>
    def one_hot(self, num_classes: int = -1) -> Self:
        """A last axis of 0 with a 1 at each index; -1 classes: as many as the largest needs."""
        return picking_rows.one_hot(self, num_classes)
        # </gen one_hot 2u7tg7roqnswnxo>

    # <gen masked_fill>
    def masked_fill(self, mask: Self, value: Any) -> Self:
        """value where mask is true, else x."""
        return picking_rows.masked_fill(self, mask, value)
        # </gen masked_fill sgkx4qqroavzly5>

    # <gen masked_select>
    def masked_select(self, mask: Self) -> Self:
        """The elements where mask is true, as one axis; their number is read, so it is computed
        now.
        """
        return picking_rows.masked_select(self, mask)
        # </gen masked_select ruxcgw4cl2vo55jsdaupxu44d>

    # <gen nonzero>
    def nonzero(self) -> list[Self]:
        """The indices of the elements that are not 0, a tensor for each axis; computed now."""
        return picking_rows.nonzero(self)
        # </gen nonzero lb2orfua3oatwpz>

    # <gen argwhere>
    def argwhere(self) -> Self:
        """The indices of the elements that are not 0, a row for each; computed now."""
        return picking_rows.argwhere(self)
        # </gen argwhere 73kghemtpcxhwdq>

    # <gen clone>
    def clone(self) -> Self:
        """A tensor of its own with the same value, through which gradients pass."""
        return picking_rows.clone(self)
        # </gen clone qvym5facno6felv>

    # <gen contiguous>
    def contiguous(self) -> Self:
        """x: what is in memory always lies in row-major order."""
        return picking_rows.contiguous(self)
        # </gen contiguous tqzphgqedbgkcte>

    # <gen narrow>
    def narrow(self, axis: int, start: int, length: int) -> Self:
        """length elements along an axis, from start on; a negative start counts from the end."""
        return pieces_rows.narrow(self, axis, start, length)
        # </gen narrow fffr733nzqy5l4g>

    # <gen select>
    def select(self, axis: int, index: int) -> Self:
        """The slice at one place along an axis, without it."""
        return pieces_rows.select(self, axis, index)
        # </gen select n3farsj5af5ds3r>

    # <gen slice_scatter>
    def slice_scatter(
        self,
        values: Self,
        axis: int = 0,
        start: int | None = None,
        end: int | None = None,
        step: int = 1,
    ) -> Self:
        """x with values in the range from start to end along an axis, every step-th place of it."""
        return pieces_rows.slice_scatter(self, values, axis, start, end, step)
        # </gen slice_scatter ljtrp6a6rs2dph567ucjrvoqey6hgoa7celprv3yaekmnnw7xm>

    # <gen select_scatter>
    def select_scatter(self, values: Self | float, axis: int, index: int) -> Self:
        """x with values as the slice at one place along an axis."""
        return pieces_rows.select_scatter(self, values, axis, index)
        # </gen select_scatter vsfupp6rcbj7xiq>

    # <gen diagonal_scatter>
    def diagonal_scatter(
        self, values: Self, offset: int = 0, axis1: int = 0, axis2: int = 1
    ) -> Self:
        """x with values on a diagonal of two axes, which is the last axis of values."""
        return pieces_rows.diagonal_scatter(self, values, offset, axis1, axis2)
        # </gen diagonal_scatter 6cfe3534uvprv3ywce5kkmq75>

    # <gen tensor_split>
    def tensor_split(self, sections: int | Sequence[int], axis: int = 0) -> list[Self]:
        """Parts along an axis: so many, the first ones longer by one, or cut before the places
        listed.
        """
        return pieces_rows.tensor_split(self, sections, axis)
        # </gen tensor_split nno7hkmw6cz3xa2sdaup35wqj>

    # <gen vsplit>
    def vsplit(self, sections: int | Sequence[int]) -> list[Self]:
        """Equal parts along axis 0, so many or cut before the places listed."""
        return pieces_rows.vsplit(self, sections)
        # </gen vsplit xrmitwp2vm6bf7k>

    # <gen hsplit>
    def hsplit(self, sections: int | Sequence[int]) -> list[Self]:
        """Equal parts along axis 1, so many or cut before the places listed."""
        return pieces_rows.hsplit(self, sections)
        # </gen hsplit m7cifqykdkf4e5i>

    # <gen dsplit>
    def dsplit(self, sections: int | Sequence[int]) -> list[Self]:
        """Equal parts along axis 2, so many or cut before the places listed."""
        return pieces_rows.dsplit(self, sections)
        # </gen dsplit qolbq24dfxmp3dc>

    # <gen pool>
    def pool(
        self,
        kernel_size: Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        how: str = "max",
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        norm_type: float = 2.0,
    ) -> Self:
        """One value for every window over the last axes, as many as kernel_size has numbers."""
        return pooling_rows.pool(
            self,
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
        # <sums exnjr6a6rsl467vrwyp4wwrn3jqr3jrwn4he4nlo3qqaiwe7gtsya6uprv3y5htqnaqitee5bxz>
        # </gen pool jp47xykapgdmktkovwezacfzefxezu6pz64ont6cggrjc7tujo>

    # <gen max_pool1d>
    def max_pool1d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
    ) -> Self:
        """Largest element of every window over the last 1 axes."""
        return pooling_rows.max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode)
        # </gen max_pool1d zpdiu6a6rsekrojrwyp4wwrn3jqr3je4nloprv3yj7smnq2ofw>

    # <gen max_pool2d>
    def max_pool2d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
    ) -> Self:
        """Largest element of every window over the last 2 axes."""
        return pooling_rows.max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode)
        # </gen max_pool2d e2lzp6a6rsekrojrwyp4wwrn3jqr3je4nloprv3ynlreyromy3>

    # <gen max_pool3d>
    def max_pool3d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
    ) -> Self:
        """Largest element of every window over the last 3 axes."""
        return pooling_rows.max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode)
        # </gen max_pool3d anefs6a6rsekrojrwyp4wwrn3jqr3je4nloprv3y753umardmt>

    # <gen avg_pool1d>
    def avg_pool1d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:
        """Mean of every window over the last 1 axes."""
        return pooling_rows.avg_pool1d(
            self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
        # </gen avg_pool1d gln7u6a6rsekrojrwyp4wwrn3e4nlo3qqaiwe7gtprv3yyluthntpwcpxrav7tujo>

    # <gen avg_pool2d>
    def avg_pool2d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:
        """Mean of every window over the last 2 axes."""
        return pooling_rows.avg_pool2d(
            self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
        # </gen avg_pool2d 2uzir6a6rsekrojrwyp4wwrn3e4nlo3qqaiwe7gtprv3yncefx2tkpcpxrav7tujo>

    # <gen avg_pool3d>
    def avg_pool3d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:
        """Mean of every window over the last 3 axes."""
        return pooling_rows.avg_pool3d(
            self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
        # </gen avg_pool3d innoq6a6rsekrojrwyp4wwrn3e4nlo3qqaiwe7gtprv3yec4m5ysjcepxrav7tujo>

    # <gen lp_pool1d>
    def lp_pool1d(
        self,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
    ) -> Self:
        """The norm_type-norm of every window over the last 1 axes."""
        return pooling_rows.lp_pool1d(self, norm_type, kernel_size, stride, ceil_mode)
        # </gen lp_pool1d zhr5u6a6rsoe7y6ekrojrwyp4e4nloprv3yuunvhpne24>

    # <gen lp_pool2d>
    def lp_pool2d(
        self,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
    ) -> Self:
        """The norm_type-norm of every window over the last 2 axes."""
        return pooling_rows.lp_pool2d(self, norm_type, kernel_size, stride, ceil_mode)
        # </gen lp_pool2d mvgwg6a6rsoe7y6ekrojrwyp4e4nloprv3yafmj5v3b4l>

    # <gen lp_pool3d>
    def lp_pool3d(
        self,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
    ) -> Self:
        """The norm_type-norm of every window over the last 3 axes."""
        return pooling_rows.lp_pool3d(self, norm_type, kernel_size, stride, ceil_mode)
        # </gen lp_pool3d qba7a6a6rsoe7y6ekrojrwyp4e4nloprv3yhpihy2e7gq>

    # <gen isnan>
    def isnan(self) -> Self:
        """True where x is NaN."""
        return predicates_rows.isnan(self)
        # </gen isnan dxcukhwdkko6sh2>

    # <gen isinf>
    def isinf(self) -> Self:
        """True where x is infinite."""
        return predicates_rows.isinf(self)
        # </gen isinf 2aji2jvvfgd7266>

    # <gen isfinite>
    def isfinite(self) -> Self:
        """True where x is neither infinite nor NaN."""
        return predicates_rows.isfinite(self)
        # </gen isfinite 3we2iptwcxd67uw>

    # <gen logical_not>
    def logical_not(self) -> Self:
        """True where x is zero or false."""
        return predicates_rows.logical_not(self)
        # </gen logical_not unb6upzet4rdky5>

    # <gen logical_and>
    def logical_and(self, y: Self | float) -> Self:
        """True where neither is zero or false."""
        return predicates_rows.logical_and(self, y)
        # </gen logical_and n6zfd2xcfmmxu25>

    # <gen logical_or>
    def logical_or(self, y: Self | float) -> Self:
        """True where not both are zero or false."""
        return predicates_rows.logical_or(self, y)
        # </gen logical_or nkzt7lbdmatsh3e>

    # <gen logical_xor>
    def logical_xor(self, y: Self | float) -> Self:
        """True where one alone is zero or false."""
        return predicates_rows.logical_xor(self, y)
        # </gen logical_xor crcpr7b5hm7d24a>

    # <gen bitwise_not>
    def bitwise_not(self) -> Self:
        """All bits turned; not, on bool."""
        return predicates_rows.bitwise_not(self)
        # </gen bitwise_not au6ivolqmnzxjkx>

    # <gen isclose>
    def isclose(
        self, y: Self | float, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Self:
        """True where |x - y| <= atol + rtol * |y|; infinities are close to themselves alone."""
        return predicates_rows.isclose(self, y, rtol, atol, equal_nan)
        # </gen isclose c77wcpoa6zprv3yyon2msvec3>

    # <gen allclose>
    def allclose(
        self, y: Self | float, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Self:
        """Is every element of x close to that of y, as isclose says? A 0-d bool."""
        return predicates_rows.allclose(self, y, rtol, atol, equal_nan)
        # </gen allclose hld3mpoa6zprv3yejfa3oqn4s>

    # <gen adaptive_avg_pool1d>
    def adaptive_avg_pool1d(self, output_size: int | Sequence[int | None]) -> Self:
        """Mean of output_size regions that cover the last 1 axes."""
        return regions_rows.adaptive_avg_pool1d(self, output_size)
        # </gen adaptive_avg_pool1d 5drf7x4oy7qhsq6>

    # <gen adaptive_avg_pool2d>
    def adaptive_avg_pool2d(self, output_size: int | Sequence[int | None]) -> Self:
        """Mean of output_size regions that cover the last 2 axes."""
        return regions_rows.adaptive_avg_pool2d(self, output_size)
        # </gen adaptive_avg_pool2d zysk3dbeehtbnrv>

    # <gen adaptive_avg_pool3d>
    def adaptive_avg_pool3d(self, output_size: int | Sequence[int | None]) -> Self:
        """Mean of output_size regions that cover the last 3 axes."""
        return regions_rows.adaptive_avg_pool3d(self, output_size)
        # </gen adaptive_avg_pool3d wtl4evo2qp444z3>

    # <gen adaptive_max_pool1d>
    def adaptive_max_pool1d(self, output_size: int | Sequence[int | None]) -> Self:
        """Largest element of output_size regions that cover the last 1 axes."""
        return regions_rows.adaptive_max_pool1d(self, output_size)
        # </gen adaptive_max_pool1d tvqxygceubznu4c>

    # <gen adaptive_max_pool2d>
    def adaptive_max_pool2d(self, output_size: int | Sequence[int | None]) -> Self:
        """Largest element of output_size regions that cover the last 2 axes."""
        return regions_rows.adaptive_max_pool2d(self, output_size)
        # </gen adaptive_max_pool2d cqie7sm3nrbegvj>

    # <gen adaptive_max_pool3d>
    def adaptive_max_pool3d(self, output_size: int | Sequence[int | None]) -> Self:
        """Largest element of output_size regions that cover the last 3 axes."""
        return regions_rows.adaptive_max_pool3d(self, output_size)
        # </gen adaptive_max_pool3d xww75kbea7qj22l>

    # <gen fractional_max_pool2d>
    def fractional_max_pool2d(
        self,
        samples: Self,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
    ) -> Self:
        """Largest element of windows at random places over the last 2 axes."""
        return regions_rows.fractional_max_pool2d(
            self, samples, kernel_size, output_size, output_ratio
        )
        # </gen fractional_max_pool2d lvb636a6rs3aiz7ekrojx3niw2kh2hprv3ynh7vmwmits2y6ub7tujo>

    # <gen fractional_max_pool3d>
    def fractional_max_pool3d(
        self,
        samples: Self,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
    ) -> Self:
        """Largest element of windows at random places over the last 3 axes."""
        return regions_rows.fractional_max_pool3d(
            self, samples, kernel_size, output_size, output_ratio
        )
        # </gen fractional_max_pool3d qie3q6a6rs3aiz7ekrojx3niw2kh2hprv3y2s65zdqukp2y6ub7tujo>

    # <gen cumsum>
    def cumsum(self, axis: int | None = None) -> Self:
        """Sums of the elements so far along an axis."""
        return scan_rows.cumsum(self, axis)
        # </gen cumsum olzcucoo7o3bugl>

    # <gen cumprod>
    def cumprod(self, axis: int | None = None) -> Self:
        """Products of the elements so far along an axis."""
        return scan_rows.cumprod(self, axis)
        # </gen cumprod jiaaifhwlamfzg3>

    # <gen cummax>
    def cummax(self, axis: int | None = None) -> Self:
        """Largest element so far along an axis; NaN once seen."""
        return scan_rows.cummax(self, axis)
        # </gen cummax v3byqlvkwpwxlfi>

    # <gen cummin>
    def cummin(self, axis: int | None = None) -> Self:
        """Smallest element so far along an axis; NaN once seen."""
        return scan_rows.cummin(self, axis)
        # </gen cummin nl4r77bncwxr3xz>

    # <gen logcumsumexp>
    def logcumsumexp(self, axis: int | None = None) -> Self:
        """log(cumsum(exp(x))), without overflow."""
        return scan_rows.logcumsumexp(self, axis)
        # </gen logcumsumexp byogtm6a73wa3sk>

    # <gen argsort>
    def argsort(self, axis: int = -1, descending: bool = False, stable: bool = True) -> Self:
        """Indices that sort along an axis; equal elements keep their order. NaN counts as the
        largest.
        """
        return scan_rows.argsort(self, axis, descending, stable)
        # </gen argsort j7yfrdar2d7sajpsdaupl63wk>

    # <gen unique>
    def unique(self, return_inverse: bool = False, return_counts: bool = False) -> Self:
        """The values in x, once each, in order."""
        return sets_rows.unique(self, return_inverse, return_counts)
        # </gen unique 2xssaazztw6ywrc>

    # <gen unique_counts>
    def unique_counts(self) -> Counts:
        """(values in order, how often each is there)."""
        return sets_rows.unique_counts(self)
        # </gen unique_counts ueptlbsxt32327y>

    # <gen unique_inverse>
    def unique_inverse(self) -> Inverse:
        """(values in order, for each element of x the index of its value)."""
        return sets_rows.unique_inverse(self)
        # </gen unique_inverse dbznzf634nedh4t>

    # <gen unique_all>
    def unique_all(self) -> Unique:
        """(values in order, where each stands first in flattened x, inverse indices, counts)."""
        return sets_rows.unique_all(self)
        # </gen unique_all bdelg2u45tkhgp7>

    # <gen isin>
    def isin(self, elements: Self, invert: bool = False) -> Self:
        """Is each element of x among the elements? The opposite if invert; NaN is among none."""
        return sets_rows.isin(self, elements, invert)
        # </gen isin 7mhujtcgipbqrlk>

    # <gen flatten>
    def flatten(self, start: int = 0, end: int = -1) -> Self:
        """The axes from start to end as one; a 0-d tensor gets one axis."""
        return shaping_rows.flatten(self, start, end)
        # </gen flatten 3s27ec7m4nv4zxf>

    # <gen unflatten>
    def unflatten(self, axis: int, sizes: Sequence[int]) -> Self:
        """One axis as several; one of their sizes may be -1."""
        return shaping_rows.unflatten(self, axis, sizes)
        # </gen unflatten ud43gohnx6ayoxd>

    # <gen squeeze>
    def squeeze(self, axis: int | Sequence[int] | None = None) -> Self:
        """Without axes of size 1: those named, or all."""
        return shaping_rows.squeeze(self, axis)
        # </gen squeeze rb5iqdhhshwntas>

    # <gen unsqueeze>
    def unsqueeze(self, axis: int | Sequence[int] = 0) -> Self:
        """New axes of size 1, at places of the result."""
        return shaping_rows.unsqueeze(self, axis)
        # </gen unsqueeze xtkfkhb7oh5263s>

    # <gen matrix_transpose>
    def matrix_transpose(self) -> Self:
        """The last two axes exchanged."""
        return shaping_rows.matrix_transpose(self)
        # </gen matrix_transpose mxfiixqiukntpny>

    # <gen movedim>
    def movedim(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Self:
        """Axes at other places; those not named keep their order."""
        return shaping_rows.movedim(self, source, destination)
        # </gen movedim y4qdhm2t5d25rei>

    # <gen tile>
    def tile(self, repetitions: int | Sequence[int], *more: int) -> Self:
        """x laid out several times along each axis; the numbers as one tuple or one by one."""
        return shaping_rows.tile(self, repetitions, *more)
        # </gen tile bxyxd66hjongvlb>

    # <gen roll>
    def roll(self, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Self:
        """Elements moved along axes; what leaves at the end enters at the start."""
        return shaping_rows.roll(self, shift, axis)
        # </gen roll ahvjei4tx76sont>

    # <gen rot90>
    def rot90(self, k: int = 1, axes: Sequence[int] = (0, 1)) -> Self:
        """Turned by k quarters in the plane of two axes, from the first towards the second."""
        return shaping_rows.rot90(self, k, axes)
        # </gen rot90 zmzk3miswfdl4mm>

    # <gen as_strided>
    def as_strided(
        self, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0
    ) -> Self:
        """Elements of flattened x: index times stride, plus an offset, says which one stands
        there.
        """
        return shaping_rows.as_strided(self, size, stride, storage_offset)
        # </gen as_strided yuc64djgw4prv3yneil23zx36sdaupjarrp>

    # <gen tril>
    def tril(self, k: int = 0) -> Self:
        """The last two axes' elements up to the k-th diagonal, 0 above it."""
        return shaping_rows.tril(self, k)
        # </gen tril cdzyie5jl6z6nnr>

    # <gen triu>
    def triu(self, k: int = 0) -> Self:
        """The last two axes' elements from the k-th diagonal on, 0 below it."""
        return shaping_rows.triu(self, k)
        # </gen triu aoacr2s57s6cbug>

    # <gen diagonal>
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """The elements of a diagonal of two axes, as a last axis."""
        return shaping_rows.diagonal(self, offset, axis1, axis2)
        # </gen diagonal m4liokzqj76tutw>

    # <gen trace>
    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """The sum of a diagonal of two axes."""
        return shaping_rows.trace(self, offset, axis1, axis2)
        # </gen trace l344mdrtdiofq2e>

    # <gen diag>
    def diag(self, k: int = 0) -> Self:
        """The k-th diagonal of a matrix, or the matrix with a vector there."""
        return shaping_rows.diag(self, k)
        # </gen diag 5vdte57ijioefht>

    # <gen stft>
    def stft(
        self,
        n_fft: int,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = None,
        center: bool = True,
        pad_mode: str = "reflect",
        normalized: bool = False,
        onesided: bool | None = None,
        return_complex: bool | None = None,
    ) -> Self:
        """Spectra of n_fft elements every hop_length (a quarter of that): (..., frequency,
        frame).
        """
        return short_time_rows.stft(
            self,
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
        # <sums konjq6a6rs3mecu6affnvors3o7tfydqcgjzp72at7ffu4ovk5ur3srprv3ytz5pmmdwxosdaup>
        # </gen stft hitqwe5bxzyybgl2fqup7cnjt6xqi6lgkaa52caaommpkdjnapmpoki7tujo>

    # <gen istft>
    def istft(
        self,
        n_fft: int,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = None,
        center: bool = True,
        normalized: bool = False,
        onesided: bool | None = None,
        length: int | None = None,
        return_complex: bool = False,
    ) -> Self:
        """The signal whose stft with the same options is x, or is nearest to it."""
        return short_time_rows.istft(
            self,
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
        # <sums k4gsi6a6rs3mecu6affnvors3o7tfydqcgjt7ffu4ovk54q6jepqmbvprv3yuf2zmy4o55e5bxz>
        # </gen istft yybgl2fqup7cnjt6xqi6lgkaaommpkdjnapmntljmpoki7tujo>

    # <gen erfc>
    def erfc(self) -> Self:
        """1 - erf(x), accurate where that is small."""
        return special_rows.erfc(self)
        # </gen erfc h7dwkg5siuko7k5>

    # <gen erfinv>
    def erfinv(self) -> Self:
        """The y for which erf(y) is x."""
        return special_rows.erfinv(self)
        # </gen erfinv nyrx7q22nirnwp3>

    # <gen lgamma>
    def lgamma(self) -> Self:
        """log(|gamma(x)|), infinite at 0 and the negative integers."""
        return special_rows.lgamma(self)
        # </gen lgamma eodeggyvc4sj3ns>

    # <gen digamma>
    def digamma(self) -> Self:
        """The derivative of lgamma."""
        return special_rows.digamma(self)
        # </gen digamma dmnskativu5i5hc>

    # <gen nansum>
    def nansum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Self:
        """Sum of the elements along axes that are not NaN."""
        return statistics_rows.nansum(self, axis, keepdims)
        # </gen nansum bm7cyldmwpkewb3>

    # <gen nanmean>
    def nanmean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Self:
        """Mean of the elements along axes that are not NaN; NaN if there are none."""
        return statistics_rows.nanmean(self, axis, keepdims)
        # </gen nanmean 6ufeymhccybei5s>

    # <gen nanmedian>
    def nanmedian(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Self:
        """The middle of the elements along axes that are not NaN, or the mean of the two there."""
        return statistics_rows.nanmedian(self, axis, keepdims)
        # </gen nanmedian mrlln3xitrovodc>

    # <gen nanquantile>
    def nanquantile(
        self,
        q: float | tuple[float, ...],
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        interpolation: str = "linear",
    ) -> Self:
        """quantile of the elements along axes that are not NaN; NaN if there are none."""
        return statistics_rows.nanquantile(self, q, axis, keepdims, interpolation)
        # </gen nanquantile lgwkv6a6rsknaifjlzedmbc33uew72prv3yb2n56334as>

    # <gen aminmax>
    def aminmax(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Extremes:
        """(smallest, largest) element along axes; NaN if there is one."""
        return statistics_rows.aminmax(self, axis, keepdims)
        # </gen aminmax 32jv64mqostrzle>

    # <gen var_mean>
    def var_mean(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False, correction: float = 1
    ) -> tuple[Self, Self]:
        """(variance, mean) along axes; squares are divided by (count - correction)."""
        return statistics_rows.var_mean(self, axis, keepdims, correction)
        # </gen var_mean phtndmn6qxwqohgnnmvcndl7o>

    # <gen std_mean>
    def std_mean(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False, correction: float = 1
    ) -> tuple[Self, Self]:
        """(standard deviation, mean) along axes; squares are divided by (count - correction)."""
        return statistics_rows.std_mean(self, axis, keepdims, correction)
        # </gen std_mean zlthwmn6qxwqohgut3hgz7eov>

    # <gen kthvalue>
    def kthvalue(self, k: int, axis: int = -1, keepdims: bool = False) -> Found:
        """(values, indices) of the k-th smallest element along an axis, counted from 1."""
        return statistics_rows.kthvalue(self, k, axis, keepdims)
        # </gen kthvalue 3w7coswujxly4al>

    # <gen mode>
    def mode(self, axis: int = -1, keepdims: bool = False) -> Found:
        """(values, indices) of the most frequent element along an axis: the least, where it last
        is.
        """
        return statistics_rows.mode(self, axis, keepdims)
        # </gen mode v73ofzbvoigwdy2sdaupx4tmp>

    # <gen msort>
    def msort(self) -> Self:
        """The elements in order along the first axis."""
        return statistics_rows.msort(self)
        # </gen msort ucvke5s4djnusmr>

    # <gen prod>
    def prod(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False, dtype: Any = None
    ) -> Self:
        """Product of the elements along axes."""
        return totals_rows.prod_(self, axis, keepdims, dtype)
        # </gen prod s45ziqq2hzprv3y2kz2bsj3q5>

    # <gen count_nonzero>
    def count_nonzero(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False
    ) -> Self:
        """How many elements along axes are not 0."""
        return totals_rows.count_nonzero(self, axis, keepdims)
        # </gen count_nonzero btykinidirprv3yzy3uditqkc>

    # <gen any>
    def any(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Self:
        """Is an element along axes not 0?"""
        return totals_rows.any_(self, axis, keepdims)
        # </gen any 7usxvodwjqct65k>

    # <gen all>
    def all(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Self:
        """Is no element along axes 0?"""
        return totals_rows.all_(self, axis, keepdims)
        # </gen all s5ic3fi64bdjro7>

    # <gen std>
    def std(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False, correction: float = 0
    ) -> Self:
        """Standard deviation along axes: the root of the variance; flat where all are equal."""
        return totals_rows.std(self, axis, keepdims, correction)
        # </gen std 3gkkscehanprv3yimaf62dms7>

    # <gen norm>
    def norm(
        self, ord: float = 2, axis: int | Sequence[int] | None = None, keepdims: bool = False
    ) -> Self:
        """(sum |x|**ord)**(1/ord) along axes; inf and -inf give the largest and smallest, 0 a
        count.
        """
        return totals_rows.norm(self, ord, axis, keepdims)
        # </gen norm djui6gikd4prv3yvuhk6leoq4sdaupsdh3y>

    # <gen windows>
    def windows(
        self,
        sizes: Sequence[int],
        strides: int | Sequence[int] = 1,
        dilations: int | Sequence[int] = 1,
        edges: Sequence[tuple[int, int]] = (),
        value: float = 0,
    ) -> Self:
        """Windows over the last axes of x: (..., *sizes, *number of windows)."""
        return windows_rows.windows(self, sizes, strides, dilations, edges, value)
        # </gen windows aat3b6a6rs57ajaewxe747fecllujasul6wprv3yg72y5bnlyy>

    # <gen fold>
    def fold(
        self,
        sizes: Sequence[int],
        strides: int | Sequence[int] = 1,
        dilations: int | Sequence[int] = 1,
        starts: int | Sequence[int] = 0,
    ) -> Self:
        """Windows laid back and added up where they meet: the transpose of `windows`."""
        return windows_rows.fold(self, sizes, strides, dilations, starts)
        # </gen fold aqr2q6a6rs57ajaewxe747fec7st3wprv3y3rmydcldt6>

    # <gen unfold>
    def unfold(self, axis: int = -1, size: int = 1, step: int = 1, dilation: int = 1) -> Self:
        """Windows of size elements along an axis, step apart, as a new last axis."""
        return windows_rows.unfold(self, axis, size, step, dilation)
        # </gen unfold cvpisxuynt7koqo>

    # <gen index_copy>
    def index_copy(self, index: Self, values: Self, axis: int = 0) -> Self:
        """x with slices of values in place of those at indices along an axis."""
        return writing_rows.index_copy(self, index, values, axis)
        # </gen index_copy a4lyg5ypfsq44ue>

    # <gen index_fill>
    def index_fill(self, index: Self, value: Any, axis: int = 0) -> Self:
        """x with a value, a number or a 0-d tensor, in the slices at indices along an axis."""
        return writing_rows.index_fill(self, index, value, axis)
        # </gen index_fill zubk4xc3gqkqdlo>

    # <gen index_put>
    def index_put(
        self, indices: Self | Sequence[Self], values: Self | float, accumulate: bool = False
    ) -> Self:
        """x with values at indices: a tuple of tensors, one for each of the first axes, or a
        mask.
        """
        return writing_rows.index_put(self, indices, values, accumulate)
        # </gen index_put jfdvps3dsgprv3ylvw46mdmtusdaupcplst>

    # <gen masked_scatter>
    def masked_scatter(self, mask: Self, values: Self) -> Self:
        """x with the elements of values, one after the other, where mask is true."""
        return writing_rows.masked_scatter(self, mask, values)
        # </gen masked_scatter fdh54ls3dmrt4ld>

    # <gen zeta>
    def zeta(self, q: Self | float) -> Self:
        """The sum of 1 / (k + q)**x over k = 0, 1, 2, ... (Hurwitz's zeta function), for x > 1."""
        return zetas_rows.zeta(self, q)
        # </gen zeta xdaeoibk2zvsata>

    # <gen polygamma>
    def polygamma(self, n: int) -> Self:
        """The n-th derivative of digamma; n and x may be given in either order."""
        return zetas_rows.polygamma(self, n)
        # </gen polygamma o6sv4edohe5odv5>

    # <gen mvlgamma>
    def mvlgamma(self, p: int) -> Self:
        """The logarithm of the gamma function of p dimensions, for x above (p - 1) / 2; else
        NaN.
        """
        return zetas_rows.mvlgamma(self, p)
        # </gen mvlgamma rj4tqdm6m5gadwwsdaupszyan>

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
    unbind = unstack
    repeat_interleave = repeat
    view = Syntax.reshape
    permute_dims = Syntax.permute
    broadcast_to = Syntax.expand
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
    amax = Syntax.max
    amin = Syntax.min
    unique_values = unique
    ravel = flatten
    expand_dims = unsqueeze
    swapaxes = Syntax.transpose
    swapdims = Syntax.transpose
    moveaxis = movedim
    vector_norm = norm
    # <sums nidihoagvtum4drdv5cqpr6zbzvtd3wy62ns5q7c6r3irkvtokyakcvt5ih2dqcrtmeeecmd5qr>
    # <sums qnozvpxkr2wwichh3v42puahbjxgvbx6z4qxxfqlij44yag7ynehzt36eh4ljbraolxc5xekrme>
    # </gen aliases 6yu2nzkuk6yeus4qxgzrtyco524u3e2k6niqa54tnswxb2yfcep3asnyruq5ko756>
