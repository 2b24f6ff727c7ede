"""Why a compiled function was traced again: what was not as it had been, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from treadle.base.knobs import MEANING
from treadle.base.trees import Structure
from treadle.ir.node import Type
from treadle.ir.printer import type_text
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import Same, fact_of, facts_of
from treadle.transforms.traced import Traced

Key = tuple[Any, ...]
"""Of a trace: form of the arguments, types of the tensors, twins, knobs, gradients, casts."""
KNOBS, GRADIENTS, CASTS = 3, 4, 5


def reason(key: Key, arguments: Sequence[Tensor], known: dict[Key, list[Traced]]) -> str:
    """What is new about a call, next to the trace that comes closest; empty at the first one."""
    if not known:
        return ""
    if key in known:
        return broken(known[key][-1], arguments) or "what it closes over is something else"
    closest = min((differences(old, key) for old in reversed(known)), key=_distance)
    return "; ".join(", ".join(parts) for parts in closest) or "another kind of call"


def _distance(found: list[list[str]]) -> int:
    """How many things two calls differ in: a shape and a dtype are two, also of one argument."""
    return sum(map(len, found))


# ---- another key


def differences(old: Key, new: Key) -> list[list[str]]:
    """What two calls differ in, one entry for each argument, with each thing that is new of it."""
    before, after = dict(_arguments(old)), dict(_arguments(new))
    found = []
    for path in dict.fromkeys((*before, *after)):
        if path not in before:
            found.append([f"{path}: new, {_said(after[path])}"])
        elif path not in after:
            found.append([f"{path}: no longer there"])
        elif before[path] != after[path]:
            first, *rest = _changed(before[path], after[path])
            found.append([f"{path}: {first}", *rest])
    if not found and old[2] != new[2]:
        found.append([f"arguments that are the same tensor: {_same(old[2])} → {_same(new[2])}"])
    found += [[_knob(name, new[KNOBS])] for name in MEANING.names(old[KNOBS] ^ new[KNOBS])]
    if old[GRADIENTS] != new[GRADIENTS]:
        found.append(["gradients are recorded" if new[GRADIENTS] else "no gradients are recorded"])
    if old[CASTS] != new[CASTS]:
        found.append(["autocast"])
    return found


def _knob(name: str, now: int) -> str:
    """What the user wrote: accounts of memory are no knob of theirs."""
    if name != "accounts":
        return f"td.override({name})"
    return f"memory is {'' if name in MEANING.names(now) else 'no longer '}recorded"


def _arguments(key: Key) -> Iterator[tuple[str, Any]]:
    """Every argument by its name: a tensor's (type, requires_grad), or what a value is."""
    types = iter(key[1])
    _, args, options = key[0]
    for name, part in (*enumerate(args[1:]), *zip(options[1], options[2:], strict=True)):
        yield from _below(f"argument {name}", part, types)


def _below(path: str, part: Structure, types: Iterator[Any]) -> Iterator[tuple[str, Any]]:
    if part is None:
        yield path, next(types)
    elif part[0] == "static":
        yield path, part
    else:
        named = isinstance(part[0], type) and issubclass(part[0], dict)
        items: Iterable[tuple[Any, Any]] = (
            zip(part[1], part[2:], strict=True) if named else enumerate(part[1:])
        )
        inside = [x for k, inner in items for x in _below(f"{path}[{k!r}]", inner, types)]
        yield from inside or [(path, part[0].__name__)]


def _changed(old: Any, new: Any) -> list[str]:
    """`(32, 10) → (17, 10)`: of a tensor only what is new."""
    if not (_is_tensor(old) and _is_tensor(new)):
        return [f"{_said(old)} → {_said(new)}"]
    (before, followed), (after, follows) = old, new
    parts = [
        f"{a} → {b}"
        for a, b in (
            (tuple(before.shape), tuple(after.shape)), (before.dtype.name, after.dtype.name),
            (str(before.device), str(after.device)),
        )
        if a != b
    ]  # fmt: skip
    parts += [f"requires_grad {followed} → {follows}"] if followed != follows else []
    return parts or ["other names of its axes"]


def _is_tensor(known: Any) -> bool:
    return isinstance(known, tuple) and isinstance(known[0], Type)


def _said(known: Any) -> str:
    if _is_tensor(known):
        return f"tensor {type_text(known[0])}"
    return repr(known[-1]) if isinstance(known, tuple) else str(known)


def _same(twins: tuple[int, ...]) -> str:
    return " and ".join(str(k) for k, first in enumerate(twins) if twins.count(first) > 1) or "none"


# ---- the same key, but something else has changed


def broken(traced: Traced, arguments: Sequence[Tensor]) -> str:
    """What a trace has found true that is not so any more."""
    if any(arguments[k] is not t for k, t in traced.same):
        return "an argument is no longer a tensor that the function closes over"
    if len(traced.same) < sum(t in traced.own for t in arguments):
        return "an argument is a tensor that the function closes over, too"
    for held, there in traced.presence:
        owner = held.owner(arguments)
        if (owner._grad is not None) is not there:
            change = "there → none" if there else "none → there"
            return f"the gradient of a tensor {type_text(owner._node.type)}: {change}"
    for thing, name, fact in traced.loose:
        now = fact_of(vars(thing).get(name))
        if now != fact:
            return f"{_attribute(thing, name)}: {_fact(fact)} → {_fact(now)}"
    for tensor, needs in traced.followed:
        if tensor.requires_grad is not needs:
            change = f"requires_grad {needs} → {tensor.requires_grad}"
            return f"a tensor it closes over, {type_text(tensor._node.type)}: {change}"
    for tensor, type_ in traced.types:
        if tensor._node.type is not type_:
            change = f"{type_text(type_)} → {type_text(tensor._node.type)}"
            return f"a tensor it closes over: {change}"
    return _other_facts(traced)


def _other_facts(traced: Traced) -> str:
    for thing, facts in traced.facts:
        now = facts_of(thing)
        for name in dict.fromkeys((*facts, *now)):
            fact = facts.get(name, "missing")
            if fact is not ... and fact != now.get(name, "missing"):
                change = f"{_fact(fact)} → {_fact(now.get(name, 'missing'))}"
                return f"{_attribute(thing, name)}: {change}"
    return ""


def _attribute(thing: object, name: str) -> str:
    return f"{type(thing).__name__}.{name.lstrip('_')}"


def _fact(fact: Any) -> str:
    if isinstance(fact, Same):
        return f"a {type(fact.thing).__name__}"
    if isinstance(fact, tuple) and len(fact) == 2 and fact[0] in (bool, int, str, type(None)):
        return repr(fact[1])
    if isinstance(fact, tuple) and len(fact) == 2 and fact[0] is float:
        return str(fact[1])
    return f"a {fact[0].__name__} of {len(fact) - 1}" if isinstance(fact, tuple) else str(fact)
