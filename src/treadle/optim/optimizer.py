"""What every update rule shares: groups of parameters, their state, and the general step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypedDict

from treadle.base.dtypes import DType
from treadle.base.errors import ArgumentError, OperandError, explain
from treadle.functions import view_as_complex, view_as_real, where
from treadle.ir.recording import phase
from treadle.optim.group import Group, Section, sections_of
from treadle.optim.repeated import Repeated
from treadle.optim.saving import loaded, saved
from treadle.optim.settings import check_setting
from treadle.tensor.autocast import uncast
from treadle.tensor.creation import full, tensor, zeros
from treadle.tensor.gradients import enable_grad, gradient_held, no_grad
from treadle.tensor.tensor import Tensor, realize
from treadle.tensor.tracing import TRACE, Followed


class Numbers(SimpleNamespace):
    """A group's settings, and what a rule makes of them: float64 tensors, flags, None."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def of(self, k: int, kind: DType) -> Numbers:
        """The numbers of one parameter, in the dtype that it is updated in."""
        return Converted(self, k, kind)


class Converted(Numbers):
    """Numbers of one parameter: each is made when a rule first asks for it."""

    def __init__(self, numbers: Numbers, k: int, kind: DType) -> None:
        super().__init__(_all=numbers, _k=k, _kind=kind)

    def __getattr__(self, name: str) -> Any:
        found = self._one(getattr(self._all, name))
        setattr(self, name, found)
        return found

    def _one(self, x: Any) -> Any:
        if isinstance(x, tuple):
            return tuple([self._one(part) for part in x])
        if not isinstance(x, Tensor):
            return x
        x = x[self._k] if x.shape else x
        return x.cast(self._kind) if x.dtype.is_float else x


State = dict[str, Tensor]
Params = Iterable[Tensor] | Iterable[Mapping[str, Any]] | Iterable[tuple[str, Tensor]]


class How(TypedDict, total=False):
    """Options of PyTorch's about how a step is run. Every step here is fused: they change nothing.

    Only `differentiable=True` is refused: no gradient flows through a step.
    """

    foreach: bool | None
    fused: bool | None
    capturable: bool
    differentiable: bool


