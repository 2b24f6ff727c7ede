"""The rows of *Coming from PyTorch* and *Coming from JAX*: both sides give the same numbers.

Each side is an expression over the names that the page's first block makes.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
ROW = re.compile(r"^\| `([^`]*)` \| `([^`]*)` \|$", re.MULTILINE)


def page(name):
    return (DOCS / name).read_text("utf-8")


def names(name):
    """What the first block of a page makes."""
    space = {}
    exec(re.search(r"^```python\n(.*?)^```", page(name), re.DOTALL | re.MULTILINE)[1], space)
    return space


def rows(name, end):
    return ROW.findall(page(name).split(end)[0])


TORCH = rows("from-pytorch.md", "## Lazy")
JAX = rows("from-jax.md", "| `jax.vmap`")


def same(theirs, ours):
    theirs = np.asarray(theirs)
    ours = ours.numpy() if hasattr(ours, "numpy") else np.asarray(ours)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7, strict=False)
    assert np.shape(ours) == np.shape(theirs)


def test_there_are_rows():
    assert len(TORCH) > 35
    assert len(JAX) > 25


@pytest.mark.parametrize(("theirs", "ours"), TORCH)
def test_pytorch(theirs, ours):
    torch = pytest.importorskip("torch")
    space = names("from-pytorch.md")
    other = {name: torch.tensor(x.numpy()) for name, x in space.items() if hasattr(x, "numpy")}
    other |= {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    same(eval(theirs, other), eval(ours, space))


@pytest.mark.parametrize(("theirs", "ours"), JAX)
def test_jax(theirs, ours):
    jax = pytest.importorskip("jax")
    space = names("from-jax.md")
    other = {name: jax.numpy.asarray(x.numpy()) for name, x in space.items() if hasattr(x, "numpy")}
    other |= {"jax": jax, "jnp": jax.numpy, "f": space["f"]}
    same(eval(theirs, other), eval(ours, space))
