"""What wakes a connection."""

from __future__ import annotations

import asyncio
import time

import pytest

from api.entries import QueueEntry
from api.push.subscription import Ending, Subscription
from api.push.wakeup import Wakeup, end_in_turn, ended_in_time
from api.service import Service
from tests.api.push.setting import ScarceTurns, put, settle, subscribe


async def is_woken(wakeup: Wakeup, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await wakeup.wait()
    except TimeoutError:
        return False
    return True


async def test_an_update_wakes_once(feed: QueueEntry) -> None:
    wakeup = Wakeup(feed.stream)
    wakeup.on_update()
    put(feed, IBM=1)
    assert await is_woken(wakeup, 5)
    put(feed, IBM=2)
    assert not await is_woken(wakeup, 0)


async def test_a_time_wakes_when_it_has_come_and_not_before(feed: QueueEntry) -> None:
    stream = feed.stream
    wakeup = Wakeup(stream)
    started = stream.stream.now()
    wakeup.at(started + 0.05)
    wakeup.at(started + 30)  # the earlier one stays
    assert await is_woken(wakeup, 5)
    assert stream.stream.now() - started > 0.045
    wakeup.at(stream.stream.now() + 30)
    wakeup.at(stream.stream.now() - 1)  # and a past one is at once
    assert await is_woken(wakeup, 5)
    wakeup.close()


async def test_infinity_never_wakes(feed: QueueEntry) -> None:
    wakeup = Wakeup(feed.stream)
    wakeup.at(float("inf"))
    assert not await is_woken(wakeup, 0.01)


async def test_nothing_wakes_a_closed_wakeup(feed: QueueEntry) -> None:
    wakeup = Wakeup(feed.stream)
    wakeup.on_update()
    wakeup.at(feed.stream.stream.now() + 0.01)
    wakeup.close()
    put(feed, IBM=1)
    assert not await is_woken(wakeup, 0.05)


async def test_the_end_of_a_connection_wakes_it_and_is_waited_for_a_little(
    feed: QueueEntry, goodbye_seconds: float
) -> None:
    async def stay(subscription: Subscription, wakeup: Wakeup) -> None:
        async with ended_in_time(subscription, wakeup):
            await wakeup.wait()
            await asyncio.sleep(60)  # as a client that does not read would have it

    subscription = subscribe(feed)
    asyncio.get_running_loop().call_soon(subscription.close, Ending.SHUTDOWN)
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        await stay(subscription, Wakeup(feed.stream))
    assert goodbye_seconds * 0.9 < time.monotonic() - started < 30


async def test_a_connection_that_is_to_end_does_not_wait_for_its_turn(feed: QueueEntry) -> None:
    turns = ScarceTurns()
    turns.has_more = False
    wakeup = Wakeup(feed.stream)
    waiting = asyncio.create_task(wakeup.turn(turns, backlog=1))
    wakeup.wake()
    await settle()
    assert not waiting.done()
    wakeup.end()
    await settle()
    assert waiting.done()
    wakeup.end()  # once more changes nothing


async def test_a_connection_that_has_ended_can_be_closed_again(feed: QueueEntry) -> None:
    subscription = subscribe(feed)
    async with ended_in_time(subscription, Wakeup(feed.stream)):
        pass
    subscription.close()


async def test_a_subscription_is_closed_in_its_turn_or_when_that_is_cancelled(
    service: Service, feed: QueueEntry
) -> None:
    closing = [asyncio.create_task(end_in_turn(subscribe(feed), service.turns)) for _ in "ab"]
    await asyncio.sleep(0)
    assert len(feed.stream.subscribers) == 2
    closing[1].cancel()
    await asyncio.gather(*closing, return_exceptions=True)
    assert not feed.stream.subscribers
