"""Small windows are evaluated in full; of larger ones that are joined, the cheaper way is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream.queries.chunks.grid import FOREVER
from upstream.queries.evaluation.chosen_way import ChosenWay, Portions

UP_TO = "windows of up to {} rows are evaluated in full, not in parts; larger ones"


def measured() -> ChosenWay:
    """Return the way of a join whose windows are no longer small."""
    way = ChosenWay(is_whole=None, is_joined=True)
    way.outgrown()
    return way


def told(way: ChosenWay, *seconds: float) -> list[bool]:
    """Tell what windows cost; return whether each next one is to be evaluated in full."""
    found = []
    for each in seconds:
        way.cost(each)
        found.append(way.is_whole)
    return found


def test_a_chosen_way_stays() -> None:
    assert ChosenWay(is_whole=True, is_joined=True).most_rows == FOREVER
    increments = ChosenWay(is_whole=False, is_joined=False)
    assert (increments.is_whole, increments.keeps_rows) == (False, False)


def test_after_one_large_window_a_single_input_is_evaluated_incrementally() -> None:
    way = ChosenWay(is_whole=None, is_joined=False)
    assert (way.is_whole, way.most_rows) == (True, 65_536)
    way.outgrown()
    assert (way.is_whole, way.keeps_rows, way.is_measured) == (False, False, False)


def test_increments_are_measured_first_and_without_the_first_of_them() -> None:
    way = measured()
    assert (way.is_whole, way.keeps_rows, way.is_measured) == (False, True, True)
    assert told(way, 9.0, 1.0, 1.2, 1.1) == [False, False, False, True]
    assert told(way, 1.05, 1.05, 1.05, 1.05) == [True] * 4  # cheaper than 1.1
    assert (way.keeps_rows, way.most_rows) == (True, 65_536)


def test_whole_is_left_when_the_cheapest_of_four_is_dearer() -> None:
    way = measured()
    told(way, 1.0, 1.0, 1.0, 1.0)
    assert told(way, 2.0, 2.0, 1.1, 3.0) == [True, True, True, False]
    assert (way.keeps_rows, way.is_measured) == (False, False)


def test_one_window_that_is_far_dearer_is_enough() -> None:
    way = measured()
    told(way, 1.0, 1.0, 1.0, 1.0)
    assert told(way, 4.1) == [False]
    assert not way.is_measured


def test_whole_is_left_when_more_rows_match_than_did() -> None:
    way = measured()
    told(way, 1.0, 1.0, 1.0, 1.0)
    assert all(told(way, *[0.5] * 20, 1.5, 1.5, 1.5))
    assert told(way, 1.5) == [False]


def test_very_large_windows_are_not_measured_any_more() -> None:
    way = measured()
    way.outgrown()
    assert (way.is_whole, way.keeps_rows, way.is_measured) == (False, False, False)


@pytest.mark.parametrize(
    ("is_whole", "is_joined", "words"),
    [
        (True, True, "windows are evaluated in full"),
        (False, True, "windows are evaluated by parts"),
        (
            None,
            True,
            f"{UP_TO.format('4,096')} by parts, or in full where that is measured to be cheaper",
        ),
        (
            None,
            False,
            f"{UP_TO.format('65,536')} by parts",
        ),
    ],
)
def test_explain_says_which_windows_are_evaluated_in_which_way(
    is_whole: bool | None, is_joined: bool, words: str
) -> None:
    assert ChosenWay(is_whole=is_whole, is_joined=is_joined).describe("by parts") == words


# Portions of the open chunk


def settled(response: Callable[[int], float], *, slides: int = 200) -> Portions:
    """Let portions adapt to responses that depend on their number."""
    portions = Portions()
    for _ in range(slides):
        portions.responded(response(portions.count))
    return portions


@pytest.mark.parametrize(
    ("response", "count"),
    [
        (lambda count: 1.0 / count + 0.02 * count, 8),  # 1.02, 0.54, 0.33, 0.285, 0.3825
        (lambda count: 1.0 + 0.1 * count, 1),
        (lambda _: 1.0, 1),
        (lambda count: 1.0 / count, 1_024),
    ],
)
def test_the_number_of_portions_doubles_until_the_response_is_not_shorter(
    response: Callable[[int], float], count: int
) -> None:
    assert settled(response).count == count


def test_a_gain_of_less_than_a_twentieth_does_not_count() -> None:
    assert settled(lambda count: 1.0 if count == 1 else 0.96).count == 1
    assert settled(lambda count: 1.0 if count == 1 else 0.94).count == 2


def test_it_takes_five_slides_to_tell_and_the_slow_ones_do_not_matter() -> None:
    portions = Portions()
    for seconds in (1.0, 100.0, 1.0, 1.0):
        portions.responded(seconds)
        assert portions.count == 1
    portions.responded(100.0)
    assert portions.count == 2
    for seconds in (100.0, 0.5, 0.5, 0.5, 100.0):
        portions.responded(seconds)
    assert portions.count == 4


def test_once_it_is_settled_it_stays() -> None:
    portions = settled(lambda _: 1.0)
    for _ in range(100):
        portions.responded(0.001)
    assert portions.count == 1
