"""All policies over load and skew."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Row, Scale, number, where
from simulator.experiments.policies import EXPERIMENT, points, verdict
from upstream import POLICIES

from .golden import quick_table


def test_all_policies_are_measured_and_the_index_both_ways() -> None:
    full = points(Scale())
    assert {point["policy"] for point in full} == set(POLICIES)
    assert {point["rates"] for point in full if point["policy"] == "index"} == {
        "estimated",
        "known",
    }
    assert len({tuple(point.items()) for point in full}) == len(full)


def test_equal_keys_of_known_rates_are_served_in_place() -> None:
    table = quick_table(EXPERIMENT)
    for row in where(table, policy="index", rates="known", theta=0.0):
        [in_place] = where(table, policy="in-place", theta=0.0, keys=row["keys"], load=row["load"])
        assert row["queue"] == in_place["queue"]
        assert row["application"] == in_place["application"]


def test_no_policy_is_far_below_the_bound() -> None:
    for row in quick_table(EXPERIMENT):
        if row["policy"] != "append-shedding":  # what it sheds does not wait
            assert number(row, "queue") > 0.8 * number(row, "queue_bound")
        assert number(row, "application") > 0.8 * number(row, "application_bound")
        assert number(row, "queue") <= number(row, "application")
        assert number(row, "queue") <= number(row, "queue_worst_key")


def test_policies_that_serve_all_updates_at_low_load_see_the_same_arrivals() -> None:
    rows = where(quick_table(EXPERIMENT), load=0.8)
    assert len({row["updates"] for row in rows}) == 1


@pytest.mark.parametrize("keys", [10, 100])
def test_policies_that_do_not_conflate_are_far_behind_under_overload(keys: int) -> None:
    rows = where(quick_table(EXPERIMENT), keys=keys, load=5.0, theta=1.2, rates="estimated")
    queue = {row["policy"]: number(row, "queue") for row in rows}
    assert queue["append"] > 5 * queue["in-place"]
    assert queue["append-shedding"] > 2 * queue["in-place"]
    assert queue["fifo"] > queue["in-place"] > queue["index"]


def test_the_verdict_says_whether_the_claim_held() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    worse = [_worsened(row) if row["policy"] == "index" else row for row in table]
    found = verdict(worse)
    assert found.held is False
    assert "more than 2 % worse than IN-PLACE in 2 of 12 settings" in found.sentence


@pytest.mark.parametrize("rates", ["estimated", "known"])
def test_one_setting_is_enough_for_the_claim_not_to_hold(rates: str) -> None:
    worse = [
        {**row, "application": 1.03 * number(row, "application")}
        if row["policy"] == "index"
        and (row["rates"], row["theta"], row["load"], row["keys"]) == (rates, 0.0, 5.0, 100)
        else row
        for row in quick_table(EXPERIMENT)
    ]
    found = verdict(worse)
    assert found.held is False
    assert "(application, 100 keys, Zipf 0, load 5)" in found.sentence


def _worsened(row: Row) -> Row:
    """Return the row, worse where the load is 5 and the keys are equal."""
    is_changed = row["load"] == 5.0 and row["theta"] == 0.0
    return {**row, "queue": 1.05 * number(row, "queue")} if is_changed else row
