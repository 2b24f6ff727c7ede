"""How generated blocks live among handwritten text: found, replaced, merged, never lost.

    # <gen relu>
    def relu(x: Tensor) -> Tensor:
        ...
        # </gen relu k3jd9qx7ma>

The closing marker carries a checksum of every generated line. They say whether somebody edited the
block since, and they are all that a three-way merge must know about the text it started from.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

SUM = 5  # characters of a line's checksum: 25 bits
WIDTH = 100
OPEN = re.compile(r"^\s*(?:#|<!--) <gen ([\w.-]+)>(?: -->)?$")
MORE = re.compile(r"^\s*(?:#|<!--) <sums (\w+)>(?: -->)?$")
CLOSE = re.compile(r"^\s*(?:#|<!--) </gen ([\w.-]+) (\w+)>(?: -->)?$")
ANY = re.compile(r"^\s*(?:#|<!--) </?gen\b")
EDITED, ROW, END = (
    "<<<<<<< edited by hand",
    "======= the row says",
    ">>>>>>> decide, then delete this",
)


Line = tuple[str, str]
"""A checksum and the line it is of."""


class MarkerError(Exception):
    """Markers that do not pair up: nothing is written before somebody mends them."""


@dataclass(frozen=True)
class Piece:
    """A block as the table wants it.

    gap is the number of blank lines around it; among the blocks of its own group it stands in the
    order of the table.
    """

    name: str
    lines: tuple[str, ...]
    gap: int = 1
    group: str = "rows"


@dataclass
class Block:
    """A block as it stands in a file."""

    name: str
    lines: list[str]
    sums: list[str]

    @property
    def edited(self) -> bool:
        """Does the text differ from what was generated?"""
        return sums_of(self.lines) != self.sums

    @property
    def undecided(self) -> bool:
        """Does an earlier conflict still stand in it?"""
        return any(END in line for line in self.lines)


@dataclass
class Merged:
    """A file's new text, what was done to it, and what somebody must look at."""

    text: str
    done: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def sums_of(lines: Iterable[str]) -> list[str]:
    """A checksum for every line."""
    return [_sum(line.rstrip()) for line in lines]


def _sum(line: str) -> str:
    digest = hashlib.blake2b(line.encode(), digest_size=5).digest()
    return base64.b32encode(digest).decode().lower()[:SUM]


# ---- reading and writing


def parts_of(text: str, where: str = "text") -> list[list[str] | Block]:
    """Runs of handwritten lines and the blocks between them."""
    parts: list[list[str] | Block] = [[]]
    block: Block | None = None
    for number, line in enumerate(text.split("\n"), 1):
        last, opens, more, closes = parts[-1], OPEN.match(line), MORE.match(line), CLOSE.match(line)
        if block is None and opens:
            block = Block(opens[1], [], [])
            parts.append(block)
        elif block is not None and more:
            block.sums += _cut(more[1])
        elif block is not None and closes and closes[1] == block.name:
            block.sums += _cut(closes[2])
            block = None
            parts.append([])
        elif ANY.match(line):
            raise MarkerError(f"{where}:{number}: a marker without its other half: {line.strip()}")
        elif block is not None:
            block.lines.append(line)
        elif isinstance(last, list):
            last.append(line)
    if block is not None:
        raise MarkerError(f"{where}: the block {block.name} is not closed")
    return parts


def _cut(sums: str) -> list[str]:
    return [] if sums == "none" else [sums[k : k + SUM] for k in range(0, len(sums), SUM)]


def text_of(parts: Sequence[list[str] | Block], markdown: bool = False) -> str:
    """The file that parts_of would read as these parts."""
    lines: list[str] = []
    for part in parts:
        lines += part if isinstance(part, list) else _with_markers(part, markdown)
    return "\n".join(lines)


def _with_markers(block: Block, markdown: bool) -> list[str]:
    """A block's lines: the markers stand at the indentation of the line they are next to."""
    filled = [line for line in block.lines if line.strip()] or [""]
    first, last = (" " * (len(line) - len(line.lstrip())) for line in (filled[0], filled[-1]))
    sums = "".join(block.sums) or "none"
    room = (WIDTH - len(f"{last}# </gen {block.name} >")) // SUM * SUM
    lines = [_comment(first, f"<gen {block.name}>", markdown), *block.lines]
    while not markdown and len(sums) > room:
        lines.append(_comment(last, f"<sums {sums[:room]}>", markdown))
        sums = sums[room:]
    return [*lines, _comment(last, f"</gen {block.name} {sums}>", markdown)]


def _comment(indent: str, text: str, markdown: bool) -> str:
    return f"{indent}<!-- {text} -->" if markdown else f"{indent}# {text}"


# ---- bringing a file up to date


def merge(text: str, pieces: Sequence[Piece], where: str, markdown: bool = False) -> Merged:
    """The text with its blocks as the table wants them and all edits kept."""
    merged = Merged(text)
    wanted = {piece.name: piece for piece in pieces}
    kept: list[list[str] | Block] = []
    seen: set[str] = set()
    gone = False
    for part in parts_of(text, where):
        if isinstance(part, Block):
            if part.name in seen:
                merged.problems.append(f"{where}: the block {part.name} is there twice")
            elif not _update(part, wanted.get(part.name), merged, where, markdown):
                gone = True
                continue
            seen.add(part.name)
        elif gone and not part[0].strip():  # one gap is left of the two around it
            _drop_gap(kept)
        gone = False
        kept.append(part)
    for number, piece in enumerate(pieces):
        if piece.name not in seen:
            _insert(kept, pieces, number)
            merged.done.append(f"{where}: {piece.name} added")
    merged.text = text_of(kept, markdown)
    return merged


