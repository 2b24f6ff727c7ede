"""Nested containers: taken apart and put together again, in both ways there are."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from treadle.base.trees import builder, flatten, unflatten


class Pair(NamedTuple):
    left: object
    right: object


class Leaf:
    def __init__(self, number):
        self.number = number


trees = st.recursive(
    st.builds(Leaf, st.integers()) | st.none() | st.booleans() | st.text(max_size=2),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.lists(inside, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), inside, max_size=3)
        | st.builds(Pair, inside, inside)
    ),
    max_leaves=12,
)


@given(trees)
def test_taken_apart_and_put_together(tree):
    leaves = []
    structure = flatten(tree, Leaf, leaves)
    hash(structure)
    assert unflatten(structure, leaves) == tree
    assert type(unflatten(structure, leaves)) is type(tree)
    assert builder(structure)(leaves) == tree
