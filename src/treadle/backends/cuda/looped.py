"""A loop program as a launch: its text in a form, arguments, and how many programs there are."""

from __future__ import annotations

from collections.abc import Mapping

from treadle.backends.cuda import owners
from treadle.backends.cuda.forms import SCAN, Form, constants_of, size_of
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.texts import kernel_text
from treadle.base.dtypes import int32, int64
from treadle.kernel.build import Built
from treadle.kernel.signature import Signature

FORMS = {"map": "", "rows": "rows", "blocks": "columns"}  # in names, if not as they are


def looped(built: Built, form: Form, span: int, memory: Mapping[str, object]) -> Launch:
    """The launch; span: columns of a part, memory: what else the form works in."""
    loops = built.loops
    signature = Signature(loops)
    arguments = Arguments()
    arguments.loops(built, signature, form.wide)
    rows, columns = size_of(loops.outer[form.split :]), size_of(loops.inner)
    programs, second = -(-rows // form.rows), 1
    if form.kind == "map":
        programs *= -(-columns // form.columns)
    elif form.kind == "blocks":
        arguments.integer("rows_per_block", loops.rows_per_block, form.wide)
        programs = -(-rows // loops.rows_per_block)
        second = 1 if form.whole or form.in_memory else -(-columns // form.columns)
    if form.split:
        arguments.integer("span", span, form.wide)
        second = loops.outer[0].extent
    elif form.kind == "owners":
        programs, second = columns, programs
    elif form.kind == "sorted":
        programs, second = owners.places_of(loops), programs
    elif form.kind in ("marks", "keys"):
        programs = -(-columns // SCAN)
    for name, buffer in memory.items():
        arguments.memory(name, int64 if name == "order" else int32, buffer)
    text = kernel_text(signature.text, form)
    source = arguments.source(text, constants_of(form), form.warps)
    how = FORMS.get(form.kind, form.kind)
    return Launch(source, (programs, second), arguments.values, loops.size, form=how)
