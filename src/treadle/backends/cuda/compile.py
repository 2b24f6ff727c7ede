"""Triton source as machine code: compiled without a device, kept on disk by content."""

from __future__ import annotations

import json
import linecache
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from treadle.backends.cuda.crew import answers
from treadle.backends.cuda.launch import Source
from treadle.backends.cuda.naming import PLACE
from treadle.base import cache, trace

FUSED = ('input_precision="ieee"', "# a chain")
"""In the text of products that are made of multiply-adds, and of chains, which are one kernel or
none. Elsewhere a product and a sum are rounded each, whether they are in one kernel or in two."""


@dataclass(frozen=True)
class Code:
    """A kernel as the driver takes it."""

    cubin: bytes
    name: str
    shared: int  # bytes of shared memory
    warps: int
    maps: list[Any]  # of each tensor read by blocks: how they lie in shared memory, and their sides


def function(source: Source, called: str = "kernel") -> Callable[..., Any]:
    """The kernel as Triton's own object.

    Triton reads a kernel's lines back from its file; linecache stands in for the file.
    """
    text = source.text.replace("def kernel(", f"def {called}(")
    name = f"<treadle {cache.digest(text)[:12]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"__name__": "treadle_kernel"}
    exec(compile(text, name, "exec"), space)
    return space[called]  # type: ignore[no-any-return]


def key_of(source: Source, architecture: int) -> str:
    """The name of the code on disk."""
    ours = cache.sources("backends/cuda")
    facts = str(architecture), json.dumps(asdict(source), sort_keys=True)
    return cache.digest("triton", triton.__version__, ours, *facts)


def code_of(source: Source, architecture: int) -> Code:
    """Machine code for a compute capability (90: sm_90), from disk if it is there."""
    found = _stored(source, architecture)
    if found is None:
        with trace.stage("Triton"):
            found = compiled(source, architecture)
        _store(source, architecture, found)
    return found


def codes_of(sources: Iterable[Source], architecture: int) -> dict[Source, Code]:
    """Machine code of several kernels: what is not on disk is compiled side by side."""
    stored = {source: _stored(source, architecture) for source in dict.fromkeys(sources)}
    found = {source: code for source, code in stored.items() if code is not None}
    with trace.stage("Triton"):
        for source, code in answers([x for x in stored if x not in found], architecture):
            found[source] = code
            _store(source, architecture, code)
    left = [source for source in stored if source not in found]
    with ThreadPoolExecutor(min(len(left), os.cpu_count() or 1) or 1) as pool:
        found |= zip(left, pool.map(lambda x: code_of(x, architecture), left), strict=True)
    return found


def _store(source: Source, architecture: int, code: Code) -> None:
    facts = {name: getattr(code, name) for name in ("name", "shared", "warps", "maps")}
    cache.write(key_of(source, architecture), json.dumps(facts).encode() + b"\n" + code.cubin)


def _stored(source: Source, architecture: int) -> Code | None:
    stored = cache.read(key_of(source, architecture))
    if stored is None:
        return None
    head, _, cubin = stored.partition(b"\n")
    return Code(cubin, **json.loads(head))


def compiled(source: Source, architecture: int) -> Code:
    """Machine code by Triton."""
    signature = dict(source.types) | {name: "constexpr" for name, _ in source.constants}
    aligned = {(k,): [["tt.divisibility", 16]] for k in source.aligned}
    limit = {"maxnreg": source.registers} if source.registers else {}
    made = triton.compile(
        ASTSource(function(source, PLACE), signature, dict(source.constants), aligned),
        target=GPUTarget("cuda", architecture, 32),
        options={
            "num_warps": source.warps, "num_stages": source.stages,
            "enable_fp_fusion": any(mark in source.text for mark in FUSED), **limit,
        },
    )  # fmt: skip
    facts = made.metadata
    maps = [[x["swizzle"], list(x["block_size"])] for x in facts.tensordesc_meta or ()]
    return Code(made.asm["cubin"], facts.name, facts.shared, facts.num_warps, maps)