def _update(
    block: Block, piece: Piece | None, merged: Merged, where: str, markdown: bool
) -> bool:  # fmt: skip
    """Bring a block up to date; False: its row is gone and nobody edited it."""
    here = f"{where}: {block.name}"
    if piece is None:
        if block.edited:
            merged.problems.append(f"{here} has no row any more but was edited: delete it, or its "
                                   "markers to keep it")  # fmt: skip
        else:
            merged.done.append(f"{here} removed")
        return block.edited
    new = sums_of(piece.lines)
    if new != block.sums:
        if block.edited:
            block.lines = three_way(block, piece.lines, markdown)
            merged.done.append(f"{here} changed, edits merged")
        else:
            block.lines = list(piece.lines)
            merged.done.append(f"{here} changed")
        block.sums = new
    if block.undecided:
        merged.problems.append(f"{here}: an edit and the row changed the same lines")
    return True


def _drop_gap(parts: Sequence[list[str] | Block]) -> None:
    last = parts[-1] if parts else None
    while isinstance(last, list) and last and not last[-1].strip():
        last.pop()


def _insert(parts: list[list[str] | Block], pieces: Sequence[Piece], number: int) -> None:
    """Put a new block behind its nearest neighbour before it, else before the nearest after it."""
    piece = pieces[number]
    block = Block(piece.name, list(piece.lines), sums_of(piece.lines))
    places = {part.name: k for k, part in enumerate(parts) if isinstance(part, Block)}
    blanks = [""] * piece.gap
    before, after = (
        [p.name for p in side if p.group == piece.group and p.name in places]
        for side in (reversed(pieces[:number]), pieces[number + 1 :])
    )
    if before:
        place = places[before[0]] + 1
        parts[place:place] = [blanks, block]
    elif after:
        place = places[after[0]]
        parts[place:place] = [block, blanks]
    else:
        last = parts[-1] if isinstance(parts[-1], list) else []
        while last and not last[-1].strip():
            last.pop()
        parts += [[*blanks], block, [""]]


# ---- three ways


def three_way(block: Block, theirs: Sequence[str], markdown: bool = False) -> list[str]:
    """The edited lines and the row's, each where the other kept what both started from."""
    base = block.sums
    ours = list(zip(sums_of(block.lines), block.lines, strict=True))
    new = list(zip(sums_of(theirs), theirs, strict=True))
    merged: list[str] = []
    done = (0, 0, 0)  # lines of base, ours and theirs dealt with
    for start, our_start, new_start in _common(base, [x for x, _ in ours], [x for x, _ in new]):
        was = base[done[0] : start]
        mine, now = ours[done[1] : our_start], new[done[2] : new_start]
        if len(was) == len(mine) == len(now):  # lines rewritten in place are merged one by one
            for k in range(len(was)):
                merged += _chosen(was[k : k + 1], mine[k : k + 1], now[k : k + 1], markdown)
        else:
            merged += _chosen(was, mine, now, markdown)
        merged += theirs[new_start : new_start + 1]
        done = (start + 1, our_start + 1, new_start + 1)
    return merged


def _chosen(
    was: Sequence[str], mine: Sequence[Line], now: Sequence[Line], markdown: bool
) -> list[str]:
    """Lines that one side changed are that side's; what both changed is shown as both have it."""
    mine_sums, now_sums = [x for x, _ in mine], [x for x, _ in now]
    if mine_sums in (list(was), now_sums):
        return [line for _, line in now]
    if now_sums == list(was):
        return [line for _, line in mine]
    return _conflict([line for _, line in mine], [line for _, line in now], markdown)


def _common(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Iterable[tuple[int, int, int]]:
    """Where each line that all three share stands in each; then their ends."""
    mine = dict(pair for match in _matches(base, ours) for pair in _pairs(*match))
    new = dict(pair for match in _matches(base, theirs) for pair in _pairs(*match))
    for k in sorted(mine.keys() & new.keys()):
        yield k, mine[k], new[k]
    yield len(base), len(ours), len(theirs)


def _matches(a: Sequence[str], b: Sequence[str]) -> Iterable[tuple[int, int, int]]:
    return SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()


def _pairs(a: int, b: int, size: int) -> Iterable[tuple[int, int]]:
    return zip(range(a, a + size), range(b, b + size), strict=True)


def _conflict(mine: Sequence[str], theirs: Sequence[str], markdown: bool) -> list[str]:
    """Both versions. The edited one stays in force and the other is a comment: the file works."""
    nearest = [line for line in (*mine, *theirs) if line.strip()] or [""]
    indent = " " * (len(nearest[0]) - len(nearest[0].lstrip()))
    if markdown:
        return [f"<!-- {EDITED} -->", *mine, f"<!-- {ROW}", *theirs, f"{END} -->"]
    shown = [f"{indent}# {line[len(indent) :]}".rstrip() for line in theirs]
    return [f"{indent}# {EDITED}", *mine, f"{indent}# {ROW}", *shown, f"{indent}# {END}"]
