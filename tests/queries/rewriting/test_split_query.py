"""The parts of a query."""

from __future__ import annotations

from upstream.database.duck import Duck
from upstream.queries.rewriting.split_query import StateKind

from .fixture_files import new_duck
from .test_split import _split


def _kinds(sql: str) -> list[StateKind]:
    duck: Duck = new_duck()
    try:
        [leaf] = _split(sql, duck).leaves
        return [state.kind for state in leaf.states]
    finally:
        duck.close()


def test_states_say_how_they_are_merged_without_sql() -> None:
    sql = "SELECT sum(x), min(g), max(y), var_pop(y), covar_pop(y, k), first(x) FROM chunk_0 s"
    assert _kinds(sql) == [
        StateKind.SUM,
        StateKind.MINIMUM,
        StateKind.MAXIMUM,
        StateKind.MOMENTS,
        StateKind.SUM,  # the count of pairs
        StateKind.CO_MOMENTS,
        StateKind.OTHER,
    ]


def test_types_that_not_all_mergers_know_are_merged_by_sql() -> None:
    assert _kinds("SELECT min(l), max(b) FROM chunk_0 s") == [StateKind.OTHER] * 2
