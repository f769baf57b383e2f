"""Figure 14: EAGER over LAZY windows with several keys and arrival patterns."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Row, Scale, Table, number, where
from simulator.experiments.figure_14 import (
    ARRIVALS,
    CHOSEN,
    EXPERIMENT,
    IN_TURN,
    VARIANTS,
    is_as_described,
    points,
    verdict,
)

from .golden import quick_table


def line(variant: str, arrivals: str) -> Table:
    return where(quick_table(EXPERIMENT), variant=variant, arrivals=arrivals)


def ratios(rows: Table) -> list[float]:
    return [number(row, "eager_over_lazy") for row in rows]


@pytest.mark.parametrize("arrivals", [name for name in ARRIVALS if name != IN_TURN])
def test_keys_at_random_make_eager_worse_and_most_so_with_small_windows(arrivals: str) -> None:
    measured = ratios(line(CHOSEN, arrivals))
    assert measured == sorted(measured, reverse=True)
    assert measured[0] > 2
    assert measured[-1] > 1


def test_keys_in_turn_make_eager_better() -> None:
    assert max(ratios(line(CHOSEN, IN_TURN))) < 0.8


def test_at_other_sizes_a_window_that_no_tuple_starts_makes_eager_worse_in_turn_too() -> None:
    assert min(ratios(line("sizes in between", IN_TURN))) > 1


def test_a_consumer_with_time_to_spare_makes_lazy_better_and_eager_is_as_before() -> None:
    for arrivals in ARRIVALS:
        spare, busy = line("C_t = 0.5", arrivals)[0], line(CHOSEN, arrivals)[0]
        assert spare["size"] == busy["size"]
        assert number(spare, "lazy") < 0.3 * number(busy, "lazy")
        assert number(spare, "eager") == number(busy, "eager")


def a_table(variant: str, at_random: tuple[float, float], in_turn: tuple[float, float]) -> Table:
    """Return ratios at sizes 20 and 100."""
    rows: list[Row] = []
    for arrivals in ARRIVALS:
        measured = in_turn if arrivals == IN_TURN else at_random
        for size, ratio in zip((20, 100), measured, strict=True):
            rows.append(
                {"variant": variant, "arrivals": arrivals, "size": size, "eager_over_lazy": ratio}
            )
    return rows


@pytest.mark.parametrize(
    ("at_random", "in_turn", "expected"),
    [
        ((2.0, 1.5), (0.5, 0.6), True),
        ((2.0, 0.9), (0.5, 0.6), True),  # in the first part of the x-axis it is worse
        ((0.9, 0.8), (0.5, 0.6), False),
        ((1.5, 2.0), (0.5, 0.6), False),
        ((2.0, 1.5), (0.5, 1.1), False),
    ],
)
def test_eager_is_as_described_if_it_is_better_in_turn_and_worse_at_random(
    at_random: tuple[float, float], in_turn: tuple[float, float], *, expected: bool
) -> None:
    table = a_table(CHOSEN, at_random, in_turn)
    assert is_as_described(table) is expected
    assert verdict(table).held is expected


def test_the_verdict_says_whether_the_claim_held() -> None:
    assert verdict(quick_table(EXPERIMENT)).held


def test_the_verdict_tells_which_other_variants_are_as_described() -> None:
    table = [
        *a_table(CHOSEN, (2.0, 1.5), (0.5, 0.6)),
        *a_table("C_t = 0.5", (2.0, 1.5), (1.5, 1.6)),
        *a_table("C_t = 2", (2.0, 1.5), (0.5, 0.6)),
    ]
    assert verdict(table).sentence.endswith("Other readings alike: C_t = 2; not alike: C_t = 0.5.")
    assert "at one size only" in verdict(quick_table(EXPERIMENT)).sentence


def test_every_variant_is_measured_with_all_arrival_patterns_at_its_sizes() -> None:
    measured = [(point["variant"], point["arrivals"], point["size"]) for point in points(Scale())]
    assert len(set(measured)) == len(measured)
    assert len(measured) == len(ARRIVALS) * sum(len(each.sizes) for each in VARIANTS.values())
