"""Spectra of what lies under a window that moves along a signal, and the signal from them."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.ops.composite import composite
from treadle.ops.defs import Samples
from treadle.ops.elementwise import cast, real
from treadle.ops.movement import cut, pad
from treadle.ops.parts import view_as_complex, view_as_real
from treadle.ops.spectra import fitted, from_half, half, tensor_in, whole
from treadle.ops.windows import fold, unfold


def _frames(
    name: str, n_fft: int, hop_length: int | None, win_length: int | None
) -> tuple[int, int]:
    """Steps between windows, and their length."""
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if n_fft < 1 or hop < 1 or not 0 < width <= n_fft:
        hint = "n_fft and hop_length are positive, and win_length is at most n_fft"
        facts = {"n_fft": n_fft, "hop_length": hop, "win_length": width}
        raise ArgumentError(explain(name, "bad windows", hint, **facts))
    return hop, width


def _window(name: str, like: Any, window: Any, width: int, n_fft: int) -> Any:
    """The window in the middle of n_fft elements; ones if there is none."""
    if window is None:
        window = cut(like.iota_like(like.ndim - 1, width).reshape((width,)) * 0 + 1, 0, 0, width)
    window = tensor_in(name, window)
    if window.shape != (width,):
        facts = {"window": window.shape, "win_length": width}
        raise ShapeError(explain(name, "a window has win_length elements", **facts))
    before = (n_fft - width) // 2
    kind = like.dtype.part if not window.dtype.is_complex else like.dtype
    return cast(pad(window, [(before, n_fft - width - before)]), kind)


def _stft_reference(
    np: Any, x: Any, n_fft: int, hop_length: Any = None, win_length: Any = None,
    window: Any = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: Any = None, return_complex: bool = False,
) -> Any:  # fmt: skip
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    before = (n_fft - width) // 2
    shape = np.pad(np.ones(width), (before, n_fft - width - before))
    if center:
        edges = [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)]
        x = np.pad(x, edges, {"reflect": "reflect", "constant": "constant"}[pad_mode])
    seen = np.lib.stride_tricks.sliding_window_view(x, n_fft, -1)[..., ::hop, :] * shape
    whole = onesided is False or np.iscomplexobj(seen)
    found = np.fft.fft(seen) if whole else np.fft.rfft(seen)
    found = np.moveaxis(found, -1, -2) * (n_fft**-0.5 if normalized else 1.0)
    return found if return_complex is not False else np.stack([found.real, found.imag], -1)


@composite(
    _stft_reference,
    Samples(cases=(
        ((40,), {"n_fft": 8, "return_complex": False}),
        ((2, 30), {"n_fft": 12, "hop_length": 5, "win_length": 9, "return_complex": False}),
        ((33,), {"n_fft": 7, "center": False, "normalized": True, "return_complex": False}),
        ((2, 20), {"n_fft": 6, "onesided": False, "return_complex": False}),
    )),
    inline=True,
)  # fmt: skip
def stft(
    x: Any, /, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Any = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None, return_complex: bool | None = None,
) -> Any:  # fmt: skip
    """Spectra of n_fft elements every hop_length (a quarter of that): (..., frequency, frame).

    A window, of ones unless one is given, lies in their middle. center: the first frame is about
    the first element, and pad_mode continues the signal. normalized: over the root of n_fft.
    Half of each spectrum unless x is complex; complex unless return_complex is False.
    """
    x = tensor_in("stft", x)
    if x.ndim not in (1, 2):
        raise ShapeError(explain("stft", "needs (time,) or (batch, time)", shape=x.shape))
    hop, width = _frames("stft", n_fft, hop_length, win_length)
    if center:
        edge = (n_fft // 2, n_fft // 2)
        x = pad(x, [*[(0, 0)] * (x.ndim - 1), edge], mode=pad_mode)
    if x.shape[-1] < n_fft:
        facts = {"n_fft": n_fft, "time": x.shape[-1]}
        raise ShapeError(explain("stft", "the signal is shorter than a frame", **facts))
    seen = unfold(x, -1, n_fft, hop) * _window("stft", x, window, width, n_fft)
    scale = 1.0 / math.sqrt(n_fft) if normalized else 1.0
    last = seen.ndim - 1
    if seen.dtype.is_complex or onesided is False:
        if seen.dtype.is_complex and onesided:
            wrong = "half of the spectrum of complex numbers is not all"
            raise ArgumentError(explain("stft", wrong, "onesided=False"))
        found = whole(seen, last, n_fft, False, scale)
    else:
        found = half(seen, last, n_fft, scale)
    found = found.transpose(-2, -1)
    return view_as_real(found) if return_complex is False else found


def _istft_reference(
    np: Any, x: Any, n_fft: int, hop_length: Any = None, win_length: Any = None,
    center: bool = True, normalized: bool = False, length: Any = None,
) -> Any:  # fmt: skip
    x = x if np.iscomplexobj(x) else x[..., 0] + 1j * x[..., 1]
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    before = (n_fft - width) // 2
    shape = np.pad(np.ones(width), (before, n_fft - width - before))
    seen = np.fft.irfft(x, n_fft, axis=-2)
    seen = seen * (n_fft**0.5 if normalized else 1.0) * shape[:, None]
    total = n_fft + hop * (x.shape[-1] - 1)
    added, weight = np.zeros((*x.shape[:-2], total)), np.zeros(total)
    for frame in range(x.shape[-1]):
        place = slice(frame * hop, frame * hop + n_fft)
        added[..., place] += seen[..., frame]
        weight[place] += shape * shape
    start = n_fft // 2 if center else 0
    found = (added / weight)[..., start : total - start if length is None else start + length]
    missing = 0 if length is None else length - found.shape[-1]
    return np.pad(found, [(0, 0)] * (found.ndim - 1) + [(0, missing)])


def _spectra(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Complex numbers, or pairs along the last axis."""
    pairs = rng.uniform(-4.0, 4.0, shapes[0])
    found = pairs[..., 0] + 1j * pairs[..., 1] if kind.kind == "c" else pairs
    return [found.astype(kind)]


