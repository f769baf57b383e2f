"""The query that merges partials."""

from __future__ import annotations

from upstream.queries.rewriting.merge_query import merge_query

from ..partials.contract import GREATEST, LEAST


def test_each_state_is_merged_by_its_own_aggregate_under_its_own_name() -> None:
    merged = merge_query(("place",), (LEAST, GREATEST)).sql("duckdb")
    assert merged == (
        'SELECT "place", MIN("least") AS "least", MAX("greatest") AS "greatest" '
        'FROM partials GROUP BY "place"'
    )


def test_names_are_quoted_in_the_query() -> None:
    assert '"of a price"' in merge_query(("of a price",), (LEAST,)).sql("duckdb")


def test_without_groups_everything_is_merged_to_one_row() -> None:
    assert merge_query((), (LEAST,)).sql("duckdb") == 'SELECT MIN("least") AS "least" FROM partials'


def test_the_states_can_be_used_again() -> None:
    before = LEAST.merge[0].sql("duckdb")
    merge_query(("place",), (LEAST,))
    assert LEAST.merge[0].sql("duckdb") == before
    assert LEAST.merge[0].parent is None
