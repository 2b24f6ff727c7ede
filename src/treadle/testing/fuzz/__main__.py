"""The command: `python -m treadle.testing.fuzz --minutes 2`."""

from __future__ import annotations

import argparse
import secrets
import sys

from treadle.testing.fuzz.children import warm_up
from treadle.testing.fuzz.generate import LEFT_OUT
from treadle.testing.fuzz.loop import Find, Fuzz
from treadle.testing.fuzz.model import Elsewhere
from treadle.testing.fuzz.modes import HOME
from treadle.testing.fuzz.script import script_of


def main() -> int:
    """Run programs; 1 if something went wrong."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--programs", type=int, default=1 << 60, help="stop after so many")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", default="fresh", help="a number; fresh: another one every time")
    parser.add_argument("--most", type=int, default=1, help="stop after so many different finds")
    parser.add_argument("--shrink", type=float, default=40.0, help="seconds for one failure")
    parser.add_argument("--without", default="", help="kinds of statements, with commas between")
    parser.add_argument("--device", default="cpu", help="where programs run")
    given = parser.parse_args()
    if given.device != "cpu":
        HOME[0] = Elsewhere(given.device, compiles=True)
    LEFT_OUT.update(filter(None, given.without.split(",")))
    seed = secrets.randbits(32) if given.seed == "fresh" else int(given.seed)
    say(f"seed {seed}")
    warm_up()
    fuzz = Fuzz(
        seed, given.workers, say, lambda symptom, find: show(seed, symptom, find), given.shrink
    )
    try:
        fuzz.go(given.minutes * 60, given.programs, given.most)
    except KeyboardInterrupt:
        say("stopped")
    say(f"seed {seed}: {fuzz.done} programs, {len(fuzz.finds)} found")
    return 1 if fuzz.finds else 0


def show(seed: int, symptom: str, find: Find) -> None:
    """One find, as a script."""
    say("-" * 80)
    say(f"found after {find.seconds:.0f} s, program {find.number} of seed {seed}: {symptom}")
    say(script_of(find.case, find.failure))


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
