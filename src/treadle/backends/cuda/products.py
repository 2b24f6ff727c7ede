"""Which form a product takes."""

from __future__ import annotations

from treadle.backends.choices import Machine
from treadle.backends.cuda.copies import COPIES
from treadle.backends.cuda.dealt import Dealt, is_dealt
from treadle.backends.cuda.divided import is_folded, suits
from treadle.backends.cuda.finisher import divided
from treadle.backends.cuda.forms import INDEX_LIMIT
from treadle.backends.cuda.joined import joined
from treadle.backends.cuda.matmul import Matmul
from treadle.backends.cuda.streamed import Quick, Streamed, is_able
from treadle.backends.cuda.windowed import Windowed, is_windowed
from treadle.base.dtypes import float32
from treadle.base.knobs import TF32
from treadle.base.sizes import most
from treadle.kernel.steps import ProductStep


def product_of(
    product: ProductStep, processors: int, machine: Machine, architecture: int
) -> Matmul:
    """A product in the form that suits it."""
    dtype = product.node.dtype
    sizes = [x.operand.base.type.size for x in product.sides()]
    cores = dtype.size <= 2 or (dtype is float32 and TF32.value)
    near = max(map(most, (product.node.type.size, *sizes))) < INDEX_LIMIT
    given = product, processors, machine, architecture
    quick = near and dtype.size > 1 and suits(product, processors, architecture)
    if quick and is_folded(product):
        return _divided(*given)
    if is_windowed(product):
        return joined(Windowed(*given))
    if architecture < COPIES or not (cores and near) or not is_able(product):
        return Matmul(*given)
    if quick:
        return _divided(*given)
    return joined(Streamed(*given)) if dtype.size == 2 else Quick(*given)


def _divided(product: ProductStep, processors: int, machine: Machine, architecture: int) -> Matmul:
    given = product, processors, machine, architecture
    return Dealt(*given) if is_dealt(product, processors) else joined(divided(*given))
