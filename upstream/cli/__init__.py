"""The console command `upstream`: inspect a service, send updates to it, and read from it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from upstream.extras import imports_of_command


def main() -> None:
    """Run the command line; if its extra is missing, say how to install it."""
    _open_closed_files()
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
        _silence_failed_output()


def _open_closed_files() -> None:
    """Open the null device in place of standard files that are closed.

    Otherwise a connection could get the file descriptor of the standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            null = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 (stays open)
            setattr(sys, name, null)


def _silence_failed_output() -> None:
    """Redirect output that cannot be written, or Python reports it again when it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
