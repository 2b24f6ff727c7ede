"""What a kernel is known by to a search: text and shape, not the numbers it computes with."""

from __future__ import annotations

from treadle.kernel.chain import Chained, Operand
from treadle.kernel.loops import Loops
from treadle.kernel.signature import Signature


def of_loops(loops: Loops) -> str:
    """A loop program."""
    signature = Signature(loops)
    words = [v for k, (_, v) in enumerate(signature.values) if f"p{k}" not in signature.constants]
    return f"loops {words}\n{signature.text}"


def of_chain(chain: Chained) -> str:
    """Chained products."""
    frame = chain.frame
    sizes = [axis.extent for axis in (*frame.batch, frame.lane, frame.stream)]
    products = [(p.depth, _steps(p.lane), _steps(p.stream)) for p in chain.producers]
    fed = [(c.columns, c.across, _steps(c.operand)) for s in chain.sweeps for c in s.consumers]
    programs = [of_loops(built.loops) for built in chain.programs()]
    return "\n".join([f"chain {chain.dtype.name} {sizes} {products} {fed}", *programs])


def _steps(operand: Operand) -> tuple[object, ...]:
    return operand.base.dtype.name, *operand.batch, operand.along, operand.depth
