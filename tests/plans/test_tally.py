"""Every row that an operator takes has one fate, and what users' functions raise is kept."""

from __future__ import annotations

import pytest

from upstream.plans.tally import FAILED, Tally


def test_rows_balance_if_each_has_one_fate() -> None:
    tally = Tally()
    tally.taken, tally.made = 15, 1
    tally.delivered, tally.filtered, tally.dropped, tally.failed, tally.absorbed = 1, 2, 4, 8, 1
    assert tally.statistics("any").is_balanced
    tally.filtered += 1
    assert not tally.statistics("any").is_balanced


def test_statistics_are_of_their_moment() -> None:
    tally = Tally()
    before = tally.statistics("any")
    tally.evicted += 1
    assert (before.name, before.evicted, tally.statistics("any").evicted) == ("any", 0, 1)


def test_the_first_error_is_kept() -> None:
    tally = Tally()
    assert tally.attempt(int, "7") == 7
    assert tally.error is None
    assert tally.attempt(int, "seven") is FAILED
    assert tally.attempt(int, None) is FAILED  # type: ignore[arg-type]  # wrong on purpose
    assert isinstance(tally.error, ValueError)


def test_whoever_interrupts_the_program_is_heard() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Tally().attempt(interrupt)
