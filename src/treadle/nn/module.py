"""The module: a tree of parameters, buffers and modules, and how it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self

from treadle.base.errors import ArgumentError, OperandError, explain
from treadle.ir.recording import RECORDING
from treadle.nn.hooks import Backward, Hook, RemovableHandle, Table, add_hook
from treadle.nn.loading import Differences, load
from treadle.nn.moving import module_target, moved
from treadle.nn.parameter import Buffer, Parameter
from treadle.nn.paths import PATHS
from treadle.nn.summary import Summary, summarize
from treadle.nn.tree import indented, parts
from treadle.tensor.gradients import gradient_held, is_grad_enabled
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE, Followed, fact_of


class Module(Followed):
    """A layer or a model: derive from it, set parameters and modules as attributes, write forward.

    Modules and Parameters that are attributes, or lie in lists and dicts that are, are found by
    name. Other tensors are found if they were registered with `register_buffer`. Calling
    `super().__init__()` first is allowed and not needed.
    """

    forward: Callable[..., Any]
    _at_first = {"_training": True}  # noqa: RUF012 - never changed

    # ---- calls

    def __call__(self, *args: Any, **options: Any) -> Any:
        if RECORDING.watched:  # by a trace, or a profile
            return self._call_watched(args, options)
        hooks = self.__dict__.get("_hooks")
        if not hooks:
            return self.forward(*args, **options)
        return self._call_with_hooks(hooks, args, options)

    def _call_watched(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The same for those who want to know which module records what."""
        if TRACE:
            self._note()
        with PATHS.inside(self):
            return self._call_with_hooks(self.__dict__.get("_hooks", {}), args, options)

    def _call_with_hooks(
        self, hooks: dict[str, Table], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        for hook, with_options in list(hooks.get("before", {}).values()):
            if with_options:
                args, options = hook(self, args, options) or (args, options)
            else:
                found = hook(self, args)
                args = args if found is None else found if isinstance(found, tuple) else (found,)
        around = [hooks.get(name, {}) for name in ("backward before", "backward")]
        backward = Backward(self, *around) if any(around) else None
        args = backward.enter(args) if backward else args
        result = self.forward(*args, **options)
        for hook, with_options in list(hooks.get("after", {}).values()):
            given = (self, args, options, result) if with_options else (self, args, result)
            found = hook(*given)
            result = result if found is None else found
        return backward.leave(result) if backward else result

    def _add_hook(self, name: str, hook: Hook, option: bool, first: bool) -> RemovableHandle:
        if not callable(hook):
            wrong = "a hook is a function"
            raise OperandError(explain("register_hook", wrong, got=type(hook).__name__))
        table = self.__dict__.setdefault("_hooks", {}).setdefault(name, {})
        found: RemovableHandle = add_hook(table, hook, option, first)
        return found

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args) before forward; what it returns replaces the arguments."""
        return self._add_hook("before", hook, with_kwargs, prepend)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args, output) after forward; what it returns replaces the output."""
        return self._add_hook("after", hook, with_kwargs, prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_output) when the gradients of the outputs are known."""
        return self._add_hook("backward before", hook, False, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) when those of the inputs are known.

        What it returns replaces them. In a compiled function it is called while that is traced.
        """
        return self._add_hook("backward", hook, False, prepend)

    # ---- training, evaluation

    @property
    def training(self) -> bool:
        """Is this training, not evaluation? `train` and `eval` say so for all below as well."""
        if TRACE:
            self._note()
        found: bool = self.__dict__.get("_training", True)
        return found

    @training.setter
    def training(self, mode: bool) -> None:
        self._training = mode

    def train(self, mode: bool = True) -> Self:
        """Switch this module and all below to training (or evaluation)."""
        if not isinstance(mode, bool):
            raise ArgumentError(explain("train", "mode is True or False", got=repr(mode)))
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Switch to evaluation."""
        return self.train(False)

    def _note(self) -> None:
        if self not in TRACE.top.facts:
            super()._note()
            for _, part in self.named_children():
                part._note()

    # ---- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        before = self.__dict__.get(name)
        if isinstance(before, Parameter) and isinstance(value, Tensor):
            if value is before:
                return
            if not isinstance(value, Parameter):
                self._set_parameter(name, before, value)
                return
        elif isinstance(value, Tensor):
            kept = self.__dict__.get("_kept", {})
            if isinstance(value, Buffer):
                self.__dict__["_kept"] = kept | {name: value.persistent}
            elif TRACE and name in kept and isinstance(before, Tensor):
                before.assign(value)  # the next call of the compiled function goes on from there
                return
        if TRACE and not name.startswith("_"):
            self._require_same(name, value)
        super().__setattr__(name, value)

    def _require_same(self, name: str, value: Any) -> None:
        """Raise for a value that later calls of a compiled function would not set again."""
        known = TRACE.top.facts.get(self, {})
        if name in known and known[name] != fact_of(value):
            hint = "register_buffer() makes a tensor state; a name that begins with _ is yours"
            wrong = "a compiled function gives a module's attribute another value"
            facts: dict[str, object] = {"module": type(self).__name__, "attribute": name}
            raise OperandError(explain("compile", wrong, hint, **facts))

    def _set_parameter(self, name: str, parameter: Parameter, value: Tensor) -> None:
        if is_grad_enabled():
            hint = "nn.Parameter(value) for another; with td.no_grad(): for another value"
            wrong = "a tensor does not take the place of a parameter"
            facts: dict[str, object] = {"name": name, "module": type(self).__name__}
            raise OperandError(explain("setattr", wrong, hint, **facts))
        parameter.assign(value)

    def __getattr__(self, name: str) -> Any:
        """An attribute that is computed whenever it is read, such as a weight of norm 1."""
        computed = self.__dict__.get("_computed", {})
        if name in computed:
            return computed[name](self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _compute(self, name: str, rule: Callable[[Any], Tensor]) -> None:
        self.__dict__.setdefault("_computed", {})[name] = rule
        Followed.changes += 1

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self.__dict__.get("_kept", {}).pop(name, None)

    def _register(self, what: str, name: str, value: Any, kinds: type | tuple[type, ...]) -> None:
        if not isinstance(name, str) or not name or "." in name:
            raise ArgumentError(explain(what, "a name is text without dots", got=repr(name)))
        if value is not None and not isinstance(value, kinds):
            expected = kinds if isinstance(kinds, type) else kinds[0]
            facts: dict[str, object] = {"name": name, "got": type(value).__name__}
            raise OperandError(explain(what, f"not a {expected.__name__}", **facts))
        if name not in self.__dict__ and hasattr(self, name):
            raise ArgumentError(explain(what, "there is an attribute of that name", name=name))
        object.__setattr__(self, name, value)
        Followed.changes += 1

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Set a parameter as an attribute; None keeps its place."""
        self._register("register_parameter", name, param, Parameter)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Set a tensor as an attribute that moves with the module and, if persistent, is state."""
        self._register("register_buffer", name, tensor, Tensor)
        self.__dict__.setdefault("_kept", {})[name] = persistent

    def register_module(self, name: str, module: Module | None) -> None:
        """Set a module as an attribute."""
        self._register("register_module", name, module, Module)

    def add_module(self, name: str, module: Module | None) -> None:
        """Set a module as an attribute."""
        self._register("add_module", name, module, Module)

    # ---- what it holds

    def _own(self, kind: type[Any]) -> Iterator[tuple[str, Any]]:
        for name, value in self.__dict__.items():
            yield from parts(name, value, kind)

    def _own_buffers(self) -> Iterator[tuple[str, Tensor]]:
        for name in self.__dict__.get("_kept", {}):
            value = self.__dict__.get(name)
            if value is not None:
                yield name, value

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules right below, each once, in the order in which they were set."""
        seen: set[Module] = set()
        for name, module in self._own(Module):
            if module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules right below."""
        return (module for _, module in self.named_children())

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """The module itself and all below, with their dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._own(Module):
            below = f"{prefix}.{name}" if prefix else name
            yield from module.named_modules(memo, below, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """The module itself and all below, each once."""
        return (module for _, module in self.named_modules())

    def _members(
        self,
        own: Callable[[Module], Iterable[tuple[str, Any]]],
        prefix: str, recurse: bool, once: bool,
    ) -> Iterator[tuple[str, Any]]:  # fmt: skip
        seen: set[int] = set()
        found = self.named_modules(prefix=prefix, remove_duplicate=once)
        for path, module in found if recurse else [(prefix, self)]:
            for name, value in own(module):
                if not once or id(value) not in seen:
                    seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Every parameter, frozen ones too, with its dotted name; shared ones once."""
        return self._members(lambda m: m._own(Parameter), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Every parameter, frozen ones too; shared ones once."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Every registered buffer with its dotted name."""
        return self._members(Module._own_buffers, prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Every registered buffer."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module below of a dotted name; itself for the empty one."""
        return self._found("get_submodule", target, {**dict(self.named_modules(set(), "", False))})

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name."""
        known = dict(self.named_parameters(remove_duplicate=False))
        return self._found("get_parameter", target, known)

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name."""
        return self._found("get_buffer", target, dict(self.named_buffers(remove_duplicate=False)))

    def _found(self, what: str, target: str, known: Mapping[str, Any]) -> Any:
        if target not in known:
            names = ", ".join(name for name in list(known)[:20] if name)
            facts = {"module": type(self).__name__, "known": names or "none"}
            raise AttributeError(explain(what, f"there is no {target!r}", **facts))
        return known[target]

    # ---- all of it

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call fn with every module below and then with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Let every parameter collect gradients, or freeze all of them."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of every parameter; set_to_none=False: make them zeros."""
        for parameter in self.parameters():
            found = None if set_to_none else gradient_held(parameter)
            parameter.grad = None if found is None else found.zeros_like()

    def to(self, *args: Any, **options: Any) -> Self:
        """Move parameters and buffers to a device, floats to a dtype: to("cuda", td.float16).

        They stay the same objects: an optimizer keeps them. Compiled functions trace again.
        """
        device, dtype = module_target(args, options)
        moved([*self.parameters(), *self.buffers()], device, dtype)
        return self

    # fmt: off
    def cpu(self) -> Self: return self.to("cpu")
    def cuda(self, device: int | None = None) -> Self:
        return self.to("cuda" if device is None else f"cuda:{device}")
    def half(self) -> Self: return self.to("float16")
    def bfloat16(self) -> Self: return self.to("bfloat16")
    def float(self) -> Self: return self.to("float32")
    def double(self) -> Self: return self.to("float64")
    # fmt: on

    # ---- state

    def state_dict(self, prefix: str = "", keep_vars: bool = False) -> dict[str, Tensor]:
        """Parameters and persistent buffers by name, as they are now.

        What a later step does to the model does not reach them; with keep_vars they are the
        module's own tensors.
        """
        found: dict[str, Tensor] = {}
        persistent = self.__dict__.get("_kept", {})
        own = [*self._own(Parameter), *(x for x in self._own_buffers() if persistent[x[0]])]
        for name, value in own:
            found[prefix + name] = value if keep_vars else value.detach()
        for name, module in self._own(Module):
            found |= module.state_dict(f"{prefix}{name}.", keep_vars)
        return found

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Differences:
        """Give parameters and buffers the values of these names; returns which names differ.

        - **strict**: names must be the same on both sides; shapes always must
        - **assign**: take the dtypes and devices of the given tensors over, too

        Nothing is changed if something does not fit.
        """
        own = self.state_dict(keep_vars=True)
        return load(type(self).__name__, own, state_dict, strict, assign)

    # ---- text

    def summary(self, *args: Any, **options: Any) -> Summary:
        """A table of what every layer makes of such arguments: shapes, parameters, work, memory.

        Nothing is computed, and what forward assigns to, such as running statistics, stays.
        """
        return summarize(self, args, options)

    def extra_repr(self) -> str:
        """What `repr` shows of this module besides the modules below."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        below = [f"({name}): {indented(repr(module))}" for name, module in self._own(Module)]
        if not below and len(lines) <= 1:
            return f"{type(self).__name__}({extra})"
        body = "".join(f"\n  {line}" for line in lines + below)
        return f"{type(self).__name__}({body}\n)"
