"""What a command prints, and what happens when nobody reads it any more."""

from __future__ import annotations

import os
import sys

BROKEN_PIPE = 141  # what a shell says of a program that a closed pipe ended


def mute() -> None:
    """Let all that is still printed go nowhere: `| head` has read enough."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def say(text: str) -> None:
    """Print at once; a command that has more to do than to print goes on without a reader."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        mute()
