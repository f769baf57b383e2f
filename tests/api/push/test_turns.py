"""Turns of connections that are behind."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from api.push import turns as turns_module
from api.push.turns import CROWD, LAST, LEAST_REST_SECONDS, REACH, REST, SHARE, Turns

WORK_BEFORE_A_REST = LEAST_REST_SECONDS / REST


class Work:
    """What keeps the event loop busy, by a clock that shows nothing else."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds

    def take(self, seconds: float) -> None:
        """Keep the loop busy for so long."""
        self.seconds += seconds


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    work = Work()
    monkeypatch.setattr(turns_module, "thread_time", work)
    return work


async def test_turns_are_given_in_the_order_in_which_they_were_asked_for() -> None:
    turns = Turns()
    order: list[str] = []

    async def take(name: str, times: int) -> None:
        for _ in range(times):
            await turns.ask()
            order.append(name)

    await asyncio.gather(take("a", 3), take("b", 1), take("c", 2))
    assert order == ["a", "b", "c", "a", "c", "a"]


async def test_the_loop_goes_round_between_turns_while_little_else_happens(work: Work) -> None:
    turns = Turns()
    order: list[str] = []

    async def be_behind() -> None:
        await turns.ask()
        order.append("slow")
        work.take(0.001)

    async def keep_up() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
            order.append("fast")
            work.take(0.0001)

    await asyncio.gather(*(be_behind() for _ in range(4)), keep_up())
    assert sorted(order) == ["fast"] * 5 + ["slow"] * 4
    assert not any(one == other == "slow" for one, other in pairwise(order))


async def test_turns_take_their_share_of_a_loop_that_is_busy_with_other_things(work: Work) -> None:
    busy, turn = 0.01, 0.0005
    turns = Turns()
    given: list[int] = []

    async def be_behind() -> None:
        while True:
            await turns.ask()
            given[-1] += 1
            work.take(turn)

    crowd = [asyncio.create_task(be_behind()) for _ in range(4 * CROWD)]
    for _ in range(20):
        work.take(busy)
        given.append(0)
        await asyncio.sleep(0)
    for each in crowd:
        each.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    assert given[-1] == round(SHARE * busy / turn)


async def test_a_cancelled_turn_goes_to_the_next() -> None:
    turns = Turns()
    first, second, third = turns.ask(), turns.ask(), turns.ask()
    first.cancel()
    third.set_result(None)
    await second
    await asyncio.sleep(0)
    assert len(turns) == 0
    await turns.ask()  # it gives turns again after a pause


async def test_the_caller_with_the_least_to_send_goes_first() -> None:
    turns = Turns()
    order: list[int] = []

    async def take(backlog: int) -> None:
        await turns.ask(backlog=backlog)
        order.append(backlog)

    await asyncio.gather(*(take(backlog) for backlog in (9, LAST, 5, 7)))
    assert order == [5, 7, 9, LAST]


async def test_a_caller_with_much_to_send_is_passed_over_for_so_many_turns_at_most() -> None:
    turns = Turns()
    order: list[str] = []

    async def go_on() -> None:
        while "slow" not in order:
            await turns.ask()
            order.append("fast")

    async def wait_long() -> None:
        await turns.ask(backlog=LAST)
        order.append("slow")

    readers = 2 * CROWD
    await asyncio.gather(*(go_on() for _ in range(readers - 1)), wait_long())
    assert order.index("slow") <= (REACH + 1) * readers


async def test_turns_that_were_given_are_released() -> None:
    turns = Turns()

    async def take(times: int) -> None:
        for _ in range(times):
            await turns.ask(backlog=times)

    await asyncio.gather(*(take(50) for _ in range(CROWD - 1)))
    await asyncio.sleep(0)
    assert len(turns) == 0
    assert not turns._asked


class Timers:
    """Notes the timers that an event loop is asked for."""

    def __init__(self) -> None:
        self.delays: list[float] = []
        loop = asyncio.get_running_loop()
        self._call_later = loop.call_later
        loop.call_later = self._counted  # type: ignore[method-assign,assignment]

    def _counted(self, delay: float, *arguments: object) -> asyncio.TimerHandle:
        self.delays.append(delay)
        return self._call_later(delay, *arguments)  # type: ignore[arg-type]


async def send(turns: Turns, work: Work, *, times: int = 1, seconds: float) -> None:
    """Take turns, each of which takes so long."""
    for _ in range(times):
        await turns.ask()
        work.take(seconds)


async def test_a_crowd_rests_its_share_of_the_time_that_its_turns_take(work: Work) -> None:
    turns = Turns()
    timers = Timers()
    seconds = 0.4 * WORK_BEFORE_A_REST
    sends = (send(turns, work, times=10, seconds=seconds) for _ in range(2 * CROWD))
    await asyncio.gather(*sends)
    assert timers.delays
    assert min(timers.delays) >= LEAST_REST_SECONDS
    until_few_are_left = work.seconds - CROWD * WORK_BEFORE_A_REST
    assert sum(timers.delays) == pytest.approx(REST * until_few_are_left, rel=0.1)


async def test_other_work_between_turns_counts_as_rest(work: Work) -> None:
    turns = Turns()

    async def write() -> None:
        while len(turns):
            work.take(10 * WORK_BEFORE_A_REST)
            await asyncio.sleep(0)

    timers = Timers()
    sends = (send(turns, work, times=4, seconds=WORK_BEFORE_A_REST) for _ in range(2 * CROWD))
    await asyncio.gather(*sends, write())
    assert not timers.delays


@pytest.mark.parametrize("waiting", [1, CROWD - 1])
async def test_a_few_do_not_rest(work: Work, waiting: int) -> None:
    turns = Turns()
    timers = Timers()
    sends = [send(turns, work, seconds=2 * WORK_BEFORE_A_REST) for _ in range(waiting)]
    assert not turns.is_crowded
    await asyncio.gather(*sends)
    assert not timers.delays
