"""The console command `upstream`: look at a service, feed it, and read from it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from upstream.extras import imports_of_command


def main() -> None:
    """Run the command line; say what to install if its extra is missing."""
    _open_what_is_closed()
    try:
        with imports_of_command("upstream", "client"):
            from .command_line import app
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        app(prog_name="upstream")
    except OSError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(1)
    finally:
        _give_up_what_cannot_be_written()


def _open_what_is_closed() -> None:
    """Put nothing in the place of standard files that are closed, for all that comes to use them.

    A connection would take their place otherwise.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 (stays open)
            setattr(sys, name, nothing)


def _give_up_what_cannot_be_written() -> None:
    """Drop output for which there is no room; Python would try again at the end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
