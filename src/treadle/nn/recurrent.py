"""Layers that go along a sequence and remember: RNN, LSTM, GRU, and one step of each.

Steps are a loop in the graph, which is compiled once for any length. Packed sequences run padded,
and a state stays as it was where its sequence has ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.functions import concat, linear, relu, sigmoid, stack, take, tanh, where
from treadle.nn import init
from treadle.nn.functional import dropout
from treadle.nn.linear import parameter
from treadle.nn.module import Module
from treadle.nn.utils.rnn import PackedSequence, lengths_in, packed_steps, sizes_of, unpacked
from treadle.tensor.creation import arange, tensor, zeros
from treadle.tensor.tensor import Tensor
from treadle.transforms.loops import scan

State = tuple[Tensor, ...]
"""(h,), or (h, c) of an LSTM."""
FEW = 8  # steps that are written out rather than a loop


# ---- one step of each kind: (what the input gives, what the state gives, state) to a state


def _halves(gates: Tensor, count: int) -> list[Tensor]:
    width = gates.shape[-1] // count
    return [gates[..., k * width : (k + 1) * width] for k in range(count)]


def _plain(function: Callable[[Tensor], Tensor]) -> Callable[..., State]:
    def step(given: Tensor, recalled: Tensor, state: State) -> State:
        return (function(given + recalled),)

    return step


def _lstm(given: Tensor, recalled: Tensor, state: State) -> State:
    i, f, g, o = _halves(given + recalled, 4)
    c = sigmoid(f) * state[1] + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c


def _gru(given: Tensor, recalled: Tensor, state: State) -> State:
    (r, z, n), (r_h, z_h, n_h) = _halves(given, 3), _halves(recalled, 3)
    n = tanh(n + sigmoid(r + r_h) * n_h)
    z = sigmoid(z + z_h)
    return (n + z * (state[0] - n),)


STEPS = {"RNN_TANH": _plain(tanh), "RNN_RELU": _plain(relu), "LSTM": _lstm, "GRU": _gru}
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


class RNNBase(Module):
    """What the three kinds share: layers and directions, and the parameters of each."""

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1,
        bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
        bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = dropout, bidirectional, proj_size
        self._check()
        sizes = {"device": device, "dtype": dtype}
        gates, width = GATES[mode] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            given = input_size if layer == 0 else width * (1 + bidirectional)
            for suffix in self._suffixes(layer):
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (gates, given), "weight_hh": (gates, width),
                }  # fmt: skip
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    made = parameter(type(self).__name__, *shape, **sizes)
                    self.register_parameter(f"{name}_{suffix}", made)
        self.reset_parameters()

    def _check(self) -> None:
        what = type(self).__name__
        if self.mode not in STEPS:
            raise ArgumentError(explain(what, "mode", ", ".join(STEPS), got=repr(self.mode)))
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout <= 1:
            raise ArgumentError(explain(what, "dropout is a probability", got=repr(self.dropout)))
        if self.hidden_size <= 0 or self.num_layers <= 0:
            facts = {"hidden_size": self.hidden_size, "num_layers": self.num_layers}
            raise ArgumentError(explain(what, "sizes are above 0", **facts))
        if self.proj_size and (self.mode != "LSTM" or not 0 < self.proj_size < self.hidden_size):
            facts = {"proj_size": self.proj_size, "hidden_size": self.hidden_size}
            wrong = "an LSTM has a proj_size, below its hidden_size"
            raise ArgumentError(explain(what, wrong, **facts))

    def _suffixes(self, layer: int) -> list[str]:
        return [f"l{layer}", f"l{layer}_reverse"] if self.bidirectional else [f"l{layer}"]

    def reset_parameters(self) -> None:
        """Draw the values of a new layer."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for own in self.parameters():
            init.uniform_(own, -bound, bound)

    # ---- forward

    def forward(self, input: Tensor | PackedSequence, hx: Any = None) -> Any:
        """(outputs of all steps, last states): h of every layer and direction, (h, c) of an LSTM.

        - **input**: (steps, batch, input_size), or (batch, steps, ...) with batch_first, or
          (steps, input_size), or packed
        - **hx**: first states, of the shape of the last ones; zeros if left out
        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.ndim not in (2, 3) or input.shape[-1] != self.input_size:
            facts = {"input_size": self.input_size, "shape": input.shape}
            wrong = "needs (steps, batch, input_size) or (steps, input_size)"
            raise ShapeError(explain(type(self).__name__, wrong, **facts))
        alone = input.ndim == 2
        axis = 1 if self.batch_first and not alone else 0
        if not input.shape[axis]:
            raise ShapeError(explain(type(self).__name__, "no steps", shape=input.shape))
        x = input.unsqueeze(1) if alone else input
        states = self._first(hx, x, alone, x.shape[1 - axis])
        found, last = self._layers(x, states, axis, None)
        if alone:
            found, last = found.squeeze(1), tuple(s.squeeze(1) for s in last)
        return found, last if self.mode == "LSTM" else last[0]

    def _forward_packed(self, packed: PackedSequence, hx: Any) -> Any:
        sizes = sizes_of(packed)
        x = unpacked(packed)
        order, back = packed.sorted_indices, packed.unsorted_indices
        states = self._first(hx, x, False, sizes[0])
        if hx is not None and order is not None:
            states = tuple(take(s, order, axis=1) for s in states)
        lengths = tensor(lengths_in(sizes), dtype="int64", device=x.device).reshape(-1, 1)
        found, last = self._layers(x, states, 0, lengths)
        if back is not None:
            last = tuple(take(s, back, axis=1) for s in last)
        result = packed._replace(data=packed_steps(found, sizes))
        return result, last if self.mode == "LSTM" else last[0]

    def _first(self, hx: Any, x: Tensor, alone: bool, batch: int) -> State:
        """First states (layers times directions, batch, size), checked."""
        widths = [self.proj_size or self.hidden_size]
        widths += [self.hidden_size] if self.mode == "LSTM" else []
        lead = self.num_layers * (1 + self.bidirectional)
        if hx is None:
            return tuple(zeros(lead, batch, n, dtype=x.dtype, device=x.device) for n in widths)
        given = tuple(hx) if self.mode == "LSTM" else (hx,)
        expected = [(lead, n) if alone else (lead, batch, n) for n in widths]
        if [s.shape for s in given] != expected:
            facts = {"expected": expected, "got": [s.shape for s in given]}
            raise ShapeError(explain(type(self).__name__, "hx has other shapes", **facts))
        return tuple(s.unsqueeze(1) for s in given) if alone else given

    def _layers(
        self, x: Tensor, states: State, axis: int, lengths: Tensor | None
    ) -> tuple[Tensor, State]:
        last: list[State] = []
        for layer in range(self.num_layers):
            outputs = []
            for way, suffix in enumerate(self._suffixes(layer)):
                state = tuple(s[len(last)] for s in states)
                found, state = self._along(x, state, suffix, axis, bool(way), lengths)
                outputs.append(found)
                last.append(state)
            x = outputs[0] if len(outputs) == 1 else concat(outputs, axis=-1)
            if self.dropout and layer < self.num_layers - 1:
                x = dropout(x, self.dropout, self.training)
        return x, tuple(stack(parts) for parts in zip(*last, strict=True))

    def _along(
        self, x: Tensor, state: State, suffix: str, axis: int, reverse: bool,
        lengths: Tensor | None,
    ) -> tuple[Tensor, State]:  # fmt: skip
        """One layer in one direction: outputs of all steps, and the last state."""
        given, recurrent, bias = self._given(x.swapaxes(0, 1) if axis else x, suffix)
        project = getattr(self, f"weight_hr_{suffix}").T if self.proj_size else None
        advance = STEPS[self.mode]

        def step(state: State, now: tuple[Tensor, Tensor]) -> tuple[State, Tensor]:
            recalled = state[0] @ recurrent
            new = advance(now[0], recalled if bias is None else recalled + bias, state)
            if project is not None:
                new = (new[0] @ project, *new[1:])
            if lengths is not None:
                new = tuple(where(lengths > now[1], a, b) for a, b in zip(new, state, strict=True))
            return new, new[0]

        count = given.shape[0]
        numbers = arange(count, device=x.device)
        unroll = True if count <= FEW else 1
        last, found = scan(step, state, (given, numbers), reverse=reverse, unroll=unroll)
        return found.swapaxes(0, 1) if axis else found, last

    def _given(self, x: Tensor, suffix: str) -> tuple[Tensor, Tensor, Tensor | None]:
        """What the inputs give to all steps at once, the recurrent matrix, and its bias.

        The biases are one wherever both are added; a GRU scales what the state gives to one part.
        """
        weight = getattr(self, f"weight_ih_{suffix}")
        recurrent = getattr(self, f"weight_hh_{suffix}").T
        if not self.bias:
            return linear(x, weight), recurrent, None
        one, other = getattr(self, f"bias_ih_{suffix}"), getattr(self, f"bias_hh_{suffix}")
        if self.mode == "GRU":
            return linear(x, weight, one), recurrent, other
        return linear(x, weight, one + other), recurrent, None

    def extra_repr(self) -> str:
        """Sizes, and what is not the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        text += f", proj_size={self.proj_size}" if self.proj_size else ""
        text += f", num_layers={self.num_layers}" if self.num_layers != 1 else ""
        text += "" if self.bias else f", bias={self.bias}"
        text += f", batch_first={self.batch_first}" if self.batch_first else ""
        text += f", dropout={self.dropout}" if self.dropout else ""
        return text + (f", bidirectional={self.bidirectional}" if self.bidirectional else "")


