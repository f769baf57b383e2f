"""Runs side by side: intervals over seeds, and ratios by pairs."""

from __future__ import annotations

import math

import pytest

from datasets.errors import BadOptionError
from datasets.summaries.comparison import (
    Comparison,
    Sample,
    central_probability,
    compare,
    interval,
    quantile,
)


def sample(name: str, seed: int | None, value: float | None, setting: str = "{}") -> Sample:
    return Sample(setting, name, seed, {"queue": value, "application": value})


def queue_rows(samples: list[Sample], against: str | None = None) -> dict[str, Comparison]:
    rows = compare(samples, against=against)
    assert [row.of for row in rows].count("queue") == len(rows) / 2
    return {row.name: row for row in rows if row.of == "queue"}


def test_the_mean_has_the_interval_of_student_s_t() -> None:
    found = interval([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.7764451 * math.sqrt(2.5 / 5)
    assert found.runs == 5
    assert (found.low, found.high) == pytest.approx((3.0 - half, 3.0 + half), abs=1e-6)


def test_a_single_run_has_no_interval() -> None:
    found = interval([4.0])
    assert (found.mean, found.low, found.high, found.runs) == (4.0, None, None, 1)


def test_a_ratio_is_of_pairs_so_what_seeds_have_in_common_drops_out() -> None:
    arrivals = {1: 10.0, 2: 30.0, 3: 90.0}
    samples = [sample("in-place", seed, value) for seed, value in arrivals.items()]
    samples += [sample("index", seed, 0.9 * value) for seed, value in arrivals.items()]
    row = queue_rows(samples)["index"]
    assert row.against == "in-place"
    assert row.ratio is not None
    assert (row.ratio.mean, row.ratio.low, row.ratio.high) == pytest.approx((0.9, 0.9, 0.9))
    assert row.value.low is not None
    assert row.value.low < 0  # unpaired, nothing could be told
    assert queue_rows(samples)["in-place"].ratio is None


def test_seeds_that_only_one_of_both_has_are_left_out_of_the_ratio() -> None:
    samples = [sample("in-place", 1, 10.0), sample("in-place", 2, 10.0), sample("index", 2, 5.0)]
    ratio = queue_rows(samples)["index"].ratio
    assert ratio is not None
    assert (ratio.mean, ratio.runs) == (0.5, 1)
    assert queue_rows([sample("in-place", 1, 10.0), sample("index", 3, 5.0)])["index"].ratio is None


def test_queues_of_one_service_are_compared_though_nothing_was_seeded() -> None:
    ratio = queue_rows([sample("a", None, 8.0), sample("b", None, 4.0)])["b"].ratio
    assert ratio is not None
    assert (ratio.mean, ratio.low) == (0.5, None)


def test_two_runs_of_a_queue_do_not_count_as_two_seeds() -> None:
    lives = [sample("a", None, 8.0), sample("a", None, 6.0)]
    rows = queue_rows([*lives, sample("b", None, 4.0)])
    found = rows["a"].value
    assert (found.mean, found.low, found.high, found.runs) == (7.0, None, None, 2)
    assert not rows["a"].is_seeded
    assert rows["b"].ratio is None


def test_a_run_without_a_seed_does_not_count_beside_seeded_runs() -> None:
    seeds = [1, 2, None]
    rows = queue_rows([sample(name, seed, 8.0) for name in "ab" for seed in seeds])
    assert rows["b"].value.low is None
    assert rows["b"].ratio is not None
    assert rows["b"].ratio.runs == 2
    assert queue_rows([sample("a", 1, 8.0), sample("a", 2, 8.0)])["a"].is_seeded


def test_only_runs_with_the_same_setting_are_compared() -> None:
    rows = compare([sample("a", 1, 8.0, "{1}"), sample("b", 1, 4.0, "{2}")])
    assert all(row.ratio is None for row in rows)
    assert len(rows) == 4


def test_staleness_that_is_zero_or_unknown_has_no_ratio() -> None:
    assert queue_rows([sample("a", 1, 0.0), sample("b", 1, 4.0)])["b"].ratio is None
    assert "a" not in queue_rows([sample("a", 1, None), sample("b", 1, 4.0)])


def test_the_run_to_compare_with_can_be_chosen() -> None:
    samples = [sample("in-place", 1, 4.0), sample("index", 1, 2.0)]
    ratio = queue_rows(samples, against="index")["in-place"].ratio
    assert ratio is not None
    assert ratio.mean == pytest.approx(2.0)
    with pytest.raises(BadOptionError, match="--against lifo"):
        compare(samples, against="lifo")


@pytest.mark.parametrize(
    ("degrees", "of_95", "of_99"),
    [
        (1, 12.706205, 63.656741),
        (2, 4.302653, 9.924843),
        (3, 3.182446, 5.840909),
        (4, 2.776445, 4.604095),
        (9, 2.262157, 3.249836),
        (10, 2.228139, 3.169273),
        (29, 2.045230, 2.756386),
        (120, 1.979930, 2.617421),
    ],
)
def test_quantiles_are_those_of_the_tables(degrees: int, of_95: float, of_99: float) -> None:
    assert quantile(0.95, degrees) == pytest.approx(of_95, abs=1e-6)
    assert quantile(0.99, degrees) == pytest.approx(of_99, abs=1e-6)


@pytest.mark.parametrize("degrees", [1, 2, 5, 40])
def test_a_quantile_is_where_the_probability_is(degrees: int) -> None:
    for probability in (0.0, 0.5, 0.9, 0.999):
        found = central_probability(quantile(probability, degrees), degrees)
        assert found == pytest.approx(probability, abs=1e-12)
