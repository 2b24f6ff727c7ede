"""The rows of Fourier transforms as typed functions."""

from __future__ import annotations

# <gen imports>
from collections.abc import Sequence
from typing import Unpack

from treadle.ops import fft as fft_rows
from treadle.ops.words import Words, accept_words
from treadle.tensor.tensor import Tensor

# </gen imports tgj7fpwgiqpvsmkxrkdkcpsn7otixypvsmk>


# <gen fft>
def fft(
    x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, **words: Unpack[Words]
) -> Tensor:
    """The spectrum along an axis: the sum of x[j] exp(-2 pi i j k / n) for every k < n.

    x is cut off, or continued by zeros, to n elements. norm is "backward" (the default: inverse
    transforms divide by n), "ortho" (both divide by its root) or "forward". Lengths without prime
    factors above 251 are fast, others take a few times as long. Integers and halves become float32.

    >>> import treadle as td
    >>> td.fft.fft(td.tensor([1.0, 2.0, 3.0, 4.0])).real.tolist()
    [10.0, -2.0, -2.0, -2.0]
    """
    if words:
        return fft_rows.fft(x, n, axis, norm, **words)
    return fft_rows.fft(x, n, axis, norm)
    # </gen fft do6meohwoeq76qktr7azpvsmkul672tjhth5xd5qpvsmkymuw3hmxc4u6itfuqcdkmusmvtzd5cdw6gg>


# <gen ifft>
def ifft(
    x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, **words: Unpack[Words]
) -> Tensor:
    """What has the spectrum x along an axis; see fft."""
    if words:
        return fft_rows.ifft(x, n, axis, norm, **words)
    return fft_rows.ifft(x, n, axis, norm)
    # </gen ifft xqw6dohwoeq76qkemalfmusmvnph2a5z723>


# <gen rfft>
def rfft(
    x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, **words: Unpack[Words]
) -> Tensor:
    """The first n // 2 + 1 elements of the spectrum of reals, which the others mirror; see fft."""
    if words:
        return fft_rows.rfft(x, n, axis, norm, **words)
    return fft_rows.rfft(x, n, axis, norm)
    # </gen rfft zmz52ohwoeq76qk6qrt4musmvhdizlceulz>


# <gen irfft>
def irfft(
    x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, **words: Unpack[Words]
) -> Tensor:
    """The n reals of which x is half a spectrum; n is even unless it is given."""
    if words:
        return fft_rows.irfft(x, n, axis, norm, **words)
    return fft_rows.irfft(x, n, axis, norm)
    # </gen irfft w3fitohwoeq76qk5hvubmusmvhw4ihukw4n>


# <gen hfft>
def hfft(
    x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, **words: Unpack[Words]
) -> Tensor:
    """The spectrum, n reals, of what mirrors itself conjugated, from the first half of that."""
    if words:
        return fft_rows.hfft(x, n, axis, norm, **words)
    return fft_rows.hfft(x, n, axis, norm)
    # </gen hfft 2stweohwoeq76qktczsumusmv2ruezbzmcn>


# <gen ihfft>
def ihfft(
    x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, **words: Unpack[Words]
) -> Tensor:
    """The first half of what has x, which is real, as its spectrum."""
    if words:
        return fft_rows.ihfft(x, n, axis, norm, **words)
    return fft_rows.ihfft(x, n, axis, norm)
    # </gen ihfft wml6vohwoeq76qklkaekmusmv7mojmk4r4u>


# <gen fftn>
def fftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | int | None = None,
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """The spectrum along axes: all of them, or the last of them if s, lengths, is given alone."""
    if words:
        return fft_rows.fftn(x, s, axes, norm, **words)
    return fft_rows.fftn(x, s, axes, norm)
    # </gen fftn b3ufdelnnvas7hizxmffnmbmb6raroq76qkgmwczmusmvl2j7osiy7n>


# <gen ifftn>
def ifftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | int | None = None,
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """What has the spectrum x along axes."""
    if words:
        return fft_rows.ifftn(x, s, axes, norm, **words)
    return fft_rows.ifftn(x, s, axes, norm)
    # </gen ifftn 4c7plelnnvas7hizxmffnmbmb6raroq76qkfndusmusmvhfrpa7nh3w>


# <gen rfftn>
def rfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | int | None = None,
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """Half the spectrum of reals along axes: of the last axis the first n // 2 + 1 elements."""
    if words:
        return fft_rows.rfftn(x, s, axes, norm, **words)
    return fft_rows.rfftn(x, s, axes, norm)
    # </gen rfftn d47eaelnnvas7hizxmffnmbmb6raroq76qkwitzomusmv52ywajzfv2>


