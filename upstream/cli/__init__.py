"""The console command `upstream`: look at a service, feed it, and read from it."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; say what to install if its extra is missing."""
    try:
        from .command_line import app
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == "upstream":
            raise
        sys.stderr.write(
            f"Error: the command `upstream` needs {missing}, which is not installed; install the "
            "extra `client`: pip install 'upstream-update-queues[client]'\n"
        )
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    app(prog_name="upstream")
