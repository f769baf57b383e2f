"""The last minutes are kept for the page, in at most a hundredth of the time."""

from __future__ import annotations

import asyncio

import pytest

from api.definitions import QueueDefinition
from api.history import MOST_NAMES, OF_REPORTS, SAMPLE_SECONDS, SAMPLES, SHARE, History
from api.queue_reports import FEW_KEYS
from tests.api.push.setting import make_service
from upstream import ManualClock

BUSY_SECONDS = 0.01


class EnoughError(Exception):
    """Ends what would run for ever."""


class Kept:
    """A service and its history, on a clock that moves while it rests, and while it works."""

    def __init__(self, *, busy_seconds: float = 0.0) -> None:
        self.clock = ManualClock(1_000.0)
        self.service = make_service(self.clock)
        self.busy_seconds = busy_seconds
        self.worked = self.rested = 0.0
        self.rounds = 0
        self.history = History(self.service, pause=self.pause, busy=self.busy)

    def busy(self) -> float:
        self.worked += self.busy_seconds / 2  # it is asked before and after
        return self.worked

    async def pause(self, seconds: float) -> None:
        self.rested += seconds
        self.clock.advance(seconds)
        if self.rounds and len(self.history.states().get("service", [])) >= self.rounds:
            raise EnoughError

    def queue(self, name: str, **definition: object) -> None:
        self.service.define_queue(name, QueueDefinition.model_validate(definition))

    def sample(self, times: int = 1) -> None:
        for _ in range(times):
            asyncio.run(self.history.sample())
            self.clock.advance(SAMPLE_SECONDS)


def test_a_sample_has_what_the_charts_show() -> None:
    kept = Kept()
    kept.queue("trades", processing_cost=1.0)
    kept.service.stream("trades").take_in(["IBM", "IBM", "GM"], [b"1", b"2", b"3"])
    kept.sample(2)
    states = kept.history.states()
    assert states.keys() == {"service", "stream/trades", "queue/trades"}
    first, second = states["queue/trades"]
    assert (first["time"], second["time"]) == (1_000.0, 1_000.0 + SAMPLE_SECONDS)
    assert (second["arrived"], second["superseded"], second["delivered"]) == (3, 1, 0)
    assert second["present_queue_staleness"] == pytest.approx(SAMPLE_SECONDS)
    assert [state["arrived"] for state in states["stream/trades"]] == [3, 3]
    assert all(state["memory"] > 1e6 for state in states["service"])  # type: ignore[operator]


def test_five_minutes_are_kept_and_no_more() -> None:
    kept = Kept()
    kept.queue("trades")
    kept.sample(SAMPLES + 3)
    times = [state["time"] for state in kept.history.states()["queue/trades"]]
    assert times == [1_000.0 + SAMPLE_SECONDS * number for number in range(3, SAMPLES + 3)]


def test_a_deleted_queue_is_forgotten_and_a_new_one_begins_without_samples() -> None:
    kept = Kept()
    kept.queue("trades")
    kept.queue("quotes")
    kept.sample(2)
    kept.service.drop_stream("quotes")
    kept.sample()
    assert kept.history.states().keys() == {"service", "stream/trades", "queue/trades"}
    kept.queue("quotes")
    kept.sample()
    assert len(kept.history.states()["queue/quotes"]) == 1


def test_of_many_queues_some_are_kept() -> None:
    kept = Kept()
    for number in range(MOST_NAMES + 2):
        kept.queue(f"q{number}", stream="trades")
    kept.sample()
    queues = [key for key in kept.history.states() if key.startswith("queue/")]
    assert queues == [f"queue/q{number}" for number in range(MOST_NAMES)]


def test_of_many_keys_only_the_counters_are_kept() -> None:
    kept = Kept()
    kept.queue("trades")
    keys = [f"k{number}" for number in range(FEW_KEYS + 1)]
    kept.service.stream("trades").take_in(keys, [b"1"] * len(keys))
    kept.sample()
    (state,) = kept.history.states()["queue/trades"]
    assert [state[name] for name in OF_REPORTS] == [None] * len(OF_REPORTS)
    assert state["arrived"] == len(keys)


def test_it_takes_a_hundredth_of_the_time_at_most() -> None:
    kept = Kept(busy_seconds=BUSY_SECONDS)
    for number in range(20):
        kept.queue(f"q{number}")
    asyncio.run(kept.history.sample())
    worked = kept.worked / 2  # half of it was before it was asked first
    assert worked / (worked + kept.rested) == pytest.approx(SHARE)


def test_samples_are_taken_every_five_seconds() -> None:
    kept = Kept()
    kept.rounds = 4
    with pytest.raises(EnoughError):
        asyncio.run(kept.history.run())
    times = [state["time"] for state in kept.history.states()["service"]]
    assert times == [1_000.0 + SAMPLE_SECONDS * number for number in range(4)]
