"""Runs as they are summarised: what was recomputed is what the queues integrated."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession

from datasets.errors import BadFileError
from datasets.summaries.runs import Assumed, find_runs
from datasets.summaries.summary import TOLERANCE, Asked, Staleness, summarize
from upstream import POLICIES

from . import hand_written as by_hand
from .conftest import Summarized
from .logged_runs import write_log

ASKED = Asked(buckets=2, worst=1)


def test_every_key_of_every_run_is_as_stale_as_its_queue_says(summarized: Summarized) -> None:
    assert len(summarized.integrated) == 2 * len(POLICIES) + 6 + 4
    for folder, of_queue in summarized.integrated.items():
        of_log = summarized.by_key[folder]
        assert of_log.keys() == of_queue.keys(), folder
        for key, (queue, application) in of_queue.items():
            row = of_log[key]
            assert row["queue_staleness"] == pytest.approx(queue, rel=1e-9, abs=1e-15), folder
            assert row["application_staleness"] == pytest.approx(application, rel=1e-9, abs=1e-15)
        assert any(queue > 0 for queue, _ in of_queue.values())


def test_a_run_says_by_how_much_it_differs_from_its_queue(summarized: Summarized) -> None:
    for folder in summarized.integrated:
        each = summarized.run(folder)
        assert each.is_confirmed, folder
        for staleness in each.staleness.values():
            assert staleness.differs_by is not None
            assert staleness.differs_by <= TOLERANCE


def test_a_queue_that_says_something_else_is_not_confirmed(summarized: Summarized) -> None:
    each = summarized.run("by hand/wrong")
    assert each.is_confirmed is False
    expected = 1 - 1 / by_hand.RETURNED_QUEUE
    assert each.staleness["queue"].differs_by == pytest.approx(expected)
    assert summarized.run("by hand/returned").is_confirmed is None


def test_the_description_of_an_unfinished_run_is_not_compared_with_its_events(
    summarized: Summarized,
) -> None:
    each = summarized.run("by hand/killed")
    assert (each.is_confirmed, each.extent.end) == (None, 12.0)
    assert each.staleness["queue"].mean == pytest.approx(by_hand.RETURNED_QUEUE)


def test_the_bound_is_below_what_policies_reach_and_near_the_best(summarized: Summarized) -> None:
    ratios = {
        policy: summarized.run(f"servers/{policy}").staleness["queue"].times_the_bound
        for policy in POLICIES
    }
    assert min(ratio for ratio in ratios.values() if ratio is not None) > 0.9
    assert (ratios["append"] or 0.0) > 2 * (ratios["index"] or 0.0) > 0


def test_seeds_are_compared_by_pairs(summarized: Summarized) -> None:
    [row] = [
        row
        for row in summarized.summary.comparisons
        if (row.name, row.of, row.value.runs) == ("index", "queue", 3)
    ]
    assert row.ratio is not None
    pairs = [
        (
            summarized.run(f"seeds/index-{seed}").staleness["queue"].mean or 0.0,
            summarized.run(f"seeds/in-place-{seed}").staleness["queue"].mean or 1.0,
        )
        for seed in (1, 2, 3)
    ]
    product = 1.0
    for index, in_place in pairs:
        product *= index / in_place
    assert row.ratio.mean == pytest.approx(product ** (1 / 3))
    assert row.ratio.low is not None
    assert row.ratio.low < row.ratio.mean


def test_the_same_run_twice_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    for name in ("one", "two"):
        rows = [(0.0, "arrival", "k", 0)]
        write_log(tmp_path / name, rows, described={"policy": "index", "seed": 3})
    runs = find_runs([tmp_path], Assumed())
    with pytest.raises(BadFileError, match=r"two: is index with seed 3 again, as .*one is"):
        summarize(cast("SparkSession", None), runs, tmp_path / "out", ASKED)


def test_a_delivery_of_an_update_that_never_arrived_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [(0.0, "arrival", "k", 0), (1.0, "delivery", "k", 1)]
    runs = find_runs([write_log(tmp_path / "log", rows)], Assumed())
    with pytest.raises(BadFileError, match="row 2: delivery of update 1 of key 'k', which never"):
        summarize(spark, runs, tmp_path / "out", ASKED)


def test_of_staleness_zero_nothing_differs() -> None:
    nothing = Staleness(0.0, (), (), lower_bound=0.0, integrated=0.0, observed=1.0)
    assert (nothing.differs_by, nothing.times_the_bound, nothing.at(50)) == (0.0, None, None)
