"""Memory of zeros, for what programs of one launch tell each other."""

from __future__ import annotations

from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.base.dtypes import DType

BLOCK = 4096  # words of a program
TEXT = """
@triton.jit
def kernel(words, n, BLOCK: tl.constexpr):
    k = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(words + k, tl.zeros((BLOCK,), words.dtype.element_ty), mask=k < n)
"""


def cleared(buffer: object, word: DType, count: int) -> Launch:
    """The launch that clears so many words."""
    add = Arguments()
    add.memory("words", word, buffer)
    add.integer("n", count, False)
    source = add.source(with_functions(TEXT), {"BLOCK": BLOCK}, 4)
    return Launch(source, (-(-count // BLOCK), 1), add.values, count)
