"""Short stories with an end that is known otherwise: training, switched modules, collected slopes.

Each is a few lines that print at the head of a script, a text that calls them, and another text for
what must come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treadle.testing.fuzz.program import Statement

SLOPES = """
def slopes(f, *start, looks=False):
    leaves = [x.detach().requires_grad_() for x in start]
    given = [x * 1 for x in leaves] if looks else leaves
    found = f(*given)
    if looks:
        td.realize(found, *given)
    return [g.detach() for g in td.gradients(found, leaves)]
"""
COLLECTED = """
def collected(f, *start, times=1):
    leaves = [x.detach().requires_grad_() for x in start]
    for _ in range(times):
        f(*leaves).backward()
    return [x.grad for x in leaves]
"""
TRAINED = """
def trained(f, *start, kind="SGD", steps=2, lr=0.25, forget=True, compiled=False, **options):
    leaves = [x.detach().requires_grad_() for x in start]
    optimizer = getattr(td.optim, kind)(leaves, lr=lr, **options)

    def step():
        loss = f(*leaves)
        if forget:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    run = td.compile(step) if compiled else step
    for _ in range(steps):
        try:
            run()
        except td.TreadleError:  # refused, which is fine where gradients are not forgotten
            if forget or run is step:
                raise
            run = step
            run()
    return [x.detach() for x in leaves]


def descended(f, *start, steps=2, lr=0.25, forget=True):
    values, before = list(start), [x * 0 for x in start]
    for _ in range(steps):
        slopes = td.grad(f, tuple(range(len(values))))(*values)
        before = [g if forget else g + b for g, b in zip(slopes, before)]
        values = [x - g * lr for x, g in zip(values, before)]
    return values
"""
SWITCHED = """
def switched(x, compiled=True):
    layer = td.nn.Dropout(0.5)
    f = td.compile(lambda x: layer(x) * 2) if compiled else lambda x: layer(x) * 2
    first = f(x)
    layer.eval()
    second = f(x)
    layer.train()
    third = f(x)
    kept = ((third == 0) | (third == x * 4)) & ((first == 0) | (first == x * 4))
    return second, kept
"""
COUNTED = """
def counted(x, steps=3, looks=False):
    total, count = td.zeros(*x.shape, dtype=x.dtype), td.zeros((), dtype=td.int64)

    @td.compile
    def add(x):
        total.assign(total + x)
        count.assign(count + 1)
        return total * 2

    seen = []
    for _ in range(steps):
        seen.append((total.detach(), total + 0))
        add(x)
        if looks:
            seen[-1][1].numpy()
    return seen[-1][0], seen[-1][1], total.detach(), count.detach()
"""

LAYERS = """
def layers(x, weight, compiled=False):
    layer = td.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    layer.weight = td.nn.Parameter(weight, requires_grad=False)
    f = td.compile(lambda x: layer(x)) if compiled else layer
    before = f(x)
    layer.weight.assign(layer.weight * 2)
    return f(x), before
"""

SCANNED = """
def scanned(f, x, unroll=1, compiled=False):
    def run(x):
        def step(c, k):
            after = c * 0.5 + td.tanh(f(c)) * (k + 1)
            return after, (c, after.sum())

        last, (seen, sums) = td.scan(step, x, td.arange(3).cast(x.dtype), unroll=unroll)
        return last, seen + sums.reshape(3, *(1,) * x.ndim)

    return (td.compile(run) if compiled else run)(x)
"""


@dataclass(frozen=True)
class Scene:
    """A story: lines for the head, what calls them, and what must come out."""

    name: str
    lines: str
    text: str
    meaning: str
    results: int
    of_function: bool = False


SCENES = (
    Scene("switched", SWITCHED, "switched({0})", "({0} * 2, {0} == {0})", 2),
    Scene("counted", COUNTED, "counted({0})", "({0} * 2, {0} * 2, {0} * 3, td.tensor(3))", 4),
    Scene("counted", COUNTED, "counted({0}, looks=True)",
          "({0} * 2, {0} * 2, {0} * 3, td.tensor(3))", 4),
    Scene("collected", COLLECTED, "collected({f}, {0})", "td.grad({f}, (0,))({0})", 1, True),
    Scene("collected", COLLECTED, "collected({f}, {0}, times=2)",
          "[g * 2 for g in td.grad({f}, (0,))({0})]", 1, True),
    Scene("trained", TRAINED, "trained({f}, {0})", "descended({f}, {0})", 1, True),
    Scene("trained", TRAINED, "trained({f}, {0}, compiled=True)", "descended({f}, {0})", 1, True),
    Scene("trained", TRAINED, "trained({f}, {0}, forget=False)",
          "descended({f}, {0}, forget=False)", 1, True),
    Scene("trained", TRAINED, "trained({f}, {0}, forget=False, compiled=True)",
          "descended({f}, {0}, forget=False)", 1, True),
    Scene("trained", TRAINED, "trained({f}, {0}, steps=3, momentum=0.5)",
          "trained({f}, {0}, steps=3, momentum=0.5, compiled=True)", 1, True),
    Scene("trained", TRAINED, "trained({f}, {0}, kind='Adam', eps=1.0, compiled=True)",
          "trained({f}, {0}, kind='Adam', eps=1.0)", 1, True),
    Scene("layers", LAYERS, "layers({0}, {1})", "({0} @ {1}.mT * 2, {0} @ {1}.mT)", 2),
    Scene("layers", LAYERS, "layers({0}, {1}, compiled=True)", "({0} @ {1}.mT * 2, {0} @ {1}.mT)",
          2),
    Scene("scanned", SCANNED, "scanned({f}, {0})", "scanned({f}, {0}, unroll=True)", 2, True),
    Scene("scanned", SCANNED, "scanned({f}, {0}, compiled=True)",
          "scanned({f}, {0}, unroll=True)", 2, True),
    Scene("scanned", SCANNED, "(td.grad(lambda x: scanned({f}, x)[1].sum())({0}),)",
          "(td.grad(lambda x: scanned({f}, x, unroll=True)[1].sum())({0}),)", 1, True),
)  # fmt: skip
HEADS = {scene.name: scene.lines for scene in SCENES} | {"slopes": SLOPES}
ALL_LINES = "\n".join(dict.fromkeys(HEADS.values()))


def heads_of(statements: Sequence[Statement]) -> str:
    """The lines that statements need at the head of a script."""
    needed = [name for name in HEADS if any(f"{name}(" in s.text for s in statements)]
    return "".join(f"\n{HEADS[name]}" for name in needed)
