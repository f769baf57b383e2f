"""The catalogue: what an engine has under names, and what reads what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

import pyarrow as pa
import pytest

from upstream import ContinuousQuery, Engine, ManualClock
from upstream.errors import NameTakenError, StatementError, UnknownNameError
from upstream.queries.catalogue import Catalogue
from upstream.queries.evaluated_query import EvaluatedQuery
from upstream.queries.evaluation.view import ViewEvaluation


def test_unnamed_queries_are_numbered() -> None:
    catalogue = Catalogue()
    assert catalogue.free_query_name(None) == "query-1"
    assert catalogue.free_query_name(None) == "query-2"


def test_an_unknown_query_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="query"):
        Catalogue().query("means")


def test_a_query_is_a_reader_of_its_streams_and_tables_until_it_is_closed() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM beats (n BIGINT)")
        engine.sql("CREATE TABLE names AS SELECT 1 AS n, 'one' AS name")
        catalogue = engine._catalogue
        query = engine.continuous_query(
            "SELECT name FROM beats JOIN names USING (n)", name="named beats"
        )
        assert catalogue.readers_of("beats") == ["named beats"]
        assert catalogue.readers_of_table("names") == ["named beats"]
        with pytest.raises(NameTakenError, match="named beats"):
            catalogue.free_query_name("named beats")
        query.close()
        assert catalogue.readers_of("beats") == catalogue.readers_of_table("names") == []
        assert catalogue.free_query_name("named beats") == "named beats"


@pytest.fixture
def chained() -> Iterator[Catalogue]:
    """A stream, two that are filled from it, and one that is filled from these."""
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM beats (n BIGINT)")
        engine.sql("CREATE STREAM a AS SELECT n FROM beats")
        engine.continuous_query("SELECT n FROM a", name="beats")  # a query, not a stream
        engine.sql("CREATE STREAM b AS SELECT n FROM beats")
        engine.sql("CREATE STREAM c AS SELECT a.n FROM a JOIN latest(b) b ON a.n = b.n")
        yield engine._catalogue


def names(queries: Iterable[ContinuousQuery | EvaluatedQuery]) -> list[str]:
    return [query.name for query in queries]


def test_what_feeds_a_stream_comes_in_order(chained: Catalogue) -> None:
    assert names(chained.feeders_of({"c"})) == ["a", "b", "c"]
    assert names(chained.feeders_of({"b", "a"})) == ["a", "b"]
    assert not chained.feeders_of({"beats"})
    assert not chained.feeders_of(set())


def test_a_query_fills_the_stream_of_its_name_unless_it_was_closed(chained: Catalogue) -> None:
    query = chained.filler_of("c")
    assert query is chained.query("c")
    assert chained.filler_of("beats") is None
    assert names(chained.reading("a")) == ["beats", "c"]
    query.close()
    assert chained.filler_of("c") is None
    chained.check_writable("c")


def test_only_its_query_may_write_to_a_stream(chained: Catalogue) -> None:
    chained.check_writable("beats")
    with pytest.raises(StatementError, match="a is filled by a query") as caught:
        chained.check_writable("a", "INSERT INTO a", 12)
    assert caught.value.column == 13


def test_there_is_a_path_from_what_feeds_a_stream(chained: Catalogue) -> None:
    assert chained.path_between(["c"], "c") == ["c"]
    path = chained.path_between(["c"], "beats")
    assert path in (["c", "a", "beats"], ["c", "b", "beats"])
    assert chained.path_between(["a"], "b") is None
    assert chained.path_between(["beats"], "c") is None


def test_a_stream_of_results_is_scanned_after_its_query_was_evaluated(chained: Catalogue) -> None:
    chained.streams["beats"].append(pa.table({"n": [7]}))
    assert chained.streams["a"].scan().num_rows == 0
    relation = chained.relations["a"]
    assert relation.scan(["n"]).to_pydict() == {"n": [7]}
    assert relation.definition is chained.streams["a"].definition


BOTH_ROADS = "(SELECT count(*) FROM beats) AS a, (SELECT count(*) FROM latest(beats) AS l) AS b"


@pytest.fixture
def by_two_roads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Return an engine in which rows arrive whenever a view takes rows in."""
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM beats (n BIGINT) KEY (n)")
        engine.sql("CREATE STREAM pairs (a BIGINT, b BIGINT)")
        engine.sql(f"CREATE VIEW counts AS SELECT {BOTH_ROADS}")
        engine.sql(f"CREATE VIEW others AS SELECT {BOTH_ROADS}")
        stream = engine._catalogue.streams["beats"]
        stream.append(pa.table({"n": [1, 2, 3]}))
        take_in = ViewEvaluation.take_in
        numbers = count(4)

        def with_inserts(self: ViewEvaluation, now: float) -> None:
            stream.append(pa.table({"n": [next(numbers)]}))  # as another thread could
            take_in(self, now)
            stream.append(pa.table({"n": [next(numbers)]}))

        monkeypatch.setattr(ViewEvaluation, "take_in", with_inserts)
        yield engine


@pytest.mark.parametrize(
    "text",
    [
        "FROM counts",
        "SELECT x.a, y.b FROM counts AS x, others AS y",
        "FROM counts JOIN others USING (a, b)",
    ],
    ids=["one view", "two views", "two views joined"],
)
def test_a_query_that_reads_a_stream_by_two_roads_sees_an_insert_by_both_or_by_none(
    by_two_roads: Engine, text: str
) -> None:
    assert by_two_roads.sql(text).to_pylist() == [{"a": 3, "b": 3}]
    came = by_two_roads._catalogue.streams["beats"].log.rows
    assert came > 3
    assert by_two_roads.sql(text).to_pylist() == [{"a": came, "b": came}]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("CREATE TABLE kept AS SELECT x.a, y.b FROM counts AS x, others AS y", "kept"),
        ("INSERT INTO pairs SELECT x.a, y.b FROM counts AS x, others AS y", "pairs"),
    ],
    ids=["a table", "an insert"],
)
def test_a_statement_that_stores_what_it_reads_sees_an_insert_by_both_roads_or_by_none(
    by_two_roads: Engine, text: str, stored: str
) -> None:
    by_two_roads.sql(text)
    assert by_two_roads.sql(f"FROM {stored}").to_pylist() == [{"a": 3, "b": 3}]


def test_a_block_that_an_exception_keeps_alive_is_ended_by_the_next_call() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM beats (n BIGINT) KEY (n)")
        catalogue = engine._catalogue
        kept = catalogue.at_one_moment()
        kept.__enter__()
        engine.append("beats", {"n": [1]})
        assert engine._catalogue.streams["beats"].scan().num_rows == 0
        assert engine.sql("SELECT n FROM beats").to_pydict() == {"n": [1]}
        kept.__exit__(None, None, None)


def test_what_was_held_is_released_when_a_query_fails() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM beats (n BIGINT) KEY (n)")
        catalogue = engine._catalogue
        with pytest.raises(ZeroDivisionError), catalogue.at_one_moment(), catalogue.at_one_moment():
            raise ZeroDivisionError
        engine.append("beats", {"n": [1]})
        assert engine.sql("SELECT n FROM beats").to_pydict() == {"n": [1]}
