"""The formulas of the trading day: how many updates a symbol has, and when they come."""

from __future__ import annotations

import numpy as np
import pytest

from upstream import ParameterError
from upstream.workloads.trading_day import (
    CELLS,
    CLOSES,
    LETTERS,
    OPENS,
    SHAPES,
    busyness,
    intensity,
    made_up_symbols,
    updates_by_rank,
)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_updates_fall_with_the_rank_from_one_end_to_the_other(shape: str) -> None:
    counts = updates_by_rank(shape)
    assert (counts[0], counts[-1]) == (4_305, 1)
    assert np.all(np.diff(counts) <= 0)


def test_the_power_law_is_one_line_between_the_logarithms() -> None:
    theta = np.log(4_305) / np.log(3_000)
    assert updates_by_rank("power-law").tolist() == [
        round(4_305 * rank**-theta) for rank in range(1, 3_001)
    ]


def test_the_lognormal_counts_have_the_quantiles_of_a_normal_distribution() -> None:
    logarithms = np.log(updates_by_rank("lognormal", busiest=1_000_000))
    middle = (logarithms.max() + logarithms.min()) / 2
    deviation = logarithms.std()
    assert np.median(logarithms) == pytest.approx(middle, abs=0.01)
    within = np.abs(logarithms - middle) < deviation
    assert within.mean() == pytest.approx(0.683, abs=0.01)


def test_a_piece_of_the_day_is_as_busy_as_its_ends_on_average() -> None:
    pieces = busyness()
    middles = OPENS + (np.arange(CELLS) + 0.5) * (CLOSES - OPENS) / CELLS
    assert len(pieces) == CELLS
    assert pieces / 2 == pytest.approx(intensity(middles), rel=1e-5)


def test_symbols_are_different_and_of_four_consonants() -> None:
    symbols = made_up_symbols(500, np.random.default_rng(1))
    assert len(set(symbols)) == 500
    assert {len(symbol) for symbol in symbols} == {4}
    assert set("".join(symbols)) == set(LETTERS)


def test_parameters_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ParameterError, match="shape must be power-law or lognormal, not 'flat'"):
        updates_by_rank("flat")
    with pytest.raises(ParameterError, match="symbols must be a number from 2 to 160,000"):
        updates_by_rank("lognormal", symbols=160_001)
    with pytest.raises(ParameterError, match="busiest must be a number from 1 to 10,000,000"):
        updates_by_rank("lognormal", busiest=0)
