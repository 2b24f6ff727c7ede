"""How the next token is drawn from logits, in ops: it is part of the program that makes them."""

from __future__ import annotations

import math
from typing import NamedTuple

from treadle.base.errors import ArgumentError, explain
from treadle.functions import (
    argmax,
    argsort,
    cumsum,
    one_hot,
    softmax,
    take_along_axis,
    topk,
    where,
)
from treadle.random import categorical, split
from treadle.tensor.creation import tensor
from treadle.tensor.tensor import Tensor


class Rules(NamedTuple):
    """Which rules apply: a program is made for each combination. The numbers are its arguments."""

    greedy: bool = False
    top_k: int = 0
    top_p: bool = False
    penalty: bool = False


def rules_of(
    temperature: float, top_k: int | None, top_p: float | None, repetition_penalty: float
) -> tuple[Rules, Tensor]:
    """The rules, and the numbers in them: temperature, top_p, repetition_penalty."""
    top_k, top_p = top_k or 0, 1.0 if top_p is None else top_p
    if not 0 <= temperature < math.inf:
        hint = "0 takes the likeliest token, 1 draws by the model's own probabilities"
        raise ArgumentError(explain("generate", "temperature is 0 or above", hint, got=temperature))
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 0:
        raise ArgumentError(explain("generate", "top_k is a count, 0 for all", got=repr(top_k)))
    if not 0 < top_p <= 1:
        raise ArgumentError(explain("generate", "top_p is above 0, at most 1", got=top_p))
    if not 0 < repetition_penalty < math.inf:
        hint = "1 does nothing, 1.2 is usual"
        got = repetition_penalty
        raise ArgumentError(explain("generate", "repetition_penalty is above 0", hint, got=got))
    greedy = temperature == 0
    rules = Rules(greedy, 0 if greedy else top_k, not greedy and top_p < 1, repetition_penalty != 1)
    return rules, tensor([float(temperature) or 1.0, float(top_p), float(repetition_penalty)])


def penalised(logits: Tensor, seen: Tensor, penalty: Tensor | float) -> Tensor:
    """Logits in which tokens already seen are less likely: towards 0 if positive, else away."""
    return where(seen, where(logits > 0, logits / penalty, logits * penalty), logits)


def largest(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The count largest logits in order, and which tokens they are of; 0: all."""
    if 0 < count < logits.shape[-1]:
        return topk(logits, count)
    order = argsort(logits, descending=True)
    return take_along_axis(logits, order), order


def nucleus(logits: Tensor, share: Tensor | float) -> Tensor:
    """Logits in falling order, -inf behind the first few whose probabilities reach share."""
    probabilities = softmax(logits, -1)
    before = cumsum(probabilities, -1) - probabilities
    first = before.iota_like(-1) == 0  # whatever share is
    return where(first | (before < share), logits, -math.inf)


def draw(
    logits: Tensor, rules: Rules, numbers: Tensor, seen: Tensor | None, key: Tensor
) -> tuple[Tensor, Tensor | None, Tensor]:
    """(batch,) tokens drawn from (batch, tokens) logits; what was seen then; the next key."""
    if rules.penalty and seen is not None:
        logits = penalised(logits, seen, numbers[2])
    if rules.greedy:
        token = argmax(logits, -1)
    else:
        keys = split(key)
        token, key = _sampled(logits / numbers[0], rules, numbers[1], keys[0]), keys[1]
    if seen is not None:
        seen = seen | (one_hot(token, logits.shape[-1]) != 0)
    return token, seen, key


def _sampled(logits: Tensor, rules: Rules, share: Tensor, key: Tensor) -> Tensor:
    if not rules.top_k and not rules.top_p:
        return categorical(logits, key=key)
    logits, order = largest(logits, rules.top_k)
    logits = nucleus(logits, share) if rules.top_p else logits
    chosen = categorical(logits, key=key).unsqueeze(-1)
    return take_along_axis(order, chosen).squeeze(-1)
