"""After an exception at any line of the database, nothing is lent, and the caller can go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import upstream.database
from tests.interrupted import interrupt_everywhere
from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.database.prepared import Prepared
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.lending import prepare

from .setting import SCHEMA, table, views

FOLDER = str(Path(upstream.database.__file__).parent)
PAIRS = "SELECT a.k, a.v + b.v AS v, now() AS at FROM a JOIN b USING (k) ORDER BY v"


def open_rows(duck: Duck) -> list[tuple[object, ...]]:
    """Return what is left of a result that was not fetched."""
    try:
        return duck._connection.fetchall()
    except duckdb.InvalidInputException:  # there is none
        return []


def run(statement: Prepared, *counts: int) -> None:
    for count in counts:
        found = statement.run(a=table(*range(count)), b=table(0))
        assert found["v"].to_pylist() == [*range(count)]


def close(statement: Prepared) -> None:
    """Close it; where that is interrupted it can run, and is closed again."""
    try:
        statement.close()
    except KeyboardInterrupt:
        run(statement, 2)
        statement.close()
        raise


def prepared_statement(duck: Duck) -> None:
    statement = prepare(duck, query_of(PAIRS), {"a": SCHEMA, "b": SCHEMA})
    try:
        run(statement, 1, 2, 100, 2)  # at first, prepared, longer than expected, and short again
        assert statement.schema.names == ["k", "v", "at"]
    except KeyboardInterrupt:
        assert open_rows(duck) == [], "a result was left open"
        run(statement, 2, 3)
        raise
    finally:
        close(statement)


def tried_queries(duck: Duck) -> None:
    trial = Trial(duck, {"a": SCHEMA, "b": SCHEMA})
    with duck.keeping():
        assert trial.columns(query_of(PAIRS)).names == ("k", "v", "at")
        assert trial.shape(query_of("SELECT sum(v) AS s FROM a")).types == ("HUGEINT",)
        assert trial.with_steps().columns(query_of("SELECT v FROM b")).types == ("BIGINT",)
        assert trial.types_read_back(SCHEMA) == ("VARCHAR", "BIGINT")


def statement_as_written(duck: Duck) -> None:
    answer = duck.answer_as_written("SELECT max(v) AS v, now() AS at FROM t", {"t": table(0, 1, 2)})
    assert answer["v"].to_pylist() == [2]


def lent_table(duck: Duck) -> None:
    relation = duck.lend(SCHEMA)
    relation.hold(table(0, 1))
    assert duck.rows(f"SELECT count(*)::TEXT FROM {relation.name}") == [("2",)]
    duck.take_back(relation)


USES: list[Callable[[Duck], None]] = [
    *(prepared_statement, tried_queries, statement_as_written, lent_table),
]


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_an_interrupt_at_any_line_leaves_nothing_lent(
    use: Callable[[Duck], None], duck: Duck
) -> None:
    use(duck)  # what is done once in a process is done

    def check(duck: Duck) -> None:
        lent_table(duck)  # the next use of the database
        assert views(duck) == []

    moments = interrupt_everywhere(
        lambda: duck, use, check, event="line", error=KeyboardInterrupt, files=FOLDER
    )
    assert 10 < moments < 5_000
    use(duck)
    assert duck.rows("SELECT name FROM duckdb_prepared_statements()") == []