class Optimizer(Followed):
    """Assigns new values to parameters from their gradients; rules are subclasses.

    - **params**: tensors, (name, tensor) pairs, or dicts of a group's `params` and settings
    - **defaults**: settings of groups that do not say otherwise

    `param_groups` holds the settings. Numbers in it are read by every call of a compiled step;
    `optimizer.lr` and its like read the first group, and set all of them.
    """

    decay = "gradient"
    """What weight decay is added to: "gradient", "parameter", or what the "rule" itself says."""
    fixed: tuple[str, ...] = ()
    """Settings that are whole numbers which decide what a step consists of."""
    __slots__ = ("repeated", "state")

    def __init__(self, params: Params, defaults: dict[str, Any], how: How | None = None) -> None:
        self.repeated = Repeated()
        self.defaults = dict(defaults)
        self.state: dict[Tensor, State] = {}
        self.param_groups: list[Group] = []
        _check_how(how or {})
        for name, value in defaults.items():
            check_setting(name, value)
        given = _listed(params)
        if not given:
            raise ArgumentError(explain("optimizer", "got no parameters"))
        groups = given if isinstance(given[0], Mapping) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)
        device = self.param_groups[0].params[0].device
        self.found_inf = tensor(-1.0, dtype="float32", device=device)  # see amp.GradScaler

    # ---- groups

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Update further parameters too, with settings of their own: {"params": ..., "lr": ...}."""
        if not isinstance(param_group, Mapping) or "params" not in param_group:
            hint = 'a group is {"params": [...], "lr": 0.1}'
            got = type(param_group).__name__
            raise OperandError(explain("optimizer", "not a parameter group", hint, got=got))
        names, params = _named(_listed(param_group["params"]))
        known = {p for group in self.param_groups for p in group.params}
        if len({*known, *params}) < len(known) + len(params):
            wrong = "a parameter is there twice"
            raise ArgumentError(explain("optimizer", wrong, "each belongs to one group, once"))
        values = self.defaults | dict(param_group) | {"params": params}
        for name in self.defaults:
            check_setting(name, values[name])
        if names:
            values["param_names"] = names
        group = Group(values, tuple(self.defaults), self.fixed, self._changed)
        self.accept(group)
        group.sections = sections_of(group.params, self.counters(group))
        group.settle()
        self.param_groups = [*self.param_groups, group]
        self._complete(group)

    def accept(self, group: Group) -> None:
        """Raise for parameters or settings that the rule cannot use together."""

    def _changed(self, group: Group, name: str) -> None:
        """A setting has another value."""
        check_setting(name, group.values_[name], later=True)
        self.accept(group)
        self._complete(group)

    def _complete(self, group: Group) -> None:
        """Make the state that the settings ask for and that is not there yet."""
        made: list[Tensor] = []
        for section in group.sections:
            for name, start in self.counters(group).items():
                if name not in section.counters:
                    section.counters[name] = section.counter(start)
            for p in section.params:
                state = self.state.setdefault(p, {})
                new = {k: x for k, x in self.starts(group, p).items() if k not in state}
                state.update(new)
                made += new.values()
        realize(*made)

    def follow(self) -> None:
        """Let state be where parameters are, in their precision: `model.to` may have moved them."""
        for group in self.param_groups:
            if all(section.fits() for section in group.sections):
                continue
            counted = {
                (name, p): count for section in group.sections
                for name, x in section.counters.items()
                for p, count in zip(section.params, x.tolist(), strict=True)
            }  # fmt: skip
            starts = self.counters(group)
            group.sections = sections_of(group.params, starts)
            group.settle()
            for section in group.sections:
                place: dict[str, Any] = {"dtype": section.kind, "device": section.device}
                for name in section.counters:
                    counts = [counted[name, p] for p in section.params]
                    section.counters[name] = tensor(counts, dtype="float64", device=section.device)
                for p in section.params:
                    is_new = starts and all(counted[name, p] == starts[name] for name in starts)
                    state = self.starts(group, p) if is_new else self.state[p]
                    # by way of NumPy: these are values, in a trace as well
                    self.state[p] = {k: tensor(x.numpy(), **place) for k, x in state.items()}
        first = self.param_groups[0].params[0]
        if first.device is not self.found_inf.device:
            self.found_inf = tensor(self.found_inf.item(), dtype="float32", device=first.device)

    def __getattr__(self, name: str) -> Any:
        """The setting of the first group."""
        if not name.startswith("_") and name in self.__dict__.get("defaults", ()):
            return self.param_groups[0][name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        """A setting is set for all groups."""
        if name in self.__dict__.get("defaults", ()):
            for group in self.param_groups:
                group[name] = value
        else:
            super().__setattr__(name, value)

    def _note(self) -> None:
        super()._note()
        for group in self.param_groups:
            group._note()

    def __repr__(self) -> str:
        groups = "".join(f"  {group!r},\n" for group in self.param_groups)
        return f"{type(self).__name__}(\n{groups})"

    # ---- a step

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or make them zeros; without this, they add up over steps."""
        if TRACE:
            self._note()
        for group in self.param_groups:
            for p in group.params:
                found = None if set_to_none else gradient_held(p)
                p.grad = None if found is None else found.zeros_like()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        - **closure**: computes the loss again, with its gradients, and is what `step` returns
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self.advance()
        return loss

    def advance(self, skip: Tensor | None = None) -> None:
        """One step of every group; where skip is true, everything stays as it was."""
        gradients = [p.grad for group in self.param_groups for p in group.params]
        ours = type(self).__module__.startswith("treadle.")
        if TRACE or not ours:  # what other rules do besides recording is to happen each time
            self._record(*gradients, skip=skip)
        else:
            self.follow()
            state = [x for own in self.state.values() for x in own.values()]
            self.repeated.run(self._record, state, gradients, skip)

    def _record(self, *gradients: Tensor | None, skip: Tensor | None = None) -> None:
        """A step by gradients of all parameters, op by op."""
        if TRACE:
            self._note()
        self.follow()
        params = [p for group in self.param_groups for p in group.params]
        given = dict(zip(params, gradients, strict=True))
        changed: list[Tensor] = []

        def put(into: Tensor, value: Tensor) -> None:
            value = value if value.dtype is into.dtype else value.cast(into.dtype)
            into.assign(value if skip is None else where(skip, into, value))
            changed.append(into)

        with no_grad(), uncast(), phase("optimizer"):
            for group in self.param_groups:
                for section in group.sections:
                    self._advance(group, section, given, put)
        if not TRACE:
            realize(*changed)
        elif not changed:  # a compiled step for which there is nothing to do is a program too
            self.found_inf.assign(self.found_inf)

    def _advance(
        self, group: Group, section: Section, gradients: Mapping[Tensor, Tensor | None],
        put: Callable[[Tensor, Tensor], None],
    ) -> None:  # fmt: skip
        """One step of parameters that share their numbers."""
        active = [k for k, p in enumerate(section.params) if gradients[p] is not None]
        if not active:
            return
        if group.together and len(active) < len(section.params):
            group.together = False
        before = {name: x.detach() for name, x in section.counters.items()}
        numbers = Numbers(**group.read(section), **before)
        self.prepare(numbers)
        for name, x in section.counters.items():
            put(x, _counted(x, getattr(numbers, name), active))
        own = numbers.of(0, section.kind.part)
        for k in active:
            if not group.together:
                own = numbers.of(k, section.kind.part)
            p = section.params[k]
            state = self.state[p]
            values = dict(state)
            update = self._of_parts if p.dtype.is_complex else self._updated
            new = update(p, gradients[p], values, own)
            for name, value in values.items():
                if value is not state[name]:
                    put(state[name], value)
            put(p, new)

    def _of_parts(self, p: Tensor, gradient: Any, state: State, n: Numbers) -> Tensor:
        """A complex parameter is updated as twice as many real ones: its parts."""
        whole = [name for name, x in state.items() if x.dtype.is_complex]
        state |= {name: view_as_real(state[name]) for name in whole}
        found = self._updated(view_as_real(p), view_as_real(gradient), state, n)
        state |= {name: view_as_complex(state[name]) for name in whole}
        return view_as_complex(found)

    def _updated(self, p: Tensor, gradient: Any, state: State, n: Numbers) -> Tensor:
        """The new value of a parameter: the rule, and what all rules have in common."""
        kind = p.dtype.compute
        g = gradient if gradient.dtype is kind else gradient.cast(kind)
        p = p if p.dtype is kind else p.cast(kind)
        if getattr(n, "maximize", False):
            g = -g
        decay = getattr(n, "weight_decay", None)
        if decay is not None and self.decay != "rule":
            if self.decays_parameter(n):
                p = p * n.shrink
            else:
                g = g + p * decay
        return self.update(p, g, state, n)

    def decays_parameter(self, n: Numbers) -> bool:
        """Does weight decay shrink the parameter itself?"""
        return self.decay == "parameter" or bool(getattr(n, "decoupled_weight_decay", False))

    # ---- what a rule writes

    def counters(self, group: Group) -> dict[str, float]:
        """Numbers that each parameter counts with, and where they start."""
        return {}

    def starts(self, group: Group, p: Tensor) -> State:
        """State of a parameter, at its start."""
        return {}

    def prepare(self, n: Numbers) -> None:
        """Compute in float64, once for many parameters, what the rule needs besides settings."""
        if getattr(n, "weight_decay", None) is not None:
            n.shrink = 1.0 - n.lr * n.weight_decay

    update: Callable[[Tensor, Tensor, State, Numbers], Tensor]
    """The new value of a parameter p with gradient g; new values of its state go into state."""

    # ---- saving

    def state_dict(self) -> dict[str, Any]:
        """State by the number of the parameter, and settings: PyTorch's structure.

        Values are those of now, and stay so whatever happens to the optimizer.
        """
        return saved(self)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave, here or in PyTorch; all of it, or nothing."""
        loaded(self, state_dict)


def zeros_of(p: Tensor) -> Tensor:
    """Zeros in a parameter's shape, in float32 at least: running means move by small steps."""
    return zeros(p.shape, dtype=p.dtype.compute, device=p.device)


