"""Text as tokens made by merging pairs of bytes (BPE)."""

from __future__ import annotations

import heapq
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from treadle.base.errors import ArgumentError, explain
from treadle.base.files import write
from treadle.data.tokens import files
from treadle.data.tokens.bytes import Specials, Text, as_bytes, unknown
from treadle.data.tokens.training import merges_of
from treadle.data.tokens.words import GPT2, compiled, words

REMEMBERED = 1 << 17  # words whose tokens are kept


class BPETokenizer:
    """Bytes, and pairs of tokens merged in order of rank: GPT-2's kind. Any text and back.

    `train` makes one of texts, `from_file` reads a tokenizer.json of a plain byte-level kind, and
    `from_vocab` a vocab.json with its merges.txt. `save` writes a tokenizer.json. pattern says
    where texts are cut first, GPT-2's way by default; several cut one after the other.
    """

    def __init__(
        self, vocab: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]],
        special_tokens: Mapping[str, int] | None = None, pattern: str | Sequence[str] = GPT2,
        whole_words: bool = False,
    ) -> None:  # fmt: skip
        self.vocab, self.merges = dict(vocab), list(merges)
        self.special_tokens = dict(special_tokens or {})
        self.pattern = (pattern,) if isinstance(pattern, str) else tuple(pattern)
        self.whole_words = whole_words  # a word that is a token is that token, whatever the merges
        _check(self)
        self._bytes = {number: token for token, number in self.vocab.items()}
        self._first = [self.vocab[bytes([k])] for k in range(256)]
        # Of a pair that stands there twice, the first counts.
        self._ranks: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, (left, right) in enumerate(self.merges):
            pair = self.vocab[left], self.vocab[right]
            self._ranks.setdefault(pair, (rank, self.vocab[left + right]))
        self._special = Specials("BPETokenizer", self.special_tokens)
        self._words = [compiled(one) for one in self.pattern]
        self._known: dict[str, list[int]] = {}

    @classmethod
    def train(
        cls, texts: Text | Iterable[Text], vocab_size: int, special_tokens: Sequence[str] = (),
        min_frequency: int = 2, pattern: str | Sequence[str] = GPT2,
    ) -> Self:  # fmt: skip
        """A tokenizer of at most vocab_size tokens, whose pairs are the most frequent of texts.

        Bytes are tokens 0 to 255, merges follow, special tokens come last. Pairs that occur fewer
        than min_frequency times are not merged, so it may be smaller. A bar shows on a terminal.
        """
        if vocab_size < 256 + len(special_tokens):
            facts = {"vocab_size": vocab_size, "special_tokens": len(special_tokens)}
            hint = "256 for the bytes, and one for each special token"
            raise ArgumentError(explain("BPETokenizer.train", "too few tokens", hint, **facts))
        counts: Counter[bytes] = Counter()
        cut = [compiled(one) for one in ([pattern] if isinstance(pattern, str) else pattern)]
        special = Specials("BPETokenizer.train", dict.fromkeys(special_tokens, 0))
        for text in [texts] if isinstance(texts, str | bytes) else texts:
            for part in special.cut(text):
                if not isinstance(part, int):
                    counts.update(as_bytes("BPETokenizer.train", word) for word in words(cut, part))
        tokens, merges = merges_of(counts, vocab_size - len(special_tokens), max(1, min_frequency))
        vocab = {token: number for number, token in enumerate(tokens)}
        named = {token: len(tokens) + k for k, token in enumerate(special_tokens)}
        return cls(vocab, merges, named, pattern)

    # ---- text to tokens

    @property
    def vocab_size(self) -> int:
        """One more than the largest number of a token."""
        return 1 + max([*self.vocab.values(), *self.special_tokens.values()])

    def encode(self, text: Text, special: bool = True) -> list[int]:
        """The tokens of a text, or of bytes; special=False reads special tokens as plain text."""
        if not isinstance(text, str):
            text = as_bytes("BPETokenizer", text).decode("utf-8", "surrogateescape")
        found: list[int] = []
        known = self._known
        for part in self._special.cut(text) if special else [text]:
            if isinstance(part, int):
                found.append(part)
                continue
            for word in words(self._words, part):
                tokens = known.get(word)
                if tokens is None:
                    if len(known) >= REMEMBERED:
                        known.clear()
                    tokens = known[word] = self._encoded(as_bytes("BPETokenizer", word))
                found += tokens
        return found

    def encode_batch(self, texts: Iterable[Text], special: bool = True) -> list[list[int]]:
        """The tokens of each of several texts."""
        return [self.encode(text, special) for text in texts]

    def _encoded(self, word: bytes) -> list[int]:
        """The tokens of a word: of all pairs that can be merged, always the one of lowest rank.

        Tokens are a chain, and pairs wait in a heap: n log n for any word.
        """
        if self.whole_words and word in self.vocab:
            return [self.vocab[word]]
        tokens: list[int] = [self._first[byte] for byte in word]
        after = list(range(1, len(tokens) + 1))
        before = list(range(-1, len(tokens) - 1))
        end, ranks = len(tokens), self._ranks
        heap: list[tuple[int, int, int, int]] = []

        def offer(place: int) -> None:
            if place >= 0 and after[place] < end:
                pair = tokens[place], tokens[after[place]]
                found = ranks.get(pair)
                if found is not None:
                    heapq.heappush(heap, (found[0], place, *pair))

        for place in range(end - 1):
            offer(place)
        while heap:
            _, place, left, right = heapq.heappop(heap)
            other = after[place]
            # Since it was offered, either may have become part of another pair.
            if tokens[place] != left or other >= end or tokens[other] != right:
                continue
            tokens[place] = ranks[left, right][1]
            tokens[other] = -1
            after[place] = after[other]
            if after[other] < end:
                before[after[other]] = place
            offer(before[place])
            offer(place)
        return [token for token in tokens if token >= 0]

    # ---- tokens to text

    def decode_bytes(self, ids: Iterable[int], skip_special_tokens: bool = False) -> bytes:
        """The bytes that tokens stand for."""
        named = {number: token.encode() for token, number in self.special_tokens.items()}
        parts = []
        for number in map(int, ids):
            if number in named:
                parts += [] if skip_special_tokens else [named[number]]
            elif number in self._bytes:
                parts.append(self._bytes[number])
            else:
                raise unknown("BPETokenizer", number, self.vocab_size)
        return b"".join(parts)

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = False) -> str:
        """The text of tokens; bytes that are no UTF-8 become �."""
        return self.decode_bytes(ids, skip_special_tokens).decode("utf-8", "replace")

    def token_to_id(self, token: str) -> int | None:
        """The number of a special token, or of the token with this text; None if there is none."""
        found = self.special_tokens.get(token)
        return self.vocab.get(token.encode()) if found is None else found

    # ---- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a tokenizer.json, which `from_file` and other libraries read."""
        facts = (self.vocab, self.merges, self.special_tokens, self.pattern, self.whole_words)
        write(path, files.text_of(*facts))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a tokenizer.json of a byte-level BPE; `data.Tokenizer` reads the other kinds.

        Tokens that a template of the file would put around a text are not added.
        """
        return cls(**files.parts_of(path))

    @classmethod
    def from_vocab(
        cls, vocab: str | os.PathLike[str], merges: str | os.PathLike[str],
        special_tokens: Sequence[str] = ("<|endoftext|>",),
    ) -> Self:  # fmt: skip
        """Read GPT-2's two files; special_tokens that are in the vocabulary are special."""
        return cls(**files.parts_of_two(vocab, merges, special_tokens))

    def __repr__(self) -> str:
        facts = f"vocab_size={self.vocab_size}, merges={len(self.merges)}"
        return f"BPETokenizer({facts}, special_tokens={list(self.special_tokens)})"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_known": {}}


def _check(made: BPETokenizer) -> None:
    """Refuse numbers, bytes and merges that do not fit together."""
    what = "BPETokenizer"
    numbers = [*made.vocab.values(), *made.special_tokens.values()]
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in numbers):
        raise ArgumentError(explain(what, "a token's number is a whole number >= 0"))
    if len(set(numbers)) < len(numbers):
        raise ArgumentError(explain(what, "two tokens have one number"))
    lacking = [k for k in range(256) if bytes([k]) not in made.vocab]
    if lacking:
        hint = "a tokenizer of another kind? data.Tokenizer reads those"
        raise ArgumentError(explain(what, "not every byte is a token", hint, first=lacking[0]))
    for rank, (left, right) in enumerate(made.merges):
        if not all(token in made.vocab for token in (left, right, left + right)):
            facts = {"merge": rank, "pair": (left, right)}
            raise ArgumentError(explain(what, "a merge of what is no token", **facts))
