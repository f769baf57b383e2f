"""The service in a process of its own, as `make run` starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LISTENS = "UpStream listens on "
PATIENCE_SECONDS = 60.0


@contextmanager
def running_service(*options: str, port: int = 0) -> Iterator[str]:
    """Run the service until the block ends; yields its address."""
    command = [sys.executable, "-m", "api", "--port", str(port), *options]
    environment = {name: value for name, value in os.environ.items() if name[:9] != "UPSTREAM_"}
    # Not a pipe: nobody reads it while the service runs, and a full one would stop the service.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=said, stderr=said)
        try:
            yield _address(lambda: _text(said.fileno()), process)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _address(said: Callable[[], str], process: subprocess.Popen[bytes]) -> str:
    """Wait until the service tells its address."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        for line in said().splitlines(keepends=True):
            if line.startswith(LISTENS) and line.endswith("\n"):
                return line.removeprefix(LISTENS).strip()
        time.sleep(0.05)
    raise AssertionError(f"the service did not start; it said: {said()}")


def _text(file: int) -> str:
    return os.pread(file, os.fstat(file).st_size, 0).decode()
