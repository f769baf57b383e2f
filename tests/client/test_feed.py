"""Both kinds of feed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2
import pytest

from upstream import Clock, ClosedError, ManualClock, SystemClock
from upstream.client import (
    AsyncFeed,
    Counts,
    Feed,
    NotFoundError,
    OutcomeUnknownError,
    RetryPolicy,
    ServiceError,
    ServiceUnavailableError,
    ServiceUnreachableError,
)
from upstream.client.connection import Connection
from upstream.client.exchange import Request
from upstream.client.gathering import Gathering

from .both_clients import Connect
from .scripted_service import COUNTS, Reply, ScriptedService, problem

PATIENCE_SECONDS = 30.0

CLOCK = SystemClock()  # for feeds whose batches are sent in time
GONE = problem(404, "Unknown name")
BUSY = problem(503, "Overloaded")
LOST = httpx2.ReadError("reset")


@contextmanager
def fed(
    connect: Connect,
    service: ScriptedService,
    *,
    retries: int | RetryPolicy = 3,
    clock: Clock | None = None,
    batch_size: int = 1_000,
    batch_seconds: float | None = None,
) -> Iterator[Feed]:
    """Yield a feed of a client of the service."""
    with (
        service.client(connect, retries=retries, clock=clock) as client,
        client.feed("s", batch_size=batch_size, batch_seconds=batch_seconds) as feed,
    ):
        yield feed


def await_requests(service: ScriptedService, number: int) -> None:
    """Wait until the service has received this many requests."""
    _await(lambda: len(service.requests) >= number)


def _await(is_so: Callable[[], bool]) -> None:
    tick = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / 0.005)):
        if is_so():
            return
        tick.wait(0.005)
    raise AssertionError("it did not happen")


def _put_and_await(connect: Connect, service: ScriptedService) -> None:
    with fed(connect, service, clock=CLOCK, batch_seconds=0.01) as feed:
        feed.put("a", 1)
        await_requests(service, 1)


def _put_and_fail(connect: Connect, service: ScriptedService) -> None:
    with fed(connect, service) as feed:
        feed.put("a", 1)
        raise ZeroDivisionError


def test_full_batches_are_sent_at_once_and_the_rest_at_the_end(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with fed(connect, service, batch_size=2) as feed:
        feed.put("a", 1)
        assert service.requests == []
        feed.put("b", 2, 1.5)
        assert service.bodies == [[["a", None, 1], ["b", 1.5, 2]]]
        feed.put("c", 3)
    assert service.bodies[1:] == [[["c", None, 3]]]
    assert feed.counts.waiting == 2


def test_a_batch_that_is_not_full_is_sent_in_time(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with fed(connect, service, clock=CLOCK, batch_seconds=0.01) as feed:
        feed.put("a", 1)
        await_requests(service, 1)
        feed.put("b", 2)
        await_requests(service, 2)
    assert service.bodies == [[["a", None, 1]], [["b", None, 2]]]


def test_flush_sends_all_waiting_updates(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with fed(connect, service) as feed:
        feed.put("a", 1)
        assert feed.flush().waiting == 1
        assert feed.flush().waiting == 1
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("failure", "error"),
    [(LOST, ServiceUnreachableError), (BUSY, ServiceUnavailableError)],
    ids=["lost", "busy"],
)
def test_a_failed_batch_is_sent_again_with_its_key_before_later_updates(
    connect: Connect, failure: Reply, error: type[ServiceError]
) -> None:
    service = ScriptedService(failure, COUNTS)
    with fed(connect, service, retries=0, batch_size=1) as feed:
        with pytest.raises(error):
            feed.put("a", 1)
        assert feed.unconfirmed == 1
        feed.put("b", 2)
    assert service.bodies == [[["a", None, 1]], [["a", None, 1]], [["b", None, 2]]]
    assert feed.unconfirmed == 0
    first, again, other = service.keys
    assert first == again != other


def test_the_update_of_a_put_that_raises_is_kept(connect: Connect) -> None:
    service = ScriptedService(LOST)
    with fed(connect, service, retries=0, clock=CLOCK, batch_seconds=0.01) as feed:
        feed.put("a", 1)
        await_requests(service, 1)
        with pytest.raises(ServiceUnreachableError):
            _put_until_it_raises(feed)
        waiting = feed.unconfirmed
        service.replies(COUNTS)
        feed.flush()
        keys = {row[0] for body in service.bodies if isinstance(body, list) for row in body}
        assert len(keys) == waiting


def _put_until_it_raises(feed: Feed) -> None:
    tick = threading.Event()
    for number in range(1_000):
        feed.put(f"k{number}", number)
        tick.wait(0.005)


@pytest.mark.parametrize("failure", [LOST, BUSY], ids=["lost", "busy"])
def test_a_batch_that_failed_in_the_background_is_sent_again_without_another_put(
    connect: Connect, failure: Reply
) -> None:
    service = ScriptedService(failure, failure, COUNTS)
    policy = RetryPolicy(0, first_delay=0.01)
    with fed(connect, service, retries=policy, clock=CLOCK, batch_seconds=0.01) as feed:
        feed.put("a", 1)
        _await(lambda: feed.unconfirmed == 0)
        feed.put("b", 2)  # this does not raise the failure that passed
    assert len(set(service.keys[:3])) == 1


def test_a_batch_whose_put_failed_is_sent_again_in_the_background(connect: Connect) -> None:
    service = ScriptedService(LOST, COUNTS)
    policy = RetryPolicy(0, first_delay=0.01)
    with fed(
        connect, service, retries=policy, clock=CLOCK, batch_size=1, batch_seconds=0.01
    ) as feed:
        with pytest.raises(ServiceUnreachableError):
            feed.put("a", 1)
        _await(lambda: feed.unconfirmed == 0)


def test_a_batch_that_may_have_been_applied_long_ago_is_not_sent_again(connect: Connect) -> None:
    clock = ManualClock()
    service = ScriptedService(LOST, COUNTS)
    with fed(connect, service, retries=0, clock=clock, batch_size=1) as feed:
        with pytest.raises(ServiceUnreachableError):
            feed.put("a", 1)
        clock.advance(301.0)
        with pytest.raises(OutcomeUnknownError):
            feed.put("b", 2)
    assert service.bodies == [[["a", None, 1]], [["b", None, 2]]]
    assert feed.unconfirmed == 1


def test_closing_the_client_ends_the_thread_of_its_feed_and_the_next_put_raises() -> None:
    service = ScriptedService(COUNTS)
    client = service.client(clock=CLOCK)
    threads = threading.active_count()

    def put_and_close() -> None:
        with client.feed("s", batch_seconds=0.01) as feed:
            feed.put("a", 1)
            client.close()
            _await(lambda: threading.active_count() == threads)
            with pytest.raises(ClosedError, match="client"):
                feed.put("b", 2)

    with pytest.raises(ClosedError, match="client"):
        put_and_close()
    assert service.requests == []


def test_a_refused_batch_is_raised_and_not_sent_again(connect: Connect) -> None:
    service = ScriptedService(GONE, COUNTS)
    with fed(connect, service, batch_size=1) as feed:
        with pytest.raises(NotFoundError):
            feed.put("a", 1)
        feed.put("b", 2)
    assert service.bodies == [[["a", None, 1]], [["b", None, 2]]]


def test_a_refusal_in_the_background_is_raised_by_the_next_call(connect: Connect) -> None:
    service = ScriptedService(GONE, COUNTS)
    with fed(connect, service, clock=CLOCK, batch_seconds=0.01) as feed:
        feed.put("a", 1)
        with pytest.raises(NotFoundError):
            _await(lambda: feed.flush().waiting > 0)
        feed.put("b", 2)
        await_requests(service, 2)
    assert feed.counts.waiting == 1


def test_a_refusal_in_the_background_is_raised_on_leaving_the_block(
    connect: Connect,
) -> None:
    service = ScriptedService(GONE, COUNTS)
    with pytest.raises(NotFoundError):
        _put_and_await(connect, service)
    assert len(service.requests) == 1


def test_a_batch_lost_in_the_background_is_sent_again_at_the_end(connect: Connect) -> None:
    service = ScriptedService(LOST, COUNTS)
    with fed(connect, service, retries=0, clock=CLOCK, batch_seconds=0.01) as feed:
        feed.put("a", 1)
        await_requests(service, 1)
    assert service.bodies == [[["a", None, 1]]] * 2
    assert len(set(service.keys)) == 1
    assert feed.counts.waiting == 1


def test_updates_are_sent_even_if_the_caller_fails(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with pytest.raises(ZeroDivisionError):
        _put_and_fail(connect, service)
    assert len(service.requests) == 1


def test_a_feed_can_only_be_used_inside_its_block(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with service.client(connect) as client:
        feed = client.feed("s")
        with pytest.raises(ClosedError, match="feed"):
            feed.put("a", 1)
        with feed:
            feed.put("a", 1)
        with pytest.raises(ClosedError, match="feed"):
            feed.flush()


def test_the_thread_ends_with_the_block() -> None:
    before = threading.active_count()
    service = ScriptedService(COUNTS)
    with service.client() as client, client.feed("s", batch_seconds=1_000.0) as feed:
        feed.put("a", 1)
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def _put_hundred(feed: Feed, key: str) -> None:
    for number in range(100):
        feed.put(key, number)


def test_several_threads_may_feed_one_feed(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with fed(connect, service, batch_size=7, batch_seconds=0.1) as feed:
        threads = [
            threading.Thread(target=_put_hundred, args=(feed, str(name))) for name in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    rows = [row for body in service.bodies if isinstance(body, list) for row in body]
    assert sorted((row[0], row[2]) for row in rows) == sorted(
        (str(name), number) for name in range(4) for number in range(100)
    )


# With asyncio only


def test_cancelling_a_put_loses_no_update() -> None:
    bodies: list[bytes] = []

    async def send(request: Request[Counts]) -> Counts:
        bodies.append(request.body)
        if len(bodies) == 1:
            await asyncio.Event().wait()
        return Counts(waiting=1)

    async def run() -> AsyncFeed:
        gathering = Gathering(Connection("http://a", clock=ManualClock()), "s", 1)
        async with AsyncFeed(send, gathering, batch_seconds=None) as feed:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(feed.put("a", 1), 0.001)
        return feed

    assert asyncio.run(run()).unconfirmed == 0
    assert bodies == [b'[["a",null,1]]'] * 2


def test_closing_the_client_ends_the_task_of_its_feed_and_the_next_put_raises() -> None:
    service = ScriptedService(COUNTS)

    async def run() -> None:
        client = service.async_client(clock=CLOCK)
        async with client.feed("s", batch_seconds=0.001) as feed:
            await client.close()
            await feed.put("a", 1)
            while len(asyncio.all_tasks()) > 1:
                await asyncio.sleep(0.001)
            with pytest.raises(ClosedError, match="client"):
                await feed.put("b", 2)

    with pytest.raises(ClosedError, match="client"):
        asyncio.run(run())


def test_the_task_ends_with_the_block() -> None:
    service = ScriptedService(COUNTS)

    async def run() -> None:
        async with service.async_client(clock=CLOCK) as client:
            async with client.feed("s", batch_seconds=1_000.0) as feed:
                await feed.put("a", 1)
                assert len(asyncio.all_tasks()) == 2
            assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())
