"""The estimate follows how long evaluations took."""

from __future__ import annotations

from upstream.queries.evaluation_cost import EvaluationCost


def test_the_estimate_begins_with_the_first_evaluation_and_follows_the_others() -> None:
    cost = EvaluationCost()
    assert (cost.count, cost.seconds, cost.estimate) == (0, 0.0, 0.0)
    for _ in range(3):
        cost.note(2.0)
    assert (cost.count, cost.seconds, cost.estimate) == (3, 6.0, 2.0)
    for _ in range(100):
        cost.note(1.0)
    assert 1.0 <= cost.estimate < 1.001
