"""A batch outcome counts its rows."""

from __future__ import annotations

import pytest

from upstream.queues.batch_outcome import BatchOutcome, count_outcomes
from upstream.updates import Outcome


def test_every_outcome_is_counted_and_the_rejected_rows_are_named() -> None:
    outcomes = [
        Outcome.WAITING,
        Outcome.REJECTED,
        Outcome.SUPERSEDED,
        Outcome.LATE,
        Outcome.SUPERSEDED,
        Outcome.REJECTED,
    ]
    assert count_outcomes(outcomes) == BatchOutcome(
        waiting=1, superseded=2, late=1, rejected=2, rejected_rows=(1, 5)
    )


def test_no_rows_have_no_outcome() -> None:
    assert count_outcomes([]) == BatchOutcome(waiting=0, superseded=0, late=0, rejected=0)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_the_counts_sum_to_the_rows(outcome: Outcome) -> None:
    counted = count_outcomes([outcome] * 3)
    accepted = counted.waiting + counted.superseded
    assert accepted + counted.late + counted.rejected + counted.outside == 3
    assert getattr(counted, outcome.value) == 3
