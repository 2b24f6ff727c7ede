"""The plainest tokenizer, and what tokenizers share: special tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from treadle.base.errors import ArgumentError, IndexingError, explain

Text = str | bytes


class ByteTokenizer:
    """Text as its UTF-8 bytes, 0 to 255; special tokens have the numbers from 256 on."""

    def __init__(self, special_tokens: Sequence[str] = ()) -> None:
        self.special_tokens = {token: 256 + n for n, token in enumerate(special_tokens)}
        self._special = Specials("ByteTokenizer", self.special_tokens)

    @property
    def vocab_size(self) -> int:
        """The number of tokens."""
        return 256 + len(self.special_tokens)

    def encode(self, text: Text, special: bool = True) -> list[int]:
        """The tokens of a text, or of bytes; special=False reads special tokens as plain text."""
        whole = as_bytes("ByteTokenizer", text)
        if not special or not self.special_tokens:
            return list(whole)
        found: list[int] = []
        for part in self._special.cut(whole):
            found += [part] if isinstance(part, int) else as_bytes("ByteTokenizer", part)
        return found

    def decode_bytes(self, ids: Iterable[int], skip_special_tokens: bool = False) -> bytes:
        """The bytes that tokens stand for."""
        named = {number: token.encode() for token, number in self.special_tokens.items()}
        found = bytearray()
        for number in map(int, ids):
            if 0 <= number < 256:
                found.append(number)
            elif number not in named:
                raise unknown("ByteTokenizer", number, self.vocab_size)
            elif not skip_special_tokens:
                found += named[number]
        return bytes(found)

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = False) -> str:
        """The text of tokens; bytes that are no UTF-8 become �."""
        return self.decode_bytes(ids, skip_special_tokens).decode("utf-8", "replace")

    def __repr__(self) -> str:
        return f"ByteTokenizer(vocab_size={self.vocab_size})"


class Specials:
    """Tokens that stand for themselves wherever they occur in a text."""

    def __init__(self, what: str, tokens: Mapping[str, int]) -> None:
        if any(not isinstance(token, str) or not token for token in tokens):
            raise ArgumentError(explain(what, "a special token is some text", got=list(tokens)))
        self.tokens = tokens
        longest = sorted(tokens, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest))) if tokens else None

    def cut(self, text: Text) -> list[str | int]:
        """A text as pieces of text and the numbers of the special tokens between them."""
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogateescape")
        if self._pattern is None:
            return [text]
        found: list[str | int] = []
        end = 0
        for match in self._pattern.finditer(text):
            found += [text[end : match.start()], self.tokens[match[0]]]
            end = match.end()
        return [*found, text[end:]]


def as_bytes(what: str, text: Text) -> bytes:
    """UTF-8; bytes that were none when they were decoded become themselves again."""
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise ArgumentError(explain(what, "not a text", "str or bytes", got=type(text).__name__))
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ArgumentError(explain(what, f"half a character cannot be written: {error}")) from None


def unknown(what: str, number: int, size: int) -> IndexingError:
    """No token has this number."""
    return IndexingError(explain(what, "no such token", got=number, vocab_size=size))
