"""`vmap`: a function of one sample as a function of a whole batch, in one program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from treadle.autograd.batching import Batch
from treadle.base.errors import (
    ArgumentError,
    OperandError,
    ShapeError,
    explain,
    require_function,
)
from treadle.base.shapes import axis_in
from treadle.base.trees import Structure, flatten, unflatten
from treadle.ir.node import Node, iota
from treadle.ir.recording import RECORDING
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import SAMPLES, TRACE, Tracing
from treadle.transforms.traced import _is_older, _undo

NOTHING: Any = object()
RANDOMNESS = ("different", "same")


def vmap(
    f: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    in_dims: Any = NOTHING,
    out_dims: Any = NOTHING,
    randomness: str = "different",
) -> Callable[..., Any]:
    """A function that maps f, which is written for one sample, over an axis of its arguments.

    - **in_axes**: which axis of each positional argument counts the samples; None for what all
      samples share. A number stands for all tensors of an argument that is nested, or it is nested
      the same way. Tensors that f closes over, and keyword arguments, are shared.
    - **out_axes**: where that axis is in the results
    - **randomness**: "different" draws for every sample, or the "same" for all
    - **in_dims**, **out_dims**: PyTorch's words for the axes

    f is called once and records what it does to one sample; the recording is rewritten for all of
    them. So it cannot read values (`item`, `if x > 0`), and cannot change tensors it closes over.

    >>> import treadle as td
    >>> a, b = td.tensor([[1.0, 2.0], [3.0, 4.0]]), td.tensor([10.0, 1.0])
    >>> vmap(td.dot, in_axes=(0, None))(a, b).tolist()
    [12.0, 34.0]
    >>> vmap(td.grad(lambda x: (x * x).sum()))(a).tolist()
    [[2.0, 4.0], [6.0, 8.0]]
    """
    require_function("vmap", f)
    takes = in_axes if in_dims is NOTHING else in_dims
    gives = out_axes if out_dims is NOTHING else out_dims
    if randomness not in RANDOMNESS:
        hint = f"one of {', '.join(RANDOMNESS)}"
        raise ArgumentError(explain("vmap", "no such randomness", hint, got=repr(randomness)))

    @wraps(f)
    def wrapped(*args: Any, **options: Any) -> Any:
        leaves: list[Tensor] = []
        form = flatten(args, Tensor, leaves)
        _refuse_arrays(form)
        by_argument = tuple(takes) if isinstance(takes, list) else takes
        axes = list(_axes_of("in_axes", by_argument, args))
        batch = Batch(_size(leaves, axes))
        stand_ins = [
            x if axis is None else Tensor(batch.sample(_in_front(x, axis)._node))
            for x, axis in zip(leaves, axes, strict=True)
        ]
        trace = _Samples(batch, randomness == "different")
        result = trace.run(f, unflatten(form, stand_ins), options, stand_ins)
        outputs: list[Tensor] = []
        form = flatten(result, Tensor, outputs)
        wholes = batch.find([y._node for y in outputs])
        places = _axes_of("out_axes", gives, result)
        found = [
            _placed(batch, y, whole, axis)
            for y, whole, axis in zip(outputs, wholes, places, strict=True)
        ]
        return unflatten(form, found)

    return wrapped


def _refuse_arrays(form: Structure) -> None:
    """An array would be the same for all samples, and nobody would notice."""
    if form is None:
        return
    if form[0] == "static" and hasattr(form[-1], "__array_interface__"):
        hint = "wrap it with td.tensor(...)"
        raise OperandError(explain("vmap", "not a tensor", hint, got=form[1].__name__))
    for part in form[1:]:
        if part is None or isinstance(part, tuple):
            _refuse_arrays(part)


# ---- axes


def _axes_of(name: str, axes: Any, tree: Any) -> Iterable[int | None]:
    """The axis of every tensor of a tree, from a number or from axes nested like the tree."""
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        leaves: list[Tensor] = []
        flatten(tree, Tensor, leaves)
        return [axes] * len(leaves)
    pairs = _pairs(axes, tree)
    if pairs is None:
        hint = f"a number, None, or {name} nested like what they are for"
        facts = {"axes": axes, "nested": _form(tree)}
        raise ArgumentError(explain("vmap", f"{name} do not fit", hint, **facts))
    return [axis for part, branch in pairs for axis in _axes_of(name, part, branch)]


def _pairs(axes: Any, tree: Any) -> list[tuple[Any, Any]] | None:
    """What belongs together one level down; None if the two are not alike."""
    if isinstance(axes, dict) and isinstance(tree, dict) and axes.keys() == tree.keys():
        return [(axes[key], tree[key]) for key in tree]
    listed = isinstance(axes, list | tuple) and isinstance(tree, list | tuple)
    return list(zip(axes, tree, strict=True)) if listed and len(axes) == len(tree) else None


def _form(tree: Any) -> Any:
    """A tree with words for what it holds."""
    if isinstance(tree, dict):
        return {key: _form(part) for key, part in tree.items()}
    if isinstance(tree, list | tuple):
        return [_form(part) for part in tree]
    return type(tree).__name__


def _size(leaves: Sequence[Tensor], axes: Sequence[int | None]) -> int:
    """How many samples there are."""
    mapped = [(x, axis) for x, axis in zip(leaves, axes, strict=True) if axis is not None]
    if not mapped:
        hint = "at least one tensor among the arguments has an axis of samples"
        raise ArgumentError(explain("vmap", "nothing to map over", hint))
    for x, _ in mapped:
        if not x.shape:
            hint = "in_axes has None for what all samples share"
            raise ShapeError(explain("vmap", "a 0-d tensor has no axis of samples", hint))
    sizes = [x.shape[axis_in("vmap", axis, x.ndim)] for x, axis in mapped]
    if any(size != sizes[0] for size in sizes):
        shapes = ", ".join(f"{x.shape} along {axis}" for x, axis in mapped)
        raise ShapeError(explain("vmap", "different numbers of samples", shapes=shapes))
    return sizes[0]


def _in_front(x: Tensor, axis: int) -> Tensor:
    """x with an axis first."""
    if TRACE:
        TRACE.top.read.setdefault(x._node, x)
    axis %= x.ndim
    if not axis:
        return x
    return x.permute(axis, *(k for k in range(x.ndim) if k != axis))


def _placed(batch: Batch, y: Tensor, whole: Node | None, axis: int | None) -> Tensor:
    """A result for all samples with their axis where it is wanted."""
    if axis is None:
        if whole is not None:
            hint = "out_axes is the place of the axis that counts the samples"
            wrong = "a result differs from sample to sample, and has no axis for that"
            raise ArgumentError(explain("vmap", wrong, hint, shape=y.shape))
        return y
    found = Tensor(batch.expanded(y._node))
    axis = axis_in("vmap", axis, found.ndim)
    if not axis:
        return found
    return found.permute(*range(1, axis + 1), 0, *range(axis + 1, found.ndim))


# ---- the call


class _Samples:
    """One call of a function on samples, while what it does to tensors outside is noted."""

    def __init__(self, batch: Batch, different: bool) -> None:
        self.batch = batch
        self.outer = TRACE.top if TRACE else None
        self.trace = Tracing()
        if self.outer is not None:
            self.trace.made = self.outer.made
        self.different = different

    def run(
        self, f: Callable[..., Any], args: Any, options: dict[str, Any], stand_ins: list[Tensor]
    ) -> Any:
        """f's result for one sample."""
        self.trace.made.update([x._node for x in stand_ins if x._node in self.batch.whole])
        made = RECORDING.made
        TRACE.push(self.trace)
        RECORDING.watch(RECORDING.sites, self.trace.made)
        if self.different:
            device = stand_ins[0].device
            number = self.batch.sample(iota((self.batch.size,), 0, device))
            SAMPLES.push((number, self.batch.size))
        try:
            result = f(*args, **options)
            self._refuse_changes()
        except BaseException:
            _undo(self.trace)
            raise
        finally:
            if self.different:
                SAMPLES.pop()
            RECORDING.watch(RECORDING.sites, made)
            TRACE.pop()
        if self.outer is not None:
            self._tell(self.outer)
        return result

    def _refuse_changes(self) -> None:
        """What outlives the call has one value, not one for each sample."""
        changed = [(x, x._node, "assigned to") for x in self.trace.assigned]
        changed += [
            (x, x._grad._node, "given a gradient")
            for x in self.trace.grads
            if isinstance(x._grad, Tensor)
        ]
        for x, node, what in changed:
            if _is_older(x, self.trace) and self.batch.find([node]) != [None]:
                hint = "return the value instead; td.grad gives gradients as values"
                wrong = f"a tensor outside of the function is {what}, by every sample"
                raise ArgumentError(explain("vmap", wrong, hint, shape=x.shape))

    def _tell(self, outer: Tracing) -> None:
        """What a trace around this one has to know."""
        for name in ("assigned", "marked", "grads", "found", "read", "facts"):
            known = getattr(outer, name)
            for thing, before in getattr(self.trace, name).items():
                known.setdefault(thing, before)
