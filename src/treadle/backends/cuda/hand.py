"""Triton's text of a kernel, or PTX, to machine code, here or in a process that does nothing else.

Such a process begins by importing Triton and nothing of ours: it is there sooner. See `crew.py`.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import get_ptxas
from triton.compiler import ASTSource

try:
    from triton.experimental.gluon._runtime import GluonASTSource
except ImportError:  # nobody asks for it then, see gluon.py
    GluonASTSource = ASTSource

FUSED = ('input_precision="ieee"', "# a chain")
"""In the text of products that are made of multiply-adds, and of chains, which are one kernel or
none. Elsewhere a product and a sum are rounded each, whether they are in one kernel or in two."""

PTX = ".version"
"""With which it begins, and no text of Triton's."""


class Asked(NamedTuple):
    """All that decides the machine code of a kernel, and the name it is to have."""

    text: str
    called: str
    types: tuple[tuple[str, str], ...]
    constants: tuple[tuple[str, int], ...]
    aligned: tuple[int, ...]
    warps: int
    stages: int
    registers: int
    architecture: int


def function(text: str, called: str) -> Callable[..., Any]:
    """The kernel as Triton's own object.

    Triton reads a kernel's lines back from its file; linecache stands in for the file.
    """
    text = text.replace("def kernel(", f"def {called}(")
    name = f"<treadle {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"__name__": "treadle_kernel"}
    exec(compile(text, name, "exec"), space)
    return space[called]  # type: ignore[no-any-return]


def source_type(kernel: Any) -> type[ASTSource]:
    """What Triton's compiler is given: text in its own language, or in Gluon."""
    return GluonASTSource if kernel.is_gluon() else ASTSource


def machine_code(asked: Asked) -> tuple[bytes, str, int, int, list[Any]]:
    """Code, its name, bytes of shared memory, warps, and how tensors lie in shared memory."""
    if asked.text.startswith(PTX):
        return assembled(asked), asked.called, dict(asked.constants)["shared"], asked.warps, []
    signature = dict(asked.types) | {name: "constexpr" for name, _ in asked.constants}
    aligned = {(k,): [["tt.divisibility", 16]] for k in asked.aligned}
    kernel = function(asked.text, asked.called)
    made = triton.compile(
        source_type(kernel)(kernel, signature, dict(asked.constants), aligned),
        target=GPUTarget("cuda", asked.architecture, 32),
        options={
            "num_warps": asked.warps, "num_stages": asked.stages,
            "enable_fp_fusion": any(mark in asked.text for mark in FUSED),
            "maxnreg": asked.registers or None,
        },
    )  # fmt: skip
    facts = made.metadata
    maps = [[x["swizzle"], list(x["block_size"])] for x in facts.tensordesc_meta or ()]
    return made.asm["cubin"], facts.name, facts.shared, facts.num_warps, maps


def assembled(asked: Asked) -> bytes:
    """PTX as machine code, by the assembler that comes with Triton."""
    with tempfile.TemporaryDirectory() as folder:
        text, code = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        text.write_text(asked.text.replace(".entry kernel(", f".entry {asked.called}("))
        program, target = get_ptxas(asked.architecture).path, f"sm_{asked.architecture}"
        command = [program, f"--gpu-name={target}", text, "-o", code]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return code.read_bytes()


def answer(asking: IO[bytes], answering: IO[bytes]) -> None:
    """Machine code for each kernel that comes; None where that cannot be had."""
    with suppress(EOFError):
        while True:
            asked = Asked(*pickle.load(asking))
            try:
                found = machine_code(asked)
            except Exception:  # whoever asked compiles it again and sees
                found = None
            pickle.dump(found, answering)
            answering.flush()


if __name__ == "__main__":
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a compiler prints is no answer
    answer(sys.stdin.buffer, out)
