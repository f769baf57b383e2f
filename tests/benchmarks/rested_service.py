"""The service with another rest of crowds: `python -m tests.benchmarks.rested_service SHARE`."""

from __future__ import annotations

import sys

from api.command import app
from api.push import turns

if __name__ == "__main__":
    turns.REST = float(sys.argv[1])  # type: ignore[misc]  # a constant, but for this comparison
    app(["--port", "0", "--no-demo"], prog_name="python -m api")
