"""Turns of connections that are behind."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from api.push.turns import Turns


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


def test_those_that_go_first_leave_every_fourth_turn_to_others() -> None:
    async def scenario() -> str:
        turns = Turns()
        order: list[str] = []

        async def take(name: str, times: int) -> None:
            for _ in range(times):
                await turns.next(is_first=name == "f")
                order.append(name)

        await asyncio.gather(*(take(name, 3) for name in "ffoof"))
        return "".join(order)

    order = asyncio.run(scenario())
    assert sorted(order) == sorted("f" * 9 + "o" * 6)
    assert order.startswith("fffofffofffo")
