"""Which processor this is and how many of its cores we may use."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

from treadle.base.knobs import THREADS
from treadle.base.target import Target

MAX_THREADS = 64

AVX2 = Target(
    "cpu",
    triple="x86_64-unknown-linux-gnu",
    cpu="haswell",
    features="+avx2,+fma,+f16c,+bmi,+bmi2",
    vector_bytes=32,
    registers=16,
    l2_bytes=256 << 10,
    l3_bytes=8 << 20,
)
AARCH64 = Target(
    "cpu",
    triple="aarch64-unknown-linux-gnu",
    cpu="neoverse-n1",
    features="+neon,+fp-armv8",
    vector_bytes=16,
    registers=32,
)


@cache
def host_target() -> Target:
    """The processor of this machine, as LLVM names it."""
    features = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    x86 = triple.startswith(("x86_64", "i686"))
    wide = x86 and all(features.get(name) for name in ("avx512f", "avx512vl", "avx512dq"))
    middle = x86 and features.get("avx2") and features.get("fma")
    vector_bytes = 64 if wide else 32 if middle else 16
    caches = _cache_sizes()
    return Target(
        "cpu",
        triple=triple,
        cpu=llvm.get_host_cpu_name(),
        features=features.flatten(),
        vector_bytes=vector_bytes,
        registers=16 if x86 and not wide else 32,
        l2_bytes=caches.get(2, 1 << 20),
        l3_bytes=caches.get(3, 16 << 20),
    )


def usable_cores() -> int:
    """Threads worth starting: the knob, else the cores this process may run on at once."""
    if THREADS.value > 0:
        return min(THREADS.value, MAX_THREADS)
    return min(_allowed_cores(), MAX_THREADS)


@cache
def _allowed_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, math.ceil(min(cores, _cgroup_quota())))


def _cache_sizes() -> dict[int, int]:
    """Level to bytes of the caches that hold data; empty where the system does not tell."""
    sizes: dict[int, int] = {}
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        words = [_read(folder / name) for name in ("type", "level", "size")]
        kind, level, size = words
        if kind in ("Data", "Unified") and level.isdigit() and size[:-1].isdigit():
            sizes[int(level)] = int(size[:-1]) << {"K": 10, "M": 20}.get(size[-1], 0)
    return sizes


def _cgroup_quota() -> float:
    """Cores' worth of time that the control groups above this process grant; infinity: no bound."""
    quotas = [math.inf]
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = Path("/sys/fs/cgroup") / ("cpu" if controllers else "")
        group = root / path.lstrip("/")
        # Inside a container the path may be the host's; the root then stands for our own group.
        above = [group, *group.parents]
        quotas += [_quota_of(f) for f in above if f == root or root in f.parents]
    return min(quotas)


def _quota_of(folder: Path) -> float:
    words = _read(folder / "cpu.max").split() or [
        _read(folder / "cpu.cfs_quota_us"),
        _read(folder / "cpu.cfs_period_us"),
    ]
    if len(words) == 2 and all(word.isdigit() for word in words) and int(words[1]) > 0:
        return int(words[0]) / int(words[1])
    return math.inf


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
