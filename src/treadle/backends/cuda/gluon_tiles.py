"""Which tile suits a product in Gluon, and into how many pieces it is cut along k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.backends.cuda.gluon import GROUPS, HOPPER, LANES, is_there
from treadle.backends.cuda.matmul import Tile
from treadle.base.dtypes import DType
from treadle.base.sizes import Size, most
from treadle.ir.node import Node

DEPTH = 128  # bytes along k of a block: what tensor cores read in one go
ENOUGH = 10  # steps of a program: of fewer, smaller tiles have more done at once
LEAVING = 5  # steps that take as long as to start another kernel, which adds pieces up,
LEFT = 1 << 18  # and elements of pieces that take as long to be written and read as one
MOST = 16  # pieces
EVENLY = 0  # pieces, where steps are dealt to programs instead (see `dealt.py`)
HANDED = 16  # steps that take as long as to leave a part, wait for others, and share fewer lines
FEW = 2  # tiles for each processor: of more, programs read at too many places at once
WASTE = 4 / 3  # elements of tiles, where as many are wanted as 1


def is_enough(node: Node, depth: int, processors: int, architecture: int) -> bool:
    """Can a product so deep be computed so, whatever becomes of it, and is it enough for all?"""
    if architecture != HOPPER or not is_there() or len(node.shape) > 2:
        return False
    rows, *_ = node.shape
    m, n, k = map(most, (*node.shape, depth))
    wide, *_ = tiles_of(node.dtype)
    tile, _ = chosen_for(node, depth, processors)
    pairs, steps = pairs_of(m, n, tile), -(-k // tile.k)
    whole = -(-rows // LANES) % GROUPS == 0 and pairs * GROUPS * LANES * tile.n <= WASTE * m * n
    return whole and pairs * steps * tile.n >= ENOUGH * processors * wide.n


def tiles_of(dtype: DType) -> tuple[Tile, ...]:
    """Those of a group: wide and narrow ones."""
    k = DEPTH // dtype.size
    return Tile(LANES, 256, k, 4, 3, 1.0), Tile(LANES, 128, k, 4, 5, 0.96)


def chosen_for(node: Node, depth: int, processors: int) -> tuple[Tile, int]:
    """The tile that suits a product so deep best, and in how many pieces it is cut along k."""
    m, n = node.shape
    return chosen(tiles_of(node.dtype), m, n, depth, processors)


def chosen(tiles: Sequence[Tile], m: Any, n: Any, k: Any, processors: int) -> tuple[Tile, int]:
    """The tile of least estimated time, and in how many pieces it is cut along k, or EVENLY."""
    wide, known = tiles[0], not any(isinstance(size, Size) for size in (m, n, k))
    m, n, k = map(most, (m, n, k))

    def time(choice: tuple[Tile, int]) -> float:
        tile, pieces = choice
        pairs, steps = pairs_of(m, n, tile), -(-k // tile.k)
        if pieces == EVENLY:
            share = pairs * steps / processors
            handed = HANDED * (2 + steps / share)
            return (share / tile.speed + handed) * tile.n / wide.n
        turns = -(-pairs * pieces // processors)
        busy = turns * -(-k // (tile.k * pieces)) * tile.n / (wide.n * tile.speed)
        return busy if pieces == 1 else busy + LEAVING + pieces * m * n / LEFT

    deepest = max(1, min(MOST, k // (wide.k * ENOUGH)))
    ways = [(tile, pieces) for tile in tiles for pieces in range(1, deepest + 1)]
    ways += [(t, EVENLY) for t in tiles if known and pairs_of(m, n, t) <= FEW * processors]
    return min(ways, key=time)


def pairs_of(m: int, n: int, tile: Tile) -> int:
    """Tiles of both groups together, as one."""
    return -(-m // (GROUPS * LANES)) * -(-n // tile.n)
