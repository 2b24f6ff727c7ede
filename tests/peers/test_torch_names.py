"""Every public name of torch, its tensors, linalg, fft and special: here, or a page says why not.

Run by `make test-torch`, in an environment of its own; skipped where PyTorch is not installed.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import treadle as td
import treadle.testing  # a part of the package from now on, whoever else imports it

torch = pytest.importorskip("torch")
PAGE = Path(__file__).parent.parent.parent / "docs" / "torch-names.md"
ROW = re.compile(r"^\| (`.*?`) \| (.+) \|$", re.MULTILINE)
PATTERNS = {
    name: reason
    for names, reason in ROW.findall(PAGE.read_text("utf-8"))
    for name in re.findall(r"`([^`]*)`", names)
}


def public(owner):
    return [name for name in dir(owner) if not name.startswith("_")]


NAMES = [("torch", n, hasattr(td, n)) for n in public(torch)]
NAMES += [("Tensor", n, hasattr(td.Tensor, n)) for n in public(torch.Tensor)]
NAMES += [("linalg", n, hasattr(td.linalg, n) or hasattr(td, n)) for n in public(torch.linalg)]
NAMES += [("fft", n, hasattr(td.fft, n)) for n in public(torch.fft)]
NAMES += [("special", n, hasattr(td, n)) for n in public(torch.special)]
MISSING = sorted({name for _, name, there in NAMES if not there})


def reasons(name):
    return [pattern for pattern in PATTERNS if fnmatchcase(name, pattern)]


@pytest.mark.parametrize(("owner", "name", "there"), NAMES, ids=[f"{o}.{n}" for o, n, _ in NAMES])
def test_every_name_is_here_or_has_a_reason(owner, name, there):
    assert there or reasons(name), f"{owner}.{name} is not here: docs/{PAGE.name} must say why"


def test_every_reason_is_still_needed():
    assert [p for p in PATTERNS if not any(fnmatchcase(n, p) for n in MISSING)] == []


def test_a_reason_is_a_sentence_or_a_name():
    assert all(len(reason.strip()) > 3 for reason in PATTERNS.values())
    assert len(PATTERNS) > 100
