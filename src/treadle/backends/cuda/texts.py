"""The text of a loop program's kernel, by its form."""

from __future__ import annotations

from functools import lru_cache

from treadle.backends.cuda.emit import Emitter
from treadle.backends.cuda.forms import Form
from treadle.backends.cuda.owners import Marks, Owners
from treadle.backends.cuda.segmented import Keys, Sorted
from treadle.kernel.parser import parse

EMITTERS = {"owners": Owners, "marks": Marks, "keys": Keys, "sorted": Sorted}


@lru_cache(maxsize=1024)
def kernel_text(text: str, form: Form) -> str:
    """The Triton module of the kernel that a signature's text describes."""
    return EMITTERS.get(form.kind, Emitter)(parse(text), form).text()
