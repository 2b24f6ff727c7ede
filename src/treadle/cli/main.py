"""The command line: `treadle cache`, `gen`, `generate`, `info`, `ops`, `profile`, and others."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import treadle
from treadle.base.files import write
from treadle.cli import profiling, replayed, train, writing
from treadle.cli.cached import show_cache
from treadle.cli.coverage import DEVICES, Support
from treadle.cli.generate import Row, Target, outside_targets, own_rows, own_targets, page_of
from treadle.cli.info import show_file
from treadle.cli.merge import MarkerError, Merged, merge
from treadle.cli.output import BROKEN_PIPE, mute


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if all is well."""
    parser = argparse.ArgumentParser(prog="treadle", description=treadle.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    gen = commands.add_parser("gen", help="write what follows from the op table")
    gen.add_argument("--check", action="store_true", help="write nothing; fail if text is behind")
    gen.add_argument("--table", metavar="MODULE:NAME", help="the table of another package")
    gen.add_argument("--into", metavar="FOLDER", type=Path, help="where that package's files go")
    gen.set_defaults(run=generate)
    ops = commands.add_parser("ops", help="the op table: which dtypes run on which devices")
    ops.add_argument("--op", metavar="NAME", help="all about one op")
    ops.add_argument("--json", action="store_true", help="for programs")
    ops.set_defaults(run=list_ops)
    info = commands.add_parser("info", help="what a file of tensors or a checkpoint holds")
    info.add_argument("path", help="safetensors, .pt, .npz, .gguf, or a folder with a checkpoint")
    info.add_argument("--json", action="store_true", help="for programs")
    info.set_defaults(run=show_file)
    cache = commands.add_parser("cache", help="compiled kernels on disk")
    cache.add_argument("what", nargs="?", choices=("size", "where", "clear"), default="size")
    cache.set_defaults(run=show_cache)
    replayed.add_options(commands.add_parser("replay", help="run a kernel again that was saved"))
    train.add_options(commands.add_parser("train", help="train a preset or what a TOML file says"))
    writing.add_options(commands.add_parser("generate", help="what a model writes after a prompt"))
    profiling.add_options(commands.add_parser("profile", help="run a script, show where time went"))
    options = parser.parse_args(arguments)
    if options.command == "gen" and bool(options.table) != bool(options.into):
        parser.error("--table and --into go together")
    try:
        code = int(options.run(options))
        sys.stdout.flush()
    except BrokenPipeError:
        mute()
        return BROKEN_PIPE
    return code


# ---- gen


def generate(options: argparse.Namespace) -> int:
    """Bring every generated block up to date, or say what would change."""
    if options.table:
        targets = outside_targets(_table(options.table), options.into)
    else:
        targets = own_targets(_repository())
    problems, changed = 0, 0
    for target in targets:
        before = target.path.read_text("utf-8") if target.path.exists() else None
        try:
            merged = _merged(target, before)
        except MarkerError as error:
            merged = Merged(before or "", problems=[str(error)])
        if merged.text != before and not options.check:
            target.path.parent.mkdir(parents=True, exist_ok=True)
            write(target.path, merged.text)
        changed += merged.text != before
        problems += len(merged.problems)
        for line in merged.done:
            print(line)
        for line in merged.problems:
            print(line, file=sys.stderr)
    behind = "would change: run treadle gen" if options.check else "changed"
    print(f"{len(targets)} files, {changed} {behind if changed else 'changed'}")
    return 1 if problems or (options.check and changed) else 0


def _merged(target: Target, before: str | None) -> Merged:
    text = target.empty if before is None else before
    return merge(text, target.pieces, target.path.name, target.markdown)


def _table(spec: str) -> Any:
    """The table that module:NAME names; the folder we stand in can be imported from."""
    sys.path.insert(0, os.getcwd())
    module, _, name = spec.partition(":")
    return getattr(importlib.import_module(module), name or "TABLE")


def _repository() -> Path:
    """The checkout this package is run from."""
    root = Path(treadle.__file__).parents[2]
    if not (root / "docs").is_dir():
        raise SystemExit("treadle gen: no checkout here; for your own table: --table and --into")
    return root


# ---- ops


def list_ops(options: argparse.Namespace) -> int:
    """Print the op table, or one row's page."""
    rows = own_rows()
    if options.op:
        return _one(options.op, rows)
    support = Support([row.op for row in rows if not row.is_written])
    if options.json:
        print(json.dumps(support.json(), indent=1))
        return 0
    _print_table(support)
    names = ", ".join(f"{letter} {name}" for letter, name in DEVICES.items())
    made = [name for row in rows if row.is_written for name in (row.op.name, *row.op.aliases)]
    print(f"\n{names}\nmakers of tensors, of any dtype on any device: {', '.join(made)}")
    print(f"{len(rows)} ops")
    return 0


def _one(name: str, rows: Sequence[Row]) -> int:
    found = [row for row in rows if name in (row.op.name, *row.op.aliases)]
    if not found:
        print(f"no op is called {name}; treadle ops lists them", file=sys.stderr)
        return 1
    print("\n".join(page_of(found[0])))
    if not found[0].is_written:
        print(f"\n{Support([found[0].op]).plain()}")
    return 0


def _print_table(support: Support) -> None:
    """In colour where rich is installed and somebody looks."""
    if importlib.util.find_spec("rich") is None or not sys.stdout.isatty():
        print(support.plain())
        return
    table = importlib.import_module("rich.table").Table(box=None, padding=(0, 2, 0, 0))
    for name, style in zip(support.head, ("bold", *["green"] * len(support.head)), strict=False):
        table.add_column(name, style=style, no_wrap=True, min_width=len(name))
    for op in support.ops:
        table.add_row(*support.cells(op))
    importlib.import_module("rich.console").Console().print(table)
