"""Byte-level tokenizers in files: tokenizer.json, and GPT-2's vocab.json and merges.txt."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from treadle.base.errors import FileError, explain
from treadle.data.tokens.words import GPT2

PRINTED = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
HIDDEN = [byte for byte in range(256) if byte not in PRINTED]
# How such files write a byte: as itself where it can be seen, else by a character from 256 on.
CHARACTERS = {byte: chr(byte) for byte in PRINTED} | {b: chr(256 + k) for k, b in enumerate(HIDDEN)}
BYTES = {character: byte for byte, character in CHARACTERS.items()}
DIGITS = r"\p{N}"


def shown(token: bytes) -> str:
    """A token as such files write it."""
    return "".join(CHARACTERS[byte] for byte in token)


def text_of(
    vocab: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]], special: Mapping[str, int],
    patterns: Sequence[str], whole_words: bool,
) -> str:  # fmt: skip
    """A tokenizer.json."""
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    cut: dict[str, Any] = level | {"use_regex": True}
    if tuple(patterns) != (GPT2,):
        split = {"type": "Split", "behavior": "Isolated", "invert": False}
        steps = [split | {"pattern": {"Regex": pattern}} for pattern in patterns]
        cut = {"type": "Sequence", "pretokenizers": [*steps, level | {"use_regex": False}]}
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {"id": number, "content": token, **plain, "special": True}
        for token, number in special.items()
    ]
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
        "ignore_merges": whole_words,
        "vocab": {shown(token): number for token, number in vocab.items()},
        "merges": [[shown(left), shown(right)] for left, right in merges],
    }  # fmt: skip
    whole = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": None, "pre_tokenizer": cut, "post_processor": None,
        "decoder": level | {"use_regex": True}, "model": model,
    }  # fmt: skip
    return json.dumps(whole, ensure_ascii=False, indent=1)


def parts_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a BPETokenizer is made of, from a tokenizer.json."""
    whole = _json(path)
    model = whole.get("model")
    if not isinstance(model, dict) or model.get("type", "BPE") != "BPE":
        raise _other(path, "its model is not BPE")
    for name in ("continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "dropout"):
        if model.get(name):
            raise _other(path, f"it has {name}")
    if whole.get("normalizer"):
        raise _other(path, "it changes the text first (normalizer)")
    special = {}
    for entry in _list(path, whole.get("added_tokens") or []):
        if not isinstance(entry, dict) or not isinstance(entry.get("content"), str):
            raise FileError(explain("tokenizer", "a special token is no entry", path=path))
        if any(entry.get(name) for name in ("lstrip", "rstrip", "single_word")):
            raise _other(path, f"what is around {entry['content']} matters")
        special[entry["content"]] = entry.get("id")
    vocab = _vocab(path, model.get("vocab"), special)
    merges = [_pair(path, entry) for entry in _list(path, model.get("merges"))]
    return {
        "vocab": vocab, "merges": _known(path, merges, vocab), "special_tokens": special,
        "pattern": _patterns(path, whole.get("pre_tokenizer")),
        "whole_words": bool(model.get("ignore_merges")),
    }  # fmt: skip


def parts_of_two(
    vocab: str | os.PathLike[str], merges: str | os.PathLike[str], named: Sequence[str]
) -> dict[str, Any]:
    """What a BPETokenizer is made of, from vocab.json and merges.txt."""
    found = _json(vocab)
    special = {token: found[token] for token in named if token in found}
    tokens = _vocab(vocab, found, special)
    lines = _text(merges).splitlines()
    lines = [line for line in lines if line and not line.startswith("#version")]
    pairs = _known(merges, [_pair(merges, line) for line in lines], tokens)
    return {"vocab": tokens, "merges": pairs, "special_tokens": special}


# ---- parts of files


def _text(path: Any) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FileError(explain("tokenizer", f"not text: {error}", path=path)) from error


def _json(path: Any) -> dict[str, Any]:
    try:
        whole = json.loads(_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise FileError(explain("tokenizer", f"not JSON: {error}", path=path)) from error
    if not isinstance(whole, dict):
        raise FileError(explain("tokenizer", "not an object of JSON", path=path))
    return whole


def _list(path: Any, given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise FileError(explain("tokenizer", "a list is missing", path=path))
    return given


def _vocab(path: Any, given: Any, special: Mapping[str, Any]) -> dict[bytes, int]:
    if not isinstance(given, dict):
        raise FileError(explain("tokenizer", "it has no vocabulary", path=path))
    vocab: dict[bytes, int] = {}
    for token, number in given.items():
        if token in special and special[token] == number:
            continue
        vocab[_bytes(path, token)] = number
    every = [*vocab.values(), *special.values()]
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in every):
        raise FileError(explain("tokenizer", "a token's number is a whole number", path=path))
    if len(set(every)) < len(every):
        raise FileError(explain("tokenizer", "two tokens have one number", path=path))
    if any(bytes([byte]) not in vocab for byte in range(256)):
        raise _other(path, "not every byte is a token")
    return vocab


def _bytes(path: Any, token: str) -> bytes:
    try:
        return bytes(BYTES[character] for character in token)
    except KeyError:
        raise _other(path, f"the token {token!r} is not written by bytes") from None


def _pair(path: Any, entry: Any) -> tuple[bytes, bytes]:
    parts = entry.split(" ") if isinstance(entry, str) else entry
    if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(p, str) for p in parts):
        raise FileError(explain("tokenizer", "a merge is two tokens", path=path, got=repr(entry)))
    return _bytes(path, parts[0]), _bytes(path, parts[1])


def _known(
    path: Any, merges: list[tuple[bytes, bytes]], vocab: Mapping[bytes, int]
) -> list[tuple[bytes, bytes]]:
    for left, right in merges:
        if left not in vocab or right not in vocab or left + right not in vocab:
            facts = {"path": path, "pair": (shown(left), shown(right))}
            raise FileError(explain("tokenizer", "a merge of what is no token", **facts))
    return merges


def _patterns(path: Any, given: Any) -> list[str]:
    """How texts are cut: what the steps before the merges do."""
    steps = given.get("pretokenizers") if isinstance(given, dict) else None
    steps = [given] if steps is None else steps
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise _other(path, "texts are not cut first (pre_tokenizer)")
    patterns: list[str] = []
    for step in steps:
        kind = step.get("type")
        if kind == "ByteLevel" and not step.get("add_prefix_space", False):
            patterns += [GPT2] if step.get("use_regex", True) else []
        elif kind == "Digits" and step.get("individual_digits"):
            patterns.append(DIGITS)
        elif kind == "Split" and step.get("behavior") == "Isolated" and not step.get("invert"):
            regex = step.get("pattern")
            if not isinstance(regex, dict) or not isinstance(regex.get("Regex"), str):
                raise _other(path, "texts are cut by something that is no pattern")
            patterns.append(regex["Regex"])
        else:
            raise _other(path, f"texts are cut in another way ({kind})")
    return patterns


def _other(path: Any, wrong: str) -> FileError:
    hint = "data.Tokenizer.from_file reads such files, with the package tokenizers"
    return FileError(explain("tokenizer", f"not a plain byte-level BPE: {wrong}", hint, path=path))
