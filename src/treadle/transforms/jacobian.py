"""Whole Jacobians and Hessians: products with every unit vector at once, in one program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any

from treadle.base.errors import GradientError, explain, require_function
from treadle.base.trees import flatten, unflatten
from treadle.ops.elementwise import conj
from treadle.tensor.creation import eye
from treadle.tensor.tensor import Tensor
from treadle.transforms.forward import linearize
from treadle.transforms.grad import end_following, form_of, grad, pulling, two_parts
from treadle.transforms.vmap import vmap

Argnums = int | Sequence[int]


def jacrev(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns d(f)/d(argument), of the result's shape followed by the argument's.

    By reverse mode, a row for each element of the result, all rows at once: for functions of many
    numbers with few results. Results and arguments may be nested; so is the Jacobian, by results
    first. With has_aux, f returns (result, anything else), and so does this, the Jacobian first.
    A function from complex numbers to complex numbers has to be holomorphic.

    >>> import treadle as td
    >>> jacrev(lambda x: x * x)(td.tensor([1.0, 3.0])).tolist()
    [[2.0, 0.0], [0.0, 6.0]]
    """
    return _derivative("jacrev", f, argnums, has_aux, _by_rows)


def jacfwd(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The same as jacrev by forward mode, a column for each element of the arguments.

    For functions of few numbers with many results.

    >>> import treadle as td
    >>> jacfwd(lambda x: x * x)(td.tensor([1.0, 3.0])).tolist()
    [[2.0, 0.0], [0.0, 6.0]]
    """
    return _derivative("jacfwd", f, argnums, has_aux, _by_columns)


def jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that returns d(f)/d(argument): jacrev under the name that says no way.

    >>> import treadle as td
    >>> jacobian(lambda x: x * x)(td.tensor([1.0, 3.0])).tolist()
    [[2.0, 0.0], [0.0, 6.0]]
    """
    return _derivative("jacobian", f, argnums, False, _by_rows)


def hessian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that returns the second derivatives of f's scalar result, forward over reverse.

    By several arguments it is nested: by the first derivative's argument, then by the second's.

    >>> import treadle as td
    >>> hessian(lambda x: (x * x * x).sum())(td.tensor([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    require_function("hessian", f)
    return jacfwd(grad(f, argnums), argnums)


# ---- what they share

Blocks = list[list[Tensor]]
"""Of every result, by every tensor among the arguments."""


def _derivative(
    what: str, f: Callable[..., Any], argnums: Argnums, has_aux: bool, blocks: Callable[..., Any]
) -> Callable[..., Any]:
    require_function(what, f)
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @wraps(f)
    def wrapped(*args: Any, **options: Any) -> Any:
        def of_chosen(*chosen: Any) -> Any:
            given = list(args)
            for number, x in zip(numbers, chosen, strict=True):
                given[number] = x
            result = f(*given, **options)
            y, aux = two_parts(what, result) if has_aux else (result, None)
            _require_floats(what, y)
            return y, aux

        for number in numbers:
            if not -len(args) <= number < len(args):
                hint = "argnums are the numbers of positional arguments made of float tensors"
                raise GradientError(explain(what, f"there is no argument {number}", hint))
        leaves: list[Tensor] = []
        form = form_of(args, numbers, leaves)
        y, found, aux = blocks(of_chosen, [args[number] for number in numbers], form, leaves)
        each = [unflatten(form, block) for block in found]
        nested = unflatten(y, [block[0] if isinstance(argnums, int) else block for block in each])
        return (nested, aux) if has_aux else nested

    return wrapped


def _require_floats(what: str, y: Any) -> None:
    outputs: list[Tensor] = []
    flatten(y, Tensor, outputs)
    odd = [x.dtype.name for x in outputs if not x.dtype.is_inexact]
    if odd or not outputs:
        got = odd[0] if odd else type(y).__name__
        raise GradientError(explain(what, "needs a float result", "return float tensors", got=got))


def _by_rows(f: Callable[..., Any], args: list[Any], form: Any, leaves: list[Tensor]) -> Any:
    """Every result pulled back from its unit vectors."""
    marks: list[Tensor] = []
    y, pullback, aux = pulling(f, args, True, marks)
    outputs: list[Tensor] = []
    shape = flatten(y, Tensor, outputs)
    blocks: Blocks = []
    for k, output in enumerate(outputs):

        def pulled(unit: Tensor, k: int = k) -> list[Tensor]:
            cotangents = [x.zeros_like() for x in outputs]
            cotangents[k] = unit
            found: list[Tensor] = []
            flatten(pullback(unflatten(shape, cotangents)), Tensor, found)
            return found

        rows = [_of_rows(row, output) for row in vmap(pulled)(_units(output))]
        blocks.append(
            [row.reshape(*output.shape, *x.shape) for row, x in zip(rows, leaves, strict=True)]
        )
    results = [x for block in blocks for x in block]
    flatten(aux, Tensor, results)
    end_following(marks, results)
    return shape, blocks, aux


def _of_rows(row: Tensor, output: Tensor) -> Tensor:
    """The derivative from its rows: a gradient by a complex number is the conjugate of that."""
    if not output.dtype.is_complex:
        return row
    if not row.dtype.is_complex:
        hint = "td.jacfwd goes from real numbers to complex ones"
        raise GradientError(explain("jacrev", "complex results of real arguments", hint))
    found: Tensor = conj(row)
    return found


def _by_columns(f: Callable[..., Any], args: list[Any], form: Any, leaves: list[Tensor]) -> Any:
    """Every result pushed forward along the unit vectors of every argument."""
    y, push, aux = linearize(f, *args, has_aux=True)
    outputs: list[Tensor] = []
    shape = flatten(y, Tensor, outputs)
    blocks: Blocks = [[] for _ in outputs]
    for k, leaf in enumerate(leaves):

        def pushed(unit: Tensor, k: int = k) -> list[Tensor]:
            tangents = [x.zeros_like() for x in leaves]
            tangents[k] = unit
            found: list[Tensor] = []
            flatten(push(*unflatten(form, tangents)), Tensor, found)
            return found

        columns = vmap(pushed, out_axes=-1)(_units(leaf))
        for block, column, output in zip(blocks, columns, outputs, strict=True):
            block.append(column.reshape(*output.shape, *leaf.shape))
    return shape, blocks, aux


def _units(x: Tensor) -> Tensor:
    """The unit vectors of x's shape, one after the other."""
    count = prod(x.shape)
    return eye(count, dtype=x.dtype, device=x.device).reshape(count, *x.shape)
