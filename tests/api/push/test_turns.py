"""Turns of connections that are behind."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest

from api.push.turns import CROWD, LAST, ROUND_SECONDS, Turns


def test_turns_are_given_in_the_order_in_which_they_were_asked_for() -> None:
    async def scenario() -> list[str]:
        turns = Turns()
        order: list[str] = []

        async def take(name: str, times: int) -> None:
            for _ in range(times):
                await turns.next()
                order.append(name)

        await asyncio.gather(take("a", 3), take("b", 1), take("c", 2))
        return order

    assert asyncio.run(scenario()) == ["a", "b", "c", "a", "c", "a"]


def test_the_loop_goes_round_between_turns() -> None:
    async def scenario() -> list[str]:
        turns = Turns()
        order: list[str] = []

        async def be_behind(name: str) -> None:
            await turns.next()
            order.append(name)

        async def keep_up() -> None:
            for _ in range(5):
                await asyncio.sleep(0)
                order.append("fast")

        await asyncio.gather(*(be_behind("slow") for _ in range(4)), keep_up())
        return order

    order = asyncio.run(scenario())
    assert sorted(order) == ["fast"] * 5 + ["slow"] * 4
    assert not any(one == other == "slow" for one, other in pairwise(order))


def test_a_turn_that_nobody_waits_for_any_more_goes_to_the_next() -> None:
    async def scenario() -> None:
        turns = Turns()
        first = asyncio.create_task(turns.next())
        second = asyncio.create_task(turns.next())
        await asyncio.sleep(0)
        first.cancel()
        async with asyncio.timeout(5):
            await second
        assert first.cancelled()
        assert len(turns) == 0
        async with asyncio.timeout(5):
            await turns.next()  # it gives turns again after a rest

    asyncio.run(scenario())


def test_who_has_least_to_send_goes_first() -> None:
    async def scenario() -> list[int]:
        turns = Turns()
        order: list[int] = []

        async def take(backlog: int) -> None:
            await turns.next(backlog=backlog)
            order.append(backlog)

        await asyncio.gather(*(take(backlog) for backlog in (9, 5, LAST, 7)))
        return order

    assert asyncio.run(scenario())[:3] == [5, 7, 9]


def test_every_fourth_turn_is_for_whoever_has_waited_longest() -> None:
    async def scenario() -> str:
        turns = Turns()
        order: list[str] = []

        async def take(name: str, times: int) -> None:
            for _ in range(times):
                await turns.next(backlog=100 if name == "o" else 1)
                order.append(name)

        await asyncio.gather(*(take(name, 3) for name in "ffoof"))
        return "".join(order)

    order = asyncio.run(scenario())
    assert sorted(order) == sorted("f" * 9 + "o" * 6)
    assert order.startswith("fffofffofffo")


def test_turns_that_were_given_are_not_kept() -> None:
    async def scenario() -> int:
        turns = Turns()

        async def take(times: int) -> None:
            for _ in range(times):
                await turns.next(backlog=times)

        await asyncio.gather(*(take(50) for _ in range(CROWD - 1)))
        await asyncio.sleep(0)
        assert len(turns) == 0
        return len(turns._by_arrival) + len(turns._by_backlog)

    assert asyncio.run(scenario()) == 0


def test_a_crowd_rests_as_long_as_its_turns_take() -> None:
    async def scenario() -> float:
        turns = Turns()

        async def be_busy() -> None:
            for _ in range(4):
                await turns.next()
                until = time.perf_counter() + ROUND_SECONDS
                while time.perf_counter() < until:
                    pass

        started = time.perf_counter()
        await asyncio.gather(*(be_busy() for _ in range(2 * CROWD)))
        return time.perf_counter() - started

    busy = 4 * 2 * CROWD * ROUND_SECONDS
    assert asyncio.run(scenario()) > 1.5 * busy


@pytest.mark.parametrize("waiting", [1, CROWD - 1])
def test_a_few_do_not_rest(waiting: int) -> None:
    async def scenario() -> int:
        turns = Turns()
        loop = asyncio.get_running_loop()
        timers = 0
        call_later = loop.call_later

        def counted(*arguments: object) -> asyncio.TimerHandle:
            nonlocal timers
            timers += 1
            return call_later(*arguments)  # type: ignore[arg-type]

        loop.call_later = counted  # type: ignore[method-assign,assignment]
        waits = [turns.next() for _ in range(waiting)]
        assert not turns.is_crowded
        await asyncio.gather(*waits)
        return timers

    assert asyncio.run(scenario()) == 0