def full_of(p: Tensor, value: complex) -> Tensor:
    """The same with another number, of a complex parameter in both parts."""
    value = value * (1 + 1j) if p.dtype.is_complex else value
    return full(p.shape, value, dtype=p.dtype.compute, device=p.device)


def _counted(counter: Tensor, value: Tensor, active: list[int]) -> Tensor:
    """New values of a counter, for those parameters that have made a step."""
    if len(active) == counter.size:
        return value
    mask = [k in active for k in range(counter.size)]
    return where(tensor(mask, device=counter.device), value, counter)


def _listed(params: Any) -> list[Any]:
    return [params] if isinstance(params, Tensor) else list(params)


def _named(given: list[Any]) -> tuple[list[str], list[Tensor]]:
    """Names, if there are any, and parameters."""
    pairs = [x if isinstance(x, tuple) and len(x) == 2 else (None, x) for x in given]
    for _, p in pairs:
        if not isinstance(p, Tensor):
            hint, got = "pass tensors, such as model.parameters()", type(p).__name__
            raise OperandError(explain("optimizer", "not a parameter", hint, got=got))
        if not p.is_leaf:
            hint = "make it with requires_grad_(), not from a tensor that has it"
            raise OperandError(explain("optimizer", "a parameter is computed from another", hint))
    names = [name for name, _ in pairs if name is not None]
    return (names if len(names) == len(pairs) else []), [p for _, p in pairs]


def _check_how(how: Mapping[str, Any]) -> None:
    unknown = [name for name in how if name not in How.__annotations__]
    if unknown:
        raise TypeError(f"an optimizer takes no argument {', '.join(unknown)}")
    if how.get("differentiable"):
        hint = "td.grad of a function that computes the update"
        wrong = "no gradient flows through a step"
        raise ArgumentError(explain("optimizer", wrong, hint, differentiable=True))
