"""Models, optimizers and schedules by their public names, with their own arguments."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from treadle import models, nn, optim
from treadle.base.errors import ArgumentError, explain
from treadle.optim import lr_scheduler


def model_of(table: Mapping[str, Any], vocabulary: int | None) -> nn.Module:
    """A model of `td.models`, or a Sequential of layers: `["Conv2d", 1, 8, 3, {padding = 1}]`.

    A language model gets the tokenizer's vocabulary.
    """
    options = dict(table)
    kind = options.pop("kind")
    if kind == "Sequential":
        layers = options.pop("layers", [])
        _no_more("model", kind, options, ["layers"])
        return nn.Sequential(*map(_layer, layers))
    made = _named("model", models, kind)
    config = getattr(made, "config_class", None)
    if config is None:
        return _made("model", made, kind, **options)
    known = [item.name for item in dataclasses.fields(config)]
    _no_more("model", kind, options, known)
    size = next((name for name in ("vocab_size", "ntoken") if name in known), None)
    if vocabulary is not None and size is not None:
        options.setdefault(size, vocabulary)
    if "eos_token_id" in known:
        options.setdefault("eos_token_id", None)  # texts are cut anywhere: nothing ends one
    return _made("model", made, kind, config(**options))


def _layer(line: Any) -> nn.Module:
    if not isinstance(line, list) or not line:
        hint = '["Linear", 64, 10]'
        raise ArgumentError(explain("model", "a layer is a list with its name first", hint))
    kind, *values = line
    options = values.pop() if values and isinstance(values[-1], dict) else {}
    layer: nn.Module = _made("layer", _named("layer", nn, kind), kind, *values, **options)
    return layer


def optimizer_of(table: Mapping[str, Any], parameters: Iterable[Any]) -> Any:
    """An optimizer of `td.optim`."""
    options = {name: tuple(x) if type(x) is list else x for name, x in table.items()}
    kind = str(options.pop("kind", "AdamW"))
    if kind == "LBFGS":
        hint = "its steps call a function; the loop here does not give one"
        raise ArgumentError(explain("optimizer", "not for this loop", hint, kind=kind))
    return _made("optimizer", _named("optimizer", optim, kind), kind, parameters, **options)


def schedule_of(table: Mapping[str, Any], optimizer: Any, steps: int) -> Any:
    """A schedule of `td.optim.lr_scheduler`; "5%" is so much of all steps. None without a table."""
    if not table:
        return None
    options = {name: _share(value, steps) for name, value in table.items()}
    kind = options.pop("kind", "")
    if kind == "ReduceLROnPlateau":
        hint = "it is stepped by a validation loss, not by steps"
        raise ArgumentError(explain("schedule", "not for this loop", hint, kind=kind))
    made = _made("schedule", _named("schedule", lr_scheduler, kind), kind, optimizer, **options)
    total = getattr(made, "total_steps", steps)
    if total < steps:
        wrong, hint = "it ends before the run does", 'total_steps = "100%"'
        raise ArgumentError(explain("schedule", wrong, hint, total_steps=total, steps=steps))
    return made


def _share(value: Any, steps: int) -> Any:
    if isinstance(value, list):
        return [_share(item, steps) for item in value]
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", value) if isinstance(value, str) else None
    return max(1, round(float(match[1]) * steps / 100)) if match else value


# ---- by name


def _named(what: str, space: Any, kind: Any) -> Any:
    found = getattr(space, kind, None) if isinstance(kind, str) and kind in space.__all__ else None
    if not callable(found):
        known = [name for name in space.__all__ if callable(getattr(space, name))]
        raise ArgumentError(explain(what, "no such kind", ", ".join(known), kind=repr(kind)))
    return found


def _made(what: str, maker: Any, kind: str, *values: Any, **options: Any) -> Any:
    try:
        return maker(*values, **options)
    except TypeError as error:  # a word that it does not know, or too few
        raise ArgumentError(explain(what, str(error), kind=kind)) from error


def _no_more(what: str, kind: str, options: Mapping[str, Any], known: list[str]) -> None:
    strange = [name for name in options if name not in known]
    if strange:
        raise ArgumentError(
            explain(what, "unknown options", ", ".join(known), kind=kind, words=strange)
        )
