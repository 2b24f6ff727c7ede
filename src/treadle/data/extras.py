"""Packages that only some readers need, loaded when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from treadle.base.errors import NotSupported, explain


def extra(what: str, module: str, package: str) -> Any:
    """A module of a package that may not be installed."""
    try:
        return import_module(module)
    except ImportError as error:
        hint = f"pip install {package}, or treadle[data]"
        raise NotSupported(explain(what, f"{package} is not installed", hint)) from error
