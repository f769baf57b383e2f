"""Several queries finish a merged window in one statement; if it fails, each finishes alone."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.queries.setting import append
from upstream import ContinuousQuery, Engine
from upstream.queries.evaluation.shared_finishes import Finished, SharedFinishes

MEAN = "SELECT k, avg(x) AS a FROM rows(bids, 4, 4) WHERE x > {} GROUP BY k"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of each merged window, for how many queries it was finished together."""
    found: list[int] = []
    of = SharedFinishes.of

    def noted(self: SharedFinishes, merged: pa.Table) -> Finished:
        results = of(self, merged)
        found.append(len(results))
        return results

    monkeypatch.setattr(SharedFinishes, "of", noted)
    return found


def means(query: ContinuousQuery) -> list[dict[object, object]]:
    tables = [result.table.to_pylist() for result in query.results()]
    return [{row["k"]: row["a"] for row in rows} for rows in tables]


def fill(engine: Engine, *numbers: int) -> None:
    append(engine, "bids", *[(i, x, "ab"[i % 2]) for i, x in enumerate(numbers)])


def test_a_window_is_finished_once_for_all_queries(engine: Engine, runs: list[int]) -> None:
    queries = [engine.continuous_query(MEAN.format(bound)) for bound in (0, 2, 3)]
    fill(engine, 1, 2, 3, 4)
    assert means(queries[0]) == [{"a": 2.0, "b": 3.0}]
    assert means(queries[1]) == [{"a": 3.0, "b": 4.0}]
    assert means(queries[2]) == [{"b": 4.0}]
    assert runs == [3]


def test_queries_without_any_row_have_no_row(engine: Engine, runs: list[int]) -> None:
    queries = [engine.continuous_query(MEAN.format(bound)) for bound in (0, 9, 99)]
    fill(engine, 1, 2, 3, 4)
    assert [means(query) for query in queries] == [[{"a": 2.0, "b": 3.0}], [{}], [{}]]


def test_a_finish_that_fails_does_so_for_its_query_only(engine: Engine, runs: list[int]) -> None:
    sound = [engine.continuous_query(MEAN.format(bound)) for bound in (0, 2)]
    failing = engine.continuous_query(
        "SELECT k, CAST(CAST(sum(x) AS TEXT) || 'x' AS INT) AS a FROM rows(bids, 4, 4) GROUP BY k"
    )
    fill(engine, 1, 2, 3, 4)
    assert means(sound[0]) == [{"a": 2.0, "b": 3.0}]
    assert means(sound[1]) == [{"a": 3.0, "b": 4.0}]
    [result] = failing.results()
    assert result.error is not None
    assert "4x" in result.error or "6x" in result.error
    assert runs == [0]


def test_a_query_that_was_closed_is_not_finished_any_more(engine: Engine, runs: list[int]) -> None:
    queries = [engine.continuous_query(MEAN.format(bound)) for bound in (0, 1, 2)]
    fill(engine, 1, 2, 3, 4)
    for query in queries:
        means(query)
    queries[1].close()
    fill(engine, 5, 6, 7, 8)
    assert means(queries[0]) == [{"a": 6.0, "b": 7.0}]
    queries[2].close()
    fill(engine, 5, 6, 7, 9)
    assert means(queries[0]) == [{"a": 6.0, "b": 7.5}]
    assert runs == [3, 2, 0]  # one alone runs its own


def test_without_groups_each_query_has_one_row(engine: Engine, runs: list[int]) -> None:
    text = "SELECT avg(x) AS a FROM rows(bids, 4, 4) WHERE x > {}"
    queries = [engine.continuous_query(text.format(bound)) for bound in (0, 3, 9)]
    fill(engine, 1, 2, 3, 4)
    found = [[each.table.to_pylist() for each in query.results()] for query in queries]
    assert found == [[[{"a": 2.5}]], [[{"a": 4.0}]], [[{"a": None}]]]
    assert runs == [3]


def test_the_statement_follows_the_columns_of_the_merged_relation(
    engine: Engine, runs: list[int]
) -> None:
    text = "SELECT k, avg(CAST(note AS INT)) AS a FROM rows(bids, 4, 4) GROUP BY k"
    noted = engine.continuous_query(text)
    sound = [engine.continuous_query(MEAN.format(bound)) for bound in (0, 2)]
    fill(engine, 1, 2, 3, 4)
    assert means(noted) == [{"a": 1.0, "b": 1.0}]
    append(engine, "bids", (0, 5, "a", "bad"), (1, 6, "b"), (2, 7, "a"), (3, 8, "b"))
    assert means(noted) == [{"a": 1.0, "b": 1.0}]
    assert [means(query)[1] for query in sound] == [{"a": 6.0, "b": 7.0}] * 2
    assert runs == [3, 3]
