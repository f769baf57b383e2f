"""Real servers for tests: each a process of its own, on a free port, ended by its test."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SERVICE = ("-m", "api", "--port", "0", "--no-demo")
LISTENS = re.compile(r"UpStream listens on (http://\S+)")


@dataclass
class RunningServer:
    """A server, and what it has written to stderr so far."""

    process: subprocess.Popen[str]
    url: str = ""
    log: list[str] = field(default_factory=list)
    listening: threading.Event = field(default_factory=threading.Event)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def pid(self) -> int:
        return self.process.pid

    def read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            found = LISTENS.search(line)
            if found is not None:
                self.url = found[1]
                self.listening.set()
        self.listening.set()

    def stop(self, seconds: float = 20.0) -> int:
        """Ask it to stop, and return its exit status; kill it if that takes too long."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


@contextmanager
def running(
    arguments: Sequence[str] = SERVICE, *, environment: dict[str, str] | None = None
) -> Iterator[RunningServer]:
    """Run a server until the block ends; it says on stderr where it listens.

    The settings of the service in the environment of the tests do not apply, and an error that the
    server did not handle fails the test.
    """
    inherited = {
        name: text for name, text in os.environ.items() if not name.startswith("UPSTREAM_")
    }
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**inherited, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    server = RunningServer(process)
    reader = threading.Thread(target=server.read_log, daemon=True)
    reader.start()
    try:
        server.listening.wait(60)
        assert server.url, "the server did not start:\n" + "".join(server.log)
        yield server
    finally:
        try:
            server.stop()
        finally:
            reader.join()
            assert process.stderr is not None
            process.stderr.close()
    assert "Traceback" not in "".join(server.log), "".join(server.log)
