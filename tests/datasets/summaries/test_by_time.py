"""Staleness in the course of time."""

from __future__ import annotations

import pytest

from datasets.summaries.description import STALENESS

from .conftest import Summarized


def test_the_buckets_of_a_run_together_give_its_mean(summarized: Summarized) -> None:
    """All keys are known from the first moment on only in what was written by hand."""
    for folder in ("by hand/returned", "by hand/later", "by hand/shed"):
        each = summarized.run(folder)
        mine = [row for row in summarized.summary.buckets if row.run == each.run.number]
        assert len(mine) == 10
        for of in STALENESS:
            values = [row.staleness[of] for row in mine]
            assert None not in values
            mean = sum(value or 0.0 for value in values) / len(mine)
            assert mean == pytest.approx(each.staleness[of].mean, rel=1e-12)


def test_a_bucket_has_what_happened_in_it(summarized: Summarized) -> None:
    each = summarized.run("by hand/undescribed")
    mine = [row for row in summarized.summary.buckets if row.run == each.run.number]
    first, *_, last = mine
    assert (first.begin, last.end) == (0.0, 6.0)
    assert first.end == pytest.approx(0.6)
    assert first.staleness["queue"] == pytest.approx(0.3)  # both keys rise from 0 to 0.6
    assert last.staleness["queue"] == 0.0
    # One of two keys is stale, from 4 on.
    assert last.staleness["application"] == pytest.approx((1.4 + 2.0) / 2 / 2)


def test_keys_count_from_their_first_arrival(summarized: Summarized) -> None:
    for each in summarized.summary.runs:
        mine = [row for row in summarized.summary.buckets if row.run == each.run.number]
        assert [row.begin for row in mine[1:]] == [row.end for row in mine[:-1]]
        worst = each.staleness["application"].at(100)
        assert worst is not None
        assert any((row.staleness["application"] or 0.0) > 0 for row in mine)


def test_staleness_that_cannot_be_recomputed_has_no_buckets(summarized: Summarized) -> None:
    each = summarized.run("by hand/expired")
    mine = [row for row in summarized.summary.buckets if row.run == each.run.number]
    assert {row.staleness["queue"] for row in mine} == {None}
    assert None not in {row.staleness["application"] for row in mine}
