"""Advice on a trace: the freshest policy is recommended, and how sure that is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.advice import Advice, advise, quarters, recommended
from simulator.errors import OptionError
from simulator.workloads.trace_file import TraceFile

POLICIES = ("append", "fifo", "in-place", "index")


def a_trace(updates: int = 4_000, keys: int = 20, seconds: float = 0.5) -> TraceFile:
    """Return memoryless updates of Zipf keys, one every so many seconds on average."""
    random = np.random.default_rng(3)
    shares = np.arange(1.0, keys + 1.0) ** -1.2
    codes = random.choice(keys, updates, p=shares / shares.sum())
    times = 1_000.0 + random.exponential(seconds, updates).cumsum()
    return TraceFile("trace", times, codes, tuple(f"k{code}" for code in range(keys)))


@pytest.fixture(scope="module")
def overloaded() -> Advice:
    return advise(a_trace(), cost_seconds=2.5, policies=POLICIES)


def test_the_load_is_the_cost_over_the_mean_gap(overloaded: Advice) -> None:
    trace = overloaded.trace
    span = trace.times[-1] - trace.times[0]
    assert overloaded.load == pytest.approx(2.5 * (len(trace.times) - 1) / span)


def test_the_freshest_policy_is_recommended(overloaded: Advice) -> None:
    means = {each.name: each.application.mean for each in overloaded.measured}
    assert overloaded.recommended == min(means, key=lambda name: means[name]) == "index"
    assert overloaded.runner_up == "in-place"


def test_the_others_are_told_by_how_much_they_are_staler(overloaded: Advice) -> None:
    assert overloaded.times_staler("index") == 1.0
    in_place, append = overloaded.times_staler("in-place"), overloaded.times_staler("append")
    assert in_place is not None
    assert append is not None
    assert 1.0 < in_place < 2.0 < append
    assert f"in-place {in_place:.3g}" in " ".join(overloaded.sentences())


def test_it_is_compared_with_the_runner_up_in_each_quarter(overloaded: Advice) -> None:
    assert overloaded.quarters == 4
    assert 1 <= overloaded.quarters_won <= 4
    won = f"in {overloaded.quarters_won} of the 4 quarters"
    assert any(won in sentence for sentence in overloaded.sentences())


def test_advice_reports_an_overload_and_does_not_recommend_append(overloaded: Advice) -> None:
    said = " ".join(overloaded.sentences())
    assert "overloaded" in said
    assert "An append queue" not in said


def test_advice_reports_spare_capacity_and_that_append_is_enough() -> None:
    advice = advise(a_trace(), cost_seconds=0.001, policies=POLICIES)
    said = " ".join(advice.sentences())
    assert "keeps up" in said
    assert "An append queue skips no update" in said


def test_the_index_is_taken_where_it_is_as_fresh_as_the_freshest(overloaded: Advice) -> None:
    in_place, index = overloaded.of("in-place"), overloaded.of("index")
    as_fresh = replace(index, application=in_place.application)
    assert recommended([in_place, as_fresh]) == "index"
    assert recommended([index, replace(in_place, name="fifo")]) == "index"
    assert recommended([replace(in_place, name="index"), replace(index, name="fifo")]) == "fifo"


def test_a_clear_winner_is_recommended_alone(overloaded: Advice) -> None:
    clear = replace(overloaded, quarters_won=4)
    assert clear.is_clear
    assert clear.sentences()[0].startswith("Use index: its mean application staleness")


def test_where_the_quarters_disagree_the_two_are_equal(overloaded: Advice) -> None:
    for won in range(4):
        advice = replace(overloaded, quarters_won=won)
        assert not advice.is_clear
        assert advice.sentences()[0].startswith("index and in-place are equal on this trace")


def test_a_difference_of_less_than_a_hundredth_is_none(overloaded: Advice) -> None:
    in_place, index = overloaded.of("in-place"), overloaded.of("index")
    for factor in (0.991, 1.009):
        by_key = {key: factor * each for key, each in in_place.application.by_key.items()}
        near = replace(index, application=replace(in_place.application, by_key=by_key))
        advice = replace(overloaded, measured=[in_place, near], quarters_won=4)
        assert advice.recommended == "index"
        assert not advice.is_clear


def test_a_single_policy_has_nothing_to_be_compared_with() -> None:
    advice = advise(a_trace(), cost_seconds=1.0, policies=["fifo"])
    assert (advice.recommended, advice.runner_up, advice.quarters) == ("fifo", None, 0)
    assert advice.is_clear
    assert not any("staler by these factors" in sentence for sentence in advice.sentences())


def test_a_short_trace_is_not_cut_into_quarters() -> None:
    assert quarters(a_trace(updates=399)) == []
    assert [len(part.times) for part in quarters(a_trace(updates=401))] == [101, 100, 100, 100]


@pytest.mark.parametrize("cost", [0.0, -1.0, float("nan"), float("inf")])
def test_an_invalid_cost_is_refused(cost: float) -> None:
    with pytest.raises(OptionError, match="--cost"):
        advise(a_trace(), cost_seconds=cost)


def test_no_policies_are_refused() -> None:
    with pytest.raises(OptionError, match="--policies"):
        advise(a_trace(), cost_seconds=1.0, policies=[])


def test_progress_is_reported_for_each_policy() -> None:
    heard: dict[str, list[float]] = {}
    advise(
        a_trace(),
        cost_seconds=1.0,
        policies=["fifo", "index"],
        follow=lambda name: heard.setdefault(name, []).append,
    )
    assert list(heard) == ["fifo", "index"]
    for shares in heard.values():
        assert shares == sorted(shares)
        assert 0.9 < shares[-1] <= 1.0
