"""The real service, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60.0

LISTENS = re.compile(r"UpStream listens on (http://\S+)")


@dataclass
class RunningService:
    """A process that serves, and what it has said on its error output."""

    process: subprocess.Popen[str]
    url: str
    port: int


@contextmanager
def running_service(*, port: int = 0) -> Iterator[RunningService]:
    """Yield a service on the loopback; it is stopped at the end, and must have been well."""
    command = [sys.executable, "-m", "api", "--port", str(port), "--no-demo"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("UPSTREAM_")
    }
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        stopper = threading.Timer(PATIENCE_SECONDS, process.kill)
        stopper.start()
        said: list[str] = []
        try:
            url = _address(process, said)
            stopper.cancel()
            # Unread output would fill the pipe and stop the service.
            reader = threading.Thread(target=_read, args=(process, said))
            reader.start()
            yield RunningService(process, url, int(url.rpartition(":")[2]))
        finally:
            stopper.cancel()
            process.terminate()
            try:
                process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        reader.join()
    assert "Traceback" not in "".join(said), "".join(said)


def _address(process: subprocess.Popen[str], said: list[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line)
        found = LISTENS.search(line)
        if found is not None:
            return found[1]
    raise AssertionError("the service did not start:\n" + "".join(said))


def _read(process: subprocess.Popen[str], said: list[str]) -> None:
    assert process.stderr is not None
    said.extend(process.stderr)
