"""The places of the greatest or least values, searched again while values change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.leading_places import LeadingPlaces
from upstream.queries.rewriting.split_query import Leading

WORDS = st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1]))
SEARCHES = st.lists(st.lists(WORDS, max_size=12), max_size=5)


@given(st.integers(1, 4), st.booleans(), SEARCHES)
def test_all_values_that_reach_the_last_of_so_many_lead(
    count: int, is_least: bool, searches: list[list[int]]
) -> None:
    places = LeadingPlaces(Leading("x", count, is_least))
    for values in searches:
        in_order = sorted(values, reverse=not is_least)[:count]
        leads = [
            place
            for place, value in enumerate(values)
            if (value <= in_order[-1] if is_least else value >= in_order[-1])
        ]
        assert places.among(np.array(values, np.int64)).tolist() == leads


@pytest.mark.parametrize("values", [[9, 8, 7], [1, 2, 3], [5, 5, 5]])
def test_a_search_does_not_depend_on_the_one_before_it(values: list[int]) -> None:
    places = LeadingPlaces(Leading("x", 1))
    places.among(np.array([4, 9, 6]))
    again = LeadingPlaces(Leading("x", 1)).among(np.array(values))
    assert places.among(np.array(values)).tolist() == again.tolist()


def test_values_side_by_side_with_others_are_searched_where_they_are() -> None:
    pairs = np.array([[5, 0], [7, 0], [6, 0]])
    assert LeadingPlaces(Leading("x", 2)).among(pairs[:, 0]).tolist() == [1, 2]
