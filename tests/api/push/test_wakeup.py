"""What wakes a connection."""

from __future__ import annotations

import asyncio

import pytest

from api.push.subscription import Ending, Subscription
from api.push.wakeup import Wakeup, end_in_turn, ended_in_time
from tests.api.push.setting import ScarceTurns, define, make_service, put, settle, subscribe


async def is_woken(wakeup: Wakeup, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await wakeup.wait()
    except TimeoutError:
        return False
    return True


async def test_an_update_wakes_once() -> None:
    feed = define(make_service())
    wakeup = Wakeup(feed.stream)
    wakeup.on_update()
    put(feed, IBM=1)
    assert await is_woken(wakeup, 5)
    put(feed, IBM=2)
    assert not await is_woken(wakeup, 0)


async def test_a_time_wakes_when_it_has_come_and_not_before() -> None:
    stream = define(make_service()).stream
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


async def test_infinity_is_no_time() -> None:
    wakeup = Wakeup(define(make_service()).stream)
    wakeup.at(float("inf"))
    assert not await is_woken(wakeup, 0.01)


async def test_nothing_wakes_what_is_closed() -> None:
    feed = define(make_service())
    wakeup = Wakeup(feed.stream)
    wakeup.on_update()
    wakeup.at(feed.stream.stream.now() + 0.01)
    wakeup.close()
    put(feed, IBM=1)
    assert not await is_woken(wakeup, 0.05)


def test_the_end_of_a_connection_wakes_it_and_is_waited_for_a_little(
    goodbye_seconds: float,
) -> None:
    async def stay(subscription: Subscription, wakeup: Wakeup) -> None:
        async with ended_in_time(subscription, wakeup):
            await wakeup.wait()
            await asyncio.sleep(60)  # as a client that does not read would have it

    async def scenario() -> float:
        feed = define(make_service())
        subscription = subscribe(feed)
        loop = asyncio.get_running_loop()
        loop.call_soon(subscription.close, Ending.SHUTDOWN)
        started = loop.time()
        with pytest.raises(TimeoutError):
            await stay(subscription, Wakeup(feed.stream))
        return loop.time() - started

    assert goodbye_seconds * 0.9 < asyncio.run(scenario()) < 30


async def test_a_connection_that_is_to_end_does_not_wait_for_its_turn() -> None:
    turns = ScarceTurns()
    turns.has_more = False
    wakeup = Wakeup(define(make_service()).stream)
    waiting = asyncio.create_task(wakeup.turn(turns, backlog=1))
    wakeup.wake()
    await settle()
    assert not waiting.done()
    wakeup.end()
    await settle()
    assert waiting.done()
    wakeup.end()  # once more changes nothing


async def test_a_connection_that_has_ended_can_be_closed_again() -> None:
    feed = define(make_service())
    subscription = subscribe(feed)
    async with ended_in_time(subscription, Wakeup(feed.stream)):
        pass
    subscription.close()


async def test_a_subscription_is_closed_in_its_turn_or_when_that_is_cancelled() -> None:
    service = make_service()
    feed = define(service)
    closing = [asyncio.create_task(end_in_turn(subscribe(feed), service.turns)) for _ in "ab"]
    await asyncio.sleep(0)
    assert len(feed.stream.subscribers) == 2
    closing[1].cancel()
    await asyncio.gather(*closing, return_exceptions=True)
    assert not feed.stream.subscribers
