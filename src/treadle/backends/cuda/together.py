"""Results that nobody waits for, all at the end: kernels of one text are started as one.

An optimizer's updates are such results, one for each parameter. Each writes memory that only it
reads, so that any of them may run side by side. So may those that add up the column sums which one
kernel's blocks have left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from treadle.backends.cuda.forms import Form, is_map
from treadle.backends.cuda.launch import Argument, Arguments, Launch
from treadle.ir.node import LEAF, Node
from treadle.kernel.steps import LoopStep, Step

BLOCK = 2048  # elements of a program
MOST = 32  # kernels in a launch: each brings its addresses along
HEAD, PLACE = "def kernel(", "    program = tl.program_id(0)\n"


def updates_last(
    steps: Sequence[Step], roots: Sequence[Node], replaces: Mapping[Node, Node]
) -> tuple[list[Step], int]:
    """The steps, maps whose results nobody reads at the end, and how many of these there are."""
    readers = Counter(node for step in steps for node in step.reads())
    wanted, roots_over = set(roots), {leaf: root for root, leaf in replaces.items()}

    def waits(step: Step) -> bool:
        if type(step) is not LoopStep or len(step.kernels) != 1 or not step.writes:
            return True
        if not is_map(step.kernels[0].loops) or any(readers[node] for node in step.writes):
            return True
        given = [node for node in step.reads() if node.op is LEAF]
        others = [roots_over[node] for node in given if node in roots_over]
        return not wanted.issuperset(step.writes) or any(x not in step.writes for x in others)

    last = [step for step in steps if not waits(step)]
    if len(last) < 2:
        return list(steps), 0
    moved = set(last)
    return [*(step for step in steps if step not in moved), *last], len(last)


def together_form(form: Form) -> Form:
    """The form that all have alike, however long they are."""
    return replace(form, rows=1, columns=BLOCK, warps=4, exact_rows=True, exact_columns=False)


def together(launches: Sequence[Launch]) -> list[Launch]:
    """The launches of kernels that may run side by side, fewer."""
    alike: dict[object, list[Launch]] = {}
    for launch in launches:
        flat = launch.grid[1] == 1 and PLACE in launch.source.text
        key = launch.source if flat else launch
        alike.setdefault(key, []).append(launch)
    found = []
    for group in alike.values():
        for k in range(0, len(group), MOST):
            some = group[k : k + MOST]
            found.append(_joined(some) if len(some) > 1 else some[0])
    return found


def _joined(launches: Sequence[Launch]) -> Launch:
    """One launch; its programs find by their number which kernel's they are."""
    source = launches[0].source
    starts = [sum(x.grid[0] for x in launches[:k]) for k in range(len(launches) + 1)]
    arguments = Arguments()
    lines = ["    program = tl.program_id(0)", "    first = 0"]
    for k, start in enumerate(starts[1:-1], 1):
        arguments.integer(f"start{k}", start, False)
        lines.append(f"    first = tl.where(program >= start{k}, start{k}, first)")
    for number, (name, kind) in enumerate(source.types):
        values = [launch.arguments[number] for launch in launches]
        lines += _chosen(arguments, name, kind, values)
    names = [name for name, _ in source.types] + [name for name, _ in source.constants]
    lines.append(f"    each(program - first, {', '.join(names)})")
    given = [name for name, _ in arguments.types]
    given += [f"{name}: tl.constexpr" for name, _ in source.constants]
    body = source.text.replace(HEAD, "def each(program, ").replace(PLACE, "")
    text = "\n".join([body, "", "@triton.jit", f"{HEAD}{', '.join(given)}):", *lines, ""])
    made = arguments.source(text, dict(source.constants), source.warps, source.stages)
    size, first = sum(launch.size for launch in launches), launches[0]
    return Launch(made, (starts[-1], 1), arguments.values, size, first.step, "together")


def _chosen(arguments: Arguments, name: str, kind: str, values: list[Argument]) -> list[str]:
    """An argument as all have it, or that of the kernel which a program belongs to."""
    if all(value == values[0] for value in values):
        arguments.add(name, kind, values[0])
        return []
    for k, value in enumerate(values):
        arguments.add(f"{name}_{k}", kind, value)
    others = range(1, len(values))
    lines = [f"    {name} = tl.where(program >= start{k}, {name}_{k}, {name})" for k in others]
    return [f"    {name} = {name}_0", *lines]
