"""How a chain is cut: lanes of a program, stream positions of a tile."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from treadle.backends.choices import Machine
from treadle.backends.cuda.ways import settled
from treadle.backends.questions import of_chain
from treadle.kernel.chain import Chained

FEW_LANES = 16  # what a product of tiles has at least


@dataclass(frozen=True)
class Cut:
    """Lanes of a program, stream positions of a tile, and how it is run.

    copies: does the copy engine read operands, where there is one?
    """

    lanes: int
    stream: int
    warps: int
    stages: int
    copies: bool = True


OTHER_CUTS = [Cut(lanes, stream, 4, 2) for lanes in (32, 64, 128) for stream in (32, 64, 128)]
"""What a search may try."""


def choose_cut(chain: Chained) -> Cut:
    """The tile of a chain: two programs a processor are worth more than one that is large."""
    columns = max([c.columns for s in chain.sweeps for c in s.consumers], default=0)
    widest = max(columns, *(p.depth for p in chain.producers))
    consumers = max(len(s.consumers) for s in chain.sweeps)
    if chain.dtype.size > 2:
        return Cut(32, 32, 4, 1)
    if chain.frame.lane.extent <= FEW_LANES and widest <= 128:
        return Cut(FEW_LANES, 128, 4, 3)  # it waits for memory: most lanes would be idle
    if len(chain.producers) == 1:
        return Cut(64, 128, 4, 2) if widest <= 64 else Cut(64, 64, 4, 3)
    if consumers > 1 and chain.limits and 32 < widest <= 64:
        return Cut(64, 128, 4, 2)  # without limits its products would be waited for one by one
    if consumers > 1 or widest > 128:
        return Cut(64, 64, 4, 2) if widest > 64 else Cut(64, 64, 4, 3)
    if widest > 64:
        return Cut(128, 64, 8, 3, copies=False)  # eight warps are quicker by themselves
    return Cut(64, 64, 4, 3)


def programs_of(chain: Chained, cut: Cut) -> int:
    """Blocks of lanes, of all items."""
    items = prod(axis.extent for axis in chain.frame.batch)
    return -(-chain.frame.lane.extent // cut.lanes) * items


def settled_cut(chain: Chained, machine: Machine) -> Cut:
    """The tile of a chain, searched for or not."""
    cut = choose_cut(chain)
    return settled(machine, lambda: of_chain(chain), cut, OTHER_CUTS, "lanes", "stream")
