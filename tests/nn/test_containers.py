"""Modules and parameters in rows and dicts: what they hold, and how they change."""

from __future__ import annotations

import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import IndexingError, OperandError


def test_sequential_is_a_list():
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    assert net.append(nn.Linear(3, 1)) is net
    assert len(net) == 3
    assert [type(m) for m in net[1:]] == [nn.ReLU, nn.Linear]
    assert list(net[1:].state_dict()) == ["2.weight", "2.bias"]
    assert net[-1] is net[2]
    net[1] = nn.Tanh()
    net.insert(0, nn.Identity())
    del net[0]
    assert list(net.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert net(td.ones(4, 2)).shape == (4, 1)
    assert type(net.pop(1)) is nn.Tanh
    assert len(net + nn.Sequential(nn.ReLU())) == 3
    with pytest.raises(IndexError):
        net[5]
    with pytest.raises(OperandError, match="module"):
        nn.Sequential(nn.ReLU(), 3)


def test_lists_and_dicts_of_modules():
    rows = nn.ModuleList([nn.Linear(1, 1)]).extend([nn.ReLU(), nn.ReLU()])
    assert repr(rows).splitlines()[2] == "  (1-2): 2 x ReLU()"
    assert [type(m) for m in rows[1:]] == [nn.ReLU, nn.ReLU]
    assert len(rows + [nn.ReLU()]) == 4  # noqa: RUF005 - the sum is what is tested
    named = nn.ModuleDict({"a": nn.Linear(1, 1)})
    named["b"] = nn.ReLU()
    named.update([("c", nn.Tanh())])
    assert list(named) == list(named.keys()) == ["a", "b", "c"]
    assert "b" in named
    assert type(named.pop("b")) is nn.ReLU
    assert len(named) == 2
    with pytest.raises(KeyError, match="known"):
        named["b"]
    named.clear()
    assert not len(named)


def test_lists_and_dicts_of_parameters():
    rows = nn.ParameterList([td.ones(1), nn.Parameter(td.zeros(2))]).append(td.ones(3))
    assert [p.shape for p in rows] == [(1,), (2,), (3,)]
    assert list(rows.state_dict()) == ["0", "1", "2"]
    assert all(isinstance(p, nn.Parameter) for p in rows)
    rows[0] = td.ones(4)
    assert rows[0].shape == (4,)
    assert [p.shape for p in rows[1:]] == [(2,), (3,)]
    named = nn.ParameterDict({"x": td.ones(1)})
    named["y"] = td.ones(2)
    assert dict(named.named_parameters()).keys() == {"x", "y"}
    assert named["y"].requires_grad


def test_rows_of_modules_grow_in_place_and_hold_modules_only():
    for row in (nn.Sequential(nn.ReLU()), nn.ModuleList([nn.ReLU()])):
        before = row
        row += [nn.Tanh()]
        assert row is before
        assert len(row) == 2
        with pytest.raises(OperandError, match="not a module"):
            row[0] = 5
        assert [type(part).__name__ for part in row] == ["ReLU", "Tanh"]
    twice = nn.Sequential(nn.ReLU(), nn.Tanh()) * 2
    assert [type(part).__name__ for part in twice] == ["ReLU", "Tanh"] * 2
    own = nn.ParameterList([td.ones(2)])
    own += [td.ones(3)]
    assert [p.shape for p in own] == [(2,), (3,)]
    with pytest.raises(IndexingError, match="out of range"):
        own[2] = td.ones(1)


def test_dicts_of_modules_are_mappings_and_themselves():
    own = nn.ParameterDict({"a": td.ones(2)})
    assert own.get("b") is None
    assert own.setdefault("b", td.ones(3)).shape == (3,)
    assert list(reversed(own)) == ["b", "a"]
    other = nn.ParameterDict(dict(own.items()))
    assert own != other
    assert len({own, other}) == 2
    assert own.pop("a").shape == (2,)
