"""The tokenizer in the metadata of a GGUF file, if it merges pairs of bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treadle.base.errors import NotSupported, explain
from treadle.data import BPETokenizer
from treadle.data.tokens.files import BYTES, DIGITS
from treadle.data.tokens.words import GPT2

_ENDINGS = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_WORDS, _MARKS = r"[^\r\n\p{L}\p{N}]?\p{L}+", r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"


def _newer(digits: str) -> tuple[str, ...]:
    return ("|".join((_ENDINGS, _WORDS, digits, _MARKS, _SPACES)),)


# tokenizer.ggml.pre: where texts are cut, and whether words that are tokens are not merged.
CUTS: dict[str, tuple[tuple[str, ...], bool]] = {
    "default": ((GPT2,), False), "gpt-2": ((GPT2,), False), "smollm": ((DIGITS, GPT2), False),
    "qwen2": (_newer(r"\p{N}"), False), "llama-bpe": (_newer(r"\p{N}{1,3}"), True),
}  # fmt: skip
SPECIAL = (3, 4)  # kinds of tokens: control, and defined by the user


def tokenizer_in(metadata: Mapping[str, Any]) -> BPETokenizer:
    """The tokenizer that metadata describe."""
    own = {
        name.removeprefix("tokenizer.ggml."): value for name, value in metadata.items()
        if name.startswith("tokenizer.ggml.")
    }  # fmt: skip
    kind, cut = own.get("model"), own.get("pre", "default")
    if kind != "gpt2" or cut not in CUTS:
        hint = f"read are byte pairs (gpt2), cut as {', '.join(CUTS)}; else give a tokenizer.json"
        facts = {"model": kind, "pre": cut}
        raise NotSupported(explain("GGUF", "a tokenizer of another kind", hint, **facts))
    kinds = own.get("token_type") or [1] * len(own["tokens"])
    vocab: dict[bytes, int] = {}
    special: dict[str, int] = {}
    for number, (token, which) in enumerate(zip(own["tokens"], kinds, strict=True)):
        if which in SPECIAL or not all(letter in BYTES for letter in token):
            special[token] = number
        else:
            vocab[_bytes(token)] = number
    pairs = [merge.split(" ") for merge in own["merges"]]
    merges = [(_bytes(left), _bytes(right)) for left, right in pairs]
    return BPETokenizer(vocab, merges, special, *CUTS[cut])


def _bytes(token: str) -> bytes:
    return bytes(BYTES[letter] for letter in token)
