"""Checkpoints of a training run: all of its state in one folder, which is there whole or not."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from treadle import random
from treadle.base.errors import ArgumentError, FileError, explain
from treadle.base.files import PathLike, flush, flush_folder
from treadle.io.files import Where
from treadle.io.safetensors import TREE, SafeTensors, write_to
from treadle.io.source import Source, shown
from treadle.io.tree import Taken, built
from treadle.tensor.tensor import Tensor

FOLDER = re.compile(r"step-(\d{10,18})(?:\.(\d{1,9}))?")
MANIFEST, VERSION, GENERATOR = "manifest.json", 1, "generator"
LARGEST_MANIFEST = 100_000_000
PIECE = 1 << 22


class Restored(NamedTuple):
    """What a checkpoint held: its step, and its parts by name."""

    step: int
    parts: dict[str, Any]
    """Trees: those that were saved as values, and the states of what restore was not given."""


class Checkpointer:
    """Checkpoints of a training run in a folder, each there whole or not at all.

    A checkpoint is a folder `step-0000000042`: the tensors of each part in a safetensors file, the
    rest in a manifest with the checksums of all files. It is written under another name, flushed to
    the disk and renamed, so a process that dies at any moment loses only the steps since. Of the
    checkpoints the newest keep_last are kept, all if it is None. One process writes to a folder.

    The newest is what was written last, whatever its step: a run that went back and goes on from
    there writes `step-0000000025.1`, which comes after every step without the `.1`.

    >>> run = Checkpointer("run", keep_last=2)  # doctest: +SKIP
    >>> run.save(100, model=model, optimizer=optimizer, epoch=3)  # doctest: +SKIP
    >>> found = run.restore(model=model, optimizer=optimizer)  # doctest: +SKIP
    >>> found.step, found.parts["epoch"]  # doctest: +SKIP
    (100, 3)
    """

    def __init__(self, path: PathLike, keep_last: int | None = 3) -> None:
        if keep_last is not None and (type(keep_last) is not int or keep_last < 1):
            hint = "a positive number, or None for all"
            raise ArgumentError(explain("Checkpointer", "keeps nothing", hint, keep_last=keep_last))
        self.path, self.keep_last = Path(path), keep_last
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        steps = ", ".join(map(str, self.steps())) or "none"
        return f"Checkpointer({str(self.path)!r}, keep_last={self.keep_last}): steps {steps}"

    # ---- what is there

    def steps(self) -> list[int]:
        """The steps of the checkpoints in the folder, in the order they were written."""
        return [step for _, step, _ in self._last_of_each()]

    def latest(self) -> Path | None:
        """The folder of the newest checkpoint; None if there is none."""
        folders = self._folders()
        return folders[-1][2] if folders else None

    def _folders(self) -> list[tuple[int, int, Path]]:
        """(branch, step, folder), the oldest first; a run that goes back begins a branch."""
        if not self.path.is_dir():
            return []
        found = [(FOLDER.fullmatch(name), name) for name in os.listdir(self.path)]
        return sorted(
            (int(match[2] or 0), int(match[1]), self.path / name) for match, name in found if match
        )

    def _last_of_each(self) -> list[tuple[int, int, Path]]:
        """What _folders finds, a step that was saved again only once."""
        found = self._folders()
        last = {step: folder for _, step, folder in found}
        return [each for each in found if last[each[1]] == each[2]]

    # ---- save

    def save(self, step: int, **parts: Any) -> Path:
        """Write a checkpoint; its folder.

        A part is anything with a state_dict (a model, an optimizer, a schedule, a loader) or a tree
        of tensors and plain data, as td.save takes it. The global generator's state goes along.
        """
        if type(step) is not int or not 0 <= step < 10**18:
            raise ArgumentError(explain("save", "a step is a whole number", step=shown(step)))
        _check_names(parts)
        trees = {name: _state(part) for name, part in parts.items()}
        trees[GENERATOR] = random.get_rng_state()
        taken = {name: Taken(tree) for name, tree in trees.items()}
        with self._lock:
            self.path.mkdir(parents=True, exist_ok=True)
            self._remove_remains()
            return self._write(step, taken)

    def _write(self, step: int, taken: Mapping[str, Taken]) -> Path:
        fresh = self.path / f".new-{secrets.token_hex(4)}"
        fresh.mkdir()
        try:
            files = {}
            for name, part in taken.items():
                if part.leaves:
                    path = fresh / f"{name}.safetensors"
                    with open(path, "xb") as file:
                        write_to(file, part.leaves, {TREE: part.text}, checked=False)
                        flush(file)
                    files[path.name] = {"bytes": path.stat().st_size, "sha256": _digest(path)}
            trees = {name: part.form for name, part in taken.items() if not part.leaves}
            with open(fresh / MANIFEST, "xb") as file:
                file.write(_manifest(step, files, trees, list(taken)))
                flush(file)
            flush_folder(fresh)
            folder = self._free(step)
            os.rename(fresh, folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        flush_folder(self.path)
        self._remove_old()
        return folder

    def _free(self, step: int) -> Path:
        """A name that sorts after all others; an older one of the same step goes afterwards."""
        branch, newest, _ = max(self._folders(), default=(0, -1, self.path))
        branch += step <= newest
        return self.path / (f"step-{step:010}" + (f".{branch}" if branch else ""))

    def _remove_old(self) -> None:
        """Remove what keep_last does not cover, and older ones of the step just written."""
        kept = self._last_of_each()[-(self.keep_last or 0) :]
        for found in self._folders():
            if found not in kept:
                gone = self.path / f".old-{secrets.token_hex(4)}"
                os.rename(found[2], gone)  # nobody finds half of it
                shutil.rmtree(gone, ignore_errors=True)

    def _remove_remains(self) -> None:
        """Remove what a process left that died while it wrote or removed."""
        for name in os.listdir(self.path):
            if name.startswith((".new-", ".old-")):
                shutil.rmtree(self.path / name, ignore_errors=True)

    # ---- restore

    def restore(
        self, step: int | None = None, *, device: Where = None, **parts: Any
    ) -> Restored | None:
        """Give a checkpoint's states to parts by name; None if there is no checkpoint.

        The newest one is taken that is whole: one that is damaged is passed over with a warning, a
        step that is asked for must be there. All files are read and their checksums compared before
        anything changes; if a part does not take its state, all get back what they had.
        """
        folders = [found for found in self._folders() if step is None or found[1] == step]
        if not folders and step is None:
            return None
        _check_names(parts)
        for _, number, folder in reversed(folders):
            try:
                trees = read_checkpoint(folder, device)
            except FileError as error:
                if step is not None or folder == folders[0][2]:
                    raise
                wrong = "the newest checkpoint is damaged; the one before is taken"
                warnings.warn(explain("restore", f"{wrong}: {error}"), stacklevel=2)
                continue
            _give(trees, parts, folder)
            return Restored(number, {name: x for name, x in trees.items() if name not in parts})
        known = ", ".join(map(str, self.steps())) or "none"
        raise ArgumentError(explain("restore", "no such checkpoint", step=step, steps=known))


def _check_names(parts: Mapping[str, Any]) -> None:
    for name in parts:
        if name == GENERATOR or not re.fullmatch(r"\w{1,100}", name, re.ASCII):
            hint = "words, and not 'generator', which is saved by itself"
            raise ArgumentError(explain("checkpoint", "no name for a part", hint, name=shown(name)))


def _state(part: Any) -> Any:
    return part.state_dict() if hasattr(part, "state_dict") else part


def _give(trees: dict[str, Any], parts: Mapping[str, Any], folder: Path) -> None:
    """Give states to parts and the generator; all or none."""
    missing = [name for name in parts if name not in trees]
    deaf = [name for name, part in parts.items() if not hasattr(part, "load_state_dict")]
    if missing or deaf:
        wrong = "parts that are not in the checkpoint" if missing else "parts that take no state"
        hint = "plain values are in .parts of what restore returns"
        facts = {"parts": missing or deaf, "checkpoint": str(folder)}
        raise ArgumentError(explain("restore", wrong, hint, **facts))
    before: dict[str, Any] = {}
    try:
        for name, part in parts.items():
            before[name] = _kept(_state(part))
            part.load_state_dict(trees[name])
        random.set_rng_state(trees.pop(GENERATOR).cpu())
    except BaseException:
        for name, state in before.items():
            parts[name].load_state_dict(state)
        raise


def _kept(tree: Any) -> Any:
    """A state whose tensors stay what they are, whatever is assigned to those of the part."""
    if isinstance(tree, Tensor):
        return tree.detach()
    if isinstance(tree, dict):
        return {key: _kept(value) for key, value in tree.items()}
    return type(tree)(map(_kept, tree)) if type(tree) in (list, tuple) else tree


# ---- files


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            found.update(piece)
    return found.hexdigest()


def _manifest(step: int, files: Any, trees: Any, names: list[str]) -> bytes:
    """The manifest, with a checksum of itself on a line of its own."""
    facts = {"version": VERSION, "step": step, "files": files, "trees": trees, "parts": names}
    body = json.dumps(facts, indent=1).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def manifest_of(folder: Path) -> tuple[Source, dict[str, Any]]:
    """The manifest of a checkpoint, if it is whole."""
    path = folder / MANIFEST
    if not path.is_file():
        raise FileError(explain("restore", "the manifest is missing", folder=str(folder)))
    source = Source(path)
    try:
        if source.size > LARGEST_MANIFEST:
            raise source.wrong("too long for a manifest", file_bytes=source.size)
        sum_, _, body = source.read(0, source.size).partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != sum_:
            raise source.wrong("the manifest is damaged: its checksum differs")
        facts: dict[str, Any] = source.json(body)
        if not isinstance(facts, dict) or facts.get("version") != VERSION:
            hint = "a newer Treadle may have written it"
            raise source.wrong("a checkpoint of another version", hint)
        if not _is_whole(facts):
            raise source.wrong("the manifest does not say what a checkpoint's says")
        return source, facts
    finally:
        source.close()


def _is_whole(facts: dict[str, Any]) -> bool:
    """Are there a step, files with their checksums, trees and parts, all of the right kind?"""
    files, trees, parts = (facts.get(name) for name in ("files", "trees", "parts"))
    if type(facts.get("step")) is not int or not isinstance(parts, list):
        return False
    if not isinstance(files, dict) or not isinstance(trees, dict):
        return False
    sums = all(
        isinstance(said, dict) and {"bytes", "sha256"} <= set(said) for said in files.values()
    )
    named = all(isinstance(name, str) and re.fullmatch(r"\w{1,100}", name) for name in parts)
    return (
        sums
        and named
        and {*files, *trees} == {name if name in trees else f"{name}.safetensors" for name in parts}
    )


def read_checkpoint(folder: Path, device: Where = None) -> dict[str, Any]:
    """Every part of a checkpoint as a tree, after all checksums were compared."""
    source, facts = manifest_of(folder)
    for name, wanted in facts["files"].items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != wanted["bytes"]:
            raise source.wrong("a file of the checkpoint is missing or cut off", missing=name)
        if _digest(path) != wanted["sha256"]:
            raise source.wrong("a file is damaged: its checksum differs", damaged=name)
    trees: dict[str, Any] = {}
    for name in facts["parts"]:
        if name in facts["trees"]:
            trees[name] = plain_tree(folder, facts["trees"][name])
        else:
            with SafeTensors(folder / f"{name}.safetensors", mmap=False) as file:
                trees[name] = file.load(device)
    return trees


def plain_tree(folder: Path, form: Any) -> Any:
    """A tree without tensors, as the manifest has it."""

    def wrong(what: str, _: str = "", /, **facts: object) -> FileError:
        return FileError(explain("restore", what, checkpoint=str(folder), **facts))

    def leaf(_: str, name: str) -> Any:
        raise wrong("the manifest names a tensor", name=shown(name))

    return built(wrong, form, leaf)
