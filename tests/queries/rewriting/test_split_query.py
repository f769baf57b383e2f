"""The parts of a query."""

from __future__ import annotations

from upstream.database.duck import Duck
from upstream.queries.rewriting.split_query import StateKind

from .fixture_files import split_of


def kinds_of(sql: str, duck: Duck) -> list[StateKind]:
    [leaf] = split_of(sql, duck).leaves
    return [state.kind for state in leaf.states]


def test_states_say_how_they_are_merged_without_sql(tables: Duck) -> None:
    sql = "SELECT sum(x), min(g), max(y), var_pop(y), covar_pop(y, k), first(x) FROM chunk_0 s"
    assert kinds_of(sql, tables) == [
        StateKind.SUM,
        StateKind.MINIMUM,
        StateKind.MAXIMUM,
        StateKind.MOMENTS,
        StateKind.SUM,  # the count of pairs
        StateKind.CO_MOMENTS,
        StateKind.OTHER,
    ]


def test_types_that_not_all_mergers_know_are_merged_by_sql(tables: Duck) -> None:
    assert kinds_of("SELECT min(l), max(b) FROM chunk_0 s", tables) == [StateKind.OTHER] * 2
