"""`treadle profile`: run a script as it is, and show where its time went."""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from treadle.base.errors import TreadleError
from treadle.cli.output import say
from treadle.profiler.files import place_of, save
from treadle.profiler.groups import KEYS
from treadle.profiler.profile import Profile

INTERRUPTED = 130  # what a shell says of a program that Ctrl-C ended


def add_options(parser: argparse.ArgumentParser) -> None:
    """What the command takes; what follows the script is the script's."""
    parser.add_argument("-o", "--output", metavar="FILE", action="append", help=(
        "what to write, by its ending: .html, .pftrace, .json, .folded or .speedscope.json; "
        "may be given again (default: the script's name and .profile.html)"
    ))  # fmt: skip
    parser.add_argument(
        "--by", default="line", choices=KEYS, metavar="KEY", help=f"of the table: {', '.join(KEYS)}"
    )
    parser.add_argument("--rows", type=int, default=20, metavar="N", help="of the table")
    parser.add_argument("--memory", action="store_true", help="who takes memory, line by line")
    parser.add_argument("script", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="for the script")
    parser.set_defaults(run=profile_script)


def profile_script(options: argparse.Namespace) -> int:
    """Run the script under a profile, print a table, write files; the script's code comes back."""
    script = Path(options.script)
    if not script.is_file():
        print(f"treadle profile: no such script: {script}", file=sys.stderr)
        return 2
    try:  # a typo is found before the script has run for an hour
        named = options.output or [f"{script.stem}.profile.html"]
        outputs = {path: place_of(path) for path in named}
    except TreadleError as error:
        print(f"treadle profile: {error}", file=sys.stderr)
        return 2
    profile = Profile(options.memory)
    with _as_main(script, options.arguments), profile:
        code = _run(script)
    profile.recording.facts["script"] = " ".join([script.name, *options.arguments])
    say(str(profile.table(options.by, options.rows)))
    for path, place in outputs.items():
        save(profile.recording, place)
        say(f"written: {path}")
    return code


@contextmanager
def _as_main(script: Path, arguments: list[str]) -> Iterator[None]:
    """Arguments and import path as they are when Python itself runs a script."""
    before = sys.argv, list(sys.path)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before


def _run(script: Path) -> int:
    """Run it to whatever end, and give its exit code; what was recorded is kept in any case."""
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, int):
            return end.code
        if end.code is not None:
            print(end.code, file=sys.stderr)
        return int(end.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseException as error:  # the script's, shown as Python shows it
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code.co_filename != str(script):
            own = own.tb_next
        traceback.print_exception(type(error), error, own)
        return 1
    return 0
