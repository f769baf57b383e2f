"""Both kinds of feed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import httpx2
import pytest

from upstream import ClosedError, ManualClock, SystemClock
from upstream.client import (
    AsyncFeed,
    Client,
    Counts,
    Feed,
    NotFoundError,
    OutcomeUnknownError,
    RetryPolicy,
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


def await_requests(service: ScriptedService, number: int) -> None:
    """Wait until the service got so many requests."""
    _await(lambda: len(service.requests) >= number)


def _await(is_so: Callable[[], bool]) -> None:
    tick = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / 0.005)):
        if is_so():
            return
        tick.wait(0.005)
    raise AssertionError("it did not happen")


def _put_and_await(client: Client, service: ScriptedService) -> None:
    with client.feed("s", batch_seconds=0.01) as feed:
        feed.put("a", 1)
        await_requests(service, 1)


def _put_and_fail(client: Client) -> None:
    with client.feed("s", batch_seconds=None) as feed:
        feed.put("a", 1)
        raise ZeroDivisionError


def test_full_batches_are_sent_at_once_and_the_rest_at_the_end(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with (
        service.client(connect) as client,
        client.feed("s", batch_size=2, batch_seconds=None) as feed,
    ):
        feed.put("a", 1)
        assert service.requests == []
        feed.put("b", 2, 1.5)
        assert service.bodies == [[["a", None, 1], ["b", 1.5, 2]]]
        feed.put("c", 3)
    assert service.bodies[1:] == [[["c", None, 3]]]
    assert feed.counts.waiting == 2


def test_a_batch_that_is_not_full_is_sent_in_time(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with (
        service.client(connect, clock=CLOCK) as client,
        client.feed("s", batch_seconds=0.01) as feed,
    ):
        feed.put("a", 1)
        await_requests(service, 1)
        feed.put("b", 2)
        await_requests(service, 2)
    assert service.bodies == [[["a", None, 1]], [["b", None, 2]]]


def test_flushing_sends_what_there_is(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with service.client(connect) as client, client.feed("s", batch_seconds=None) as feed:
        feed.put("a", 1)
        assert feed.flush().waiting == 1
        assert feed.flush().waiting == 1
    assert len(service.requests) == 1


def test_what_was_lost_is_sent_again_with_its_key_before_what_came_later(connect: Connect) -> None:
    service = ScriptedService(LOST, COUNTS)
    with (
        service.client(connect, retries=0) as client,
        client.feed("s", batch_size=1, batch_seconds=None) as feed,
    ):
        with pytest.raises(ServiceUnreachableError):
            feed.put("a", 1)
        feed.put("b", 2)
    assert service.bodies == [[["a", None, 1]], [["a", None, 1]], [["b", None, 2]]]
    first, again, other = service.keys
    assert first == again != other


def test_what_the_service_was_too_busy_for_is_sent_again_with_its_key(connect: Connect) -> None:
    service = ScriptedService(BUSY, COUNTS)
    with (
        service.client(connect, retries=0) as client,
        client.feed("s", batch_size=1, batch_seconds=None) as feed,
    ):
        with pytest.raises(ServiceUnavailableError):
            feed.put("a", 1)
        assert feed.unconfirmed == 1
        feed.put("b", 2)
    assert service.bodies == [[["a", None, 1]], [["a", None, 1]], [["b", None, 2]]]
    assert feed.unconfirmed == 0


def test_the_update_of_a_put_that_raises_is_kept(connect: Connect) -> None:
    service = ScriptedService(LOST)
    with (
        service.client(connect, retries=0, clock=CLOCK) as client,
        client.feed("s", batch_seconds=0.01) as feed,
    ):
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
def test_what_failed_in_the_background_is_sent_though_nothing_more_is_put(
    connect: Connect, failure: Reply
) -> None:
    service = ScriptedService(failure, failure, COUNTS)
    policy = RetryPolicy(0, first_delay=0.01)
    with (
        service.client(connect, retries=policy, clock=CLOCK) as client,
        client.feed("s", batch_seconds=0.01) as feed,
    ):
        feed.put("a", 1)
        _await(lambda: feed.unconfirmed == 0)
        feed.put("b", 2)  # which does not raise what was made up for
    assert len(set(service.keys[:3])) == 1


def test_what_failed_as_it_was_put_is_sent_in_the_background(connect: Connect) -> None:
    service = ScriptedService(LOST, COUNTS)
    policy = RetryPolicy(0, first_delay=0.01)
    with (
        service.client(connect, retries=policy, clock=CLOCK) as client,
        client.feed("s", batch_size=1, batch_seconds=0.01) as feed,
    ):
        with pytest.raises(ServiceUnreachableError):
            feed.put("a", 1)
        _await(lambda: feed.unconfirmed == 0)


def test_a_batch_that_may_have_been_applied_long_ago_is_not_sent_again(connect: Connect) -> None:
    clock = ManualClock()
    service = ScriptedService(LOST, COUNTS)
    with (
        service.client(connect, retries=0, clock=clock) as client,
        client.feed("s", batch_size=1, batch_seconds=None) as feed,
    ):
        with pytest.raises(ServiceUnreachableError):
            feed.put("a", 1)
        clock.advance(301.0)
        with pytest.raises(OutcomeUnknownError):
            feed.put("b", 2)
    assert service.bodies == [[["a", None, 1]], [["b", None, 2]]]
    assert feed.unconfirmed == 1


def test_a_feed_whose_client_is_closed_says_so_and_its_thread_ends() -> None:
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


def test_what_is_refused_is_raised_and_not_sent_again(connect: Connect) -> None:
    service = ScriptedService(GONE, COUNTS)
    with (
        service.client(connect) as client,
        client.feed("s", batch_size=1, batch_seconds=None) as feed,
    ):
        with pytest.raises(NotFoundError):
            feed.put("a", 1)
        feed.put("b", 2)
    assert service.bodies == [[["a", None, 1]], [["b", None, 2]]]


def test_a_refusal_in_the_background_is_raised_by_the_next_call(connect: Connect) -> None:
    service = ScriptedService(GONE, COUNTS)
    with (
        service.client(connect, clock=CLOCK) as client,
        client.feed("s", batch_seconds=0.01) as feed,
    ):
        feed.put("a", 1)
        with pytest.raises(NotFoundError):
            _await(lambda: feed.flush().waiting > 0)
        feed.put("b", 2)
        await_requests(service, 2)
    assert feed.counts.waiting == 1


def test_a_refusal_in_the_background_is_raised_at_the_end_once_the_rest_was_sent(
    connect: Connect,
) -> None:
    service = ScriptedService(GONE, COUNTS)
    with service.client(connect, clock=CLOCK) as client, pytest.raises(NotFoundError):
        _put_and_await(client, service)
    assert len(service.requests) == 1


def test_a_batch_lost_in_the_background_is_sent_again_at_the_end(connect: Connect) -> None:
    service = ScriptedService(LOST, COUNTS)
    with (
        service.client(connect, retries=0, clock=CLOCK) as client,
        client.feed("s", batch_seconds=0.01) as feed,
    ):
        feed.put("a", 1)
        await_requests(service, 1)
    assert service.bodies == [[["a", None, 1]]] * 2
    assert len(set(service.keys)) == 1
    assert feed.counts.waiting == 1


def test_what_was_put_is_sent_even_if_the_caller_fails(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with service.client(connect) as client, pytest.raises(ZeroDivisionError):
        _put_and_fail(client)
    assert len(service.requests) == 1


def test_a_feed_is_used_in_its_block_only(connect: Connect) -> None:
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
    with service.client(connect) as client, client.feed("s", batch_size=7) as feed:
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


def test_a_put_that_was_cancelled_loses_nothing() -> None:
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


def test_a_feed_whose_client_is_closed_says_so_and_its_task_ends() -> None:
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