class RNN(RNNBase):
    """h = tanh(W x + b + W' h + b'), or relu of it, step by step."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1,
        nonlinearity: str = "tanh", bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.nonlinearity = _nonlinearity("RNN", nonlinearity)
        sizes = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__(f"RNN_{nonlinearity.upper()}", *sizes, 0, device, dtype)


class LSTM(RNNBase):
    """Long short-term memory; proj_size makes what is passed on smaller than what is kept."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        sizes = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__("LSTM", *sizes, proj_size, device, dtype)


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        sizes = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__("GRU", *sizes, 0, device, dtype)


def _nonlinearity(what: str, name: str) -> str:
    if name not in ("tanh", "relu"):
        raise ArgumentError(explain(what, "nonlinearity is 'tanh' or 'relu'", got=repr(name)))
    return name


# ---- one step


class RNNCellBase(Module):
    """What the cells share: two matrices and two biases."""

    _mode = "RNN_TANH"
    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        what, gates = type(self).__name__, num_chunks * hidden_size
        self.weight_ih = parameter(what, gates, input_size, device=device, dtype=dtype)
        self.weight_hh = parameter(what, gates, hidden_size, device=device, dtype=dtype)
        for name in ("bias_ih", "bias_hh"):
            own = parameter(what, gates, device=device, dtype=dtype) if bias else None
            self.register_parameter(name, own)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the values of a new layer."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        for own in self.parameters():
            init.uniform_(own, -bound, bound)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The next state: h, or (h, c) of an LSTMCell."""
        lstm = self._mode == "LSTM"
        if input.ndim not in (1, 2) or input.shape[-1] != self.input_size:
            facts = {"input_size": self.input_size, "shape": input.shape}
            wrong = "needs (batch, input_size) or (input_size)"
            raise ShapeError(explain(type(self).__name__, wrong, **facts))
        if hx is None:
            nothing = zeros(*input.shape[:-1], self.hidden_size, dtype=input.dtype,
                            device=input.device)  # fmt: skip
            state: State = (nothing, nothing) if lstm else (nothing,)
        else:
            state = tuple(hx) if lstm else (hx,)
        given = linear(input, self.weight_ih, self.bias_ih)
        new = STEPS[self._mode](given, linear(state[0], self.weight_hh, self.bias_hh), state)
        return new if lstm else new[0]

    def extra_repr(self) -> str:
        """Sizes, and what is not the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        text += "" if self.bias else f", bias={self.bias}"
        kind = getattr(self, "nonlinearity", "tanh")
        return text if kind == "tanh" else f"{text}, nonlinearity={kind}"


class RNNCell(RNNCellBase):
    """One step of an RNN."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.nonlinearity = _nonlinearity("RNNCell", nonlinearity)
        self._mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)


class LSTMCell(RNNCellBase):
    """One step of an LSTM."""

    _mode = "LSTM"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    _mode = "GRU"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)
