"""The ops of the table as methods of a tensor."""

from __future__ import annotations

# <gen imports>
from collections.abc import Sequence
from typing import Any, Self, Unpack

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
from treadle.ops.options import Scalar
from treadle.ops.sets import Counts, Inverse, Unique
from treadle.ops.statistics import Extremes, Found
from treadle.ops.syntax import Syntax
from treadle.ops.words import Words, accept_words

# <sums tgj7fkyafapvsmkymah2xvyiz3pewjo6m2y6drl2mgqqfu2vb2fgkn2p4srfevaalqe4bzutyoe6n5dt>
# <sums gtzmx5mpujuqtos24poxtsidvn4cuynrbhmukhfknm4gyji6keu4tomikgbsoi2stkhhscwaxz4cdvqu>
# <sums 7te2pmu6xuof2p55pkjfc3azhb7iyl7newb7i7vj2ul5zye67edyko43kgudva52cduigdgsbpwzcblc>
# </gen imports cpsn7pvsmk>


class Methods(Syntax):
    """Every op that can be called on its first operand."""

    __slots__ = ()

    # <gen relu>
    def relu(self, **words: Unpack[Words]) -> Self:
        """x where positive, else 0."""
        if words:
            return activations_rows.relu(self, **words)
        return activations_rows.relu(self)
        # </gen relu 662p2uvypjge5m553dkfcuac4>

    # <gen hardtanh>
    def hardtanh(self, min_val: float = -1.0, max_val: float = 1.0, **words: Unpack[Words]) -> Self:
        """x kept within [min_val, max_val]."""
        if words:
            return activations_rows.hardtanh(self, min_val, max_val, **words)
        return activations_rows.hardtanh(self, min_val, max_val)
        # </gen hardtanh gev2fnvffige5m53nqevne4s7>

    # <gen relu6>
    def relu6(self, **words: Unpack[Words]) -> Self:
        """x kept within [0, 6]."""
        if words:
            return activations_rows.relu6(self, **words)
        return activations_rows.relu6(self)
        # </gen relu6 rk6bvv6xqyge5m543a7mgedoe>

    # <gen leaky_relu>
    def leaky_relu(self, negative_slope: float = 0.01, **words: Unpack[Words]) -> Self:
        """x where positive, else a fraction of it."""
        if words:
            return activations_rows.leaky_relu(self, negative_slope, **words)
        return activations_rows.leaky_relu(self, negative_slope)
        # </gen leaky_relu 6j5uagb46qge5m5q2n3zx2az7>

    # <gen prelu>
    def prelu(self, weight: Self | float, **words: Unpack[Words]) -> Self:
        """x where positive, else weight times x; there is one weight, or one a channel (axis 1)."""
        if words:
            return activations_rows.prelu(self, weight, **words)
        return activations_rows.prelu(self, weight)
        # </gen prelu xea7qh4weage5m5fd2ubjj6lq>

    # <gen threshold>
    def threshold(self, threshold: float, value: float, **words: Any) -> Self:
        """x where it is above the threshold, else the value."""
        if words:
            return activations_rows.threshold(self, threshold, value, **words)
        return activations_rows.threshold(self, threshold, value)
        # </gen threshold aphlqmzlasge5m5javewtofo5>

    # <gen hardshrink>
    def hardshrink(self, lambd: float = 0.5, **words: Unpack[Words]) -> Self:
        """x, or 0 where it is within lambd of 0."""
        if words:
            return activations_rows.hardshrink(self, lambd, **words)
        return activations_rows.hardshrink(self, lambd)
        # </gen hardshrink pdig5iktk4ge5m5q6qy4b2vpp>

    # <gen softshrink>
    def softshrink(self, lambd: float = 0.5, **words: Unpack[Words]) -> Self:
        """x moved towards 0 by lambd, which is not negative."""
        if words:
            return activations_rows.softshrink(self, lambd, **words)
        return activations_rows.softshrink(self, lambd)
        # </gen softshrink ppmdaekcigge5m5y4fwqkuwzi>

    # <gen hardsigmoid>
    def hardsigmoid(self, **words: Unpack[Words]) -> Self:
        """A sigmoid of three straight pieces: x / 6 + 1/2, kept within [0, 1]."""
        if words:
            return activations_rows.hardsigmoid(self, **words)
        return activations_rows.hardsigmoid(self)
        # </gen hardsigmoid fwk5vbqbibge5m52mcjv722yy>

    # <gen hardswish>
    def hardswish(self, **words: Unpack[Words]) -> Self:
        """x times hardsigmoid(x)."""
        if words:
            return activations_rows.hardswish(self, **words)
        return activations_rows.hardswish(self)
        # </gen hardswish qpn7mnvgmlge5m5jf4i672epd>

    # <gen silu>
    def silu(self, **words: Unpack[Words]) -> Self:
        """x times sigmoid(x)."""
        if words:
            return activations_rows.silu(self, **words)
        return activations_rows.silu(self)
        # </gen silu 3qjipj2bnbge5m5lsi3sxvejh>

    # <gen gelu>
    def gelu(self, approximate: str = "none", **words: Unpack[Words]) -> Self:
        """x times the normal distribution function of x; approximate="tanh" uses a cheaper form."""
        if words:
            return activations_rows.gelu(self, approximate, **words)
        return activations_rows.gelu(self, approximate)
        # </gen gelu ffo5avehecge5m56effpii3my>

    # <gen elu>
    def elu(self, alpha: float = 1.0, **words: Any) -> Self:
        """x where positive, else alpha * (exp(x) - 1)."""
        if words:
            return activations_rows.elu(self, alpha, **words)
        return activations_rows.elu(self, alpha)
        # </gen elu g3gurwyjnrge5m577mklerdby>

    # <gen celu>
    def celu(self, alpha: float = 1.0, **words: Any) -> Self:
        """x where positive, else alpha * (exp(x / alpha) - 1)."""
        if words:
            return activations_rows.celu(self, alpha, **words)
        return activations_rows.celu(self, alpha)
        # </gen celu jpwpenn64ege5m527qznhjexi>

    # <gen selu>
    def selu(self, **words: Unpack[Words]) -> Self:
        """elu with the alpha and scale that keep mean 0 and variance 1 from layer to layer."""
        if words:
            return activations_rows.selu(self, **words)
        return activations_rows.selu(self)
        # </gen selu 2ere5kat3jge5m5mukavl2eky>

    # <gen mish>
    def mish(self, **words: Unpack[Words]) -> Self:
        """x times tanh(softplus(x))."""
        if words:
            return activations_rows.mish(self, **words)
        return activations_rows.mish(self)
        # </gen mish kgei4qxwgkge5m56r66ydfknf>

    # <gen logsigmoid>
    def logsigmoid(self, **words: Unpack[Words]) -> Self:
        """log(sigmoid(x)) without overflow."""
        if words:
            return activations_rows.logsigmoid(self, **words)
        return activations_rows.logsigmoid(self)
        # </gen logsigmoid hdjsi63i2age5m5dk6kjjcznb>

    # <gen softplus>
    def softplus(self, beta: float = 1.0, threshold: float = 20.0, **words: Unpack[Words]) -> Self:
        """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""
        if words:
            return activations_rows.softplus(self, beta, threshold, **words)
        return activations_rows.softplus(self, beta, threshold)
        # </gen softplus 7eehogfjdlge5m5krgoaw5a6s>

    # <gen softsign>
    def softsign(self, **words: Unpack[Words]) -> Self:
        """x / (1 + |x|)."""
        if words:
            return activations_rows.softsign(self, **words)
        return activations_rows.softsign(self)
        # </gen softsign nuihipnzpmge5m5b37k5wnkvh>

    # <gen tanhshrink>
    def tanhshrink(self, **words: Unpack[Words]) -> Self:
        """x - tanh(x)."""
        if words:
            return activations_rows.tanhshrink(self, **words)
        return activations_rows.tanhshrink(self)
        # </gen tanhshrink nt4cp5twchge5m5gzy7djhrft>

    # <gen glu>
    def glu(self, axis: int = -1, **words: Unpack[Words]) -> Self:
        """The first half of an axis times the sigmoid of the second."""
        if words:
            return activations_rows.glu(self, axis, **words)
        return activations_rows.glu(self, axis)
        # </gen glu qdci3aeeysge5m5cnf2t2ig32>

    # <gen mm>
    def mm(self, b: Self, **words: Unpack[Words]) -> Self:
        """A matrix times a matrix."""
        if words:
            return added_rows.mm(self, b, **words)
        return added_rows.mm(self, b)
        # </gen mm nrcxvs2qhqge5m5mwk4eeal2y>

    # <gen addmm>
    def addmm(self, a: Self, b: Self, beta: Scalar = 1, alpha: Scalar = 1, **words: Any) -> Self:
        """beta * x + alpha * (a matrix times a matrix); x broadcasts to it."""
        if words:
            return added_rows.addmm(self, a, b, beta, alpha, **words)
        return added_rows.addmm(self, a, b, beta, alpha)
        # </gen addmm kvz2bginvmge5m5rvb7qpoduw>

    # <gen addmv>
    def addmv(self, a: Self, b: Self, beta: Scalar = 1, alpha: Scalar = 1, **words: Any) -> Self:
        """beta * x + alpha * (a matrix times a vector); x broadcasts to it."""
        if words:
            return added_rows.addmv(self, a, b, beta, alpha, **words)
        return added_rows.addmv(self, a, b, beta, alpha)
        # </gen addmv zjq6nr2ttnge5m5xjh2io4riy>

    # <gen addr>
    def addr(self, a: Self, b: Self, beta: Scalar = 1, alpha: Scalar = 1, **words: Any) -> Self:
        """beta * x + alpha * (every element of a vector times every one of another); x
        broadcasts to it.
        """
        if words:
            return added_rows.addr(self, a, b, beta, alpha, **words)
        return added_rows.addr(self, a, b, beta, alpha)
        # </gen addr 5nefjulnfxupiodsdaupge5m5mfpcym57es>

    # <gen baddbmm>
    def baddbmm(self, a: Self, b: Self, beta: Scalar = 1, alpha: Scalar = 1, **words: Any) -> Self:
        """beta * x + alpha * (a batch of matrices times another); x broadcasts to it."""
        if words:
            return added_rows.baddbmm(self, a, b, beta, alpha, **words)
        return added_rows.baddbmm(self, a, b, beta, alpha)
        # </gen baddbmm yrr33fnsopge5m5lzrrm4zkqv>

    # <gen addbmm>
    def addbmm(self, a: Self, b: Self, beta: Scalar = 1, alpha: Scalar = 1, **words: Any) -> Self:
        """beta * x + alpha * (the sum of a batch of products of matrices); x broadcasts to it."""
        if words:
            return added_rows.addbmm(self, a, b, beta, alpha, **words)
        return added_rows.addbmm(self, a, b, beta, alpha)
        # </gen addbmm 7aulyn3ws7ge5m5kng5xcm3j7>

    # <gen addcmul>
    def addcmul(self, a: Self | float, b: Self, value: Scalar = 1, **words: Any) -> Self:
        """x + value * a * b."""
        if words:
            return added_rows.addcmul(self, a, b, value, **words)
        return added_rows.addcmul(self, a, b, value)
        # </gen addcmul 4qmuxs46dyge5m5gzbyj24nni>

    # <gen addcdiv>
    def addcdiv(self, a: Self | float, b: Self, value: Scalar = 1, **words: Any) -> Self:
        """x + value * a / b, a float."""
        if words:
            return added_rows.addcdiv(self, a, b, value, **words)
        return added_rows.addcdiv(self, a, b, value)
        # </gen addcdiv oxxywdibh7ge5m5mo3pnwifbw>

    # <gen cross>
    def cross(self, b: Self, axis: int = -1, **words: Unpack[Words]) -> Self:
        """The vector at right angles to two of three elements along an axis; the others
        broadcast.
        """
        if words:
            return added_rows.cross(self, b, axis, **words)
        return added_rows.cross(self, b, axis)
        # </gen cross didzsn6n2xkctshsdaupge5m5cihvjnn2ow>

    # <gen logit>
    def logit(self, eps: float | None = None, **words: Unpack[Words]) -> Self:
        """log(x / (1 - x)), the inverse of sigmoid; eps: x is kept within [eps, 1 - eps]."""
        if words:
            return arithmetic_rows.logit(self, eps, **words)
        return arithmetic_rows.logit(self, eps)
        # </gen logit v5kffw6zjege5m5xnti3qv2f3>

    # <gen xlogy>
    def xlogy(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x * log(y), and 0 where x is 0, unless y is NaN."""
        if words:
            return arithmetic_rows.xlogy(self, y, **words)
        return arithmetic_rows.xlogy(self, y)
        # </gen xlogy azbuv2jzl2ge5m5h526a5nhjc>

    # <gen xlog1py>
    def xlog1py(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x * log1p(y), and 0 where x is 0, unless y is NaN."""
        if words:
            return arithmetic_rows.xlog1py(self, y, **words)
        return arithmetic_rows.xlog1py(self, y)
        # </gen xlog1py 5cpsqkf77tge5m537gnnqgpg3>

    # <gen logaddexp2>
    def logaddexp2(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """log2(2**x + 2**y) without overflow."""
        if words:
            return arithmetic_rows.logaddexp2(self, y, **words)
        return arithmetic_rows.logaddexp2(self, y)
        # </gen logaddexp2 qdwwqg5vehge5m5y2pylj6by2>

    # <gen frac>
    def frac(self, **words: Unpack[Words]) -> Self:
        """What a number has behind its point, with its sign: x - trunc(x)."""
        if words:
            return arithmetic_rows.frac(self, **words)
        return arithmetic_rows.frac(self)
        # </gen frac g4ggrm2eyfge5m5had4a44dwq>

    # <gen heaviside>
    def heaviside(self, values: Self | float, **words: Unpack[Words]) -> Self:
        """0 where x is negative, 1 where it is positive, values where it is 0; NaN where x is."""
        if words:
            return arithmetic_rows.heaviside(self, values, **words)
        return arithmetic_rows.heaviside(self, values)
        # </gen heaviside zaes57efslge5m5gvygce3qck>

    # <gen clamp_min>
    def clamp_min(self, min: Self | float, **words: Unpack[Words]) -> Self:
        """x where it is above min, a number or a tensor, else min."""
        if words:
            return arithmetic_rows.clamp_min(self, min, **words)
        return arithmetic_rows.clamp_min(self, min)
        # </gen clamp_min lxom54idm7ge5m5uwc6mubypf>

    # <gen clamp_max>
    def clamp_max(self, max: Self | float, **words: Unpack[Words]) -> Self:
        """x where it is below max, a number or a tensor, else max."""
        if words:
            return arithmetic_rows.clamp_max(self, max, **words)
        return arithmetic_rows.clamp_max(self, max)
        # </gen clamp_max lfavjsrgqcge5m5sdxmkxt3nu>

    # <gen isposinf>
    def isposinf(self, **words: Unpack[Words]) -> Self:
        """True where x is positive infinity."""
        if words:
            return arithmetic_rows.isposinf(self, **words)
        return arithmetic_rows.isposinf(self)
        # </gen isposinf rlgflo45x2ge5m53wql6sb7hq>

    # <gen isneginf>
    def isneginf(self, **words: Unpack[Words]) -> Self:
        """True where x is negative infinity."""
        if words:
            return arithmetic_rows.isneginf(self, **words)
        return arithmetic_rows.isneginf(self)
        # </gen isneginf wuv5hdjgx7ge5m5y5lnffrtjt>

    # <gen deg2rad>
    def deg2rad(self, **words: Unpack[Words]) -> Self:
        """Degrees as radians."""
        if words:
            return arithmetic_rows.deg2rad(self, **words)
        return arithmetic_rows.deg2rad(self)
        # </gen deg2rad tzqu4zwradge5m5tq6aqaorxk>

    # <gen rad2deg>
    def rad2deg(self, **words: Unpack[Words]) -> Self:
        """Radians as degrees."""
        if words:
            return arithmetic_rows.rad2deg(self, **words)
        return arithmetic_rows.rad2deg(self)
        # </gen rad2deg begewvfs4bge5m5di6fhvz7os>

    # <gen sinc>
    def sinc(self, **words: Unpack[Words]) -> Self:
        """sin(pi x) / (pi x), 1 at 0 and exactly 0 at the other integers."""
        if words:
            return arithmetic_rows.sinc(self, **words)
        return arithmetic_rows.sinc(self)
        # </gen sinc oomelgznyyge5m55tg3lvry3w>

    # <gen ldexp>
    def ldexp(self, other: Self | float, **words: Any) -> Self:
        """x times 2 to the power other: a float; exact for whole powers, but where it
        underflows.
        """
        if words:
            return arithmetic_rows.ldexp(self, other, **words)
        return arithmetic_rows.ldexp(self, other)
        # </gen ldexp cu4ub6zc5b453tasdaupge5m5uqiz7jmo4t>

    # <gen frexp>
    def frexp(self, **words: Unpack[Words]) -> Parts:
        """(mantissa, exponent): x as mantissa * 2**exponent, with a mantissa in [0.5, 1), or 0."""
        if words:
            return arithmetic_rows.frexp(self, **words)
        return arithmetic_rows.frexp(self)
        # </gen frexp ufh5io7uk3ge5m5iomqbkmupg>

    # <gen gcd>
    def gcd(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """The greatest common divisor of integers, not negative; gcd(0, y) is |y|."""
        if words:
            return arithmetic_rows.gcd(self, y, **words)
        return arithmetic_rows.gcd(self, y)
        # </gen gcd rfberf7733ge5m5ncta662udf>

    # <gen lcm>
    def lcm(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """The least common multiple of integers, not negative; 0 if one is."""
        if words:
            return arithmetic_rows.lcm(self, y, **words)
        return arithmetic_rows.lcm(self, y)
        # </gen lcm eqfxhdm3fnge5m55nxjyluhdo>

    # <gen expand_as>
    def expand_as(self, other: Self, **words: Any) -> Self:
        """x broadcast to the shape of another."""
        if words:
            return arranging_rows.expand_as(self, other, **words)
        return arranging_rows.expand_as(self, other)
        # </gen expand_as a7rsdfrduwge5m5cwwljqww3c>

    # <gen view_as>
    def view_as(self, other: Self | float, **words: Any) -> Self:
        """The elements of x under the shape of another."""
        if words:
            return arranging_rows.view_as(self, other, **words)
        return arranging_rows.view_as(self, other)
        # </gen view_as b6oyrch6pfge5m5miskte3rxo>

    # <gen fliplr>
    def fliplr(self, **words: Unpack[Words]) -> Self:
        """The order of the columns turned round: along axis 1."""
        if words:
            return arranging_rows.fliplr(self, **words)
        return arranging_rows.fliplr(self)
        # </gen fliplr mthba4iqwyge5m52wbgvdajpm>

    # <gen flipud>
    def flipud(self, **words: Unpack[Words]) -> Self:
        """The order of the rows turned round: along axis 0."""
        if words:
            return arranging_rows.flipud(self, **words)
        return arranging_rows.flipud(self)
        # </gen flipud ue2js7izrhge5m5vrxj4w2bxw>

    # <gen take_along_dim>
    def take_along_dim(
        self, indices: Self, axis: int | None = None, **words: Unpack[Words]
    ) -> Self:
        """take_along_axis, or without an axis the elements of flattened x at flattened indices."""
        if words:
            return arranging_rows.take_along_dim(self, indices, axis, **words)
        return arranging_rows.take_along_dim(self, indices, axis)
        # </gen take_along_dim u3k2sqpb2jprv3ywxhazge5m5o3manght7x>

    # <gen diag_embed>
    def diag_embed(
        self, offset: int = 0, axis1: int = -2, axis2: int = -1, **words: Unpack[Words]
    ) -> Self:
        """The last axis as a diagonal of two axes of the result, zeros beside it."""
        if words:
            return arranging_rows.diag_embed(self, offset, axis1, axis2, **words)
        return arranging_rows.diag_embed(self, offset, axis1, axis2)
        # </gen diag_embed c5w4ylruv2prv3ypdq32ge5m5pbzdhh2hp6>

    # <gen diagflat>
    def diagflat(self, offset: int = 0, **words: Unpack[Words]) -> Self:
        """A matrix with the elements of x on a diagonal."""
        if words:
            return arranging_rows.diagflat(self, offset, **words)
        return arranging_rows.diagflat(self, offset)
        # </gen diagflat b2jic56nxcge5m54ediijgb3h>

    # <gen combinations>
    def combinations(
        self, r: int = 2, with_replacement: bool = False, **words: Unpack[Words]
    ) -> Self:
        """Every choice of r elements of a vector in their order, a row for each choice."""
        if words:
            return arranging_rows.combinations(self, r, with_replacement, **words)
        return arranging_rows.combinations(self, r, with_replacement)
        # </gen combinations kmzawyhghrprv3yvdi7ige5m5hzwl2me7qh>

    # <gen vander>
    def vander(
        self, N: int | None = None, increasing: bool = False, **words: Unpack[Words]
    ) -> Self:
        """The powers of each element of a vector, a row for each: falling to 0, or rising from
        it.
        """
        if words:
            return arranging_rows.vander(self, N, increasing, **words)
        return arranging_rows.vander(self, N, increasing)
        # </gen vander rleeihbgmeprv3yjtto37hwpusdaupge5m5jusf5h3hwb>

    # <gen i0>
    def i0(self, **words: Unpack[Words]) -> Self:
        """The modified Bessel function of the first kind, of order 0."""
        if words:
            return bessel_rows.i0(self, **words)
        return bessel_rows.i0(self)
        # </gen i0 bqpgggcnrvge5m5vsxzp5j5di>

    # <gen i1>
    def i1(self, **words: Unpack[Words]) -> Self:
        """The modified Bessel function of the first kind, of order 1."""
        if words:
            return bessel_rows.i1(self, **words)
        return bessel_rows.i1(self)
        # </gen i1 a2h4m3o3uvge5m5bacs3nkmdp>

    # <gen i0e>
    def i0e(self, **words: Unpack[Words]) -> Self:
        """The modified Bessel function of the first kind, of order 0 times exp(-|x|)."""
        if words:
            return bessel_rows.i0e(self, **words)
        return bessel_rows.i0e(self)
        # </gen i0e qmub2icvldge5m5etwtplonbv>

    # <gen i1e>
    def i1e(self, **words: Unpack[Words]) -> Self:
        """The modified Bessel function of the first kind, of order 1 times exp(-|x|)."""
        if words:
            return bessel_rows.i1e(self, **words)
        return bessel_rows.i1e(self)
        # </gen i1e 44lm3lvovlge5m5icuyhrkjwo>

    # <gen clip>
    def clip(
        self,
        min: Self | float | None = None,
        max: Self | float | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """x kept within [min, max], numbers or tensors; either may be left out."""
        if words:
            return activations_rows.clip(self, min, max, **words)
        return activations_rows.clip(self, min, max)
        # </gen clip 2mykh6a6rspmmrybtydj536x3prv3yen6izge5m53ila3ievhj>

    # <gen clamp>
    def clamp(
        self,
        min: Self | float | None = None,
        max: Self | float | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """clip, which asks for one bound at least."""
        if words:
            return activations_rows.clamp(self, min, max, **words)
        return activations_rows.clamp(self, min, max)
        # </gen clamp npvj66a6rspmmrybtydj536x3prv3yn2avige5m55i45zkhqem>

    # <gen nan_to_num>
    def nan_to_num(
        self,
        nan: float = 0.0,
        posinf: float | None = None,
        neginf: float | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """x with numbers in place of NaN and infinities: by default 0 and the largest of the
        dtype.
        """
        if words:
            return activations_rows.nan_to_num(self, nan, posinf, neginf, **words)
        return activations_rows.nan_to_num(self, nan, posinf, neginf)
        # </gen nan_to_num bodtu6a6rsycyfmfpqhpr6335536x3prv3yi72vdrwbp3sdaupge5m5yyl6kcmocc>

    # <gen mean>
    def mean(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """Arithmetic mean along axes."""
        if words:
            return composite_rows.mean(self, axis, keepdims, **words)
        return composite_rows.mean(self, axis, keepdims)
        # </gen mean n2kzb6a6rsjlzedmbc33536x3prv3yvgfqhge5m5vg3cpptnqp>

    # <gen var>
    def var(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        correction: float = 0,
        **words: Unpack[Words],
    ) -> Self:
        """Variance along axes: squared deviations over (count - correction); a float."""
        if words:
            return composite_rows.var(self, axis, keepdims, correction, **words)
        return composite_rows.var(self, axis, keepdims, correction)
        # </gen var cqsy46a6rsjlzedmbc33utp6x536x3prv3yt2trzge5m5op44x54g2x>

    # <gen logsumexp>
    def logsumexp(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """log(sum(exp(x))) along axes, without overflow."""
        if words:
            return composite_rows.logsumexp(self, axis, keepdims, **words)
        return composite_rows.logsumexp(self, axis, keepdims)
        # </gen logsumexp 3fzgi6a6rsjlzedmbc33536x3prv3y2lruzge5m5kgtdncrcyo>

    # <gen argmax>
    def argmax(
        self, axis: int | None = None, keepdims: bool = False, **words: Unpack[Words]
    ) -> Self:
        """Index of the first largest element (of the flattened tensor if axis is None)."""
        if words:
            return composite_rows.argmax(self, axis, keepdims, **words)
        return composite_rows.argmax(self, axis, keepdims)
        # </gen argmax vq7d5u6x6mprv3y5xe35ge5m53y6gikzt3z>

    # <gen argmin>
    def argmin(
        self, axis: int | None = None, keepdims: bool = False, **words: Unpack[Words]
    ) -> Self:
        """Index of the first smallest element (of the flattened tensor if axis is None)."""
        if words:
            return composite_rows.argmin(self, axis, keepdims, **words)
        return composite_rows.argmin(self, axis, keepdims)
        # </gen argmin xfemsu6x6mprv3ywtz6fge5m5ahkop2pdqa>

    # <gen take>
    def take(self, indices: Self, axis: int | None = None, **words: Unpack[Words]) -> Self:
        """Slices of x at indices along an axis; elements of flattened x if none is named."""
        if words:
            return composite_rows.take(self, indices, axis, **words)
        return composite_rows.take(self, indices, axis)
        # </gen take fgkmegx5s2ge5m52hqkki6alr>

    # <gen matmul>
    def matmul(self, b: Self, **words: Unpack[Words]) -> Self:
        """Matrix product; vectors are rows on the left and columns on the right."""
        if words:
            return composite_rows.matmul(self, b, **words)
        return composite_rows.matmul(self, b)
        # </gen matmul j2zftwppflge5m5t6z4jsbifb>

    # <gen linear>
    def linear(self, weight: Self, bias: Self | None = None, **words: Unpack[Words]) -> Self:
        """x times weight transposed, plus bias; weight is (out, in) as in PyTorch."""
        if words:
            return composite_rows.linear(self, weight, bias, **words)
        return composite_rows.linear(self, weight, bias)
        # </gen linear mtis6awrq7ge5m5uwgptytsns>

    # <gen matrix_product>
    def matrix_product(self, b: Self, **words: Unpack[Words]) -> Self:
        """Matrix product over the last two axes, broadcasting the others."""
        if words:
            return contract_rows.matrix_product(self, b, **words)
        return contract_rows.matrix_product(self, b)
        # </gen matrix_product ydvfr36eh5ge5m5earz3hnz6l>

    # <gen dot>
    def dot(self, b: Self, **words: Unpack[Words]) -> Self:
        """Sum of products of two vectors; of more axes, over the last of a and the last but one
        of b.
        """
        if words:
            return products_rows.dot(self, b, **words)
        return products_rows.dot(self, b)
        # </gen dot x5zgfskggzc5bzxsdaupge5m5yo3txxoepj>

    # <gen inner>
    def inner(self, b: Self, **words: Unpack[Words]) -> Self:
        """Sums of products over the last axes of both; a 0-d operand scales."""
        if words:
            return products_rows.inner(self, b, **words)
        return products_rows.inner(self, b)
        # </gen inner s3vte2zx72ge5m5v3p75462pv>

    # <gen outer>
    def outer(self, b: Self, **words: Unpack[Words]) -> Self:
        """Every element of a vector times every element of another."""
        if words:
            return products_rows.outer(self, b, **words)
        return products_rows.outer(self, b)
        # </gen outer wngvpnpvkxge5m5ylktdekvef>

    # <gen vecdot>
    def vecdot(self, b: Self, axis: int = -1, **words: Unpack[Words]) -> Self:
        """Sum of products along one axis of both; the others broadcast. Complex a is conjugated."""
        if words:
            return products_rows.vecdot(self, b, axis, **words)
        return products_rows.vecdot(self, b, axis)
        # </gen vecdot 2pgx2h3thhge5m5zgzqousv4g>

    # <gen vdot>
    def vdot(self, b: Self, **words: Unpack[Words]) -> Self:
        """Sum of products of two vectors, of which a complex first one is conjugated."""
        if words:
            return products_rows.vdot(self, b, **words)
        return products_rows.vdot(self, b)
        # </gen vdot sp4t3xgfq6ge5m5llmyha3l6t>

    # <gen bmm>
    def bmm(self, b: Self, **words: Unpack[Words]) -> Self:
        """Matrix products of a batch: (batch, n, k) times (batch, k, m)."""
        if words:
            return products_rows.bmm(self, b, **words)
        return products_rows.bmm(self, b)
        # </gen bmm rdjbahwktpge5m56ensv4wwle>

    # <gen mv>
    def mv(self, b: Self, **words: Unpack[Words]) -> Self:
        """A matrix times a vector."""
        if words:
            return products_rows.mv(self, b, **words)
        return products_rows.mv(self, b)
        # </gen mv dkmkorlo7rge5m5aktqkxkfj5>

    # <gen kron>
    def kron(self, b: Self, **words: Unpack[Words]) -> Self:
        """Every element of a times all of b, laid side by side (the Kronecker product)."""
        if words:
            return products_rows.kron(self, b, **words)
        return products_rows.kron(self, b)
        # </gen kron 5j5m3hwcktge5m5nwpciabp3s>

    # <gen quantize>
    def quantize(
        self, scale: float, zero_point: int = 0, dtype: Any = "int8", **words: Any
    ) -> Self:
        """The nearest integer to x / scale + zero_point that the dtype holds."""
        if words:
            return quantised_rows.quantize(self, scale, zero_point, dtype, **words)
        return quantised_rows.quantize(self, scale, zero_point, dtype)
        # </gen quantize nrsde6a7ecprv3yyh45jge5m5k5i333mf2q>

    # <gen dequantize>
    def dequantize(self, scale: float, zero_point: int = 0, **words: Unpack[Words]) -> Self:
        """(x - zero_point) * scale: the float32 that integers made by quantize stand for."""
        if words:
            return quantised_rows.dequantize(self, scale, zero_point, **words)
        return quantised_rows.dequantize(self, scale, zero_point)
        # </gen dequantize r77sozhyu2ge5m5yskk6vc27o>

    # <gen gather>
    def gather(self, index: Self, axis: int, **words: Any) -> Self:
        """Elements at indices along an axis; negative indices count from the end."""
        if words:
            return contract_rows.gather(self, index, axis, **words)
        return contract_rows.gather(self, index, axis)
        # </gen gather cgk4t7cnsjge5m55kpv5i5g7k>

    # <gen scatter_add>
    def scatter_add(self, index: Self, values: Self, axis: int, **words: Any) -> Self:
        """base with values added at indices along an axis; narrow floats add up in float32."""
        if words:
            return contract_rows.scatter_add(self, index, values, axis, **words)
        return contract_rows.scatter_add(self, index, values, axis)
        # </gen scatter_add wf2qnjb7rjge5m5uu7vke52eb>

    # <gen scatter>
    def scatter(
        self, index: Self, values: Self, axis: int, reduce: str | None = None, **words: Any
    ) -> Self:
        """base with values put at indices along an axis; the last one stays. reduce: add or
        multiply.
        """
        if words:
            return contract_rows.scatter(self, index, values, axis, reduce, **words)
        return contract_rows.scatter(self, index, values, axis, reduce)
        # </gen scatter 73fsnu7jroprv3yrmnq3bkm2wsdaupge5m5hmopzmmuoe>

    # <gen scatter_mul>
    def scatter_mul(self, index: Self, values: Self, axis: int, **words: Any) -> Self:
        """base multiplied by values at indices along an axis; narrow floats meet in float32."""
        if words:
            return contract_rows.scatter_mul(self, index, values, axis, **words)
        return contract_rows.scatter_mul(self, index, values, axis)
        # </gen scatter_mul yfznjzeotoge5m5pfsl2mkib4>

    # <gen scatter_max>
    def scatter_max(self, index: Self, values: Self, axis: int, **words: Any) -> Self:
        """The larger of base and the values at indices along an axis."""
        if words:
            return contract_rows.scatter_max(self, index, values, axis, **words)
        return contract_rows.scatter_max(self, index, values, axis)
        # </gen scatter_max 3l5g56glclge5m5jirbd6wkyy>

    # <gen scatter_min>
    def scatter_min(self, index: Self, values: Self, axis: int, **words: Any) -> Self:
        """The smaller of base and the values at indices along an axis."""
        if words:
            return contract_rows.scatter_min(self, index, values, axis, **words)
        return contract_rows.scatter_min(self, index, values, axis)
        # </gen scatter_min 7tm63pdzazge5m5zru7pgsw2m>

    # <gen conv1d>
    def conv1d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | str = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        **words: Unpack[Words],
    ) -> Self:
        """Cross-correlation over the last 1 axes of x with every kernel."""
        if words:
            return convolution_rows.conv1d(
                self, weight, bias, stride, padding, dilation, groups, **words
            )
        return convolution_rows.conv1d(self, weight, bias, stride, padding, dilation, groups)
        # <sums sc4ee6a6rsowstufjn6ic2trdm7fbijqr3jtdszq536x3prv3ymw777ge5m5musbtvnqe4vwmb5>
        # </gen conv1d p2rce>

    # <gen conv2d>
    def conv2d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | str = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        **words: Unpack[Words],
    ) -> Self:
        """Cross-correlation over the last 2 axes of x with every kernel."""
        if words:
            return convolution_rows.conv2d(
                self, weight, bias, stride, padding, dilation, groups, **words
            )
        return convolution_rows.conv2d(self, weight, bias, stride, padding, dilation, groups)
        # <sums guw6f6a6rsowstufjn6ic2trdm7fbijqr3jtdszq536x3prv3yc5xpzge5m5dhkuhvnqe4vwmb5>
        # </gen conv2d npcfy>

    # <gen conv3d>
    def conv3d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | str = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        **words: Unpack[Words],
    ) -> Self:
        """Cross-correlation over the last 3 axes of x with every kernel."""
        if words:
            return convolution_rows.conv3d(
                self, weight, bias, stride, padding, dilation, groups, **words
            )
        return convolution_rows.conv3d(self, weight, bias, stride, padding, dilation, groups)
        # <sums t2r4j6a6rsowstufjn6ic2trdm7fbijqr3jtdszq536x3prv3yutykyge5m52edeevnqe4vwmb5>
        # </gen conv3d a4raj>

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
        **words: Unpack[Words],
    ) -> Self:
        """Every element of x times every kernel, added up 1-d."""
        if words:
            return convolution_rows.conv_transpose1d(
                self, weight, bias, stride, padding, output_padding, groups, dilation, **words
            )
        return convolution_rows.conv_transpose1d(
            self, weight, bias, stride, padding, output_padding, groups, dilation
        )
        # <sums 3aamg6a6rsowstufjn6ic2trdwwrn3hbr33tdszqjqr3j536x3prv3yhb4xoge5m5>
        # </gen conv_transpose1d vep6pvs2cdvwmb5qb2j5ve7cx7tujo>

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
        **words: Unpack[Words],
    ) -> Self:
        """Every element of x times every kernel, added up 2-d."""
        if words:
            return convolution_rows.conv_transpose2d(
                self, weight, bias, stride, padding, output_padding, groups, dilation, **words
            )
        return convolution_rows.conv_transpose2d(
            self, weight, bias, stride, padding, output_padding, groups, dilation
        )
        # <sums ewqjq6a6rsowstufjn6ic2trdwwrn3hbr33tdszqjqr3j536x3prv3yu3i2ige5m5>
        # </gen conv_transpose2d krdydvs2cdvwmb53um7kve7cx7tujo>

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
        **words: Unpack[Words],
    ) -> Self:
        """Every element of x times every kernel, added up 3-d."""
        if words:
            return convolution_rows.conv_transpose3d(
                self, weight, bias, stride, padding, output_padding, groups, dilation, **words
            )
        return convolution_rows.conv_transpose3d(
            self, weight, bias, stride, padding, output_padding, groups, dilation
        )
        # <sums jadyh6a6rsowstufjn6ic2trdwwrn3hbr33tdszqjqr3j536x3prv3ybuiw5ge5m5>
        # </gen conv_transpose3d hmdzbvs2cdvwmb5zlnrzve7cx7tujo>

    # <gen dist>
    def dist(self, b: Self, p: float = 2.0, **words: Any) -> Self:
        """The p-norm of a - b: all elements together."""
        if words:
            return distances_rows.dist(self, b, p, **words)
        return distances_rows.dist(self, b, p)
        # </gen dist 2ye6yggosige5m5jh3ssmmlqs>

    # <gen cdist>
    def cdist(self, b: Self, p: float = 2.0, **words: Any) -> Self:
        """The p-norms of the differences of every row of a and every row of b; a batch
        broadcasts.
        """
        if words:
            return distances_rows.cdist(self, b, p, **words)
        return distances_rows.cdist(self, b, p)
        # </gen cdist hvgthebv2uts7rvsdaupge5m5wo7uri5gwj>

    # <gen renorm>
    def renorm(self, p: float, axis: int, maxnorm: float, **words: Any) -> Self:
        """x with the slices along an axis that are longer than maxnorm made as short; p-norms."""
        if words:
            return distances_rows.renorm(self, p, axis, maxnorm, **words)
        return distances_rows.renorm(self, p, axis, maxnorm)
        # </gen renorm gwmplvt7uzge5m5na62ozp3u5>

    # <gen cov>
    def cov(
        self,
        fweights: Self | None = None,
        aweights: Self | None = None,
        correction: int = 1,
        **words: Unpack[Words],
    ) -> Self:
        """How variables, a row each, vary together: sums of products of deviations over the
        count.
        """
        if words:
            return distances_rows.cov(self, fweights, aweights, correction, **words)
        return distances_rows.cov(self, fweights, aweights, correction)
        # </gen cov sh3my6a6rs6nlkzf2xxlsuwyb536x3prv3y6jtunleoq4sdaupge5m544d5nebtv2>

    # <gen corrcoef>
    def corrcoef(self, **words: Unpack[Words]) -> Self:
        """The covariance of variables, a row each, over their deviations: from -1 to 1."""
        if words:
            return distances_rows.corrcoef(self, **words)
        return distances_rows.corrcoef(self)
        # </gen corrcoef nuds56zaxwge5m57rk4lugzco>

    # <gen tensordot>
    def tensordot(self, b: Self, axes: int | Sequence[Any] = 2, **words: Unpack[Words]) -> Self:
        """Products summed over pairs of axes: the last of a with the first of b, or those named."""
        if words:
            return products_rows.tensordot(self, b, axes, **words)
        return products_rows.tensordot(self, b, axes)
        # </gen tensordot heevqgddewge5m52v3xj3xab3>

    # <gen neg>
    def neg(self, **words: Unpack[Words]) -> Self:
        """-x."""
        if words:
            return elementwise_rows.neg(self, **words)
        return elementwise_rows.neg(self)
        # </gen neg az6mms22v3ge5m5elmsmlahju>

    # <gen abs>
    def abs(self, **words: Unpack[Words]) -> Self:
        """|x|; of a complex number a float."""
        if words:
            return elementwise_rows.abs_(self, **words)
        return elementwise_rows.abs_(self)
        # </gen abs kftgw67psnge5m5qnbu5rsoua>

    # <gen exp>
    def exp(self, **words: Unpack[Words]) -> Self:
        """e to the power x."""
        if words:
            return elementwise_rows.exp(self, **words)
        return elementwise_rows.exp(self)
        # </gen exp bycaasqmrgge5m5tquiqhpw44>

    # <gen exp2>
    def exp2(self, **words: Unpack[Words]) -> Self:
        """2 to the power x."""
        if words:
            return elementwise_rows.exp2(self, **words)
        return elementwise_rows.exp2(self)
        # </gen exp2 ktquvfpbsmge5m5stwxsothjw>

    # <gen expm1>
    def expm1(self, **words: Unpack[Words]) -> Self:
        """exp(x) - 1, accurate near 0."""
        if words:
            return elementwise_rows.expm1(self, **words)
        return elementwise_rows.expm1(self)
        # </gen expm1 ipjrujha4oge5m5rwysxfajcf>

    # <gen log>
    def log(self, **words: Unpack[Words]) -> Self:
        """Natural logarithm."""
        if words:
            return elementwise_rows.log(self, **words)
        return elementwise_rows.log(self)
        # </gen log uyxsvfqfixge5m5ek3sonzm3d>

    # <gen log2>
    def log2(self, **words: Unpack[Words]) -> Self:
        """Logarithm to base 2."""
        if words:
            return elementwise_rows.log2(self, **words)
        return elementwise_rows.log2(self)
        # </gen log2 lxuxvh5424ge5m5uuwyfyzvtp>

    # <gen log10>
    def log10(self, **words: Unpack[Words]) -> Self:
        """Logarithm to base 10."""
        if words:
            return elementwise_rows.log10(self, **words)
        return elementwise_rows.log10(self)
        # </gen log10 x73ov64peyge5m5lrqmnjrcm4>

    # <gen log1p>
    def log1p(self, **words: Unpack[Words]) -> Self:
        """log(1 + x), accurate near 0."""
        if words:
            return elementwise_rows.log1p(self, **words)
        return elementwise_rows.log1p(self)
        # </gen log1p 52flcs73roge5m5ld3es2bmso>

    # <gen sqrt>
    def sqrt(self, **words: Unpack[Words]) -> Self:
        """Square root."""
        if words:
            return elementwise_rows.sqrt(self, **words)
        return elementwise_rows.sqrt(self)
        # </gen sqrt 22hjjr4u5mge5m5iqqr3ysax4>

    # <gen sin>
    def sin(self, **words: Unpack[Words]) -> Self:
        """Sine, in radians."""
        if words:
            return elementwise_rows.sin(self, **words)
        return elementwise_rows.sin(self)
        # </gen sin 5tguqmwwzyge5m5lq2ppvnnsd>

    # <gen cos>
    def cos(self, **words: Unpack[Words]) -> Self:
        """Cosine, in radians."""
        if words:
            return elementwise_rows.cos(self, **words)
        return elementwise_rows.cos(self)
        # </gen cos 4ds4eutlpfge5m5ps2h6mxjrx>

    # <gen atan>
    def atan(self, **words: Unpack[Words]) -> Self:
        """Inverse tangent, in radians."""
        if words:
            return elementwise_rows.atan(self, **words)
        return elementwise_rows.atan(self)
        # </gen atan l4s7mluaxqge5m5ehqoha5kc7>

    # <gen tanh>
    def tanh(self, **words: Unpack[Words]) -> Self:
        """Hyperbolic tangent."""
        if words:
            return elementwise_rows.tanh(self, **words)
        return elementwise_rows.tanh(self)
        # </gen tanh jptv5blzhhge5m53dztj76qjq>

    # <gen sigmoid>
    def sigmoid(self, **words: Unpack[Words]) -> Self:
        """1 / (1 + exp(-x))."""
        if words:
            return elementwise_rows.sigmoid(self, **words)
        return elementwise_rows.sigmoid(self)
        # </gen sigmoid 2kaghzaeplge5m57jyemhxzcg>

    # <gen erf>
    def erf(self, **words: Unpack[Words]) -> Self:
        """Error function."""
        if words:
            return elementwise_rows.erf(self, **words)
        return elementwise_rows.erf(self)
        # </gen erf zhxcq7kshhge5m52h6qtmxljo>

    # <gen floor>
    def floor(self, **words: Unpack[Words]) -> Self:
        """Largest integer not above x."""
        if words:
            return elementwise_rows.floor(self, **words)
        return elementwise_rows.floor(self)
        # </gen floor fdo4v7jbogge5m5c53ubjihlt>

    # <gen ceil>
    def ceil(self, **words: Unpack[Words]) -> Self:
        """Smallest integer not below x."""
        if words:
            return elementwise_rows.ceil(self, **words)
        return elementwise_rows.ceil(self)
        # </gen ceil vvbfvqw7fhge5m55f7mc257e3>

    # <gen round>
    def round(self, decimals: int = 0, **words: Unpack[Words]) -> Self:
        """Nearest number of so many decimals, ties to the even one."""
        if words:
            return elementwise_rows.round_(self, decimals, **words)
        return elementwise_rows.round_(self, decimals)
        # </gen round t5fmom7gkdge5m564mrk3wbki>

    # <gen trunc>
    def trunc(self, **words: Unpack[Words]) -> Self:
        """Nearest integer towards 0."""
        if words:
            return elementwise_rows.trunc(self, **words)
        return elementwise_rows.trunc(self)
        # </gen trunc u5kywmtw3bge5m5fkqyk7zlcx>

    # <gen add>
    def add(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x + y; or, on bool."""
        if words:
            return elementwise_rows.add(self, y, **words)
        return elementwise_rows.add(self, y)
        # </gen add pejoguwuuvge5m5qffdcrvdnk>

    # <gen sub>
    def sub(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x - y."""
        if words:
            return elementwise_rows.sub(self, y, **words)
        return elementwise_rows.sub(self, y)
        # </gen sub egm2a4pq5qge5m5pm42pcutjj>

    # <gen mul>
    def mul(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x * y; and, on bool."""
        if words:
            return elementwise_rows.mul(self, y, **words)
        return elementwise_rows.mul(self, y)
        # </gen mul glwsijxwgege5m5jedfo6riiu>

    # <gen div>
    def div(
        self, y: Self | float, rounding_mode: str | None = None, **words: Unpack[Words]
    ) -> Self:
        """x / y, a float; rounding_mode 'floor' or 'trunc' rounds it and keeps integers."""
        if words:
            return elementwise_rows.div(self, y, rounding_mode, **words)
        return elementwise_rows.div(self, y, rounding_mode)
        # </gen div d5pqlziezbprv3yr4ox2ge5m5kbvinu4n7f>

    # <gen float_power>
    def float_power(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x to the power y, in 64 bits."""
        if words:
            return elementwise_rows.float_power(self, y, **words)
        return elementwise_rows.float_power(self, y)
        # </gen float_power wnv6euw3p7ge5m5j67knsry6k>

    # <gen minimum>
    def minimum(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """The smaller; NaN if either is."""
        if words:
            return elementwise_rows.minimum(self, y, **words)
        return elementwise_rows.minimum(self, y)
        # </gen minimum d6ll66v52dge5m5vyg4lsfncf>

    # <gen maximum>
    def maximum(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """The larger; NaN if either is."""
        if words:
            return elementwise_rows.maximum(self, y, **words)
        return elementwise_rows.maximum(self, y)
        # </gen maximum euslsysvuige5m5xixeicpwgs>

    # <gen floor_divide>
    def floor_divide(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """floor(x / y)."""
        if words:
            return elementwise_rows.floor_divide(self, y, **words)
        return elementwise_rows.floor_divide(self, y)
        # </gen floor_divide tmxkvq6zd4ge5m5telz77s3td>

    # <gen remainder>
    def remainder(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x - y * floor(x / y): the sign of y."""
        if words:
            return elementwise_rows.remainder(self, y, **words)
        return elementwise_rows.remainder(self, y)
        # </gen remainder 2kz75cgxqzge5m5j4kpnclsbc>

    # <gen eq>
    def eq(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x == y."""
        if words:
            return elementwise_rows.eq(self, y, **words)
        return elementwise_rows.eq(self, y)
        # </gen eq rmvxk5qhl3ge5m5hl3s6eh2y5>

    # <gen ne>
    def ne(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x != y."""
        if words:
            return elementwise_rows.ne(self, y, **words)
        return elementwise_rows.ne(self, y)
        # </gen ne g6q65o3n54ge5m5casrrg6k36>

    # <gen lt>
    def lt(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x < y."""
        if words:
            return elementwise_rows.lt(self, y, **words)
        return elementwise_rows.lt(self, y)
        # </gen lt lzzrjrdj7gge5m5eeatijouhc>

    # <gen le>
    def le(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x <= y."""
        if words:
            return elementwise_rows.le(self, y, **words)
        return elementwise_rows.le(self, y)
        # </gen le 3alfe3ifhcge5m5tyaoyl5i5j>

    # <gen gt>
    def gt(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x > y."""
        if words:
            return elementwise_rows.gt(self, y, **words)
        return elementwise_rows.gt(self, y)
        # </gen gt egfj7tkuxqge5m5fzeg7kxkov>

    # <gen ge>
    def ge(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x >= y."""
        if words:
            return elementwise_rows.ge(self, y, **words)
        return elementwise_rows.ge(self, y)
        # </gen ge fdc67zbg7bge5m553dsik6f4x>

    # <gen conj>
    def conj(self, **words: Unpack[Words]) -> Self:
        """The conjugate: the imaginary part negated."""
        if words:
            return elementwise_rows.conj(self, **words)
        return elementwise_rows.conj(self)
        # </gen conj euuaan35u5ge5m5oxgyzjbsv5>

    # <gen complex>
    def complex(self, imag: Self | float, **words: Unpack[Words]) -> Self:
        """real + 1j * imag, of two floats."""
        if words:
            return elementwise_rows.complex_(self, imag, **words)
        return elementwise_rows.complex_(self, imag)
        # </gen complex kdffwt7emgge5m5c65md722fm>

    # <gen bitwise_and>
    def bitwise_and(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """Bits set in both; and, on bool."""
        if words:
            return elementwise_rows.bitwise_and(self, y, **words)
        return elementwise_rows.bitwise_and(self, y)
        # </gen bitwise_and u4ank7aeebge5m5wp43fcve6q>

    # <gen bitwise_or>
    def bitwise_or(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """Bits set in either; or, on bool."""
        if words:
            return elementwise_rows.bitwise_or(self, y, **words)
        return elementwise_rows.bitwise_or(self, y)
        # </gen bitwise_or wqdjk33tcvge5m5l6kjc4r5qk>

    # <gen bitwise_xor>
    def bitwise_xor(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """Bits set in one alone."""
        if words:
            return elementwise_rows.bitwise_xor(self, y, **words)
        return elementwise_rows.bitwise_xor(self, y)
        # </gen bitwise_xor fmiecjyoyage5m5f4apk7yjyy>

    # <gen shift_left>
    def shift_left(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x << y; 0 where all bits are shifted out."""
        if words:
            return elementwise_rows.shift_left(self, y, **words)
        return elementwise_rows.shift_left(self, y)
        # </gen shift_left nldsfkwp6tge5m54ymuxvtxbj>

    # <gen shift_right>
    def shift_right(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x >> y, keeping the sign."""
        if words:
            return elementwise_rows.shift_right(self, y, **words)
        return elementwise_rows.shift_right(self, y)
        # </gen shift_right va2rt4jihyge5m5uzdmgunjuo>

    # <gen bitcast>
    def bitcast(self, dtype: Self, **words: Any) -> Self:
        """The bits of the elements read as another dtype of their width."""
        if words:
            return elementwise_rows.bitcast(self, dtype, **words)
        return elementwise_rows.bitcast(self, dtype)
        # </gen bitcast dle4jjbwhyge5m57bw2jq24ed>

    # <gen square>
    def square(self, **words: Unpack[Words]) -> Self:
        """x * x."""
        if words:
            return numeric_rows.square(self, **words)
        return numeric_rows.square(self)
        # </gen square 6de72jipooge5m5asw7oismvd>

    # <gen reciprocal>
    def reciprocal(self, **words: Unpack[Words]) -> Self:
        """1 / x."""
        if words:
            return numeric_rows.reciprocal(self, **words)
        return numeric_rows.reciprocal(self)
        # </gen reciprocal v3cv6f775yge5m52mzmbxvf5r>

    # <gen rsqrt>
    def rsqrt(self, **words: Unpack[Words]) -> Self:
        """1 / sqrt(x)."""
        if words:
            return numeric_rows.rsqrt(self, **words)
        return numeric_rows.rsqrt(self)
        # </gen rsqrt jo2xuvgocige5m5haw2bxfibw>

    # <gen sign>
    def sign(self, **words: Unpack[Words]) -> Self:
        """-1, 0 or 1; NaN where x is. Of a complex number x / |x|, and 0 at 0."""
        if words:
            return numeric_rows.sign(self, **words)
        return numeric_rows.sign(self)
        # </gen sign io3camnsw5ge5m54lvq3c5wnc>

    # <gen positive>
    def positive(self, **words: Unpack[Words]) -> Self:
        """x itself."""
        if words:
            return numeric_rows.positive(self, **words)
        return numeric_rows.positive(self)
        # </gen positive cbsqk5pnppge5m5eel765hwae>

    # <gen signbit>
    def signbit(self, **words: Unpack[Words]) -> Self:
        """True where the sign of x is set, also that of -0.0 and of NaN."""
        if words:
            return numeric_rows.signbit(self, **words)
        return numeric_rows.signbit(self)
        # </gen signbit rvbaned64rge5m5xlln42uq5y>

    # <gen copysign>
    def copysign(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """The size of x with the sign of y."""
        if words:
            return numeric_rows.copysign(self, y, **words)
        return numeric_rows.copysign(self, y)
        # </gen copysign tbpyhwcxpqge5m5x67byx2jyd>

    # <gen nextafter>
    def nextafter(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """The next number of the type after x towards y."""
        if words:
            return numeric_rows.nextafter(self, y, **words)
        return numeric_rows.nextafter(self, y)
        # </gen nextafter aenmisq4drge5m5lktsdv6xxm>

    # <gen pow>
    def pow(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """x to the power y. Integers wrap around; to a negative power they are 1 for 1, +-1 for
        -1, 0.
        """
        if words:
            return numeric_rows.pow_(self, y, **words)
        return numeric_rows.pow_(self, y)
        # </gen pow ocgrgylvdekpestsdaupge5m5gue3n7l34o>

    # <gen hypot>
    def hypot(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """sqrt(x * x + y * y) without overflow."""
        if words:
            return numeric_rows.hypot(self, y, **words)
        return numeric_rows.hypot(self, y)
        # </gen hypot zy64knkdmgge5m5bd7vhgxucn>

    # <gen tan>
    def tan(self, **words: Unpack[Words]) -> Self:
        """Tangent, in radians."""
        if words:
            return numeric_rows.tan(self, **words)
        return numeric_rows.tan(self)
        # </gen tan 3bxcjoofxmge5m5i2az5qb67q>

    # <gen asin>
    def asin(self, **words: Unpack[Words]) -> Self:
        """Inverse sine, in radians."""
        if words:
            return numeric_rows.asin(self, **words)
        return numeric_rows.asin(self)
        # </gen asin 3iiqjpoy54ge5m5cjb43i35ce>

    # <gen acos>
    def acos(self, **words: Unpack[Words]) -> Self:
        """Inverse cosine, in radians."""
        if words:
            return numeric_rows.acos(self, **words)
        return numeric_rows.acos(self)
        # </gen acos ng3z35knytge5m5igku5gouzg>

    # <gen atan2>
    def atan2(self, x: Self | float, **words: Unpack[Words]) -> Self:
        """The angle from the positive x axis to the point (x, y), from -pi to pi."""
        if words:
            return numeric_rows.atan2(self, x, **words)
        return numeric_rows.atan2(self, x)
        # </gen atan2 vcyxnq5ul2ge5m5jo2l4nnwgf>

    # <gen sinh>
    def sinh(self, **words: Unpack[Words]) -> Self:
        """Hyperbolic sine."""
        if words:
            return numeric_rows.sinh(self, **words)
        return numeric_rows.sinh(self)
        # </gen sinh nnrztny2evge5m53zovm2bjod>

    # <gen cosh>
    def cosh(self, **words: Unpack[Words]) -> Self:
        """Hyperbolic cosine."""
        if words:
            return numeric_rows.cosh(self, **words)
        return numeric_rows.cosh(self)
        # </gen cosh ytqqfv7fsyge5m5u6bzx3uvxe>

    # <gen asinh>
    def asinh(self, **words: Unpack[Words]) -> Self:
        """Inverse hyperbolic sine."""
        if words:
            return numeric_rows.asinh(self, **words)
        return numeric_rows.asinh(self)
        # </gen asinh udvevbqnkhge5m5rxwwqhtjgj>

    # <gen acosh>
    def acosh(self, **words: Unpack[Words]) -> Self:
        """Inverse hyperbolic cosine."""
        if words:
            return numeric_rows.acosh(self, **words)
        return numeric_rows.acosh(self)
        # </gen acosh i6hkjookymge5m54jgi7uydz7>

    # <gen atanh>
    def atanh(self, **words: Unpack[Words]) -> Self:
        """Inverse hyperbolic tangent."""
        if words:
            return numeric_rows.atanh(self, **words)
        return numeric_rows.atanh(self)
        # </gen atanh ufkz3xf5wtge5m5tqdy5mrpju>

    # <gen fmod>
    def fmod(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """What division leaves, with the sign of x."""
        if words:
            return numeric_rows.fmod(self, y, **words)
        return numeric_rows.fmod(self, y)
        # </gen fmod hga6l7g34wge5m5pq4zb4c6z6>

    # <gen fmin>
    def fmin(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """The smaller; the other where one is NaN."""
        if words:
            return numeric_rows.fmin(self, y, **words)
        return numeric_rows.fmin(self, y)
        # </gen fmin do43er36fpge5m5c6wnpgth42>

    # <gen fmax>
    def fmax(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """The larger; the other where one is NaN."""
        if words:
            return numeric_rows.fmax(self, y, **words)
        return numeric_rows.fmax(self, y)
        # </gen fmax himhuakln4ge5m5mu4pxp632o>

    # <gen logaddexp>
    def logaddexp(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """log(exp(x) + exp(y)) without overflow."""
        if words:
            return arithmetic_rows.logaddexp(self, y, **words)
        return arithmetic_rows.logaddexp(self, y)
        # </gen logaddexp vpkhczaws3ge5m53cphzd4xzx>

    # <gen lerp>
    def lerp(self, y: Self | float, weight: Self | float, **words: Unpack[Words]) -> Self:
        """x where weight is 0, y where it is 1, and the straight line through both."""
        if words:
            return numeric_rows.lerp(self, y, weight, **words)
        return numeric_rows.lerp(self, y, weight)
        # </gen lerp ll6epghefuge5m5gtchhcvj7s>

    # <gen resample>
    def resample(
        self,
        axis: int,
        size: int,
        mode: str = "linear",
        scale: float | None = None,
        align_corners: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """One axis interpolated at size places: mode "nearest", "nearest-exact", "linear",
        "cubic".
        """
        if words:
            return images_rows.resample(self, axis, size, mode, scale, align_corners, **words)
        return images_rows.resample(self, axis, size, mode, scale, align_corners)
        # <sums 2lb5j6a6rs5wyma3phwm2iteargven77dva536x3prv3yz35663jumosdaupge5m5qnuem>
        # </gen resample f3gxc>

    # <gen interpolate>
    def interpolate(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """x (batch, channels, *spatial) at another resolution: size, or scale_factor times as
        fine.
        """
        if words:
            return images_rows.interpolate(self, size, scale_factor, mode, align_corners, **words)
        return images_rows.interpolate(self, size, scale_factor, mode, align_corners)
        # </gen interpolate rmgef6a6rsemmxia3wvmcf6nr77dva536x3prv3ypt3p2bqkhdsdaupge5m5wnepktcu3e>

    # <gen pixel_shuffle>
    def pixel_shuffle(self, upscale_factor: int, **words: Unpack[Words]) -> Self:
        """Groups of factor² channels as pixels of an image factor times as high and as wide."""
        if words:
            return images_rows.pixel_shuffle(self, upscale_factor, **words)
        return images_rows.pixel_shuffle(self, upscale_factor)
        # </gen pixel_shuffle wrpfqazzddge5m5sp7fwiogwt>

    # <gen pixel_unshuffle>
    def pixel_unshuffle(self, downscale_factor: int, **words: Unpack[Words]) -> Self:
        """Pixels factor apart as channels of their own: undoes pixel_shuffle."""
        if words:
            return images_rows.pixel_unshuffle(self, downscale_factor, **words)
        return images_rows.pixel_unshuffle(self, downscale_factor)
        # </gen pixel_unshuffle rnfci5abbqge5m5ox4c67z5zi>

    # <gen split>
    def split(
        self, size: int | Sequence[int], axis: int = 0, **words: Unpack[Words]
    ) -> tuple[Self, ...]:
        """Parts along an axis: of one size (the last may be smaller), or of the sizes listed."""
        if words:
            return joining_rows.split(self, size, axis, **words)
        return joining_rows.split(self, size, axis)
        # </gen split 26mftjtqr3atvmckeefrge5m5mv7me4gmfy>

    # <gen chunk>
    def chunk(self, chunks: int, axis: int = 0, **words: Unpack[Words]) -> tuple[Self, ...]:
        """At most so many parts of equal size along an axis; the last may be smaller."""
        if words:
            return joining_rows.chunk(self, chunks, axis, **words)
        return joining_rows.chunk(self, chunks, axis)
        # </gen chunk virvkgb2fbge5m5mrgba5gyj6>

    # <gen unstack>
    def unstack(self, axis: int = 0, **words: Unpack[Words]) -> tuple[Self, ...]:
        """The slices along an axis, without it."""
        if words:
            return joining_rows.unstack(self, axis, **words)
        return joining_rows.unstack(self, axis)
        # </gen unstack axla6lerbcge5m52oyqowvin6>

    # <gen repeat>
    def repeat(self, repeats: Any, axis: int | None = None, **words: Unpack[Words]) -> Self:
        """Each element several times in a row: one number for all, or one for each along the
        axis.
        """
        if words:
            return joining_rows.repeat(self, repeats, axis, **words)
        return joining_rows.repeat(self, repeats, axis)
        # </gen repeat 4xtguahtw5lkwxssdaupge5m546vvovn2ja>

    # <gen mse_loss>
    def mse_loss(self, target: Self | float, reduction: str = "mean", **words: Any) -> Self:
        """Squared differences: their "mean", their "sum", or with "none" each."""
        if words:
            return losses_rows.mse_loss(self, target, reduction, **words)
        return losses_rows.mse_loss(self, target, reduction)
        # </gen mse_loss cgmav6p6bige5m5hs7mg7rfrz>

    # <gen l1_loss>
    def l1_loss(self, target: Self | float, reduction: str = "mean", **words: Any) -> Self:
        """Sizes of the differences."""
        if words:
            return losses_rows.l1_loss(self, target, reduction, **words)
        return losses_rows.l1_loss(self, target, reduction)
        # </gen l1_loss irrl2eosn3ge5m5ryelib42ik>

    # <gen huber_loss>
    def huber_loss(
        self, target: Self | float, reduction: str = "mean", delta: float = 1.0, **words: Any
    ) -> Self:
        """Half the squares of differences up to delta, delta times the size of larger ones."""
        if words:
            return losses_rows.huber_loss(self, target, reduction, delta, **words)
        return losses_rows.huber_loss(self, target, reduction, delta)
        # </gen huber_loss mblgzgnrbjprv3yf6x5oge5m5vwmwnvhdti>

    # <gen smooth_l1_loss>
    def smooth_l1_loss(
        self, target: Self | float, reduction: str = "mean", beta: float = 1.0, **words: Any
    ) -> Self:
        """Sizes of differences, rounded off below beta: huber_loss over beta."""
        if words:
            return losses_rows.smooth_l1_loss(self, target, reduction, beta, **words)
        return losses_rows.smooth_l1_loss(self, target, reduction, beta)
        # </gen smooth_l1_loss ejvnfrppibprv3y3ohange5m53xytsoyzvz>

    # <gen cosine_similarity>
    def cosine_similarity(
        self, x2: Self, axis: int = 1, eps: float = 1e-08, **words: Unpack[Words]
    ) -> Self:
        """The cosine of the angle between vectors along an axis; no length counts as less than
        eps.
        """
        if words:
            return losses_rows.cosine_similarity(self, x2, axis, eps, **words)
        return losses_rows.cosine_similarity(self, x2, axis, eps)
        # </gen cosine_similarity b4rmxgrnvhprv3ybcxwne4zensdaupge5m5c25cp7hvex>

    # <gen nll_loss>
    def nll_loss(
        self,
        labels: Self,
        reduction: str = "mean",
        ignore_index: int = -100,
        **words: Unpack[Words],
    ) -> Self:
        """Less the log-probabilities x at the labels; classes are the last axis."""
        if words:
            return losses_rows.nll_loss(self, labels, reduction, ignore_index, **words)
        return losses_rows.nll_loss(self, labels, reduction, ignore_index)
        # </gen nll_loss d4tyz6a6rsybssb3x6ilvyvfc536x3prv3yqs7inge5m5adrsxcgf25>

    # <gen kl_div>
    def kl_div(
        self, target: Self | float, reduction: str = "mean", log_target: bool = False, **words: Any
    ) -> Self:
        """target * (log(target) - x) for log-probabilities x; log_target: is target a logarithm
        too?
        """
        if words:
            return losses_rows.kl_div(self, target, reduction, log_target, **words)
        return losses_rows.kl_div(self, target, reduction, log_target)
        # </gen kl_div lvaqygkd4pprv3ysyo26htsr5sdaupge5m54a3tqymlfx>

    # <gen binary_cross_entropy>
    def binary_cross_entropy(
        self,
        target: Self | float,
        weight: Self | None = None,
        reduction: str = "mean",
        **words: Any,
    ) -> Self:
        """-(target log(x) + (1 - target) log(1 - x)) for probabilities x; logarithms end at
        -100.
        """
        if words:
            return losses_rows.binary_cross_entropy(self, target, weight, reduction, **words)
        return losses_rows.binary_cross_entropy(self, target, weight, reduction)
        # <sums gq4pa6a6rs5khuusrr5t3x6ilqiimxprv3y7cmvm4tyqlsdaupge5m5hr3bj>
        # </gen binary_cross_entropy udsos>

    # <gen binary_cross_entropy_with_logits>
    def binary_cross_entropy_with_logits(
        self,
        target: Self | float,
        weight: Self | None = None,
        pos_weight: Self | None = None,
        reduction: str = "mean",
        **words: Any,
    ) -> Self:
        """binary_cross_entropy of sigmoid(x), without overflow; pos_weight multiplies the
        targets.
        """
        if words:
            return losses_rows.binary_cross_entropy_with_logits(
                self, target, weight, pos_weight, reduction, **words
            )
        return losses_rows.binary_cross_entropy_with_logits(
            self, target, weight, pos_weight, reduction
        )
        # <sums jfrqk6a6rs5khuusrr5ttefa23x6ilqiimxprv3yelidork2zn>
        # </gen binary_cross_entropy_with_logits sdaupge5m5wizflzq4lvvwmb5jlur2ow5277tujo>

    # <gen margin_ranking_loss>
    def margin_ranking_loss(
        self,
        x2: Self | float,
        target: Self | float,
        margin: float = 0.0,
        reduction: str = "mean",
        **words: Any,
    ) -> Self:
        """max(0, margin - target (x1 - x2)): target is 1 where x1 should be larger, else -1."""
        if words:
            return margins_rows.margin_ranking_loss(self, x2, target, margin, reduction, **words)
        return margins_rows.margin_ranking_loss(self, x2, target, margin, reduction)
        # </gen margin_ranking_loss 2vmxj6a6rswjbny5khuuqsald3x6ilqiimxprv3yr62page5m5prezkg2224>

    # <gen hinge_embedding_loss>
    def hinge_embedding_loss(
        self, target: Self | float, margin: float = 1.0, reduction: str = "mean", **words: Any
    ) -> Self:
        """x where target is 1, max(0, margin - x) where it is -1, both where it is neither."""
        if words:
            return margins_rows.hinge_embedding_loss(self, target, margin, reduction, **words)
        return margins_rows.hinge_embedding_loss(self, target, margin, reduction)
        # </gen hinge_embedding_loss lvyqispyzkprv3ysjcabge5m5pxh5bt6grc>

    # <gen gaussian_nll_loss>
    def gaussian_nll_loss(
        self,
        target: Self,
        var: Self,
        full: bool = False,
        eps: float = 1e-06,
        reduction: str = "mean",
        **words: Any,
    ) -> Self:
        """(log(var) + (x - target)² / var) / 2, var at least eps; full: with the constant."""
        if words:
            return margins_rows.gaussian_nll_loss(self, target, var, full, eps, reduction, **words)
        return margins_rows.gaussian_nll_loss(self, target, var, full, eps, reduction)
        # </gen gaussian_nll_loss q6qid6a6rsjh2uusniwbaskc26yvdt3x6ilqiimxprv3yp2dy2ge5m5kx4ixz2haf>

    # <gen poisson_nll_loss>
    def poisson_nll_loss(
        self,
        target: Self | float,
        log_input: bool = True,
        full: bool = False,
        eps: float = 1e-08,
        reduction: str = "mean",
        **words: Any,
    ) -> Self:
        """exp(x) - target x for the logarithm x of a rate; log_input=False: x - target log(x +
        eps).
        """
        if words:
            return margins_rows.poisson_nll_loss(
                self, target, log_input, full, eps, reduction, **words
            )
        return margins_rows.poisson_nll_loss(self, target, log_input, full, eps, reduction)
        # <sums yy6nk6a6rs5khuuhbvr5askc26a5ro3x6ilqiimxprv3ysntnupnshcsdaupge5m5>
        # </gen poisson_nll_loss vc34r6vqwwvwmb5dt73a>

    # <gen slice>
    def slice(self, ranges: Sequence[tuple[int, int, int]], **words: Unpack[Words]) -> Self:
        """A range (start, stop, step) of every axis; steps are positive."""
        if words:
            return movement_rows.slice_(self, ranges, **words)
        return movement_rows.slice_(self, ranges)
        # </gen slice benyv3tmkcge5m5txhh6w2h6q>

    # <gen pad>
    def pad(
        self,
        edges: int | Sequence[tuple[int, int]],
        value: float = 0,
        mode: str = "constant",
        **words: Any,
    ) -> Self:
        """A border, (before, after) for every axis: of one value, or as mode continues x;
        negative edges take elements away.
        """
        if words:
            return movement_rows.pad(self, edges, value, mode, **words)
        return movement_rows.pad(self, edges, value, mode)
        # </gen pad 7pcr66a6rsp2czxsul6wgev3qqiimxprv3yvoegpqxxovsdaupge5m5cqn74qzmic>

    # <gen flip>
    def flip(
        self, axis: int | Sequence[int] | None = None, *more: int, **words: Unpack[Words]
    ) -> Self:
        """The elements in reverse order along axes; these as one tuple or one by one."""
        if words:
            return movement_rows.flip(self, axis, *more, **words)
        return movement_rows.flip(self, axis, *more)
        # </gen flip tc5m77swxkprv3yxqkuige5m5clff6jp4ht>

    # <gen unique_consecutive>
    def unique_consecutive(
        self,
        return_inverse: bool = False,
        return_counts: bool = False,
        axis: int | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """x with runs of equal elements, or of equal slices along an axis, as one of them."""
        if words:
            return neighbours_rows.unique_consecutive(
                self, return_inverse, return_counts, axis, **words
            )
        return neighbours_rows.unique_consecutive(self, return_inverse, return_counts, axis)
        # <sums csati6a6rs3aoee7kctcagsht536x3prv3y4j7qbge5m5j4eebpq3yvvwmb5>
        # </gen unique_consecutive pwdqf>

    # <gen trapezoid>
    def trapezoid(
        self, x: Self | None = None, dx: float = 1.0, axis: int = -1, **words: Unpack[Words]
    ) -> Self:
        """The area below straight lines through y along an axis, at places x or dx apart."""
        if words:
            return neighbours_rows.trapezoid(self, x, dx, axis, **words)
        return neighbours_rows.trapezoid(self, x, dx, axis)
        # </gen trapezoid wtvnrlf55iprv3yhoqqdge5m56ft74wtt5m>

    # <gen cumulative_trapezoid>
    def cumulative_trapezoid(
        self, x: Self | None = None, dx: float = 1.0, axis: int = -1, **words: Unpack[Words]
    ) -> Self:
        """The areas so far below straight lines through y along an axis: one fewer than
        elements.
        """
        if words:
            return neighbours_rows.cumulative_trapezoid(self, x, dx, axis, **words)
        return neighbours_rows.cumulative_trapezoid(self, x, dx, axis)
        # </gen cumulative_trapezoid wtwjhlf55iprv3yute5t723kasdaupge5m5xhgq4d55yb>

    # <gen bucketize>
    def bucketize(
        self, boundaries: Self, right: bool = False, out_int32: bool = False, **words: Any
    ) -> Self:
        """The bin of each element between boundaries in order: those below it; right: those up
        to it.
        """
        if words:
            return neighbours_rows.bucketize(self, boundaries, right, out_int32, **words)
        return neighbours_rows.bucketize(self, boundaries, right, out_int32)
        # </gen bucketize v6sht4ljyaprv3yratjy6pcomsdaupge5m5y2h7tqmvrl>

    # <gen histc>
    def histc(
        self, bins: int = 100, min: float = 0, max: float = 0, **words: Unpack[Words]
    ) -> Self:
        """How many elements lie in each of so many equal bins from min to max; others are left
        out.
        """
        if words:
            return neighbours_rows.histc(self, bins, min, max, **words)
        return neighbours_rows.histc(self, bins, min, max)
        # </gen histc p2zptva5mvprv3y3bilaulz5asdaupge5m5cfj644y7cg>

    # <gen histogram>
    def histogram(
        self,
        bins: Any = 100,
        range: tuple[float, float] | None = None,
        density: bool = False,
        weight: Any = None,
        **words: Unpack[Words],
    ) -> Histogram:
        """(hist, bin_edges): how many elements, or how much weight, lies in each bin."""
        if words:
            return neighbours_rows.histogram(self, bins, range, density, weight, **words)
        return neighbours_rows.histogram(self, bins, range, density, weight)
        # </gen histogram qm7ve6a6rstwocl325ileibxz7qcg3536x3miv7pdu2gage5m5q2jmn3ym73>

    # <gen softmax>
    def softmax(self, axis: int = -1, **words: Unpack[Words]) -> Self:
        """exp(x) / sum(exp(x)) along an axis, without overflow."""
        if words:
            return neural_rows.softmax(self, axis, **words)
        return neural_rows.softmax(self, axis)
        # </gen softmax c6xwxtku2wge5m5vjcqof6esb>

    # <gen log_softmax>
    def log_softmax(self, axis: int = -1, **words: Unpack[Words]) -> Self:
        """log(softmax(x)) along an axis."""
        if words:
            return neural_rows.log_softmax(self, axis, **words)
        return neural_rows.log_softmax(self, axis)
        # </gen log_softmax rsh6rtgtf7ge5m52chs4tcxyp>

    # <gen layer_norm>
    def layer_norm(
        self,
        weight: Self | None = None,
        bias: Self | None = None,
        eps: float = 1e-05,
        **words: Unpack[Words],
    ) -> Self:
        """Normalise the last axis to mean 0 and variance 1, then scale and shift."""
        if words:
            return neural_rows.layer_norm(self, weight, bias, eps, **words)
        return neural_rows.layer_norm(self, weight, bias, eps)
        # </gen layer_norm yfemy6a6rssrr5tfjn6i7h2rg536x3prv3yfaqrpge5m5azlgcmlmzd>

    # <gen cross_entropy>
    def cross_entropy(
        self,
        labels: Self,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        **words: Unpack[Words],
    ) -> Self:
        """-log softmax(logits) at the labels: classes along the last axis, one label for each
        row.
        """
        if words:
            return neural_rows.cross_entropy(
                self, labels, ignore_index, reduction, label_smoothing, **words
            )
        return neural_rows.cross_entropy(self, labels, ignore_index, reduction, label_smoothing)
        # <sums qzlk46a6rsybssbvyvfc3x6ilcjlza536x3prv3yvl6bfyqngnsdaupge5m5oprhh>
        # </gen cross_entropy epw4mvwmb5wa47u>

    # <gen scaled_dot_product_attention>
    def scaled_dot_product_attention(
        self,
        k: Self,
        v: Self,
        mask: Self | None = None,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = True,
        **words: Unpack[Words],
    ) -> Self:
        """softmax(q kᵀ scale + mask) v over the last two axes; scale defaults to 1/sqrt(width)."""
        if words:
            return neural_rows.scaled_dot_product_attention(
                self, k, v, mask, is_causal, scale, enable_gqa, **words
            )
        return neural_rows.scaled_dot_product_attention(
            self, k, v, mask, is_causal, scale, enable_gqa
        )
        # <sums n6rrz6a6rsxthi5wdk5e5ebtlultoorgvenwvowp536x3prv3y>
        # </gen scaled_dot_product_attention c3dlgge5m5dgeakscsrbvwmb56qtsfa6nrh7tujo>

    # <gen group_norm>
    def group_norm(
        self,
        weight: Self | None = None,
        bias: Self | None = None,
        num_groups: int = 1,
        eps: float = 1e-05,
        **words: Unpack[Words],
    ) -> Self:
        """Groups of channels (axis 1) normalised to mean 0 and variance 1, then scaled and
        shifted.
        """
        if words:
            return normalisation_rows.group_norm(self, weight, bias, num_groups, eps, **words)
        return normalisation_rows.group_norm(self, weight, bias, num_groups, eps)
        # </gen group_norm n7ley6a6rssrr5tfjn6ik5ytq7h2rg536x3prv3y2bmqxj5xbzsdaupge5m5nqprizbvxe>

    # <gen instance_norm>
    def instance_norm(
        self,
        weight: Self | None = None,
        bias: Self | None = None,
        eps: float = 1e-05,
        **words: Unpack[Words],
    ) -> Self:
        """Each channel (axis 1) of each element of the batch normalised, then scaled and
        shifted.
        """
        if words:
            return normalisation_rows.instance_norm(self, weight, bias, eps, **words)
        return normalisation_rows.instance_norm(self, weight, bias, eps)
        # </gen instance_norm tvanb6a6rssrr5tfjn6i7h2rg536x3prv3yoi7qvj5xbzsdaupge5m5dvbbwxqnvl>

    # <gen batch_norm>
    def batch_norm(
        self,
        running_mean: Self | None = None,
        running_var: Self | None = None,
        weight: Self | None = None,
        bias: Self | None = None,
        eps: float = 1e-05,
        **words: Unpack[Words],
    ) -> Self:
        """Channels (axis 1) less their mean over the root of their variance, then scaled and
        shifted.
        """
        if words:
            return normalisation_rows.batch_norm(
                self, running_mean, running_var, weight, bias, eps, **words
            )
        return normalisation_rows.batch_norm(self, running_mean, running_var, weight, bias, eps)
        # <sums jxjso6a6rs4pzto4e3besrr5tfjn6i7h2rg536x3prv3yc4lu5j5xbzsdaupge5m5f6i63>
        # </gen batch_norm kij5avwmb5gjetc>

    # <gen rms_norm>
    def rms_norm(
        self, weight: Self | None = None, eps: float | None = None, **words: Unpack[Words]
    ) -> Self:
        """The last axis over the root of its mean square, then scaled."""
        if words:
            return normalisation_rows.rms_norm(self, weight, eps, **words)
        return normalisation_rows.rms_norm(self, weight, eps)
        # </gen rms_norm ssz47ezmgmprv3ykuocqge5m5ci26vdb4jh>

    # <gen normalize>
    def normalize(self, p: float = 2.0, axis: int = 1, eps: float = 1e-12, **words: Any) -> Self:
        """x over its p-norm along an axis, which counts as at least eps."""
        if words:
            return normalisation_rows.normalize(self, p, axis, eps, **words)
        return normalisation_rows.normalize(self, p, axis, eps)
        # </gen normalize kvbmvsyejdge5m5z3ydnhxq4n>

    # <gen sort>
    def sort(
        self, axis: int = -1, descending: bool = False, stable: bool = True, **words: Unpack[Words]
    ) -> Self:
        """The elements in order along an axis, NaN counting as the largest; equal ones stay in
        order.
        """
        if words:
            return ordering_rows.sort(self, axis, descending, stable, **words)
        return ordering_rows.sort(self, axis, descending, stable)
        # </gen sort rlgawacsiqprv3ythwzlic3lfsdaupge5m5qiyg3k6bh7>

    # <gen topk>
    def topk(
        self, k: int, axis: int = -1, largest: bool = True, **words: Unpack[Words]
    ) -> tuple[Self, Self]:
        """(values, indices) of the k largest or smallest elements along an axis, in order."""
        if words:
            return ordering_rows.topk(self, k, axis, largest, **words)
        return ordering_rows.topk(self, k, axis, largest)
        # </gen topk rp3shfuavowqohgc7atgge5m5gizt7himbj>

    # <gen median>
    def median(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        return_indices: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """The middle element along axes, or the mean of the two in the middle; NaN if there is
        one.
        """
        if words:
            return ordering_rows.median(self, axis, keepdims, return_indices, **words)
        return ordering_rows.median(self, axis, keepdims, return_indices)
        # </gen median nkkkm6a6rsjlzedmbc33jx7lx536x3prv3y5nrfhxoxh3sdaupge5m5ouodhjzrdj>

    # <gen quantile>
    def quantile(
        self,
        q: Any,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        interpolation: str = "linear",
        **words: Unpack[Words],
    ) -> Self:
        """The value below which a fraction q of the elements along axes lies; NaN if there is
        one.
        """
        if words:
            return ordering_rows.quantile(self, q, axis, keepdims, interpolation, **words)
        return ordering_rows.quantile(self, q, axis, keepdims, interpolation)
        # </gen quantile 2b6sd6a6rsba7e2jlzedmbc33uew72536x3prv3y7nuikxoxh3sdaupge5m5vz5caazooa>

    # <gen searchsorted>
    def searchsorted(
        self,
        values: Self | float,
        sorter: Self | None = None,
        side: str = "left",
        out_int32: bool = False,
        **words: Any,
    ) -> Self:
        """Where values would stand in a sorted tensor: before equal elements or after."""
        if words:
            return ordering_rows.searchsorted(self, values, sorter, side, out_int32, **words)
        return ordering_rows.searchsorted(self, values, sorter, side, out_int32)
        # </gen searchsorted vgg4e6a6rs6gizyisnnkgcglm2lbwzqiimxprv3yg6o37ge5m537db7zq3wq>

    # <gen bincount>
    def bincount(
        self,
        weights: Self | None = None,
        minlength: int = 0,
        length: int | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """How often 0, 1, 2, ... occur in a tensor of one axis, or the sums of their weights."""
        if words:
            return counting_rows.bincount(self, weights, minlength, length, **words)
        return counting_rows.bincount(self, weights, minlength, length)
        # </gen bincount m3nfl6a6rsuhxdta55vi4q6je536x3prv3yhtxylge5m5sgv2a3y6og>

    # <gen cumulative_sum>
    def cumulative_sum(
        self,
        axis: int | None = None,
        dtype: Any = None,
        include_initial: bool = False,
        **words: Any,
    ) -> Self:
        """Sums of the elements so far along an axis; include_initial: with 0 before the first."""
        if words:
            return ordering_rows.cumulative_sum(self, axis, dtype, include_initial, **words)
        return ordering_rows.cumulative_sum(self, axis, dtype, include_initial)
        # </gen cumulative_sum ojybr6a6rsagshtj6w2g3o7vhqiimxprv3y4vddige5m5dgx4w7pmyn>

    # <gen cumulative_prod>
    def cumulative_prod(
        self,
        axis: int | None = None,
        dtype: Any = None,
        include_initial: bool = False,
        **words: Any,
    ) -> Self:
        """Products of the elements so far along an axis; include_initial: with 1 before the
        first.
        """
        if words:
            return ordering_rows.cumulative_prod(self, axis, dtype, include_initial, **words)
        return ordering_rows.cumulative_prod(self, axis, dtype, include_initial)
        # </gen cumulative_prod r2cxm6a6rsagshtj6w2g3o7vhqiimxprv3yv4ozcdsnktsdaupge5m52nbxvrqy2x>

    # <gen diff>
    def diff(
        self,
        prepend: Self | None = None,
        append: Self | None = None,
        axis: int = -1,
        n: int = 1,
        **words: Unpack[Words],
    ) -> Self:
        """Each element less the one before it along an axis, n times; for bool whether they
        differ.
        """
        if words:
            return ordering_rows.diff(self, prepend, append, axis, n, **words)
        return ordering_rows.diff(self, prepend, append, axis, n)
        # </gen diff pgczu6a6rs2mcjdm3lyqr5axv4eo7m536x3prv3yr46pw2heg4sdaupge5m5pvon7572jn>

    # <gen angle>
    def angle(self, **words: Unpack[Words]) -> Self:
        """The angle of a complex number with the positive axis, from -pi to pi; 0 or pi of a
        real one.
        """
        if words:
            return parts_rows.angle(self, **words)
        return parts_rows.angle(self)
        # </gen angle cv7u4uzwnoqmxxusdaupge5m5myfyhgfcz2>

    # <gen polar>
    def polar(self, angle: Self | float, **words: Unpack[Words]) -> Self:
        """The complex numbers of these sizes and angles."""
        if words:
            return parts_rows.polar(self, angle, **words)
        return parts_rows.polar(self, angle)
        # </gen polar ly2midb26lge5m5s6yflih4ew>

    # <gen isreal>
    def isreal(self, **words: Unpack[Words]) -> Self:
        """True where the imaginary part is 0."""
        if words:
            return parts_rows.isreal(self, **words)
        return parts_rows.isreal(self)
        # </gen isreal prlth3qvfzge5m5yiuy6r2tqv>

    # <gen view_as_real>
    def view_as_real(self, **words: Unpack[Words]) -> Self:
        """Real and imaginary parts along a new last axis."""
        if words:
            return parts_rows.view_as_real(self, **words)
        return parts_rows.view_as_real(self)
        # </gen view_as_real ty4ooy523pge5m53zcg7haqhj>

    # <gen view_as_complex>
    def view_as_complex(self, **words: Unpack[Words]) -> Self:
        """The numbers whose parts lie along the last axis, which has two elements."""
        if words:
            return parts_rows.view_as_complex(self, **words)
        return parts_rows.view_as_complex(self)
        # </gen view_as_complex ua7jpceztwge5m5cp73atvfes>

    # <gen take_along_axis>
    def take_along_axis(self, indices: Self, axis: int = -1, **words: Unpack[Words]) -> Self:
        """Elements at indices along an axis, one index for each; the other axes broadcast."""
        if words:
            return picking_rows.take_along_axis(self, indices, axis, **words)
        return picking_rows.take_along_axis(self, indices, axis)
        # </gen take_along_axis o5ebixtj2mge5m5c3wzgv3itw>

    # <gen index_select>
    def index_select(self, indices: Self, axis: int = 0, **words: Unpack[Words]) -> Self:
        """Slices of x at indices along an axis."""
        if words:
            return picking_rows.index_select(self, indices, axis, **words)
        return picking_rows.index_select(self, indices, axis)
        # </gen index_select gubdeeg3ogge5m5x7kqbezaem>

    # <gen put_along_axis>
    def put_along_axis(
        self, indices: Self, values: Self, axis: int = -1, **words: Unpack[Words]
    ) -> Self:
        """x with values at indices along an axis; the other axes broadcast."""
        if words:
            return picking_rows.put_along_axis(self, indices, values, axis, **words)
        return picking_rows.put_along_axis(self, indices, values, axis)
        # </gen put_along_axis 3aupnpzku2prv3ydmhcrge5m5hv3ytytwi6>

    # <gen index_add>
    def index_add(
        self, index: Self, values: Self, axis: int = 0, alpha: float = 1, **words: Any
    ) -> Self:
        """x with slices of values, times alpha, added at indices along an axis."""
        if words:
            return picking_rows.index_add(self, index, values, axis, alpha, **words)
        return picking_rows.index_add(self, index, values, axis, alpha)
        # </gen index_add ownwpod2liprv3yhgf4fge5m5rvyf3tzucb>

    # <gen embedding>
    def embedding(
        self, weight: Self, padding_idx: int | None = None, **words: Unpack[Words]
    ) -> Self:
        """Rows of weight at indices; no gradient flows to row padding_idx."""
        if words:
            return picking_rows.embedding(self, weight, padding_idx, **words)
        return picking_rows.embedding(self, weight, padding_idx)
        # </gen embedding zgc5r5ntyzprv3yzvhphge5m5wntvixxcxj>

    # <gen scatter_reduce>
    def scatter_reduce(
        self,
        index: Self,
        values: Self,
        axis: int,
        reduce: str,
        include_self: bool = True,
        **words: Any,
    ) -> Self:
        """Values that meet at one place become their sum, mean, prod, amax or amin, with x's or
        not.
        """
        if words:
            return picking_rows.scatter_reduce(
                self, index, values, axis, reduce, include_self, **words
            )
        return picking_rows.scatter_reduce(self, index, values, axis, reduce, include_self)
        # <sums v4udc6a6rsvvm5q2dph55wymaoxhwz75mxlqiimxprv3y3nbxhjofawsdaupge5m5>
        # </gen scatter_reduce irmn5flsnxvwmb5wuf6g>

    # <gen one_hot>
    def one_hot(self, num_classes: int = -1, **words: Unpack[Words]) -> Self:
        """A last axis of 0 with a 1 at each index; -1 classes: as many as the largest needs."""
        if words:
            return picking_rows.one_hot(self, num_classes, **words)
        return picking_rows.one_hot(self, num_classes)
        # </gen one_hot h7r7f7roqnge5m5vfl73swnxo>

    # <gen masked_fill>
    def masked_fill(self, mask: Self, value: Any, **words: Any) -> Self:
        """value where mask is true, else x."""
        if words:
            return picking_rows.masked_fill(self, mask, value, **words)
        return picking_rows.masked_fill(self, mask, value)
        # </gen masked_fill uk56fqqroage5m5mhbctvzly5>

    # <gen masked_select>
    def masked_select(self, mask: Self, **words: Unpack[Words]) -> Self:
        """The elements where mask is true, as one axis; their number is read, so it is computed
        now.
        """
        if words:
            return picking_rows.masked_select(self, mask, **words)
        return picking_rows.masked_select(self, mask)
        # </gen masked_select nvt5yw4cl2vo55jsdaupge5m5mg3dgxu44d>

    # <gen nonzero>
    def nonzero(self, **words: Unpack[Words]) -> tuple[Self, ...]:
        """The indices of the elements that are not 0, a tensor for each axis; computed now."""
        if words:
            return picking_rows.nonzero(self, **words)
        return picking_rows.nonzero(self)
        # </gen nonzero iuhfyfua3oge5m57lsrtatwpz>

    # <gen argwhere>
    def argwhere(self, **words: Unpack[Words]) -> Self:
        """The indices of the elements that are not 0, a row for each; computed now."""
        if words:
            return picking_rows.argwhere(self, **words)
        return picking_rows.argwhere(self)
        # </gen argwhere 5g63cemtpcge5m56rmkcxhwdq>

    # <gen clone>
    def clone(self, **words: Unpack[Words]) -> Self:
        """A tensor of its own with the same value, through which gradients pass."""
        if words:
            return picking_rows.clone(self, **words)
        return picking_rows.clone(self)
        # </gen clone gquktfacnoge5m5wa5q46felv>

    # <gen contiguous>
    def contiguous(self, **words: Unpack[Words]) -> Self:
        """x: what is in memory always lies in row-major order."""
        if words:
            return picking_rows.contiguous(self, **words)
        return picking_rows.contiguous(self)
        # </gen contiguous 4va2jgqedbge5m5gbemjgkcte>

    # <gen narrow>
    def narrow(self, axis: int, start: int, length: int, **words: Unpack[Words]) -> Self:
        """length elements along an axis, from start on; a negative start counts from the end."""
        if words:
            return pieces_rows.narrow(self, axis, start, length, **words)
        return pieces_rows.narrow(self, axis, start, length)
        # </gen narrow greye33nzqge5m5cevqyy5l4g>

    # <gen select>
    def select(self, axis: int, index: int, **words: Any) -> Self:
        """The slice at one place along an axis, without it."""
        if words:
            return pieces_rows.select(self, axis, index, **words)
        return pieces_rows.select(self, axis, index)
        # </gen select 3idmbsj5afge5m5wuabu5ds3r>

    # <gen slice_scatter>
    def slice_scatter(
        self,
        values: Self,
        axis: int = 0,
        start: int | None = None,
        end: int | None = None,
        step: int = 1,
        **words: Any,
    ) -> Self:
        """x with values in the range from start to end along an axis, every step-th place of it."""
        if words:
            return pieces_rows.slice_scatter(self, values, axis, start, end, step, **words)
        return pieces_rows.slice_scatter(self, values, axis, start, end, step)
        # </gen slice_scatter ljtrp6a6rs2dph567ucjrvoqey6hgoa7celqiimxprv3yaekmnge5m5igl5ynw7xm>

    # <gen select_scatter>
    def select_scatter(self, values: Self | float, axis: int, index: int, **words: Any) -> Self:
        """x with values as the slice at one place along an axis."""
        if words:
            return pieces_rows.select_scatter(self, values, axis, index, **words)
        return pieces_rows.select_scatter(self, values, axis, index)
        # </gen select_scatter 4qleep6rcbge5m5r2mvlj7xiq>

    # <gen diagonal_scatter>
    def diagonal_scatter(
        self, values: Self, offset: int = 0, axis1: int = 0, axis2: int = 1, **words: Unpack[Words]
    ) -> Self:
        """x with values on a diagonal of two axes, which is the last axis of values."""
        if words:
            return pieces_rows.diagonal_scatter(self, values, offset, axis1, axis2, **words)
        return pieces_rows.diagonal_scatter(self, values, offset, axis1, axis2)
        # </gen diagonal_scatter 6cfe3fjhslprv3ywce5kge5m5darxukmq75>

    # <gen tensor_split>
    def tensor_split(
        self, sections: int | Sequence[int], axis: int = 0, **words: Unpack[Words]
    ) -> list[Self]:
        """Parts along an axis: so many, the first ones longer by one, or cut before the places
        listed.
        """
        if words:
            return pieces_rows.tensor_split(self, sections, axis, **words)
        return pieces_rows.tensor_split(self, sections, axis)
        # </gen tensor_split hvbdt63cgtyvurikmw6cz3xa2sdaupge5m5ijis235wqj>

    # <gen vsplit>
    def vsplit(self, sections: int | Sequence[int], **words: Unpack[Words]) -> list[Self]:
        """Equal parts along axis 0, so many or cut before the places listed."""
        if words:
            return pieces_rows.vsplit(self, sections, **words)
        return pieces_rows.vsplit(self, sections)
        # </gen vsplit xb53iwp2vmge5m5hmusl6bf7k>

    # <gen hsplit>
    def hsplit(self, sections: int | Sequence[int], **words: Unpack[Words]) -> list[Self]:
        """Equal parts along axis 1, so many or cut before the places listed."""
        if words:
            return pieces_rows.hsplit(self, sections, **words)
        return pieces_rows.hsplit(self, sections)
        # </gen hsplit 36dmkqykdkge5m5lsdzff4e5i>

    # <gen dsplit>
    def dsplit(self, sections: int | Sequence[int], **words: Unpack[Words]) -> list[Self]:
        """Equal parts along axis 2, so many or cut before the places listed."""
        if words:
            return pieces_rows.dsplit(self, sections, **words)
        return pieces_rows.dsplit(self, sections)
        # </gen dsplit 5b4uf24dfxge5m5bb2odmp3dc>

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
        **words: Unpack[Words],
    ) -> Self:
        """One value for every window over the last axes, as many as kernel_size has numbers."""
        if words:
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
                **words,
            )
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
        # <sums exnjr6a6rsl467vrwyp4wwrn3jqr3jrwn4he4nlo3qqaiwe7gtsya6u536x3prv3y5htqnge5m5>
        # <sums 6wjpvzegdju37kh7hixkf3pqw2eegbrlw3uavgukec2pag7bliplzbwfzv3ovwmb5aqitee5bxz>
        # </gen pool jp47xykapgdmktkovwezacfzefxezu6pz64ont6cggrjc7tujo>

    # <gen max_pool1d>
    def max_pool1d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """Largest element of every window over the last 1 axes."""
        if words:
            return pooling_rows.max_pool1d(
                self, kernel_size, stride, padding, dilation, ceil_mode, **words
            )
        return pooling_rows.max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode)
        # <sums zpdiu6a6rsekrojrwyp4wwrn3jqr3je4nlo536x3prv3yj7smnge5m5h3sddkvogsvwmb5>
        # </gen max_pool1d q2ofw>

    # <gen max_pool2d>
    def max_pool2d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """Largest element of every window over the last 2 axes."""
        if words:
            return pooling_rows.max_pool2d(
                self, kernel_size, stride, padding, dilation, ceil_mode, **words
            )
        return pooling_rows.max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode)
        # <sums e2lzp6a6rsekrojrwyp4wwrn3jqr3je4nlo536x3prv3ynlreyge5m5rzv5kkvogsvwmb5>
        # </gen max_pool2d romy3>

    # <gen max_pool3d>
    def max_pool3d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """Largest element of every window over the last 3 axes."""
        if words:
            return pooling_rows.max_pool3d(
                self, kernel_size, stride, padding, dilation, ceil_mode, **words
            )
        return pooling_rows.max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode)
        # <sums anefs6a6rsekrojrwyp4wwrn3jqr3je4nlo536x3prv3y753umge5m5zz5lpkvogsvwmb5>
        # </gen max_pool3d ardmt>

    # <gen avg_pool1d>
    def avg_pool1d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """Mean of every window over the last 1 axes."""
        if words:
            return pooling_rows.avg_pool1d(
                self,
                kernel_size,
                stride,
                padding,
                ceil_mode,
                count_include_pad,
                divisor_override,
                **words,
            )
        return pooling_rows.avg_pool1d(
            self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
        # <sums gln7u6a6rsekrojrwyp4wwrn3e4nlo3qqaiwe7gt536x3prv3yyluthge5m5yyl3izegdj>
        # </gen avg_pool1d u37kh7hixkf3pqwavgukec2pag7blifzv3ovwmb5ntpwcpxrav7tujo>

    # <gen avg_pool2d>
    def avg_pool2d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """Mean of every window over the last 2 axes."""
        if words:
            return pooling_rows.avg_pool2d(
                self,
                kernel_size,
                stride,
                padding,
                ceil_mode,
                count_include_pad,
                divisor_override,
                **words,
            )
        return pooling_rows.avg_pool2d(
            self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
        # <sums 2uzir6a6rsekrojrwyp4wwrn3e4nlo3qqaiwe7gt536x3prv3yncefxge5m5erytyzegdj>
        # </gen avg_pool2d u37kh7hixkf3pqwavgukec2pag7blifzv3ovwmb52tkpcpxrav7tujo>

    # <gen avg_pool3d>
    def avg_pool3d(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """Mean of every window over the last 3 axes."""
        if words:
            return pooling_rows.avg_pool3d(
                self,
                kernel_size,
                stride,
                padding,
                ceil_mode,
                count_include_pad,
                divisor_override,
                **words,
            )
        return pooling_rows.avg_pool3d(
            self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
        # <sums innoq6a6rsekrojrwyp4wwrn3e4nlo3qqaiwe7gt536x3prv3yec4m5ge5m5oeo6pzegdj>
        # </gen avg_pool3d u37kh7hixkf3pqwavgukec2pag7blifzv3ovwmb5ysjcepxrav7tujo>

    # <gen lp_pool1d>
    def lp_pool1d(
        self,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """The norm_type-norm of every window over the last 1 axes."""
        if words:
            return pooling_rows.lp_pool1d(self, norm_type, kernel_size, stride, ceil_mode, **words)
        return pooling_rows.lp_pool1d(self, norm_type, kernel_size, stride, ceil_mode)
        # </gen lp_pool1d zhr5u6a6rsoe7y6ekrojrwyp4e4nlo536x3prv3yuunvhge5m5pmewwpne24>

    # <gen lp_pool2d>
    def lp_pool2d(
        self,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """The norm_type-norm of every window over the last 2 axes."""
        if words:
            return pooling_rows.lp_pool2d(self, norm_type, kernel_size, stride, ceil_mode, **words)
        return pooling_rows.lp_pool2d(self, norm_type, kernel_size, stride, ceil_mode)
        # </gen lp_pool2d mvgwg6a6rsoe7y6ekrojrwyp4e4nlo536x3prv3yafmj5ge5m5oeqcev3b4l>

    # <gen lp_pool3d>
    def lp_pool3d(
        self,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """The norm_type-norm of every window over the last 3 axes."""
        if words:
            return pooling_rows.lp_pool3d(self, norm_type, kernel_size, stride, ceil_mode, **words)
        return pooling_rows.lp_pool3d(self, norm_type, kernel_size, stride, ceil_mode)
        # </gen lp_pool3d qba7a6a6rsoe7y6ekrojrwyp4e4nlo536x3prv3yhpihyge5m5ovnyg2e7gq>

    # <gen isnan>
    def isnan(self, **words: Unpack[Words]) -> Self:
        """True where x is NaN."""
        if words:
            return predicates_rows.isnan(self, **words)
        return predicates_rows.isnan(self)
        # </gen isnan plxaohwdkkge5m5fwhiio6sh2>

    # <gen isinf>
    def isinf(self, **words: Unpack[Words]) -> Self:
        """True where x is infinite."""
        if words:
            return predicates_rows.isinf(self, **words)
        return predicates_rows.isinf(self)
        # </gen isinf 4mmw5jvvfgge5m5jmkead7266>

    # <gen isfinite>
    def isfinite(self, **words: Unpack[Words]) -> Self:
        """True where x is neither infinite nor NaN."""
        if words:
            return predicates_rows.isfinite(self, **words)
        return predicates_rows.isfinite(self)
        # </gen isfinite ha5psptwcxge5m57cspdd67uw>

    # <gen logical_not>
    def logical_not(self, **words: Unpack[Words]) -> Self:
        """True where x is zero or false."""
        if words:
            return predicates_rows.logical_not(self, **words)
        return predicates_rows.logical_not(self)
        # </gen logical_not gxw23pzet4ge5m57wqpfrdky5>

    # <gen logical_and>
    def logical_and(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """True where neither is zero or false."""
        if words:
            return predicates_rows.logical_and(self, y, **words)
        return predicates_rows.logical_and(self, y)
        # </gen logical_and xd3o22xcfmge5m5i2zbimxu25>

    # <gen logical_or>
    def logical_or(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """True where not both are zero or false."""
        if words:
            return predicates_rows.logical_or(self, y, **words)
        return predicates_rows.logical_or(self, y)
        # </gen logical_or fhemdlbdmage5m5qanrutsh3e>

    # <gen logical_xor>
    def logical_xor(self, y: Self | float, **words: Unpack[Words]) -> Self:
        """True where one alone is zero or false."""
        if words:
            return predicates_rows.logical_xor(self, y, **words)
        return predicates_rows.logical_xor(self, y)
        # </gen logical_xor auqmw7b5hmge5m5rhk2c7d24a>

    # <gen bitwise_not>
    def bitwise_not(self, **words: Unpack[Words]) -> Self:
        """All bits turned; not, on bool."""
        if words:
            return predicates_rows.bitwise_not(self, **words)
        return predicates_rows.bitwise_not(self)
        # </gen bitwise_not rcpjzolqmnge5m5kyuivzxjkx>

    # <gen isclose>
    def isclose(
        self,
        y: Self | float,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """True where |x - y| <= atol + rtol * |y|; infinities are close to themselves alone."""
        if words:
            return predicates_rows.isclose(self, y, rtol, atol, equal_nan, **words)
        return predicates_rows.isclose(self, y, rtol, atol, equal_nan)
        # </gen isclose c77wc6a6rsjydflfcag7qtbwfvolj2536x3prv3yyon2mge5m5olywisvec3>

    # <gen allclose>
    def allclose(
        self,
        y: Self | float,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """Is every element of x close to that of y, as isclose says? A 0-d bool."""
        if words:
            return predicates_rows.allclose(self, y, rtol, atol, equal_nan, **words)
        return predicates_rows.allclose(self, y, rtol, atol, equal_nan)
        # </gen allclose hld3m6a6rsjydflfcag7qtbwfvolj2536x3prv3yejfa3ge5m5d6ojzoqn4s>

    # <gen adaptive_avg_pool1d>
    def adaptive_avg_pool1d(
        self, output_size: int | Sequence[int | None], **words: Unpack[Words]
    ) -> Self:
        """Mean of output_size regions that cover the last 1 axes."""
        if words:
            return regions_rows.adaptive_avg_pool1d(self, output_size, **words)
        return regions_rows.adaptive_avg_pool1d(self, output_size)
        # </gen adaptive_avg_pool1d 3dkz6npg5xprv3yx4oy7ge5m5p2xxtqhsq6>

    # <gen adaptive_avg_pool2d>
    def adaptive_avg_pool2d(
        self, output_size: int | Sequence[int | None], **words: Unpack[Words]
    ) -> Self:
        """Mean of output_size regions that cover the last 2 axes."""
        if words:
            return regions_rows.adaptive_avg_pool2d(self, output_size, **words)
        return regions_rows.adaptive_avg_pool2d(self, output_size)
        # </gen adaptive_avg_pool2d gknpynpg5xprv3ydbeehge5m5jgti2tbnrv>

    # <gen adaptive_avg_pool3d>
    def adaptive_avg_pool3d(
        self, output_size: int | Sequence[int | None], **words: Unpack[Words]
    ) -> Self:
        """Mean of output_size regions that cover the last 3 axes."""
        if words:
            return regions_rows.adaptive_avg_pool3d(self, output_size, **words)
        return regions_rows.adaptive_avg_pool3d(self, output_size)
        # </gen adaptive_avg_pool3d aks2bnpg5xprv3yvo2qpge5m5xf7fk444z3>

    # <gen adaptive_max_pool1d>
    def adaptive_max_pool1d(
        self, output_size: int | Sequence[int | None], **words: Unpack[Words]
    ) -> Self:
        """Largest element of output_size regions that cover the last 1 axes."""
        if words:
            return regions_rows.adaptive_max_pool1d(self, output_size, **words)
        return regions_rows.adaptive_max_pool1d(self, output_size)
        # </gen adaptive_max_pool1d 5t6lbnpg5xprv3ygceubge5m5xj5vsznu4c>

    # <gen adaptive_max_pool2d>
    def adaptive_max_pool2d(
        self, output_size: int | Sequence[int | None], **words: Unpack[Words]
    ) -> Self:
        """Largest element of output_size regions that cover the last 2 axes."""
        if words:
            return regions_rows.adaptive_max_pool2d(self, output_size, **words)
        return regions_rows.adaptive_max_pool2d(self, output_size)
        # </gen adaptive_max_pool2d atqjdnpg5xprv3ysm3nrge5m5kgfegbegvj>

    # <gen adaptive_max_pool3d>
    def adaptive_max_pool3d(
        self, output_size: int | Sequence[int | None], **words: Unpack[Words]
    ) -> Self:
        """Largest element of output_size regions that cover the last 3 axes."""
        if words:
            return regions_rows.adaptive_max_pool3d(self, output_size, **words)
        return regions_rows.adaptive_max_pool3d(self, output_size)
        # </gen adaptive_max_pool3d mku2pnpg5xprv3ykbea7ge5m57yr6pqj22l>

    # <gen fractional_max_pool2d>
    def fractional_max_pool2d(
        self,
        samples: Self,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """Largest element of windows at random places over the last 2 axes."""
        if words:
            return regions_rows.fractional_max_pool2d(
                self, samples, kernel_size, output_size, output_ratio, **words
            )
        return regions_rows.fractional_max_pool2d(
            self, samples, kernel_size, output_size, output_ratio
        )
        # <sums lvb636a6rs3aiz7ekrojx3niw2kh2h536x3prv3ynh7vmge5m5q3wgm7h3c3>
        # </gen fractional_max_pool2d vwmb5wmits2y6ub7tujo>

    # <gen fractional_max_pool3d>
    def fractional_max_pool3d(
        self,
        samples: Self,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """Largest element of windows at random places over the last 3 axes."""
        if words:
            return regions_rows.fractional_max_pool3d(
                self, samples, kernel_size, output_size, output_ratio, **words
            )
        return regions_rows.fractional_max_pool3d(
            self, samples, kernel_size, output_size, output_ratio
        )
        # <sums qie3q6a6rs3aiz7ekrojx3niw2kh2h536x3prv3y2s65zge5m52zlu47h3c3>
        # </gen fractional_max_pool3d vwmb5dqukp2y6ub7tujo>

    # <gen cumsum>
    def cumsum(self, axis: int | None = None, dtype: Any = None, **words: Any) -> Self:
        """Sums of the elements so far along an axis."""
        if words:
            return scan_rows.cumsum(self, axis, dtype, **words)
        return scan_rows.cumsum(self, axis, dtype)
        # </gen cumsum rwrzvcoo7oge5m5tfjjgqq6hb>

    # <gen cumprod>
    def cumprod(self, axis: int | None = None, dtype: Any = None, **words: Any) -> Self:
        """Products of the elements so far along an axis."""
        if words:
            return scan_rows.cumprod(self, axis, dtype, **words)
        return scan_rows.cumprod(self, axis, dtype)
        # </gen cumprod lrjlyfhwlage5m57kzo2rkkik>

    # <gen cummax>
    def cummax(
        self, axis: int | None = None, return_indices: bool = False, **words: Unpack[Words]
    ) -> Self:
        """Largest element so far along an axis; NaN once seen. return_indices: and where."""
        if words:
            return scan_rows.cummax(self, axis, return_indices, **words)
        return scan_rows.cummax(self, axis, return_indices)
        # </gen cummax hdyz5675vwprv3yrigfrge5m5gyn5gbbdel>

    # <gen cummin>
    def cummin(
        self, axis: int | None = None, return_indices: bool = False, **words: Unpack[Words]
    ) -> Self:
        """Smallest element so far along an axis; NaN once seen. return_indices: and where."""
        if words:
            return scan_rows.cummin(self, axis, return_indices, **words)
        return scan_rows.cummin(self, axis, return_indices)
        # </gen cummin vk5hf675vwprv3yowtobge5m5lrwswrzin6>

    # <gen logcumsumexp>
    def logcumsumexp(self, axis: int | None = None, **words: Unpack[Words]) -> Self:
        """log(cumsum(exp(x))), without overflow."""
        if words:
            return scan_rows.logcumsumexp(self, axis, **words)
        return scan_rows.logcumsumexp(self, axis)
        # </gen logcumsumexp xxdbam6a73ge5m5t3rynwa3sk>

    # <gen argsort>
    def argsort(
        self, axis: int = -1, descending: bool = False, stable: bool = True, **words: Unpack[Words]
    ) -> Self:
        """Indices that sort along an axis; equal elements keep their order. NaN counts as the
        largest.
        """
        if words:
            return scan_rows.argsort(self, axis, descending, stable, **words)
        return scan_rows.argsort(self, axis, descending, stable)
        # </gen argsort pa6yxacsiqprv3ydar2d7sajpsdaupge5m5rpcj2l63wk>

    # <gen unique>
    def unique(
        self,
        return_inverse: bool = False,
        return_counts: bool = False,
        axis: int | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """The values in x, once each, in order; with an axis, the slices along it."""
        if words:
            return sets_rows.unique(self, return_inverse, return_counts, axis, **words)
        return sets_rows.unique(self, return_inverse, return_counts, axis)
        # </gen unique zdine6a6rs3aoee7kctcagsht536x3prv3y4duqzge5m5bvliuyipsd>

    # <gen unique_counts>
    def unique_counts(self, **words: Unpack[Words]) -> Counts:
        """(values in order, how often each is there)."""
        if words:
            return sets_rows.unique_counts(self, **words)
        return sets_rows.unique_counts(self)
        # </gen unique_counts hh5h3bsxt3ge5m5rbanm2327y>

    # <gen unique_inverse>
    def unique_inverse(self, **words: Unpack[Words]) -> Inverse:
        """(values in order, for each element of x the index of its value)."""
        if words:
            return sets_rows.unique_inverse(self, **words)
        return sets_rows.unique_inverse(self)
        # </gen unique_inverse 7jqgsf634nge5m5lmuboedh4t>

    # <gen unique_all>
    def unique_all(self, **words: Unpack[Words]) -> Unique:
        """(values in order, where each stands first in flattened x, inverse indices, counts)."""
        if words:
            return sets_rows.unique_all(self, **words)
        return sets_rows.unique_all(self)
        # </gen unique_all rby5s2u45tge5m5mihppkhgp7>

    # <gen isin>
    def isin(self, elements: Self, invert: bool = False, **words: Unpack[Words]) -> Self:
        """Is each element of x among the elements? The opposite if invert; NaN is among none."""
        if words:
            return sets_rows.isin(self, elements, invert, **words)
        return sets_rows.isin(self, elements, invert)
        # </gen isin p6326tcgipge5m5rxiflbqrlk>

    # <gen flatten>
    def flatten(self, start: int = 0, end: int = -1, **words: Any) -> Self:
        """The axes from start to end as one; a 0-d tensor gets one axis."""
        if words:
            return shaping_rows.flatten(self, start, end, **words)
        return shaping_rows.flatten(self, start, end)
        # </gen flatten urq4pc7m4nge5m5w2yizv4zxf>

    # <gen unflatten>
    def unflatten(self, axis: int, sizes: Sequence[int], **words: Unpack[Words]) -> Self:
        """One axis as several; one of their sizes may be -1."""
        if words:
            return shaping_rows.unflatten(self, axis, sizes, **words)
        return shaping_rows.unflatten(self, axis, sizes)
        # </gen unflatten a6knvohnx6ge5m5e3lrjayoxd>

    # <gen squeeze>
    def squeeze(self, axis: int | Sequence[int] | None = None, **words: Unpack[Words]) -> Self:
        """Without axes of size 1: those named, or all."""
        if words:
            return shaping_rows.squeeze(self, axis, **words)
        return shaping_rows.squeeze(self, axis)
        # </gen squeeze geca2dhhshge5m5ptosxwntas>

    # <gen unsqueeze>
    def unsqueeze(self, axis: int | Sequence[int] = 0, **words: Unpack[Words]) -> Self:
        """New axes of size 1, at places of the result."""
        if words:
            return shaping_rows.unsqueeze(self, axis, **words)
        return shaping_rows.unsqueeze(self, axis)
        # </gen unsqueeze nr72mhb7ohge5m5xir625263s>

    # <gen matrix_transpose>
    def matrix_transpose(self, **words: Unpack[Words]) -> Self:
        """The last two axes exchanged."""
        if words:
            return shaping_rows.matrix_transpose(self, **words)
        return shaping_rows.matrix_transpose(self)
        # </gen matrix_transpose r6ul7xqiukge5m5llcwhntpny>

    # <gen movedim>
    def movedim(
        self, source: int | Sequence[int], destination: int | Sequence[int], **words: Any
    ) -> Self:
        """Axes at other places; those not named keep their order."""
        if words:
            return shaping_rows.movedim(self, source, destination, **words)
        return shaping_rows.movedim(self, source, destination)
        # </gen movedim j3ujhsxm67prv3ym2t5dge5m5zdw4n25rei>

    # <gen tile>
    def tile(self, repetitions: int | Sequence[int], *more: int, **words: Unpack[Words]) -> Self:
        """x laid out several times along each axis; the numbers as one tuple or one by one."""
        if words:
            return shaping_rows.tile(self, repetitions, *more, **words)
        return shaping_rows.tile(self, repetitions, *more)
        # </gen tile sxkye66hjoge5m5kgsvangvlb>

    # <gen roll>
    def roll(
        self,
        shift: int | Sequence[int],
        axis: int | Sequence[int] | None = None,
        **words: Unpack[Words],
    ) -> Self:
        """Elements moved along axes; what leaves at the end enters at the start."""
        if words:
            return shaping_rows.roll(self, shift, axis, **words)
        return shaping_rows.roll(self, shift, axis)
        # </gen roll zihig6a6rsqw6wpjlzed536x3prv3yi4tx7ge5m5g2q646sont>

    # <gen rot90>
    def rot90(self, k: int = 1, axes: Sequence[int] = (0, 1), **words: Unpack[Words]) -> Self:
        """Turned by k quarters in the plane of two axes, from the first towards the second."""
        if words:
            return shaping_rows.rot90(self, k, axes, **words)
        return shaping_rows.rot90(self, k, axes)
        # </gen rot90 kyp5jmiswfge5m5egpqidl4mm>

    # <gen as_strided>
    def as_strided(
        self,
        size: Sequence[int],
        stride: Sequence[int],
        storage_offset: int = 0,
        **words: Unpack[Words],
    ) -> Self:
        """Elements of flattened x: index times stride, plus an offset, says which one stands
        there.
        """
        if words:
            return shaping_rows.as_strided(self, size, stride, storage_offset, **words)
        return shaping_rows.as_strided(self, size, stride, storage_offset)
        # </gen as_strided yuc646a6rs6txernrbz45xrvd536x3prv3yneil23zx36sdaupge5m5y4a3ejarrp>

    # <gen tril>
    def tril(self, k: int = 0, **words: Unpack[Words]) -> Self:
        """The last two axes' elements up to the k-th diagonal, 0 above it."""
        if words:
            return shaping_rows.tril(self, k, **words)
        return shaping_rows.tril(self, k)
        # </gen tril dylore5jl6ge5m5mgqsfz6nnr>

    # <gen triu>
    def triu(self, k: int = 0, **words: Unpack[Words]) -> Self:
        """The last two axes' elements from the k-th diagonal on, 0 below it."""
        if words:
            return shaping_rows.triu(self, k, **words)
        return shaping_rows.triu(self, k)
        # </gen triu n6lnc2s57sge5m5tku7b6cbug>

    # <gen diagonal>
    def diagonal(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, **words: Unpack[Words]
    ) -> Self:
        """The elements of a diagonal of two axes, as a last axis."""
        if words:
            return shaping_rows.diagonal(self, offset, axis1, axis2, **words)
        return shaping_rows.diagonal(self, offset, axis1, axis2)
        # </gen diagonal 3bmmmf625bprv3ykzqj7ge5m5qz7eh6tutw>

    # <gen trace>
    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, **words: Unpack[Words]
    ) -> Self:
        """The sum of a diagonal of two axes."""
        if words:
            return shaping_rows.trace(self, offset, axis1, axis2, **words)
        return shaping_rows.trace(self, offset, axis1, axis2)
        # </gen trace wcdp4f625bprv3ydrtdige5m57ewizofq2e>

    # <gen diag>
    def diag(self, k: int = 0, **words: Unpack[Words]) -> Self:
        """The k-th diagonal of a matrix, or the matrix with a vector there."""
        if words:
            return shaping_rows.diag(self, k, **words)
        return shaping_rows.diag(self, k)
        # </gen diag shwql57ijige5m5k3zlhoefht>

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
        **words: Unpack[Words],
    ) -> Self:
        """Spectra of n_fft elements every hop_length (a quarter of that): (..., frequency,
        frame).
        """
        if words:
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
                **words,
            )
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
        # <sums konjq6a6rs3mecu6affnvors3o7tfydqcgjzp72at7ffu4ovk5ur3sr536x3prv3ytz5pmmdwxo>
        # <sums sdaupge5m5zoxx6zegdjqvhfvg3bbr3ze7akf7ydhmeewznsplpfr5ggbgc3xyi7kfzv3ovwmb5>
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
        **words: Unpack[Words],
    ) -> Self:
        """The signal whose stft with the same options is x, or is nearest to it."""
        if words:
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
                **words,
            )
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
        # <sums k4gsi6a6rs3mecu6affnvors3o7tfydqcgjt7ffu4ovk54q6jepqmbv536x3prv3yuf2zmge5m5>
        # <sums bijkzzegdjqvhfvg3bbr3ze7akf7ydhmeewpfr5ggbgc37l47vxyi7kfzv3ovwmb5y4o55e5bxz>
        # </gen istft yybgl2fqup7cnjt6xqi6lgkaaommpkdjnapmntljmpoki7tujo>

    # <gen erfc>
    def erfc(self, **words: Unpack[Words]) -> Self:
        """1 - erf(x), accurate where that is small."""
        if words:
            return special_rows.erfc(self, **words)
        return special_rows.erfc(self)
        # </gen erfc svggwg5siuge5m5hqcngko7k5>

    # <gen erfinv>
    def erfinv(self, **words: Unpack[Words]) -> Self:
        """The y for which erf(y) is x."""
        if words:
            return special_rows.erfinv(self, **words)
        return special_rows.erfinv(self)
        # </gen erfinv ecmtnq22nige5m5cubuvrnwp3>

    # <gen lgamma>
    def lgamma(self, **words: Unpack[Words]) -> Self:
        """log(|gamma(x)|), infinite at 0 and the negative integers."""
        if words:
            return special_rows.lgamma(self, **words)
        return special_rows.lgamma(self)
        # </gen lgamma 7y5kcgyvc4ge5m5ge77usj3ns>

    # <gen digamma>
    def digamma(self, **words: Unpack[Words]) -> Self:
        """The derivative of lgamma."""
        if words:
            return special_rows.digamma(self, **words)
        return special_rows.digamma(self)
        # </gen digamma 3eznfativuge5m5gngvs5i5hc>

    # <gen nansum>
    def nansum(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """Sum of the elements along axes that are not NaN."""
        if words:
            return statistics_rows.nansum(self, axis, keepdims, **words)
        return statistics_rows.nansum(self, axis, keepdims)
        # </gen nansum wzr2z6a6rsjlzedmbc33536x3prv3yldmwpge5m5aocqskewb3>

    # <gen nanmean>
    def nanmean(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """Mean of the elements along axes that are not NaN; NaN if there are none."""
        if words:
            return statistics_rows.nanmean(self, axis, keepdims, **words)
        return statistics_rows.nanmean(self, axis, keepdims)
        # </gen nanmean 2fdyr6a6rsjlzedmbc33536x3prv3ymhccyge5m5xishqbei5s>

    # <gen nanmedian>
    def nanmedian(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """The middle of the elements along axes that are not NaN, or the mean of the two there."""
        if words:
            return statistics_rows.nanmedian(self, axis, keepdims, **words)
        return statistics_rows.nanmedian(self, axis, keepdims)
        # </gen nanmedian splv76a6rsjlzedmbc33536x3prv3y3xitrge5m5ykgdnovodc>

    # <gen nanquantile>
    def nanquantile(
        self,
        q: Any,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        interpolation: str = "linear",
        **words: Unpack[Words],
    ) -> Self:
        """quantile of the elements along axes that are not NaN; NaN if there are none."""
        if words:
            return statistics_rows.nanquantile(self, q, axis, keepdims, interpolation, **words)
        return statistics_rows.nanquantile(self, q, axis, keepdims, interpolation)
        # </gen nanquantile lgwkv6a6rsba7e2jlzedmbc33uew72536x3prv3yb2n56ge5m5ftndu334as>

    # <gen aminmax>
    def aminmax(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        **words: Unpack[Words],
    ) -> Extremes:
        """(smallest, largest) element along axes; NaN if there is one."""
        if words:
            return statistics_rows.aminmax(self, axis, keepdims, **words)
        return statistics_rows.aminmax(self, axis, keepdims)
        # </gen aminmax uhlro6a6rsjlzedmbc33536x37yi4c4mqosge5m5j6p2ktrzle>

    # <gen var_mean>
    def var_mean(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        correction: float = 1,
        **words: Unpack[Words],
    ) -> tuple[Self, Self]:
        """(variance, mean) along axes; squares are divided by (count - correction)."""
        if words:
            return statistics_rows.var_mean(self, axis, keepdims, correction, **words)
        return statistics_rows.var_mean(self, axis, keepdims, correction)
        # </gen var_mean phtnd6a6rsjlzedmbc33fxql5536x3wqohgnnmvcge5m5fm5uandl7o>

    # <gen std_mean>
    def std_mean(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        correction: float = 1,
        **words: Unpack[Words],
    ) -> tuple[Self, Self]:
        """(standard deviation, mean) along axes; squares are divided by (count - correction)."""
        if words:
            return statistics_rows.std_mean(self, axis, keepdims, correction, **words)
        return statistics_rows.std_mean(self, axis, keepdims, correction)
        # </gen std_mean zlthw6a6rsjlzedmbc33fxql5536x3wqohgut3hgge5m5qma4sz7eov>

    # <gen kthvalue>
    def kthvalue(
        self, k: int, axis: int = -1, keepdims: bool = False, **words: Unpack[Words]
    ) -> Found:
        """(values, indices) of the k-th smallest element along an axis, counted from 1."""
        if words:
            return statistics_rows.kthvalue(self, k, axis, keepdims, **words)
        return statistics_rows.kthvalue(self, k, axis, keepdims)
        # </gen kthvalue pyyucy5idumddciswujxge5m5jqx4bly4al>

    # <gen mode>
    def mode(self, axis: int = -1, keepdims: bool = False, **words: Unpack[Words]) -> Found:
        """(values, indices) of the most frequent element along an axis: the least, where it last
        is.
        """
        if words:
            return statistics_rows.mode(self, axis, keepdims, **words)
        return statistics_rows.mode(self, axis, keepdims)
        # </gen mode gwvp6zbvoigwdy2sdaupge5m5bx4vnx4tmp>

    # <gen msort>
    def msort(self, **words: Unpack[Words]) -> Self:
        """The elements in order along the first axis."""
        if words:
            return statistics_rows.msort(self, **words)
        return statistics_rows.msort(self)
        # </gen msort 4c2j45s4djge5m5lvvgtnusmr>

    # <gen prod>
    def prod(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        dtype: Any = None,
        **words: Any,
    ) -> Self:
        """Product of the elements along axes."""
        if words:
            return totals_rows.prod_(self, axis, keepdims, dtype, **words)
        return totals_rows.prod_(self, axis, keepdims, dtype)
        # </gen prod s45zi6a6rsjlzedmbc33j6w2gqiimxprv3y2kz2bge5m55ivlgsj3q5>

    # <gen count_nonzero>
    def count_nonzero(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """How many elements along axes are not 0."""
        if words:
            return totals_rows.count_nonzero(self, axis, keepdims, **words)
        return totals_rows.count_nonzero(self, axis, keepdims)
        # </gen count_nonzero btyki6a6rsjlzedmbc33536x3prv3yzy3udge5m5tm656itqkc>

    # <gen any>
    def any(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """Is an element along axes not 0?"""
        if words:
            return totals_rows.any_(self, axis, keepdims, **words)
        return totals_rows.any_(self, axis, keepdims)
        # </gen any zl5du6a6rsjlzedmbc33536x3prv3yodwjqge5m5yd36jct65k>

    # <gen all>
    def all(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """Is no element along axes 0?"""
        if words:
            return totals_rows.all_(self, axis, keepdims, **words)
        return totals_rows.all_(self, axis, keepdims)
        # </gen all p64wy6a6rsjlzedmbc33536x3prv3yfi64bge5m53lrredjro7>

    # <gen std>
    def std(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        correction: float = 0,
        **words: Unpack[Words],
    ) -> Self:
        """Standard deviation along axes: the root of the variance; flat where all are equal."""
        if words:
            return totals_rows.std(self, axis, keepdims, correction, **words)
        return totals_rows.std(self, axis, keepdims, correction)
        # </gen std 3gkks6a6rsjlzedmbc33utp6x536x3prv3yimaf6ge5m5sumz52dms7>

    # <gen norm>
    def norm(
        self,
        ord: float = 2,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """(sum |x|**ord)**(1/ord) along axes; inf and -inf give the largest and smallest, 0 a
        count.
        """
        if words:
            return totals_rows.norm(self, ord, axis, keepdims, **words)
        return totals_rows.norm(self, ord, axis, keepdims)
        # </gen norm djui66a6rsoylvmjlzedmbc33536x3prv3yvuhk6leoq4sdaupge5m5rajcqsdh3y>

    # <gen windows>
    def windows(
        self,
        sizes: Sequence[int],
        strides: int | Sequence[int] = 1,
        dilations: int | Sequence[int] = 1,
        edges: Sequence[tuple[int, int]] = (),
        value: float = 0,
        **words: Any,
    ) -> Self:
        """Windows over the last axes of x: (..., *sizes, *number of windows)."""
        if words:
            return windows_rows.windows(self, sizes, strides, dilations, edges, value, **words)
        return windows_rows.windows(self, sizes, strides, dilations, edges, value)
        # </gen windows aat3b6a6rs57ajaewxe747fecllujasul6wqiimxprv3yg72y5ge5m5agcyqbnlyy>

    # <gen fold>
    def fold(
        self,
        sizes: Sequence[int],
        strides: int | Sequence[int] = 1,
        dilations: int | Sequence[int] = 1,
        starts: int | Sequence[int] = 0,
        **words: Unpack[Words],
    ) -> Self:
        """Windows laid back and added up where they meet: the transpose of `windows`."""
        if words:
            return windows_rows.fold(self, sizes, strides, dilations, starts, **words)
        return windows_rows.fold(self, sizes, strides, dilations, starts)
        # </gen fold aqr2q6a6rs57ajaewxe747fec7st3w536x3prv3y3rmydge5m5fsangcldt6>

    # <gen unfold>
    def unfold(
        self,
        axis: int = -1,
        size: int = 1,
        step: int = 1,
        dilation: int = 1,
        **words: Unpack[Words],
    ) -> Self:
        """Windows of size elements along an axis, step apart, as a new last axis."""
        if words:
            return windows_rows.unfold(self, axis, size, step, dilation, **words)
        return windows_rows.unfold(self, axis, size, step, dilation)
        # </gen unfold dv7yu6a6rsr5axvnp7xha7celcxg4d536x3prv3yxuyntge5m5meuwl7koqo>

    # <gen index_copy>
    def index_copy(self, index: Self, values: Self, axis: int = 0, **words: Any) -> Self:
        """x with slices of values in place of those at indices along an axis."""
        if words:
            return writing_rows.index_copy(self, index, values, axis, **words)
        return writing_rows.index_copy(self, index, values, axis)
        # </gen index_copy ixyob5ypfsge5m5pgy4kq44ue>

    # <gen index_fill>
    def index_fill(self, index: Self, value: Any, axis: int = 0, **words: Any) -> Self:
        """x with a value, a number or a 0-d tensor, in the slices at indices along an axis."""
        if words:
            return writing_rows.index_fill(self, index, value, axis, **words)
        return writing_rows.index_fill(self, index, value, axis)
        # </gen index_fill ud2ulxc3gqge5m5c4fxqkqdlo>

    # <gen index_put>
    def index_put(
        self,
        indices: Self | Sequence[Self],
        values: Self | float,
        accumulate: bool = False,
        **words: Unpack[Words],
    ) -> Self:
        """x with values at indices: a tuple of tensors, one for each of the first axes, or a
        mask.
        """
        if words:
            return writing_rows.index_put(self, indices, values, accumulate, **words)
        return writing_rows.index_put(self, indices, values, accumulate)
        # </gen index_put jfdvp6a6rsq5lhw6gizypsizf536x3prv3ylvw46mdmtusdaupge5m5tvc72cplst>

    # <gen masked_scatter>
    def masked_scatter(self, mask: Self, values: Self, **words: Unpack[Words]) -> Self:
        """x with the elements of values, one after the other, where mask is true."""
        if words:
            return writing_rows.masked_scatter(self, mask, values, **words)
        return writing_rows.masked_scatter(self, mask, values)
        # </gen masked_scatter zepqtls3dmge5m5xqxbprt4ld>

    # <gen zeta>
    def zeta(self, q: Self | float, **words: Unpack[Words]) -> Self:
        """The sum of 1 / (k + q)**x over k = 0, 1, 2, ... (Hurwitz's zeta function), for x > 1."""
        if words:
            return zetas_rows.zeta(self, q, **words)
        return zetas_rows.zeta(self, q)
        # </gen zeta yr74vibk2zge5m5fjkgfvsata>

    # <gen polygamma>
    def polygamma(self, n: int, **words: Unpack[Words]) -> Self:
        """The n-th derivative of digamma; n and x may be given in either order."""
        if words:
            return zetas_rows.polygamma(self, n, **words)
        return zetas_rows.polygamma(self, n)
        # </gen polygamma lz2luedohege5m5h2z6a5odv5>

    # <gen mvlgamma>
    def mvlgamma(self, p: int, **words: Any) -> Self:
        """The logarithm of the gamma function of p dimensions, for x above (p - 1) / 2; else
        NaN.
        """
        if words:
            return zetas_rows.mvlgamma(self, p, **words)
        return zetas_rows.mvlgamma(self, p)
        # </gen mvlgamma 7kllqdm6m5gadwwsdaupge5m5ttxy5szyan>

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
    # <sums oagvtdv5cqpr6zbzvtd3wy62ns5q7c6r3irkvtokyakcvt5ih2dqcrtmeeecmd5qrqnozvpxkr2>
    # <sums wwichh3v42puahbjxgvbx6z4qxxfqlij44yag7ynehzt36eh4ljbraolxc5xekrme6yu2nzkuk6>
    # </gen aliases yeus4qxgzrtyco524u3e2k6niqa54tnswxb2yfcep3asnyruq5ko756>


# <gen words>
accept_words(vars(Methods).values(), method=True)
# </gen words 5jsqv>
