"""A feed for asyncio."""

from __future__ import annotations

import asyncio
from random import Random

import httpx2
import pytest

from upstream import ClosedError, ManualClock, SystemClock
from upstream.client import (
    AsyncFeed,
    Counts,
    NotFoundError,
    RetryPolicy,
    ServiceError,
    ServiceUnreachableError,
)
from upstream.client.exchange import Request
from upstream.client.gathering import Gathering

from .scripted_service import COUNTS, Reply, ScriptedService, problem

PATIENCE_SECONDS = 30.0

CLOCK = SystemClock()
GONE = problem(404, "Unknown name")
BUSY = problem(503, "Overloaded")
LOST = httpx2.ReadError("reset")


async def await_requests(service: ScriptedService, number: int) -> None:
    """Wait until the service got so many requests."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(service.requests) < number:
            await asyncio.sleep(0.001)


def test_full_batches_are_sent_at_once_and_the_rest_at_the_end() -> None:
    service = ScriptedService(COUNTS)

    async def run() -> AsyncFeed:
        async with (
            service.async_client() as client,
            client.feed("s", batch_size=2, batch_seconds=None) as feed,
        ):
            await feed.put("a", 1)
            assert service.requests == []
            await feed.put("b", 2, 1.5)
            assert service.bodies == [[["a", None, 1], ["b", 1.5, 2]]]
            await feed.put("c", 3)
        return feed

    assert asyncio.run(run()).counts.waiting == 2
    assert service.bodies[1:] == [[["c", None, 3]]]


def test_a_batch_that_is_not_full_is_sent_in_time() -> None:
    service = ScriptedService(COUNTS)

    async def run() -> None:
        async with (
            service.async_client(clock=CLOCK) as client,
            client.feed("s", batch_seconds=0.01) as feed,
        ):
            await feed.put("a", 1)
            await await_requests(service, 1)
            await feed.put("b", 2)
            await await_requests(service, 2)

    asyncio.run(run())
    assert service.bodies == [[["a", None, 1]], [["b", None, 2]]]


def test_what_was_lost_is_sent_again_with_its_key_before_what_came_later() -> None:
    service = ScriptedService(LOST, COUNTS)

    async def run() -> None:
        async with (
            service.async_client(retries=0) as client,
            client.feed("s", batch_size=1) as feed,
        ):
            with pytest.raises(ServiceUnreachableError):
                await feed.put("a", 1)
            await feed.put("b", 2)

    asyncio.run(run())
    assert service.bodies == [[["a", None, 1]], [["a", None, 1]], [["b", None, 2]]]
    first, again, other = service.keys
    assert first == again != other


@pytest.mark.parametrize("failure", [LOST, BUSY], ids=["lost", "busy"])
def test_what_failed_is_kept_and_sent_though_nothing_more_is_put(failure: Reply) -> None:
    service = ScriptedService(failure, failure, COUNTS)
    policy = RetryPolicy(0, first_delay=0.01)

    async def run() -> None:
        async with (
            service.async_client(retries=policy, clock=CLOCK) as client,
            client.feed("s", batch_size=2, batch_seconds=0.01) as feed,
        ):
            await feed.put("a", 1)
            with pytest.raises(ServiceError):
                await feed.put("b", 2)
            assert feed.unconfirmed == 2
            await await_requests(service, 3)
            while feed.unconfirmed:
                await asyncio.sleep(0.001)
            await feed.put("c", 3)

    asyncio.run(run())
    batch = [["a", None, 1], ["b", None, 2]]
    assert service.bodies == [batch, batch, batch, [["c", None, 3]]]
    assert len(set(service.keys[:3])) == 1


def test_the_update_of_a_put_that_raises_is_kept() -> None:
    service = ScriptedService(LOST, COUNTS)

    async def run() -> None:
        async with (
            service.async_client(retries=0, clock=CLOCK) as client,
            client.feed("s", batch_seconds=0.001) as feed,
        ):
            await feed.put("a", 1)
            await await_requests(service, 1)
            await asyncio.sleep(0)
            with pytest.raises(ServiceUnreachableError):
                await feed.put("b", 2)

    asyncio.run(run())
    assert service.bodies == [[["a", None, 1]], [["a", None, 1]], [["b", None, 2]]]


def test_a_put_that_was_cancelled_loses_nothing() -> None:
    bodies: list[bytes] = []

    async def send(request: Request[Counts]) -> Counts:
        bodies.append(request.body)
        if len(bodies) == 1:
            await asyncio.Event().wait()
        return Counts(waiting=1)

    async def run() -> AsyncFeed:
        gathering = Gathering(
            "s", size=1, clock=ManualClock(), policy=RetryPolicy(), random=Random(1)
        )
        async with AsyncFeed(send, gathering, batch_seconds=None) as feed:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(feed.put("a", 1), 0.001)
        return feed

    assert asyncio.run(run()).unconfirmed == 0
    assert bodies == [b'[["a",null,1]]'] * 2


def test_a_feed_whose_client_is_closed_says_so() -> None:
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


def test_a_refusal_that_nobody_waited_for_is_raised_by_the_next_call() -> None:
    service = ScriptedService(GONE, COUNTS)

    async def run() -> None:
        async with (
            service.async_client(clock=CLOCK) as client,
            client.feed("s", batch_seconds=0.01) as feed,
        ):
            await feed.put("a", 1)
            with pytest.raises(NotFoundError):
                await _ask_again_and_again(feed, service)
            await feed.put("b", 2)

    asyncio.run(run())
    assert service.bodies == [[["a", None, 1]], [["b", None, 2]]]


async def _ask_again_and_again(feed: AsyncFeed, service: ScriptedService) -> None:
    await await_requests(service, 1)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            await feed.flush()
            await asyncio.sleep(0.001)


def test_a_loss_that_nobody_noticed_is_made_up_for_at_the_end() -> None:
    service = ScriptedService(LOST, COUNTS)

    async def run() -> AsyncFeed:
        async with (
            service.async_client(retries=0, clock=CLOCK) as client,
            client.feed("s", batch_seconds=0.01) as feed,
        ):
            await feed.put("a", 1)
            await await_requests(service, 1)
        return feed

    assert asyncio.run(run()).counts.waiting == 1
    assert len(set(service.keys)) == 1


def test_a_refusal_that_nobody_waited_for_is_raised_at_the_end() -> None:
    service = ScriptedService(GONE, COUNTS)

    async def run() -> None:
        async with (
            service.async_client(clock=CLOCK) as client,
            client.feed("s", batch_seconds=0.01) as feed,
        ):
            await feed.put("a", 1)
            await await_requests(service, 1)

    with pytest.raises(NotFoundError):
        asyncio.run(run())
    assert len(service.requests) == 1


def test_what_was_put_is_sent_even_if_the_caller_fails() -> None:
    service = ScriptedService(COUNTS)

    async def run() -> None:
        async with service.async_client() as client, client.feed("s") as feed:
            await feed.put("a", 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())
    assert len(service.requests) == 1


def test_a_feed_is_used_in_its_block_only_and_leaves_no_task() -> None:
    service = ScriptedService(COUNTS)

    async def run() -> None:
        async with service.async_client() as client:
            feed = client.feed("s", batch_seconds=1_000.0)
            with pytest.raises(ClosedError, match="feed"):
                await feed.put("a", 1)
            async with feed:
                await feed.put("a", 1)
                assert len(asyncio.all_tasks()) == 2
            with pytest.raises(ClosedError, match="feed"):
                await feed.flush()
            assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())


def test_several_tasks_may_feed_one_feed() -> None:
    service = ScriptedService(COUNTS)

    async def run() -> None:
        async def put_hundred(feed: AsyncFeed, key: str) -> None:
            for number in range(100):
                await feed.put(key, number)

        async with service.async_client() as client, client.feed("s", batch_size=7) as feed:
            await asyncio.gather(*(put_hundred(feed, name) for name in "abcd"))

    asyncio.run(run())
    rows = [row for body in service.bodies if isinstance(body, list) for row in body]
    assert sorted((row[0], row[2]) for row in rows) == sorted(
        (name, number) for name in "abcd" for number in range(100)
    )
