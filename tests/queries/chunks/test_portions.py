"""A chunk is processed in more and more portions, as long as the response gets shorter by it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream.queries.chunks.portions import Portions


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


def test_a_gain_of_less_than_a_twentieth_is_none() -> None:
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
