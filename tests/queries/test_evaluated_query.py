"""What is evaluated once, and served as one query, however many take its results."""

from __future__ import annotations

from tests.queries.setting import append
from upstream import ContinuousQuery, Engine, Result
from upstream.queries.evaluated_query import EvaluatedQuery
from upstream.queries.results.result_reader import ResultReader

SUMS = "SELECT sum(x) AS x FROM tumble(bids, 10)"


def with_reader(query: ContinuousQuery, seen: list[Result]) -> tuple[EvaluatedQuery, ResultReader]:
    """Return what evaluates a query, and a further reader of it, with a callback."""
    evaluated = query._evaluated
    return evaluated, evaluated.reader("other", weight=2.0, callback=seen.append)


def test_it_is_served_under_the_name_of_its_first_reader_and_with_all_weights(
    engine: Engine,
) -> None:
    query = engine.continuous_query(SUMS, name="first")
    evaluated, reader = with_reader(query, [])
    assert (evaluated.name, evaluated.weight) == ("first", 3.0)
    query.close()
    assert (evaluated.name, evaluated.weight) == ("other", 2.0)
    assert not evaluated.is_closed
    evaluated.leave(reader)
    assert (evaluated.name, evaluated.is_closed) == ("", True)


def test_a_run_evaluates_and_hands_results_to_callbacks(engine: Engine) -> None:
    seen: list[Result] = []
    query = engine.continuous_query(SUMS)
    evaluated, reader = with_reader(query, seen)
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    assert evaluated.is_due()
    query.evaluate()
    assert not query.is_due()
    assert evaluated.is_due(), "results wait for a callback"
    evaluated.run()
    assert not evaluated.is_due()
    assert [each.table["x"][0].as_py() for each in seen] == [1, 2]
    assert len(query.results()) == 2
    assert reader.waiting == 0
