"""Texts written token by token: prompts read at once, then one compiled program for every token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, explain
from treadle.base.shapes import Dim
from treadle.models.sampling import Rules, draw, rules_of
from treadle.models.stopping import Row, Stops, Stream
from treadle.random import key as key_of
from treadle.random import randint
from treadle.tensor.creation import tensor
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor
from treadle.transforms.compile import compile as compiled

WHOLE, ROWS = (int, np.integer), (Sequence, np.ndarray, Tensor)
SIZED = ("cpu", "cuda")  # backends whose programs take Dims; others read all, and mask
LEAST_CAPACITY = 64  # texts of other lengths should find the programs of the last one


class Decoder:
    """A model with a cache for so many rows and tokens, and the two programs that fill it.

    `first` reads prompts and `next` one token; both draw the token that comes then.
    """

    def __init__(self, model: Any, batch: int, capacity: int) -> None:
        self.model, self.cache = model, model.new_cache(batch, capacity)
        self.capacity = capacity
        self.device = next(iter(model.parameters())).device
        most = max(capacity, 2)
        # States have no length, and one program for all sizes is that of one such device.
        takes = self.device.backend in SIZED
        takes = takes and all(weight.device is self.device for weight in model.parameters())
        self.sized = takes and self.cache.reads_prompts
        self.length, self.filled = (Dim(name, max=most) for name in ("prompt", "filled"))
        self._first, self._next = compiled(self._read), compiled(self._step)
        self.remember = compiled(lambda memory: model.remember(memory, self.cache))

    def _read(self, tokens: Tensor, at: Tensor, starts: Any, how: tuple[Any, ...]) -> Any:
        logits = self.model.next_logits(tokens, self.cache.prompt(starts))
        return self._drawn(logits, at, how)

    def _step(self, token: Tensor, at: Tensor, filled: Any, starts: Any, how: Any) -> Any:
        past = self.cache.next(at, filled, starts)
        return self._drawn(self.model.next_logits(token.unsqueeze(1), past), at, how)

    def _drawn(self, logits: Tensor, at: Tensor, how: tuple[Any, ...]) -> Any:
        rules, numbers, bias, seen, key = how
        logits = logits.cast("float32")
        token, seen, key = draw(
            logits if bias is None else logits + bias, rules, numbers, seen, key
        )
        return token, at + 1, seen, key

    def first(self, tokens: Any, starts: Tensor | None, how: tuple[Any, ...]) -> Any:
        """The tokens after prompts (batch, length); where they go; what was seen; the next key."""
        self.cache.begin()
        length = tokens.shape[1]
        if self.cache.reads_prompts:
            given = tensor(tokens, device=self.device)
            given = self.length.of(given, axis=1) if self.sized else given
            return self._first(given, self.place(length - 1), starts, how)
        for k in range(length):
            given = tensor(tokens[:, k], device=self.device)
            found = self.next(given, self.place(k), k + 1, starts, how)
        return found

    def next(
        self, token: Tensor, at: Tensor, filled: int, starts: Tensor | None, how: tuple[Any, ...]
    ) -> Any:
        """The same after one more token (batch,), which is number `filled` and goes to `at`."""
        return self._next(token, at, self.filled(filled) if self.sized else None, starts, how)

    def place(self, number: int) -> Tensor:
        """A place in the cache, as a tensor."""
        return tensor(number, device=self.device)


class Kept(dict[Any, Any]):
    """What a model keeps of texts it wrote: programs and a cache; no part of copies and files."""

    def decoder(self, model: Any, batch: int, capacity: int) -> Decoder:
        """The one for so many rows and tokens; the one before is forgotten first."""
        weight = next(iter(model.parameters()))  # the model may have been moved, or cast
        wanted = (batch, capacity, weight.device, weight.dtype)
        if wanted not in self:
            self.clear()
            self[wanted] = Decoder(model, batch, capacity)
        found: Decoder = self[wanted]
        return found

    def __reduce__(self) -> Any:
        return Kept, ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Kept:
        return Kept()


def generate(
    model: Any, prompt: Any, max_new_tokens: int = 20, *, temperature: float = 1.0,
    top_k: int | None = None, top_p: float | None = None, repetition_penalty: float = 1.0,
    stop: Any = None, seed: int | None = None, tokenizer: Any = None, stream: Stream | None = None,
    capacity: int | None = None, suppress: Sequence[int] = (), suppress_first: Sequence[int] = (),
    memory: Any = None,
) -> Any:  # fmt: skip
    """What a model writes after a prompt: new tokens, or text if a tokenizer is given.

    - **prompt**: tokens, or text with a tokenizer; a list of these, of any lengths, is a batch
    - **temperature**: 0 takes the likeliest token; below 1 likely ones are drawn more often
    - **top_k**, **top_p**: draw from the so many likeliest; from the fewest that have this share
    - **repetition_penalty**: makes tokens less likely that the text has already
    - **stop**: where a text ends: tokens, lists of tokens, or texts, which are no part of the
      result; the model's own end if left out, () for none
    - **seed**: of the draws; the global generator's next number if left out
    - **stream**: called with each new token, or some text, and the number of the row
    - **capacity**: of the cache, in tokens, the prompt's included; another one is another program
    - **suppress**, **suppress_first**: tokens that are never drawn, or not first
    - **memory**: what a model with an encoder writes about: its input

    Programs and cache are kept with the model: the next call with as many rows and the same
    capacity traces nothing.
    """
    batch, is_one, is_text = _prompts(prompt, tokenizer)
    words = getattr(model, "end_of_text", None) if stop is None else stop
    stops = Stops(words, tokenizer is not None)
    rules, numbers = rules_of(temperature, top_k, top_p, repetition_penalty)
    if not isinstance(max_new_tokens, WHOLE) or max_new_tokens < 1:
        wrong = "max_new_tokens is a whole number above 0"
        raise ArgumentError(explain("generate", wrong, got=repr(max_new_tokens)))
    _require_known(model.vocabulary, "prompt", *batch)
    _require_known(model.vocabulary, "suppress", suppress, suppress_first)
    if len({*suppress, *suppress_first}) == model.vocabulary:
        raise ArgumentError(explain("generate", "every token is suppressed", "leave one"))
    tokens, starts = _padded(batch)
    room = _capacity(model, tokens.shape[1] + max_new_tokens - 1, capacity)
    with evaluating(model), no_grad():
        kept: Any = getattr(model, "_kept_programs", Kept())
        decoder = kept.decoder(model, len(batch), room)
        if memory is not None:
            decoder.remember(memory)
        quiet = (_bias(decoder, [*suppress, *suppress_first]), _bias(decoder, suppress))
        how = (rules, numbers.to(decoder.device), quiet[0], *_how(decoder, batch, rules, seed))
        rows = [
            Row(k, stops, tokenizer.decode if is_text else None, stream) for k in range(len(batch))
        ]
        late = None if starts is None else tensor(starts, device=decoder.device)
        _write(decoder, rows, (tokens, late), max_new_tokens, (how, quiet[1]))
    found = [row.finish() for row in rows]
    return found[0] if is_one else found


def _write(
    decoder: Decoder, rows: list[Row], given: tuple[Any, Tensor | None], count: int,
    hows: tuple[Any, Any],
) -> None:  # fmt: skip
    """Tokens for rows until all are done, or so many."""
    (tokens, starts), (first, bias) = given, hows
    token, at, seen, key = decoder.first(tokens, starts, first)
    for filled in range(tokens.shape[1] + 1, tokens.shape[1] + count + 1):
        for row, new in zip(rows, token.tolist(), strict=True):
            if not row.is_done:
                row.add(new)
        if all(row.is_done for row in rows) or filled == tokens.shape[1] + count:
            return
        how = (*first[:2], bias, seen, key)
        token, at, seen, key = decoder.next(token, at, filled, starts, how)


# ---- arguments


def _prompts(prompt: Any, tokenizer: Any) -> tuple[list[list[int]], bool, bool]:
    """Lists of tokens; is it one prompt; is it text?"""
    prompt = _listed(prompt)
    is_one = not isinstance(prompt, list) or not any(isinstance(x, ROWS) for x in prompt)
    batch = [prompt] if is_one else [_listed(row) for row in prompt]
    is_text = isinstance(batch[0], str)
    if not all(isinstance(row, str if is_text else list) for row in batch):
        hint = "a list of tokens, a text, or a list of one kind of these"
        raise ArgumentError(explain("generate", "not a prompt", hint, got=type(prompt).__name__))
    if not all(map(len, batch)):
        hint = "begin with the model's first token, or any other"
        raise ArgumentError(explain("generate", "a prompt has no tokens", hint))
    if is_text and tokenizer is None:
        hint = "give tokenizer=, or tokens"
        raise ArgumentError(explain("generate", "the prompt is text", hint))
    if not is_text:
        return batch, is_one, tokenizer is not None
    made = [tokenizer.encode(row) for row in batch]
    return [list(getattr(x, "ids", x)) for x in made], is_one, True


def _listed(row: Any) -> Any:
    """A row of any kind as a list; what is none, and text, as it is."""
    if isinstance(row, Tensor | np.ndarray):
        return row.tolist()
    return list(row) if isinstance(row, Sequence) and not isinstance(row, str) else row


def _require_known(count: int, name: str, *rows: Sequence[int]) -> None:
    given = [token for row in rows for token in row]
    wrong = [x for x in given if not isinstance(x, WHOLE) or not 0 <= x < count]
    if wrong:
        hint = f"tokens are from 0 to {count - 1}"
        raise ArgumentError(explain("generate", "no such token", hint, **{name: wrong[0]}))


def _padded(batch: list[list[int]]) -> tuple[Any, Any]:
    """(rows, longest) tokens that end together; where each begins, None if all at 0."""
    longest = max(map(len, batch))
    starts = np.array([longest - len(row) for row in batch])
    filled = [[0] * int(start) + row for start, row in zip(starts, batch, strict=True)]
    return np.array(filled), starts if starts.any() else None


def _capacity(model: Any, needed: int, wanted: int | None) -> int:
    most = getattr(model, "max_length", None)
    facts = {"needed": needed, "capacity": wanted or most}
    if (wanted is not None and needed > wanted) or (most is not None and needed > most):
        hint = "fewer new tokens, or a shorter prompt"
        raise ArgumentError(explain("generate", "the text would become too long", hint, **facts))
    enough = wanted or max(LEAST_CAPACITY, 1 << (needed - 1).bit_length())
    return enough if most is None else min(enough, most)


def _how(decoder: Decoder, batch: list[list[int]], rules: Rules, seed: int | None) -> Any:
    """Which tokens were seen, if that matters, and a key to draw with."""
    seen = None
    if rules.penalty:
        found = np.zeros((len(batch), decoder.model.vocabulary), bool)
        for row, given in zip(found, batch, strict=True):
            row[given] = True
        seen = tensor(found, device=decoder.device)
    seed = int(randint(0, 2**31 - 1, (1,)).item()) if seed is None else seed
    return seen, key_of(seed, decoder.device)


def _bias(decoder: Decoder, suppress: Sequence[int]) -> Tensor | None:
    """What is added to logits: -inf at tokens that are not to be drawn."""
    if not len(suppress):
        return None
    added = np.zeros(decoder.model.vocabulary, np.float32)
    added[list(suppress)] = -np.inf
    return tensor(added, device=decoder.device)


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """In evaluation; afterwards every module as it was."""
    learning = [module for module in model.modules() if module.training]
    for module in learning:
        module.training = False
    try:
        yield
    finally:
        for module in learning:
            module.training = True
