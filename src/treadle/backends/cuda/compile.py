"""Kernels as machine code: compiled without a device, kept on disk by content."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import triton

from treadle.backends.cuda import hand
from treadle.backends.cuda.crew import answers
from treadle.backends.cuda.launch import Source
from treadle.backends.cuda.naming import PLACE
from treadle.base import cache, trace


@dataclass(frozen=True)
class Code:
    """A kernel as the driver takes it."""

    cubin: bytes
    name: str
    shared: int  # bytes of shared memory
    warps: int
    maps: list[Any]  # of each tensor read by blocks: how they lie in shared memory, and their sides


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
        missing = [x for x in stored if x not in found]
        for k, code in answers([asked(source, architecture) for source in missing]):
            found[missing[k]] = Code(*code)
            _store(missing[k], architecture, found[missing[k]])
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
    """Machine code by Triton, or by the assembler it brings."""
    return Code(*hand.machine_code(asked(source, architecture)))


def asked(source: Source, architecture: int) -> hand.Asked:
    """A kernel as Triton is asked for it."""
    shape = source.types, source.constants, source.aligned, source.warps, source.stages
    return hand.Asked(source.text, PLACE, *shape, source.registers, architecture)
