"""The processing cost of consumers without leases, by how soon they ask again."""

from __future__ import annotations

import pytest

from api.consumer_pace import ConsumerPace


def test_nothing_is_known_of_a_consumer_that_keeps_up() -> None:
    pace = ConsumerPace()
    pace.answered(5, more_waits=False, now=0.0)
    pace.asked(10.0)
    assert pace.seconds() is None


def test_the_time_until_it_asks_again_is_that_of_the_updates_it_had() -> None:
    pace = ConsumerPace()
    pace.answered(10, more_waits=True, now=0.0)
    pace.asked(1.0)
    assert pace.seconds() == pytest.approx(0.1)
    pace.asked(50.0)  # it had nothing more to do
    assert pace.seconds() == pytest.approx(0.1)


def test_consumers_at_once_cost_less_each() -> None:
    pace = ConsumerPace()
    pace.answered(10, more_waits=True, now=0.0)
    pace.answered(10, more_waits=True, now=0.0)
    pace.asked(1.0)
    assert pace.seconds() == pytest.approx(0.05)


def test_the_past_is_forgotten() -> None:
    pace = ConsumerPace()
    now = 0.0
    for cost in [1.0] * 50 + [0.1] * 200:
        pace.answered(1, more_waits=True, now=now)
        now += cost
        pace.asked(now)
    assert pace.seconds() == pytest.approx(0.1, rel=0.01)