@composite(
    _istft_reference,
    Samples(cases=(
        ((5, 9, 2), {"n_fft": 8}), ((2, 4, 7, 2), {"n_fft": 7, "hop_length": 3, "center": False}),
        ((7, 6, 2), {"n_fft": 12, "win_length": 9, "normalized": True, "length": 14}),
        ((5, 3, 2), {"n_fft": 8, "length": 17}),
    ), draw=_spectra),
    inline=True,
)  # fmt: skip
def istft(
    x: Any, /, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Any = None, center: bool = True, normalized: bool = False,
    onesided: bool | None = None, length: int | None = None, return_complex: bool = False,
) -> Any:  # fmt: skip
    """The signal whose stft with the same options is x, or is nearest to it.

    Frames are added up under the window and divided by the sum of its squares, which is NaN where
    no window reaches. length: of the signal, which the frames do not tell exactly.
    """
    x = tensor_in("istft", x)
    if not x.dtype.is_complex and x.ndim > 2 and x.shape[-1] == 2:
        x = view_as_complex(x)
    if not x.dtype.is_complex or x.ndim not in (2, 3):
        hint = "(frequency, frame) or (batch, frequency, frame), complex or pairs: what stft gives"
        raise ShapeError(
            explain("istft", "not the result of stft", hint, dtype=x.dtype.name, shape=x.shape)
        )
    hop, width = _frames("istft", n_fft, hop_length, win_length)
    halved = onesided if onesided is not None else x.shape[-2] != n_fft
    if x.shape[-2] != (n_fft // 2 + 1 if halved else n_fft):
        facts = {"n_fft": n_fft, "frequencies": x.shape[-2], "onesided": onesided}
        raise ShapeError(explain("istft", "not as many frequencies as n_fft has", **facts))
    scale = 1.0 / (math.sqrt(n_fft) if normalized else n_fft)
    axis, frames = x.ndim - 2, x.shape[-1]
    if halved:
        seen = from_half(x, axis, n_fft, scale)
    else:
        seen = whole(x, axis, n_fft, True, scale)
        seen = seen if return_complex else real(seen)
    shape = _window("istft", seen, window, width, n_fft).reshape((n_fft, 1))
    total = n_fft + hop * (frames - 1)
    added = fold(seen * shape, (total,), hop)
    weight = fold((shape * shape).expand((n_fft, frames)), (total,), hop)
    start = n_fft // 2 if center else 0
    end = total - start if length is None else min(start + length, total)
    found = cut(added, added.ndim - 1, start, end) / cut(weight, 0, start, end)
    return found if length is None else fitted(found, found.ndim - 1, length)
