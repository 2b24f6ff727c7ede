"""Modules and parameters in a row or by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from operator import index as whole
from typing import Any, Self

from treadle.base.errors import ArgumentError, IndexingError, OperandError, explain
from treadle.nn.module import Module
from treadle.nn.parameter import Parameter
from treadle.nn.tree import indented
from treadle.tensor.tensor import Tensor


class _Row(Module):
    """What modules in a row share: they are attributes named by their numbers."""

    def _names(self) -> list[str]:
        return [name for name, value in self.__dict__.items() if isinstance(value, Module)]

    def _name(self, place: Any) -> str:
        names, k = self._names(), whole(place)
        if not -len(names) <= k < len(names):
            facts = {"index": k, "length": len(names)}
            raise IndexingError(explain(type(self).__name__, "index is out of range", **facts))
        return names[k]

    def _checked(self, modules: Iterable[Any]) -> list[Module]:
        wanted = list(modules)
        for module in wanted:
            if not isinstance(module, Module):
                got = type(module).__name__
                raise OperandError(explain(type(self).__name__, "not a module", got=got))
        return wanted

    def _fill(self, modules: Iterable[Any]) -> None:
        """These modules and no others, named by their numbers."""
        wanted = self._checked(modules)
        for name in self._names():
            delattr(self, name)
        for k, module in enumerate(wanted):
            self.add_module(str(k), module)

    def __len__(self) -> int:
        return len(self._names())

    def __iter__(self) -> Iterator[Any]:
        return iter([self.__dict__[name] for name in self._names()])

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name(index), *self._checked([module]))

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __delitem__(self, index: int | slice) -> None:
        modules = list(self)
        del modules[index]
        self._fill(modules)

    def append(self, module: Module) -> Self:
        """One more at the end."""
        return self.extend([module])

    def extend(self, modules: Iterable[Module]) -> Self:
        """More at the end."""
        self._fill([*self, *modules])
        return self

    def insert(self, index: int, module: Module) -> Self | None:
        """One before another."""
        modules = list(self)
        modules.insert(index, module)
        self._fill(modules)
        return self

    def pop(self, key: int) -> Module:
        """Take one out."""
        found: Module = self.__dict__[self._name(key)]
        del self[key]
        return found


class Sequential(_Row):
    """Modules one after the other: several, or a dict of them by name.

    >>> Sequential(Sequential(), Sequential())[0]
    Sequential()
    """

    def __init__(self, *args: Module | Mapping[str, Module]) -> None:
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self._fill(args)

    def forward(self, input: Any) -> Any:
        """Apply each in turn."""
        found = input
        for module in self:
            found = module(found)
        return found

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)({name: self.__dict__[name] for name in self._names()[index]})
        return self.__dict__[self._name(index)]

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *other)

    def __mul__(self, count: int) -> Sequential:
        """The same modules again and again."""
        return Sequential(*list(self) * whole(count))

    __rmul__ = __mul__

    def extend(self, modules: Iterable[Module]) -> Self:
        """More at the end."""
        for module in self._checked(modules):
            self.add_module(str(len(self)), module)
        return self

    def __delitem__(self, index: int | slice) -> None:
        names = self._names()[index] if isinstance(index, slice) else [self._name(index)]
        for name in names:
            delattr(self, name)
        if all(name.isdigit() for name in self._names()):
            self._fill(list(self))


class ModuleList(_Row):
    """Modules in a list; write the forward that calls them."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        self._fill(() if modules is None else modules)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self.__dict__[self._name(index)]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Equal ones in a row are shown once."""
        runs: list[tuple[int, int, str]] = []
        for k, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], k, text)
            else:
                runs.append((k, k, text))
        if not runs:
            return f"{type(self).__name__}()"
        lines = [
            f"\n  ({first}): {indented(text)}" if first == last
            else f"\n  ({first}-{last}): {last - first + 1} x {indented(text)}"
            for first, last, text in runs
        ]  # fmt: skip
        return f"{type(self).__name__}({''.join(lines)}\n)"


class _Named(Module, MutableMapping[str, Any]):
    """What dicts of modules and of parameters share."""

    _kind: type = Module
    __hash__ = Module.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def _items(self) -> dict[str, Any]:
        own = self.__dict__.items()
        return {name: value for name, value in own if isinstance(value, self._kind)}

    def __getitem__(self, key: str) -> Any:
        try:
            return self._items()[key]
        except KeyError:
            known = ", ".join(self._items()) or "none"
            wrong = f"there is no {key!r}"
            raise KeyError(explain(type(self).__name__, wrong, known=known)) from None

    def __setitem__(self, key: str, value: Any) -> None:
        self._register(type(self).__name__, key, value, self._kind)

    def __delitem__(self, key: str) -> None:
        self.__getitem__(key)
        delattr(self, key)

    # fmt: off
    def __len__(self) -> int: return len(self._items())
    def __iter__(self) -> Iterator[str]: return iter(self._items())
    def __reversed__(self) -> Iterator[str]: return reversed(self._items())
    # fmt: on


class ModuleDict(_Named):
    """Modules by name; write the forward that calls them."""

    def __init__(self, modules: Any = None) -> None:
        self.update({} if modules is None else modules)


def _parameter(value: Any) -> Any:
    return Parameter(value) if value.__class__ is Tensor else value


def _described(name: Any, value: Any) -> str:
    size = "x".join(str(n) for n in value.shape)
    return f"  ({name}): Parameter containing: [{value.dtype!r} of size {size}]"


class ParameterDict(_Named):
    """Parameters by name; plain tensors become parameters."""

    _kind = Parameter

    def __init__(self, parameters: Any = None) -> None:
        self.update({} if parameters is None else parameters)

    def __setitem__(self, key: str, value: Any) -> None:
        self._register("ParameterDict", key, _parameter(value), Parameter)

    def extra_repr(self) -> str:
        """The parameters, a line each."""
        return "\n".join(_described(name, value) for name, value in self.items())


class ParameterList(Module):
    """Parameters in a list; plain tensors become parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        self.extend(() if values is None else values)

    def _values(self) -> list[Parameter]:
        return [value for value in self.__dict__.values() if isinstance(value, Parameter)]

    def _fill(self, values: Iterable[Any]) -> None:
        wanted = [_parameter(value) for value in values]
        for k in range(len(self)):
            delattr(self, str(k))
        for k, value in enumerate(wanted):
            self._register("ParameterList", str(k), value, Parameter)

    # fmt: off
    def __len__(self) -> int: return len(self._values())
    def __iter__(self) -> Iterator[Parameter]: return iter(self._values())
    # fmt: on

    def __getitem__(self, index: int | slice) -> Any:
        values = self._values()
        if isinstance(index, slice):
            return type(self)(values[index])
        return values[self._place(index)]

    def _place(self, index: int) -> int:
        if not -len(self) <= whole(index) < len(self):
            facts = {"index": index, "length": len(self)}
            raise IndexingError(explain("ParameterList", "index is out of range", **facts))
        return index

    def __setitem__(self, index: int, value: Any) -> None:
        values: list[Any] = list(self)
        values[self._place(index)] = value
        self._fill(values)

    def append(self, value: Any) -> Self:
        """One more at the end."""
        return self.extend([value])

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extend(self, values: Iterable[Any]) -> Self:
        """More at the end."""
        if isinstance(values, Tensor):
            hint = "[tensor] for one"
            raise ArgumentError(explain("ParameterList", "needs several tensors", hint))
        self._fill([*self, *values])
        return self

    def extra_repr(self) -> str:
        """The parameters, a line each."""
        return "\n".join(_described(k, value) for k, value in enumerate(self))
