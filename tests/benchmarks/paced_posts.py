"""A load: one body posted again and again, at a given rate per second.

It is a program of its own. Threads of one interpreter wait for one another for longer than the
times that are measured beside it.
`python -m tests.benchmarks.paced_posts PORT PATH RATE FILE` posts until its input ends, and then
writes how many times it did.
"""

from __future__ import annotations

import http.client
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from select import select

from tests.server_process import ROOT


@dataclass
class Load:
    """How often was posted, once the load has ended."""

    posted: int = 0


@contextmanager
def load(port: int, path: str, body: Path, *, rate: float) -> Iterator[Load]:
    """Run a process that posts `body` at a rate per second while the block lasts."""
    arguments = ["-m", "tests.benchmarks.paced_posts", str(port), path, str(rate), str(body)]
    made = Load()
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        yield made
        made.posted = int(process.communicate()[0])


def post_paced(port: int, path: str, body: bytes, *, rate: float) -> int:
    """Post until the input ends; what was held up is made up for."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    sys.stdout.write("here\n")
    sys.stdout.flush()
    started = time.perf_counter()
    posted = 0
    while True:
        due = started + posted / rate
        if select([sys.stdin], [], [], max(due - time.perf_counter(), 0))[0]:
            connection.close()
            return posted
        connection.request("POST", path, body, {"content-type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 202
        posted += 1


if __name__ == "__main__":
    port, path, rate, file = sys.argv[1:]
    print(post_paced(int(port), path, Path(file).read_bytes(), rate=float(rate)))
