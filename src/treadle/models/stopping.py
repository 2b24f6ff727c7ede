"""What of a growing text is final: where it ends, and what may be shown already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from treadle.base.errors import ArgumentError, explain

Stream = Callable[..., Any]
UNFINISHED = "\ufffd"  # what decoders make of the first bytes of a character


class Stops(list[Any]):
    """Words at which a text ends, none of them empty: texts, or sequences of tokens."""

    def __init__(self, words: Any, has_text: bool) -> None:
        given = [words] if isinstance(words, str | int) else words
        if given and not isinstance(given, Iterable):
            raise ArgumentError(explain("generate", "stop is a list of words", got=repr(words)))
        super().__init__(self._word(word, has_text) for word in given or ())

    @staticmethod
    def _word(word: Any, has_text: bool) -> str | tuple[int, ...]:
        if isinstance(word, str) and not has_text:
            hint = "give tokenizer=, or the tokens of the word"
            raise ArgumentError(explain("generate", "a stop word is text", hint, got=repr(word)))
        if isinstance(word, str):
            found: str | tuple[int, ...] = word
        else:
            found = (int(word),) if hasattr(word, "__index__") else tuple(int(x) for x in word)
        if not found:
            raise ArgumentError(explain("generate", "a stop word is empty"))
        return found


def end_of(content: Any, words: Sequence[Any]) -> int | None:
    """Where the first of some words begins in a text or a list of tokens."""
    if isinstance(content, str):
        found = [content.find(word) for word in words if isinstance(word, str)]
        return min((at for at in found if at >= 0), default=None)
    for at in range(len(content)):
        if any(tuple(content[at : at + len(w)]) == w for w in words if isinstance(w, tuple)):
            return at
    return None


def held_back(content: Any, words: Sequence[Any]) -> int:
    """How many elements at the end may be the beginning of a word."""
    kind: Any = str if isinstance(content, str) else tuple
    longest = 0
    for word in words:
        if not isinstance(word, kind):
            continue
        for count in range(min(len(word) - 1, len(content)), longest, -1):
            if kind(content[len(content) - count :]) == word[:count]:
                longest = count
                break
    return longest


class Row:
    """One text of a batch as it grows.

    - **decode**: from tokens to text, or None: the tokens are the content
    - **stream**: called with each final piece, a token or some text, and the number of the row
    """

    def __init__(
        self, number: int, stops: Stops, decode: Callable[..., str] | None, stream: Stream | None
    ) -> None:
        self.number, self.stops, self.decode, self.stream = number, stops, decode, stream
        self.tokens: list[int] = []
        self.content: Any = [] if decode is None else ""
        self.is_done, self.shown = False, 0

    def add(self, token: int) -> None:
        """One more token; it may end the text."""
        self.tokens.append(token)
        longest = max((len(w) for w in self.stops if isinstance(w, tuple)), default=0)
        before = max(0, len(self.tokens) - longest)
        end = end_of(self.tokens[before:], self.stops)
        if end is not None:
            del self.tokens[before + end :]
        self.is_done = end is not None
        held = 0 if self.is_done else held_back(self.tokens, self.stops)
        self._show(self.tokens[: len(self.tokens) - held])

    def finish(self) -> Any:
        """All of it, without the word that ended it."""
        if not self.is_done:
            self.is_done = True
            self._show(self.tokens)
        return self.content

    def _show(self, tokens: list[int]) -> None:
        """Pass on what is new and final."""
        content: Any = list(tokens) if self.decode is None else self.decode(tokens)
        if self.decode is not None and (end := end_of(content, self.stops)) is not None:
            content, self.is_done = content[:end], True
        if not self.is_done and self.decode is not None:
            content = content[: len(content) - held_back(content, self.stops)].rstrip(UNFINISHED)
        self.content = content
        new = content[self.shown :]
        self.shown = max(self.shown, len(content))
        if self.stream is not None:
            for piece in ([new] if new else []) if isinstance(new, str) else new:
                self.stream(piece, self.number)
