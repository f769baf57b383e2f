"""Many subscribers of one stream."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import number, where
from simulator.experiments.subscribers import COSTS, EXPERIMENT, KEYS, verdict

from .golden import quick_table


@pytest.mark.parametrize(("policy", "rates"), [("in-place", "unused"), ("index", "known")])
def test_subscribers_measure_exactly_what_they_would_alone(policy: str, rates: str) -> None:
    rows = where(quick_table(EXPERIMENT), policy=policy, rates=rates, subscribers=12)
    assert [row["cost"] for row in rows] == list(COSTS)
    for row in rows:
        assert row["queue"] == row["queue_alone"]
        assert row["application"] == row["application_alone"]


def test_slower_subscribers_have_older_data() -> None:
    rows = where(quick_table(EXPERIMENT), policy="in-place", subscribers=12)
    staleness = [number(row, "queue") for row in rows]
    assert staleness == sorted(staleness)


def test_values_are_held_once_and_arrivals_visit_few_queues() -> None:
    for row in where(quick_table(EXPERIMENT), subscribers=12):
        assert row["values_held"] == KEYS
        assert number(row, "waiting_in_all_queues") > 2 * KEYS
        assert number(row, "waits_begun_per_arrival") < 6


def test_estimates_that_are_shared_change_little() -> None:
    for row in where(quick_table(EXPERIMENT), rates="estimated"):
        assert number(row, "queue") == pytest.approx(number(row, "queue_alone"), rel=0.05)


def test_the_verdict_says_whether_the_claim_held() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    differing = [
        {**row, "application": 1.01 * number(row, "application")}
        if (row["policy"], row["cost"]) == ("in-place", 20.0)
        else row
        for row in table
    ]
    found = verdict(differing)
    assert found.held is False
    assert "measures but for up to 1.00% the staleness" in found.sentence
    assert verdict([{**row, "values_held": 2 * KEYS} for row in table]).held is False
