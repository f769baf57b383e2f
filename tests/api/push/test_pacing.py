"""The pace that is allowed, and the pace that is measured."""

from __future__ import annotations

import random

import pytest

from api.push.pacing import BURST_SECONDS, MeasuredPace, RateAllowance


@pytest.mark.parametrize("rate", [1 / 60, 0.7, 3.0, 10.0, 49.0, 500.0, 20_000.0])
def test_no_more_is_allowed_than_the_rate_and_a_short_burst(rate: float) -> None:
    chance = random.Random(1)
    now = 100.0
    allowance = RateAllowance(rate, now=now)
    spent = 0
    for _ in range(2_000):
        updates = allowance.at(now)
        if chance.random() < 0.7:
            allowance.spend(updates)
            spent += updates
        else:
            now += chance.expovariate(rate)
        now = max(now, allowance.next_due()) if chance.random() < 0.5 else now
        assert spent <= rate * (now - 100.0) + max(rate * BURST_SECONDS, 1) + rate * 1e-5
    assert spent > 0.5 * rate * (now - 100.0)


@pytest.mark.parametrize("rate", [1 / 3600, 0.1, 3.0, 10.0, 999.0, 1e6])
def test_something_is_allowed_when_it_is_due_and_not_before(rate: float) -> None:
    now = 1_795_044_150.99
    allowance = RateAllowance(rate, now=now)
    for _ in range(100):
        allowance.spend(allowance.at(now))
        due = allowance.next_due()
        assert due > now
        assert allowance.at((now + due) / 2) == 0
        assert allowance.at(due) >= 1
        now = due


def test_high_rates_are_spent_in_portions() -> None:
    allowance = RateAllowance(1_000.0, now=0.0)
    assert allowance.at(0.0) == 50
    allowance.spend(50)
    assert allowance.next_due() == 0.02
    assert allowance.at(0.019) == 0
    assert allowance.at(0.02) == 20


def test_after_a_long_pause_only_a_short_burst_is_allowed() -> None:
    allowance = RateAllowance(100.0, now=0.0)
    assert allowance.at(1_000.0) == 5


def test_the_measured_pace_is_that_of_late() -> None:
    pace = MeasuredPace(now=0.0)
    assert pace.at(0.0) == 0.0
    for tenth in range(1, 101):
        pace.note(10, now=tenth / 10)
    assert pace.at(10.0) == pytest.approx(100.0, rel=0.02)
    assert pace.at(60.0) < 0.01
