r"""Where a text is cut before pairs are merged: a pattern, in the dialect of tokenizers' files.

Such patterns name classes of Unicode, `\p{L}` and `\p{N}`, which Python's re does not have: they
are written out as ranges.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Sequence

from treadle.base.errors import ArgumentError, explain

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_PARTS = re.compile(r"\\p\{(\w+)\}|\\(.)|(\[\^?)|(\])", re.DOTALL)


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern as Python's re runs it."""
    try:
        return re.compile(_translated(pattern))
    except re.error as error:
        wrong = f"the pattern cannot be read: {error}"
        raise ArgumentError(explain("tokenizer", wrong, pattern=pattern)) from error


def _translated(pattern: str) -> str:
    inside = False

    def part(match: re.Match[str]) -> str:
        nonlocal inside
        name, escaped, opens, closes = match.groups()
        if opens:
            inside = True
        elif closes:
            inside = False
        if name:
            return ranges(name) if inside else f"[{ranges(name)}]"
        if escaped == "s":
            return SPACE if inside else f"[{SPACE}]"
        if escaped == "S" and not inside:
            return f"[^{SPACE}]"
        return match[0]

    return _PARTS.sub(part, pattern)


@functools.cache
def ranges(category: str) -> str:
    """The characters of a category of Unicode, `L` or `Lu`, as they stand inside of brackets."""
    found: list[str] = []
    first: int | None = None
    for code in range(sys.maxunicode + 2):
        is_in = code <= sys.maxunicode and unicodedata.category(chr(code)).startswith(category)
        if is_in and first is None:
            first = code
        elif not is_in and first is not None:
            found.append(f"\\U{first:08x}-\\U{code - 1:08x}")
            first = None
    if not found:
        wrong = "no characters are of this category"
        raise ArgumentError(explain("tokenizer", wrong, "L, N, Lu, ...", got=category))
    return "".join(found)


def words(patterns: Sequence[re.Pattern[str]], text: str) -> list[str]:
    """A text cut by one pattern, its pieces by the next, and so on: together all of it."""
    pieces = [text]
    for pattern in patterns:
        pieces = [word for piece in pieces for word in _cut(pattern, piece)]
    return pieces


def _cut(pattern: re.Pattern[str], text: str) -> list[str]:
    """The matches of a pattern, and what lies between them."""
    if not pattern.groups:
        found: list[str] = pattern.findall(text)
        if sum(map(len, found)) == len(text):  # there is nothing between them
            return [word for word in found if word]
    found = []
    end = 0
    for match in pattern.finditer(text):
        start = match.start()
        if start > end:
            found.append(text[end:start])
        if match.end() > start:
            found.append(match[0])
            end = match.end()
    if end < len(text):
        found.append(text[end:])
    return found
