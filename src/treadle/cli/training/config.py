"""What a run is told: a preset or a TOML file, checked, with changes from the command line."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from treadle.base.device import device as device_of
from treadle.base.errors import ArgumentError, FileError, explain
from treadle.base.files import write

PRESETS = Path(__file__).parent / "presets"
KEPT = "settings.json"  # beside the checkpoints of a run; config.json is a model's

FREE = {
    "steps", "clip", "evaluate_every", "evaluate_batches", "checkpoint_every", "keep_last",
    "workers", "device",
}  # fmt: skip


@dataclass(frozen=True)
class Train:
    """Numbers of the loop itself."""

    steps: int = 1000
    batch: int = 32
    seed: int = 1
    clip: float = 0.0
    """The norm that gradients are cut to; 0: they are left as they are."""
    evaluate_every: int = 200
    evaluate_batches: int = 50
    checkpoint_every: int = 500
    keep_last: int = 2
    workers: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        device_of(self.device)
        for item in dataclasses.fields(self)[:-1]:
            value = getattr(self, item.name)
            fits = type(value) is int or (item.name == "clip" and type(value) is float)
            least = 0 if item.name in ("clip", "seed", "workers") else 1
            if not fits or value < least:
                wrong = f"not a number from {least}"
                raise ArgumentError(explain("train", wrong, **{item.name: repr(value)}))


@dataclass(frozen=True)
class Config:
    """Settings of a run; the tables hold `kind` and that kind's own arguments."""

    name: str
    model: dict[str, Any]
    data: dict[str, Any]
    optimizer: dict[str, Any] = field(default_factory=lambda: {"kind": "AdamW"})
    schedule: dict[str, Any] = field(default_factory=dict)
    train: Train = field(default_factory=Train)

    @classmethod
    def of(cls, name: str, tables: Mapping[str, Any]) -> Self:
        """From tables as a file has them; a word that is not known is an error."""
        known = [item.name for item in dataclasses.fields(cls)][1:]
        _check_words(name, "tables", tables, known)
        if any(not isinstance(table, Mapping) for table in tables.values()):
            raise ArgumentError(explain(name, "settings stand in tables", "[train], [model], ..."))
        for table in ("model", "data"):
            if "kind" not in tables.get(table, {}):
                hint = f'[{table}] needs a line such as kind = "..."; treadle train --list'
                raise ArgumentError(explain(name, f"no [{table}] with a kind", hint))
        numbers = tables.get("train", {})
        _check_words(name, "[train]", numbers, [item.name for item in dataclasses.fields(Train)])
        rest = {table: dict(tables[table]) for table in known[:-1] if table in tables}
        return cls(name, train=Train(**numbers), **rest)

    def plain(self) -> dict[str, Any]:
        """As tables of plain data."""
        found = dataclasses.asdict(self)
        return {name: found[name] for name in found if name != "name"}

    def keep(self, folder: Path) -> None:
        """Write it beside what the run makes, so that it can be gone on with."""
        write(folder / KEPT, json.dumps({"name": self.name} | self.plain(), indent=1))


def _check_words(name: str, where: str, given: Any, known: Sequence[str]) -> None:
    strange = [word for word in given if word not in known]
    if strange:
        raise ArgumentError(explain(name, f"unknown in {where}", ", ".join(known), words=strange))


def presets() -> dict[str, str]:
    """Names of the presets, and what their first lines say."""
    files = sorted(PRESETS.glob("*.toml"))
    return {path.stem: path.read_text("utf-8").splitlines()[0].strip("# ") for path in files}


def read(source: str, changes: Sequence[str] = ()) -> Config:
    """The settings of a preset or of a TOML file, with `table.word=value` changed."""
    path = PRESETS / f"{source}.toml" if source in presets() else Path(source)
    if not path.is_file():
        hint = f"a TOML file, or one of {', '.join(presets())}"
        raise ArgumentError(explain("train", "no such preset or file", hint, got=repr(source)))
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(explain("train", f"not TOML: {error}", path=path)) from error
    return Config.of(path.stem, changed(tables, changes))


def kept(folder: Path, changes: Sequence[str] = ()) -> Config:
    """The settings of a run that is there."""
    path = folder / KEPT
    try:
        found = json.loads(path.read_text("utf-8"))
        name = found.pop("name")
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise FileError(explain("train", "no run to go on with", path=path)) from error
    before, after = Config.of(name, found), Config.of(name, changed(found, changes))
    _check_goes_on(before, after)
    return after


def _check_goes_on(before: Config, after: Config) -> None:
    """What checkpoints hold, and what they were made with, stays: a change would do nothing."""
    old, new = before.plain(), after.plain()
    for table, words in new.items():
        other = {word for word in {*words, *old[table]} if words.get(word) != old[table].get(word)}
        stays = other - (FREE if table == "train" else set())
        if stays:
            hint = f"of a run that goes on, [train] {', '.join(sorted(FREE))}; else begin another"
            names = [f"{table}.{word}" for word in sorted(stays)]
            raise ArgumentError(explain("--resume", "cannot be changed", hint, settings=names))
    if before.train.steps != after.train.steps and "%" in str(before.schedule):
        wrong = "the schedule is laid out over all steps, so their number is fixed"
        facts = {"steps": before.train.steps, "got": after.train.steps}
        raise ArgumentError(explain("--resume", wrong, "begin another run", **facts))


def changed(tables: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """Tables with `table.word=value` set; a value is written as in TOML, or a bare word."""
    for change in changes:
        place, equals, text = change.partition("=")
        table, dot, word = place.strip().partition(".")
        if not (equals and dot and table and word):
            hint = "--set optimizer.lr=0.01"
            raise ArgumentError(explain("train", "not table.word=value", hint, got=repr(change)))
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text.strip()
        found = tables.get(table, {})
        if isinstance(found, Mapping):  # if not, Config.of says so
            tables = tables | {table: {**found, word: value}}
    return tables
