"""The command line that a data card tells: what the user typed, but for where the output went."""

from __future__ import annotations

import shlex
import sys


def command_line() -> str:
    """Return what the user typed, with DIR for the folder of the output."""
    words = sys.argv[1:]
    for place, word in enumerate(words):
        if word == "--out" and place + 1 < len(words):
            words[place + 1] = "DIR"
        elif word.startswith("--out="):
            words[place] = "--out=DIR"
    return shlex.join(["python", "-m", "datasets", *words])
