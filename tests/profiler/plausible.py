"""Recordings that look like training: made up, the same every time, and of any length."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from treadle.profiler.recording import (
    EVENT,
    FLOW,
    OF_AN_OP,
    Counter,
    Detail,
    Kind,
    Part,
    ProgramPage,
    Recording,
    Track,
)  # fmt: skip

SOURCE = Path(__file__)
PYTHON, POOL = 0, (1, 2)
LAYERS = 3
OPS = {  # lines of the made-up network
    "qkv": ("matmul", "add"),
    "softmax": ("exp", "sum", "div"),
    "mlp": ("matmul", "gelu"),
}
US = 1000


class Tape:
    """Events as they come; sorted, and parents renumbered, at the end."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.names: dict[str, int] = {}
        self.flows: list[tuple[int, int]] = []

    def add(self, kind, track, name, start, end, parent=-1, detail=-1) -> int:
        number = self.names.setdefault(name, len(self.names))
        self.rows.append((kind, track, number, start, end, parent, detail))
        return len(self.rows) - 1

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        events = np.array(self.rows, EVENT)
        order = np.lexsort((-events["end"], events["start"]))
        place = np.argsort(order)
        events["parent"] = np.where(events["parent"] < 0, -1, place[events["parent"]])
        flows = np.array([(place[a], place[b]) for a, b in self.flows], FLOW)
        return events[order], flows


def site_of(words: str) -> str:
    """The line of this file in which words stand first."""
    lines = SOURCE.read_text("utf-8").splitlines()
    return f"{SOURCE}:{next(k for k, line in enumerate(lines, 1) if words in line)}"


def details() -> list[Detail]:
    found = []
    for layer in range(LAYERS):
        for phase in ("forward", "backward"):
            for entry, (name, ops) in enumerate(OPS.items()):
                sites = (site_of(f'"{name}":'), site_of("for number in"))
                flops = 2_000_000 * (layer + 1) if "matmul" in ops else 60_000
                reason = "a product is a kernel of its own" if "matmul" in ops else "fused"
                found.append(
                    Detail(
                        layer, entry, "gemm" if "matmul" in ops else "loops", ops, sites,
                        (f"blocks.{layer}.{name}",), phase, flops, 40_000, 20_000, 8, reason,
                        tuple(Part(site, f"blocks.{layer}.{name}", phase, op, share, scope)
                              for site, op, share, scope
                              in zip(sites, ops, (0.75, 0.25), ("train step", ""), strict=False)),
                    )
                )  # fmt: skip
    return found


def called(kernels: list[Detail]) -> list[Detail]:
    """The op that each of some kernels computes."""
    return [
        Detail(-1, -1, OF_AN_OP, (), d.sites[:1], d.modules, d.phase, 0, 0, 0, 0, "")
        for d in kernels
    ]


def training(steps: int = 3, overlap: bool = False) -> Recording:
    """A few steps of a network of three layers, with data, modules, calls, kernels, a gap."""
    tape, known = Tape(), details()
    at = 1_000_000_000
    for number in range(steps):
        began = at
        step = tape.add(Kind.SPAN, PYTHON, "train step", began, 0)
        tape.add(Kind.DATA, PYTHON, "next batch", at, at + 20 * US, step)
        at += 30 * US
        if number == 0:
            for stage in ("simplify", "fuse", "lower", "LLVM"):
                tape.add(Kind.STAGE, PYTHON, stage, at, at + 15 * US, step)
                at += 15 * US
        for k, detail in enumerate(known):
            module = tape.add(Kind.MODULE, PYTHON, detail.modules[0], at, at + 44 * US, step)
            op = tape.add(Kind.OP, PYTHON, detail.ops[-1], at + US, at + 43 * US, module,
                          len(known) + k)  # fmt: skip
            call = tape.add(Kind.CALL, PYTHON, f"program {detail.program}", at + 2 * US,
                            at + 42 * US, op)  # fmt: skip
            for track in POOL:
                name = "_".join(detail.ops) + "_f32"
                late = (track - 1) * 2 * US
                lasts = (30 if "matmul" in detail.ops else 9) * US
                kernel = tape.add(Kind.KERNEL, track, name, at + 3 * US + late,
                                  at + 3 * US + late + lasts, call, k)  # fmt: skip
                tape.flows.append((call, kernel))
                if track == POOL[0]:
                    tape.flows.append((op, kernel))
            if overlap:
                tape.add(Kind.KERNEL, POOL[0], "copy", at + 10 * US, at + 40 * US, call)
            at += 50 * US
        tape.add(Kind.GAP, PYTHON, "Python", at, at + 10 * US, step)
        at += 20 * US
        tape.rows[step] = (*tape.rows[step][:4], at, *tape.rows[step][5:])
    events, flows = tape.finish()
    tracks = [Track("main", "python", 4242, 1)]
    tracks += [Track(f"thread {k}", "cpu", 4242, k) for k in POOL]
    times = np.linspace(1_000_000_000, at, 60).astype(np.int64)
    live = 4e6 + 3e6 * np.abs(np.sin(np.arange(60) / 5))
    return Recording(
        events, tracks, list(tape.names), known + called(known),
        [Counter("live bytes", "B", times, live)],
        {n: page(n) for n in range(LAYERS)}, 7, {"machine": "a machine", "treadle": "0.1.0"},
        {"cpu": (20e9, 100e9)}, flows,
    )  # fmt: skip


def page(number: int) -> ProgramPage:
    kernels = [
        (f"{name}_{number}", "a reason", f"for i in {n}:", "define void @f()", "vmulps")
        for n, name in enumerate(OPS)
    ]
    layout = [(0, 4096, 0, 2, "q"), (4096, 8192, 1, 4, "scores"), (0, 2048, 3, 5, "out <b>")]
    return ProgramPage(
        number, "%0 = leaf : f32[4]\n%1 = exp %0", "%1 = exp %0", {"add zero": 2}, "3 kernels",
        kernels, layout, 12288, 14336, "blocks of 8: 1.2 us",
    )  # fmt: skip


def many(count: int) -> Recording:
    """Kernels, fifty under a call, on four threads: count events, an arrow to each kernel."""
    random = np.random.default_rng(0)
    known = details()
    width = count // 4
    events = np.zeros(width * 4, EVENT)
    number = np.arange(width * 4)
    call = number - number % width % 50
    for track in range(4):
        rows = slice(track * width, (track + 1) * width)
        at = 10_000_000 + np.cumsum(random.integers(3_000, 30_000, width))
        events["start"][rows], events["end"][rows] = at, at + random.integers(500, 2_900, width)
        events["track"][rows] = track
    np.maximum.at(events["end"], call, events["end"] + 7)
    is_call = number == call
    events["kind"] = np.where(is_call, Kind.CALL, Kind.KERNEL)
    events["detail"] = np.where(is_call, -1, random.integers(0, len(known), len(events)))
    events["name"] = np.where(is_call, 0, 1 + events["detail"])
    order = np.lexsort((-events["end"], events["start"]))
    place = np.argsort(order)
    events["parent"] = np.where(is_call, -1, place[call])
    flows = np.zeros(int((~is_call).sum()), FLOW)
    flows["source"], flows["target"] = place[call[~is_call]], place[number[~is_call]]
    names = ["program 0", *(f"{'_'.join(d.ops)}_{k}" for k, d in enumerate(known))]
    tracks = [Track(f"thread {k}", "cpu", 1, k) for k in range(4)]
    return Recording(events[order], tracks, names, known, flows=flows)
