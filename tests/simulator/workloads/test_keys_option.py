"""Workloads in words: each form makes what it says, and nonsense is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.errors import OptionError
from simulator.workloads.keys_option import make_workload
from simulator.workloads.sources import Bernoulli, Bursts, FixedInterval, Poisson, RoundRobin
from simulator.workloads.workload import Floats, two_classes, uniform, zipf


@pytest.mark.parametrize(
    ("words", "shares"),
    [
        ("zipf:10:0.9", zipf(10, 0.9)),
        ("ZIPF:10:0.9", zipf(10, 0.9)),
        ("uniform:7", uniform(7)),
        ("two-class:10:8:100", two_classes(10, 8, 100.0)),
        ("round-robin:3", uniform(3)),
    ],
    ids=["zipf", "capitals", "uniform", "two-class", "round-robin"],
)
def test_keys_have_the_shares_that_the_words_say(words: str, shares: Floats) -> None:
    assert np.array_equal(make_workload(words).rates, shares)


@pytest.mark.parametrize(
    ("arrivals", "kind"),
    [
        (None, Poisson),
        ("poisson", Poisson),
        ("fixed", FixedInterval),
        ("bernoulli", Bernoulli),
        ("bernoulli:0.5", Bernoulli),
        ("bursts:3", Bursts),
        ("bursts:3:2.5", Bursts),
    ],
)
def test_arrivals_are_of_the_kind_that_the_word_says(arrivals: str | None, kind: type) -> None:
    assert type(make_workload("uniform:10", arrivals)) is kind


def test_numbers_of_arrivals_are_used() -> None:
    bernoulli = make_workload("uniform:10", "bernoulli:0.5")
    bursts = make_workload("uniform:10", "bursts:3:2.5")
    assert isinstance(bernoulli, Bernoulli)
    assert isinstance(bursts, Bursts)
    assert (bernoulli.tick, bursts.bursting, bursts.spread) == (0.5, 3, 2.5)


@pytest.mark.parametrize("arrivals", [None, "fixed"])
def test_keys_in_turn_come_at_a_fixed_interval(arrivals: str | None) -> None:
    assert isinstance(make_workload("round-robin:3", arrivals), RoundRobin)


@pytest.mark.parametrize(
    "words",
    [
        *("", "zipf", "zipf:10", "zipf:10:0.9:1", "zipf:ten:1", "zipf:0:1", "zipf:-3:1"),
        *("zipf:1.5:1", "zipf:10:-1", "zipf:10:nan", "zipf:nan:1", "zipf:inf:1", "pareto:10:1"),
        *("uniform", "uniform:0", "uniform:1e99", "two-class:10:11:2", "two-class:10:2:0"),
        *("round-robin:0", "zipf:10:"),
    ],
)
def test_invalid_keys_are_refused(words: str) -> None:
    with pytest.raises(OptionError, match="--keys"):
        make_workload(words)


@pytest.mark.parametrize(
    "words",
    [
        *("", "often", "poisson:1", "fixed:2", "bernoulli:0", "bernoulli:11", "bernoulli:x"),
        *("bursts", "bursts:0", "bursts:11", "bursts:1.5", "bursts:2:-1", "bursts:2:nan"),
        "bursts:2:1:1",
    ],
)
def test_invalid_arrivals_are_refused(words: str) -> None:
    with pytest.raises(OptionError, match="--arrivals"):
        make_workload("uniform:10", words)


def test_keys_in_turn_cannot_come_at_random() -> None:
    with pytest.raises(OptionError, match="--arrivals poisson: expected fixed"):
        make_workload("round-robin:3", "poisson")