# <gen irfftn>
def irfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | int | None = None,
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """The reals of which x is half a spectrum along axes; of the last an even number by itself."""
    if words:
        return fft_rows.irfftn(x, s, axes, norm, **words)
    return fft_rows.irfftn(x, s, axes, norm)
    # </gen irfftn d4dqkelnnvas7hizxmffnmbmb6raroq76qkfxsaymusmv4cuwzueplk>


# <gen hfftn>
def hfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | int | None = None,
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """The spectrum along axes, which is real, of what mirrors itself conjugated; see hfft."""
    if words:
        return fft_rows.hfftn(x, s, axes, norm, **words)
    return fft_rows.hfftn(x, s, axes, norm)
    # </gen hfftn yztazelnnvas7hizxmffnmbmb6raroq76qkkzdclmusmvjeyzd7bdex>


# <gen ihfftn>
def ihfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | int | None = None,
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """The first half of what has x, which is real, as its spectrum along axes."""
    if words:
        return fft_rows.ihfftn(x, s, axes, norm, **words)
    return fft_rows.ihfftn(x, s, axes, norm)
    # </gen ihfftn gacyaelnnvas7hizxmffnmbmb6raroq76qkjcxjomusmvy2noxu2oki>


# <gen fft2>
def fft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """fftn along the last two axes."""
    if words:
        return fft_rows.fft2(x, s, axes, norm, **words)
    return fft_rows.fft2(x, s, axes, norm)
    # </gen fft2 6ppknelnnvas7higkmjxnmbmb6raroq76qk3y4mymusmvkiwn4f4gry>


# <gen ifft2>
def ifft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """ifftn along the last two axes."""
    if words:
        return fft_rows.ifft2(x, s, axes, norm, **words)
    return fft_rows.ifft2(x, s, axes, norm)
    # </gen ifft2 5pmhmelnnvas7higkmjxnmbmb6raroq76qkxc2aimusmvxlohcnatyb>


# <gen rfft2>
def rfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """rfftn along the last two axes."""
    if words:
        return fft_rows.rfft2(x, s, axes, norm, **words)
    return fft_rows.rfft2(x, s, axes, norm)
    # </gen rfft2 x6g2eelnnvas7higkmjxnmbmb6raroq76qk7lsq2musmvrfxzj452lx>


# <gen irfft2>
def irfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """irfftn along the last two axes."""
    if words:
        return fft_rows.irfft2(x, s, axes, norm, **words)
    return fft_rows.irfft2(x, s, axes, norm)
    # </gen irfft2 5wzqfelnnvas7higkmjxnmbmb6raroq76qk34ksumusmvxyrfrdoojp>


# <gen hfft2>
def hfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """hfftn along the last two axes."""
    if words:
        return fft_rows.hfft2(x, s, axes, norm, **words)
    return fft_rows.hfft2(x, s, axes, norm)
    # </gen hfft2 bq63ielnnvas7higkmjxnmbmb6raroq76qkru4flmusmvnetqyot552>


# <gen ihfft2>
def ihfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    **words: Unpack[Words],
) -> Tensor:
    """ihfftn along the last two axes."""
    if words:
        return fft_rows.ihfft2(x, s, axes, norm, **words)
    return fft_rows.ihfft2(x, s, axes, norm)
    # </gen ihfft2 dxmwnelnnvas7higkmjxnmbmb6raroq76qkgsm4lmusmvgnqxninodx>


# <gen fftshift>
def fftshift(x: Tensor, axes: Sequence[int] | int | None = None, **words: Unpack[Words]) -> Tensor:
    """Frequency 0 moved from the front to the middle of axes, or of all.

    >>> import treadle as td
    >>> td.fft.fftshift(td.fft.fftfreq(4)).tolist()
    [-0.5, -0.25, 0.0, 0.25]
    """
    if words:
        return fft_rows.fftshift(x, axes, **words)
    return fft_rows.fftshift(x, axes)
    # </gen fftshift 4qxq4qmfmnpvsmkymuw37gy3tujreiuqcdkmusmvgxoqgi3sif>


# <gen ifftshift>
def ifftshift(x: Tensor, axes: Sequence[int] | int | None = None, **words: Unpack[Words]) -> Tensor:
    """What fftshift does, undone."""
    if words:
        return fft_rows.ifftshift(x, axes, **words)
    return fft_rows.ifftshift(x, axes)
    # </gen ifftshift wpcxmbot3wmusmvta5w7ddhyk>


# <gen words>
accept_words(globals().values())
# </gen words j5pez>
