"""Credit and its allowance, with clients that are simulated: all times are the simulation's."""

from __future__ import annotations

import math
import random
from collections import deque
from dataclasses import dataclass

import pytest

from api.push.flight import FIRST_MESSAGES, LEAST_BYTES, LULL, MOST_MESSAGE_BYTES, Flight

UPDATE_BYTES = 60


@dataclass
class Client:
    """A client that takes so long for messages, bytes and the way, and answers `stride` at once."""

    seconds_per_byte: float = 0.0
    seconds_per_message: float = 0.0
    distance: float = 0.0005
    stride: int = 1


@dataclass
class Outcome:
    """What came of a run."""

    bytes_per_second: float
    delays: list[float]
    """From when a message was put together to when it was read, in order."""
    most_messages: int

    def delay(self, share: float) -> float:
        """Return a quantile of the delays of the second half, after the allowance was learned."""
        late = sorted(self.delays[len(self.delays) // 2 :])
        return late[int(share * (len(late) - 1))]


def run(client: Client, *, window: int = 8, seconds: float = 20.0) -> Outcome:
    """Send as much as may be sent, for so long."""
    flight = Flight(window)
    now = 0.0
    is_free_at = 0.0
    total = 0
    most = 0
    unread: deque[tuple[float, float]] = deque()  # when composed, when read
    answers: deque[tuple[float, int]] = deque()  # when the server hears of it, of how many
    delays: list[float] = []
    while now < seconds:
        while flight.may_send(now):
            size = max(flight.message_bytes, UPDATE_BYTES)
            flight.send(size, now)
            most = max(most, len(flight))
            took = client.seconds_per_message + size * client.seconds_per_byte
            is_free_at = max(is_free_at, now + client.distance) + took
            unread.append((now, is_free_at))
            total += size
            if len(unread) == client.stride:
                answers.append((unread[-1][1] + client.distance, len(unread)))
                delays += [read - composed for composed, read in unread]
                unread.clear()
        flight._check()
        heard_at = answers[0][0] if answers else math.inf
        now = min(heard_at, max(flight.next_due(), now + 1e-6))
        if now == heard_at:
            flight.answer(answers.popleft()[1], now)
    return Outcome(total / seconds, delays, most)


def test_a_client_that_answers_nothing_gets_its_window_and_no_more() -> None:
    flight = Flight(window=3)
    now = 0.0
    for _ in range(3):
        assert flight.may_send(now)
        flight.send(MOST_MESSAGE_BYTES, now)
        assert not flight.may_send(now)
        now = flight.next_due()
    assert now == math.inf
    assert not flight.may_send(1e9)
    assert len(flight) == 3


def test_small_messages_fill_the_window_at_once() -> None:
    flight = Flight(window=8)
    for _ in range(8):
        assert flight.may_send(now=0.0)
        flight.send(UPDATE_BYTES, now=0.0)
    assert not flight.may_send(now=0.0)


def test_more_credit_than_messages_is_capped() -> None:
    flight = Flight(window=2)
    flight.send(100, now=0.0)
    assert flight.answer(1_000, now=0.1) == 1
    assert flight.answer(1, now=0.1) == 0
    flight.send(100, now=0.2)
    flight.send(100, now=0.2)
    assert not flight.may_send(now=1e9)


def test_credit_is_never_exceeded_whatever_happens() -> None:
    chance = random.Random(1)
    for window in (1, 2, 8):
        flight = Flight(window)
        now = 0.0
        unanswered = 0
        for _ in range(3_000):
            now += chance.expovariate(100)
            if chance.random() < 0.6 and flight.may_send(now):
                flight.send(chance.choice([60, 1_000, 200_000]), now)
                unanswered += 1
            elif chance.random() < 0.5:
                answered = flight.answer(chance.randint(1, 4), now)
                unanswered -= answered
            assert unanswered == len(flight) <= window
            flight._check()


@pytest.mark.parametrize("window", [1, 2, 8, 64])
def test_little_is_on_its_way_to_a_client_that_reads_slowly(window: int) -> None:
    outcome = run(Client(seconds_per_byte=1 / 50_000), window=window)
    assert outcome.delay(0.5) < 0.04
    assert outcome.delay(0.99) < 0.06
    assert outcome.bytes_per_second > 0.9 * 50_000


def test_a_client_that_reads_fast_gets_as_much_as_it_reads() -> None:
    outcome = run(Client(seconds_per_byte=1e-8, distance=0.0002), seconds=5.0)
    assert outcome.bytes_per_second > 50e6


def test_a_distant_client_gets_as_much_as_the_window_allows() -> None:
    outcome = run(Client(distance=0.1), seconds=20.0)
    whole_window = 8 * MOST_MESSAGE_BYTES / 0.2
    assert outcome.bytes_per_second > 0.8 * whole_window


def test_a_client_that_is_slow_with_messages_and_not_with_bytes_gets_large_ones() -> None:
    outcome = run(Client(seconds_per_message=0.1))
    assert outcome.bytes_per_second > 0.8 * MOST_MESSAGE_BYTES / 0.1
    assert outcome.delay(0.99) < 0.35


@pytest.mark.parametrize("stride", [2, 4, 8])
@pytest.mark.parametrize("rate", [50e3, 50e6])
def test_a_client_that_answers_several_at_once_is_not_kept_waiting(
    stride: int, rate: float
) -> None:
    outcome = run(Client(seconds_per_byte=1 / rate, stride=stride))
    assert outcome.most_messages <= 8
    assert outcome.bytes_per_second > min(0.5 * rate, 1e6)


def test_a_client_that_becomes_distant_gets_large_messages_again() -> None:
    flight = Flight(window=8)
    now = 0.0
    sizes = []
    for moment in range(400):
        round_trip = 0.001 if moment < 100 else 0.2
        while flight.may_send(now) and flight.has_credit:
            flight.send(flight.message_bytes, now)
        now += round_trip
        sizes.append(flight.message_bytes)
        while len(flight):
            flight.answer(1, now)
    assert LEAST_BYTES in sizes[100:200]
    assert sizes[-1] == MOST_MESSAGE_BYTES


@pytest.mark.parametrize(
    ("size", "learned"),
    [(None, MOST_MESSAGE_BYTES), (UPDATE_BYTES, LEAST_BYTES)],
    ids=["full", "small"],
)
def test_only_full_messages_grow_for_a_client_that_answers_at_once(
    size: int | None, learned: int
) -> None:
    flight = Flight(window=8)
    for moment in range(100):
        flight.send(size or flight.message_bytes, now=float(moment))
        flight.answer(1, now=moment + 0.001)
    assert flight.message_bytes == learned


def test_a_lull_lets_one_more_message_go() -> None:
    flight = Flight(window=8)
    flight.send(FIRST_MESSAGES * LEAST_BYTES, now=0.0)
    assert not flight.may_send(now=0.0)
    assert flight.next_due() == LULL
    assert flight.may_send(now=LULL)
    flight.send(LEAST_BYTES, now=LULL)
    assert not flight.may_send(now=LULL)
