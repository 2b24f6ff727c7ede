"""One trace of a function: its program, what it reads, and what it leaves behind.

Tensors that the function assigns to (parameters, optimizer state, arguments) and gradients that it
leaves are state: after a call they are what they would be without compiling. Gradients that it both
collects and uses stay inside, and say so when they are asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from treadle.backends.registry import Program, backend_of
from treadle.base import forks
from treadle.base.errors import ArgumentError, explain
from treadle.base.knobs import MEANING
from treadle.base.shapes import Dim
from treadle.base.sizes import UnknownSizeError
from treadle.base.trace import stage
from treadle.base.trees import Structure, builder, flatten, unflatten
from treadle.ir.graph import is_realised, structure, toposort
from treadle.ir.node import COMPILED, CONST, IOTA, Call, Node, leaf, new_node, placeholder
from treadle.ir.recording import RECORDING
from treadle.ir.sites import sites_of
from treadle.runtime.draws import GENERATOR, Draws, begin_draws, end_draws
from treadle.runtime.families import Family, Graph, Variant
from treadle.runtime.growing import new_variant
from treadle.runtime.realize import TRACED, compile_graph, realize
from treadle.runtime.spans import afresh
from treadle.tensor.gradients import INSIDE, needs_none
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE, Followed, Tracing, fact_of, facts_of, is_as, lasting
from treadle.transforms.held import Held, Output, Update
from treadle.transforms.sized import exact_call, general_type, require_sized, sized_program

MOST_INSTANCES = 64  # of one trace: sizes come again soon or never
_ONE_AT_A_TIME = threading.RLock()
forks.share("tracing", _ONE_AT_A_TIME)


class Traced:
    """One trace; call it with tensors like those it was made with.

    Of the arguments, those among `known` are traced as what they are, tensors that the function
    closes over as well; others are stood in for.
    """

    def __init__(
        self, function: Callable[..., Any], shape: Structure, arguments: Sequence[Tensor],
        twins: Sequence[int] = (), known: Collection[Tensor] = (),
        families: dict[Any, Family] | None = None, sizes: Mapping[str, Dim] | None = None,
    ) -> None:  # fmt: skip
        self.families = {} if families is None else families
        self.instances: dict[tuple[int, ...], Traced] = {}
        stand_ins = [t if t in known else _stand_in(t) for t in arguments]
        self.same = [(k, t) for k, t in enumerate(arguments) if t in known]
        self.stand_ins = [stand_ins[k] for k in twins] if twins else stand_ins
        self.changes = Followed.changes
        with _ONE_AT_A_TIME:  # until tensors have their values back
            outputs, trace, self.draws = _trace(function, shape, self.stand_ins)
            results: list[Tensor] = []
            shape = flatten(outputs, Tensor, results)
            self.build, self.is_one = builder(shape), shape is None
            roots = [t._node for t in results]
            self.number = {t: k for k, t in enumerate(self.stand_ins) if t not in known}
            states = [Held(self._place(t)) for t in trace.assigned]
            roots += [t._node for t in trace.assigned]
            gradients, self.left = self._left_behind(roots, trace)
            states += gradients
            roots += [held.tensor(self.stand_ins)._node for held in gradients]
            self._notice(trace)
            _undo(trace)
        if not roots:
            hint = "return what it computes, or assign it to a tensor"
            raise ArgumentError(explain("compile", "the function makes no tensor", hint))
        _settle(roots, trace)
        followed = _followed(roots, trace)
        self.results: list[tuple[Call, bool]] = [
            (placeholder(t._node.type, COMPILED).call, t._node in followed) for t in results
        ]
        self._bind(roots, states, trace, sizes or ())

    def _place(self, tensor: Tensor) -> Tensor | int:
        """A tensor, or the number of the argument that it stands for."""
        return self.number.get(tensor, tensor)

    # ---- what the trace relies on

    def _notice(self, trace: Tracing) -> None:
        """Remember what was found true besides types, and is so for good."""
        after = {thing: facts_of(thing) for thing in trace.facts}
        self.facts = [(thing, lasting(facts, after[thing])) for thing, facts in trace.facts.items()]
        self.loose = [
            (thing, name, fact) for thing, facts in self.facts for name, fact in facts.items()
            if fact is not ... and name[0] != "_" and isinstance(vars(thing).get(name), list | dict)
        ]  # fmt: skip
        self.presence = [
            (Held(self._place(t)), there) for t, there in trace.found.items()
            if _is_older(t, trace)
        ]  # fmt: skip
        self.known_by_types = not self.same and not any(
            t in self.number for t in (*trace.assigned, *trace.grads)
        )

    def holds(self, arguments: Sequence[Tensor]) -> bool:
        """Is all that the trace found true still so?"""
        if not self.own.isdisjoint(arguments) or self.same:
            if any(arguments[k] is not t for k, t in self.same):
                return False
            if len(self.same) < sum(t in self.own for t in arguments):
                return False
        if not self.finds(arguments):
            return False
        if not self.rests():
            return False
        now = Followed.changes
        if self.changes != now:
            if any(t.requires_grad is not needs for t, needs in self.followed):
                return False
            if any(t._node.type is not type_ for t, type_ in self.types):
                return False
            if not all(is_as(facts, facts_of(thing)) for thing, facts in self.facts):
                return False
            self.changes = now
        return True

    def rests(self) -> bool:
        """Are lists and dicts, which change without being set, as they were?"""
        return all(fact_of(vars(thing).get(name)) == fact for thing, name, fact in self.loose)

    def finds(self, arguments: Sequence[Tensor]) -> bool:
        """Have tensors a gradient where they had one, and nowhere else?"""
        for held, there in self.presence:
            if (held.owner(arguments)._grad is not None) is not there:
                return False
        return True

    # ---- what it reads and writes

    def _left_behind(
        self, roots: Sequence[Node], trace: Tracing
    ) -> tuple[list[Held], list[tuple[Held, Any]]]:
        """Gradients that are written out, and what others are after a call: None, or INSIDE.

        One that was added to what was there before, or that nothing inside has used, is somebody's
        business outside.
        """
        older = {t: before for t, before in trace.grads.items() if _is_older(t, trace)}
        cleared = [t for t in older if t._grad is None]
        made = [t for t in older if t._grad is not None and t._grad is not older[t]]
        reached = set(toposort(roots, is_realised)) if made else set()
        used = any(t._grad._node in reached for t in made)
        wanted = {t: None for t in made if t in trace.found or not used}
        left = [(t, None) for t in cleared] + [(t, INSIDE) for t in made if t not in wanted]
        return (
            [Held(self._place(t), True) for t in wanted],
            [(Held(self._place(t)), value) for t, value in left],
        )

    def _bind(
        self, roots: list[Node], states: list[Held], trace: Tracing, sizes: Collection[str]
    ) -> None:
        """Find what the graph reads: arguments, random keys, and what it closes over."""
        numbers: list[Any] = []
        key, leaves = structure(roots, None, None if MEANING.value else numbers)
        order = [t._node for t in self.stand_ins]
        order += [self.draws.leaf] if self.draws.leaf is not None else []
        inside = set(order)
        outside = [n for n in leaves if n not in inside]
        collected = {t._grad._node: Held(self._place(t), True)
                     for t, there in trace.found.items() if there and _has_gradient(t)}  # fmt: skip
        owners = trace.read | {t._node: t for t in trace.assigned}
        closed = [n for n in outside if n not in collected]
        self.closed = [owners[n] if n in owners else _owner(n) for n in closed]
        self.collected = [collected[n] for n in outside if n in collected]
        order += closed + [n for n in outside if n in collected]
        number = {node: k for k, node in enumerate(order)}
        self.count = len(roots) - len(states)
        before = {
            k: held.tensor(self.stand_ins)._node for k, held in enumerate(states, self.count)
            if not held.gradient or _has_gradient(held.owner(self.stand_ins))
        }  # fmt: skip
        replaces = {k: number[node] for k, node in before.items() if node in number}
        read = (tuple([number[n] for n in leaves]), tuple([n.type for n in order]))
        known = (MEANING.value, key, read, *replaces.items())
        found = self._found(known, numbers, (roots, order, replaces))
        self.program, self.numbers = found.program, found.inputs(numbers)
        if sizes:
            require_sized(self.program, roots[self.count :])
        over = self.program.overwrites
        calls = [placeholder(root.type).call for root in roots[self.count :]]
        self.outputs = [
            Output(held, call, n if (n := replaces.get(k)) in over else None)
            for k, (held, call) in enumerate(zip(states, calls, strict=True), self.count)
        ]
        self.sites = sites_of(roots, number)
        self._let_go(order)

    def _found(self, key: Any, numbers: list[Any], graph: Graph) -> Variant:
        """The program of another trace that differs in numbers only, or a new one."""
        family = self.families.setdefault(key, Family())
        return family.find(numbers) or new_variant(family, numbers, graph, _compiled)

    def _let_go(self, order: Sequence[Node]) -> None:
        """Nothing of the arguments is kept; what else is read decides how calls go."""
        for stand_in in self.number:
            stand_in._node.buffer = stand_in._grad = None
        if self.draws.leaf is not None:
            self.draws.leaf.buffer = None
        self.followed = [(t, t.requires_grad) for t in self.closed]
        touched = [output.held for output in self.outputs] + [held for held, _ in self.left]
        outlive = [held.of for held in touched if isinstance(held.of, Tensor)]
        self.types = [(t, t._node.type) for t in (*self.closed, *outlive)]
        self.closes_over = bool(
            self.closed or self.collected or self.numbers or self.draws.leaf is not None
        )
        self.replaces = bool(self.outputs or self.left)
        changes = any(not isinstance(held.of, Tensor) for held in touched)  # an argument
        self.own = frozenset(  # one of these among the arguments is two names for one tensor
            outlive + [t for t, needs in self.followed if needs or changes]
        )

    # ---- calls

    def at(self, sizes: dict[str, Dim]) -> Traced:
        """The trace for sizes: another table for its program, and other types of its results."""
        key = tuple([sizes[name] for name in sorted(sizes)])
        found = self.instances.get(key)
        if found is None:
            found = Traced.__new__(Traced)
            found.__dict__.update(self.__dict__)
            found.program = sized_program(self.program, sizes)
            found.results = [(exact_call(call.type, sizes), needs) for call, needs in self.results]
            if len(self.instances) >= MOST_INSTANCES:
                self.instances.clear()
            self.instances[key] = found
        return found

    def call(self, arguments: Sequence[Tensor]) -> Any:
        """Run on arguments; returns what the function returned, with new tensors."""
        if self.replaces:
            return self._replace(arguments)
        inputs = [x._node.buffer for x in arguments]
        if None in inputs:
            realize([x._node for x in arguments])
            inputs = [x._node.buffer for x in arguments]
        if self.closes_over:
            self._add_closed(inputs, arguments)
        return self._built(self.program.run(inputs))

    def _replace(self, arguments: Sequence[Tensor]) -> Any:
        if None in [x._node.buffer for x in arguments]:
            realize([x._node for x in arguments])
        key = [self.draws.next_key()] if self.draws.leaf is not None else []

        def read() -> list[Any]:
            inputs = [_memory(x) for x in arguments] + key + [_memory(x) for x in self.closed]
            inputs += [_memory(held.tensor(arguments)) for held in self.collected]
            return inputs + self.numbers

        if self.outputs:
            buffers = Update(self.outputs, self.count, arguments).run(self.program, read)
        else:
            buffers = self.program.run(read())
        for held, value in self.left:
            held.owner(arguments)._grad = value
        return self._built(buffers)

    def rehearse(self, arguments: Sequence[Tensor]) -> None:
        """Run the program and leave everything as it is: what would be written over is copied."""
        leaf = self.draws.leaf
        read = [*arguments, *self.closed, *(held.tensor(arguments) for held in self.collected)]
        inputs = [_memory(x) for x in read]
        devices = [x.device for x in read]
        if leaf is not None:
            inputs.insert(len(arguments), GENERATOR.take(0, leaf.device))
            devices.insert(len(arguments), leaf.device)
        for k in self.program.overwrites:
            inputs[k] = backend_of(devices[k]).copy(inputs[k])
        self.program.run(inputs + self.numbers)

    def _add_closed(self, inputs: list[Any], arguments: Sequence[Tensor]) -> None:
        """The memory of random keys and of what the function closes over."""
        if self.draws.leaf is not None:
            inputs.append(self.draws.next_key())
        inputs += [_memory(x) for x in self.closed]
        if self.collected:
            inputs += [_memory(held.tensor(arguments)) for held in self.collected]
        inputs += self.numbers

    def _built(self, buffers: Sequence[Any]) -> Any:
        if self.is_one:
            return _result(self.results[0], buffers[0])
        return self.build([_result(*pair) for pair in zip(self.results, buffers, strict=False)])


def _has_gradient(tensor: Tensor) -> bool:
    return tensor._grad is not None and tensor._grad is not INSIDE


def _memory(tensor: Tensor) -> Any:
    """The memory of a value, computed now if need be."""
    node = tensor._node
    if node.buffer is None:
        realize((node,))
    return node.buffer


def _result(known: tuple[Call, bool], buffer: Any) -> Tensor:
    node = new_node(known[0], (), known[1])
    node.buffer = buffer
    return Tensor(node)


def _trace(
    function: Callable[..., Any], shape: Structure, stand_ins: list[Tensor]
) -> tuple[Any, Tracing, Draws]:
    """Run the function while every node it makes is noted."""
    trace, draws, made = Tracing(), begin_draws(), RECORDING.made
    sites = RECORDING.sites
    TRACE.push(trace)
    RECORDING.watch(True, trace.made)  # lines too: whoever profiles later has no other way
    try:
        args, options = unflatten(shape, list(stand_ins))
        with afresh(), stage("record"):
            return function(*args, **options), trace, draws
    except BaseException:
        _undo(trace)
        raise
    finally:
        RECORDING.watch(sites, made)
        TRACE.pop()
        end_draws()


def _undo(trace: Tracing) -> None:
    """Give tensors the values and gradients they had before the trace."""
    wanted = {tensor: tensor.requires_grad for tensor in trace.marked}
    for tensor, before in (trace.assigned | trace.marked).items():
        tensor._node = before
    for tensor, grad in trace.grads.items():
        tensor._grad = grad
    for tensor, needs in wanted.items():
        if tensor._node.buffer is not TRACED:
            tensor.requires_grad_(needs)


def _settle(roots: list[Node], trace: Tracing) -> None:
    """Compute what was pending before the trace: each call reads it, and what is assigned later."""
    states = {node: None for node in trace.assigned.values() if node.buffer is None}
    order = toposort([*roots, *states], is_realised)
    older = {
        n for n in order
        if n.buffer is None and n not in trace.made
        and (n.op not in (CONST, IOTA) or n.owner is not None or n in states)
    }  # fmt: skip
    read = {x for n in order if n not in older for x in n.operands}.union(states, roots)
    wanted = [n for n in order if n in older and n in read]
    realize(wanted, alone=True)


def _followed(roots: list[Node], trace: Tracing) -> set[Node]:
    """Nodes through which tensors that outlive the trace would get a gradient."""
    found: set[Node] = set()
    for node in toposort(roots, needs_none):
        starts = node.owner is not None or node not in trace.made
        if node.needs_grad and (starts or not found.isdisjoint(node.operands)):
            found.add(node)
    return found


def _stand_in(tensor: Tensor) -> Tensor:
    """A tensor of the same type whose value is not known while tracing."""
    stand_in = Tensor(leaf(general_type(tensor._node.type, {}), TRACED))
    if tensor._grad is not None:
        inside = tensor._grad is INSIDE
        stand_in._grad = INSIDE if inside else Tensor(leaf(tensor._grad._node.type, TRACED))
    return stand_in.requires_grad_() if tensor.requires_grad else stand_in


def _is_older(tensor: Tensor, trace: Tracing) -> bool:
    """Does a tensor stem from before the trace?"""
    before = trace.assigned.get(tensor) or trace.marked.get(tensor) or tensor._node
    return before not in trace.made


def _owner(node: Node) -> Tensor:
    """The tensor a closed-over value belongs to, so that later assignments are seen."""
    tensor = node.owner() if node.owner is not None else None
    return tensor if tensor is not None else Tensor(node)


def _compiled(roots: Sequence[Node], order: Sequence[Node], replaces: dict[int, int]) -> Program:
    try:
        return compile_graph(roots, order, replaces)
    except UnknownSizeError as error:
        wrong = "no one program serves every size of a Dim with a max here"
        raise UnknownSizeError(explain("compile", f"{wrong}; {error}")) from error
