"""Slow readers of a real server: what they get is new, and others do not notice them.

Machines that run tests are noisy, so each figure may be tried again, and bounds are wide: without
credit a reader of 50 kB/s is some seconds behind after these seconds, and more after others.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import msgspec
import pytest

from tests.api.push.raw_readers import PATIENCE, Ages, Feed, read
from tests.server_process import ROOT, RunningServer

pytestmark = pytest.mark.slow

UPDATES_PER_SECOND = 2_000
ENOUGH = 0.9 * UPDATES_PER_SECOND
"""How many updates a reader gets in a second that misses next to none."""
KEYS = 1_000
SLOW = 50_000
VERY_SLOW = 1_000
CROWD = 200
MOST_BYTES_EACH = 256 * 1_024
ATTEMPTS = 3


@pytest.fixture(scope="module")
def alone(server: RunningServer) -> Ages:
    """Return the ages of what a fast reader gets that is alone."""
    put_queue(server, keys=KEYS)
    return first_that_does(
        lambda ages: len(ages.seconds) > ENOUGH and ages.quantile(0.99) < 0.05,
        lambda: ages_of(server, keys=KEYS, seconds=1.0),
    )


def put_queue(server: RunningServer, *, keys: int) -> None:
    """Define the queue anew, with a stream that has all its keys."""
    for method, path, body in (
        ("DELETE", "/v1/streams/q", None),
        ("PUT", "/v1/queues/q", b"{}"),
        ("POST", "/v1/streams/q/updates", msgspec.json.encode(rows_of(keys))),
    ):
        headers = {"content-type": "application/json"}
        request = Request(f"{server.url}{path}", body, headers, method=method)  # noqa: S310
        try:
            urlopen(request, timeout=PATIENCE).close()  # noqa: S310
        except OSError:
            assert method == "DELETE"


def rows_of(keys: int) -> list[tuple[str, float, int]]:
    return [(f"K{number:05d}", 0.0, number) for number in range(keys)]


@contextmanager
def crowd(server: RunningServer, *, bytes_per_second: float) -> Iterator[None]:
    """Have `CROWD` readers in a process of their own."""
    module = "tests.api.push.raw_readers"
    arguments = [str(server.port), str(CROWD), str(bytes_per_second)]
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        yield


async def ages_of(
    server: RunningServer, *, keys: int, seconds: float, bytes_per_second: float | None = None
) -> Ages:
    """Return the ages of what a reader gets once it has settled."""
    ages = Ages()
    feed = Feed(server.port, keys=keys, updates_per_second=UPDATES_PER_SECOND)
    tasks = [
        asyncio.create_task(feed.run()),
        asyncio.create_task(
            read(server.port, "snapshot=true", ages.received, bytes_per_second=bytes_per_second)
        ),
    ]
    try:
        await ages.settle()
        await ages.note(seconds)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return ages


def first_that_does(
    is_good: Callable[[Ages], bool], measure: Callable[[], Awaitable[Ages]]
) -> Ages:
    """Return the first measurement that is good, or the last one."""

    async def once() -> Ages:
        return await measure()

    for _ in range(ATTEMPTS - 1):
        ages = asyncio.run(once())
        if is_good(ages):
            return ages
    return asyncio.run(once())


def resident_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmRSS:"))
    return 1_024 * int(kilobytes)


def test_a_reader_of_50_kilobytes_a_second_gets_new_values(server: RunningServer) -> None:
    put_queue(server, keys=50)
    ages = first_that_does(
        lambda ages: ages.quantile(0.5) < 0.08 and ages.quantile(0.99) < 0.25,
        lambda: ages_of(server, keys=50, seconds=1.5, bytes_per_second=SLOW),
    )
    assert len(ages.seconds) > 500
    assert ages.quantile(0.5) < 0.08
    assert ages.quantile(0.99) < 0.25


def test_a_fast_reader_gets_everything_and_at_once(alone: Ages) -> None:
    assert len(alone.seconds) > ENOUGH
    assert alone.quantile(0.99) < 0.05


@pytest.fixture(scope="class")
def bytes_before(server: RunningServer, alone: Ages) -> Iterator[int]:
    """Return how much memory the server took before the crowd came."""
    put_queue(server, keys=KEYS)
    asyncio.run(ages_of(server, keys=KEYS, seconds=0.1))
    before = resident_bytes(server.pid)
    with crowd(server, bytes_per_second=VERY_SLOW):
        yield before


class TestCrowdOfVerySlowReaders:
    """Tests of readers of 1 kB/s, which are there for all of them."""

    @pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="it tells the memory taken")
    def test_a_connection_takes_little_memory(
        self, server: RunningServer, bytes_before: int
    ) -> None:
        asyncio.run(ages_of(server, keys=KEYS, seconds=1.0))
        assert resident_bytes(server.pid) - bytes_before < CROWD * MOST_BYTES_EACH

    @pytest.mark.usefixtures("bytes_before")
    def test_it_does_not_delay_a_fast_one(self, server: RunningServer, alone: Ages) -> None:
        assert_fast(server, alone, share=0.99, most_added=0.05)


def test_a_crowd_of_slow_readers_does_not_delay_a_fast_one(
    server: RunningServer, alone: Ages
) -> None:
    """Readers of 50 kB/s take all of a core, of which a machine that runs tests has less."""
    put_queue(server, keys=KEYS)
    with crowd(server, bytes_per_second=SLOW):
        assert_fast(server, alone, share=0.5, most_added=0.1)


def assert_fast(server: RunningServer, alone: Ages, *, share: float, most_added: float) -> None:
    """Assert that what a fast reader gets now is hardly older than when it was alone."""
    bound = 1.1 * alone.quantile(share) + most_added
    ages = first_that_does(
        lambda ages: ages.quantile(share) < bound,
        lambda: ages_of(server, keys=KEYS, seconds=1.0),
    )
    assert ages.quantile(share) < bound
