"""Which op takes which dtypes on which device, as a table that people read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from treadle.backends.registry import BACKENDS, supports
from treadle.base.dtypes import ALL, COMPLEX, DType, uint32
from treadle.base.errors import DtypeError
from treadle.ir.graph import toposort
from treadle.ir.node import Node, definition
from treadle.ir.recording import RECORDING
from treadle.ops.defs import Kind, Op
from treadle.ops.elementwise import threefry
from treadle.testing.samples import REFERENCE, first_call, public_rows


def support_table() -> dict[str, dict[str, list[DType]]]:
    """Op to device to the dtypes that it takes there."""
    return {name: row_support(op) for name, op in public_rows().items()}


def row_support(op: Op) -> dict[str, list[DType]]:
    """Device to the dtypes that a row takes there.

    The row is recorded on its first sample: what its rule refuses is not there, and a composite is
    there where all that it is made of is.
    """
    table: dict[str, list[DType]] = {backend: [] for backend in BACKENDS}
    for kind in (uint32,) if op is threefry else (*ALL, *COMPLEX):
        needed = _needed(op, kind)
        for backend, taken in table.items():
            if needed is not None and all(supports(part, d, backend) for part, d in needed):
                taken.append(kind)
    return table


def _needed(op: Op, kind: DType) -> set[tuple[Op, DType]] | None:
    """The primitives, and their dtypes, that a row on a dtype is made of; None: refused."""
    made: set[Node] = set()
    RECORDING.watch(RECORDING.sites, made)
    try:
        first_call(op, kind, REFERENCE)
    except DtypeError:
        return None
    finally:
        RECORDING.watch(RECORDING.sites, None)
    found: set[tuple[Op, DType]] = set()
    for node in made:
        if node.op.kind is Kind.COMPOSITE and not node.operands:  # computed by now
            found |= _needed(node.op, node.dtype) or set()
        else:
            parts = _primitives([node], frozenset(node.operands))
            found |= {(n.op, d) for n in parts for d in (n.dtype, *(x.dtype for x in n.operands))}
    return found


def _primitives(roots: Sequence[Node], known: frozenset[Node]) -> Iterator[Node]:
    """Nodes as backends see them: composites by their definition."""
    for node in toposort(roots, known.__contains__):
        if node in known or (node.op.kind is Kind.COMPOSITE and not node.operands):
            continue  # what was computed on the way has forgotten what it is made of
        if node.op.kind is Kind.COMPOSITE:
            yield from _primitives([definition(node)], frozenset(node.operands))
        else:
            yield node
