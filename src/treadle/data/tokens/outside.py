"""Tokenizers of any kind, run by the package `tokenizers`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Self

from treadle.base.errors import FileError, explain
from treadle.base.files import require_regular
from treadle.data.extras import extra
from treadle.data.tokens.bytes import unknown


class Tokenizer:
    """A tokenizer.json of any kind, with the package `tokenizers` (the extra treadle[data])."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a tokenizer.json."""
        package = extra("Tokenizer", "tokenizers", "tokenizers")
        require_regular("Tokenizer", path)  # what is not there is said by its own error
        try:
            return cls(package.Tokenizer.from_file(os.fspath(path)))
        except Exception as error:  # the package raises nothing narrower
            wrong = f"not a tokenizer.json: {error}"
            raise FileError(explain("Tokenizer", wrong, path=path)) from error

    @property
    def vocab_size(self) -> int:
        """The number of tokens, special ones too."""
        return int(self.inner.get_vocab_size(with_added_tokens=True))

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        """The tokens of a text; add_special_tokens puts those of the file's template around it."""
        return list(self.inner.encode(text, add_special_tokens=add_special_tokens).ids)

    def encode_batch(
        self, texts: Iterable[str], add_special_tokens: bool = False
    ) -> list[list[int]]:
        """The tokens of each of several texts."""
        found = self.inner.encode_batch(list(texts), add_special_tokens=add_special_tokens)
        return [list(one.ids) for one in found]

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = False) -> str:
        """The text of tokens."""
        numbers = [int(number) for number in ids]
        for number in numbers:
            if number < 0 or self.inner.id_to_token(number) is None:
                raise unknown("Tokenizer", number, self.vocab_size)
        return str(self.inner.decode(numbers, skip_special_tokens=skip_special_tokens))

    def token_to_id(self, token: str) -> int | None:
        """The number of a token, None if there is none."""
        return self.inner.token_to_id(token)

    def __repr__(self) -> str:
        return f"Tokenizer(vocab_size={self.vocab_size})"
