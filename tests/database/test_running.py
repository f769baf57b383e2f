"""Errors that end a statement get exceptions of the library, and no result stays open."""

from __future__ import annotations

import duckdb
import pytest

from upstream.database.failure import DatabaseError, DatabaseValueError
from upstream.database.running import Running


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT FROM", DatabaseError),
        ("SELECT nothing", DatabaseError),
        ("SELECT CAST('a' AS INT)", DatabaseValueError),
        ("SELECT 300::TINYINT", DatabaseValueError),
    ],
)
def test_an_error_of_duckdb_is_a_database_error(
    connection: duckdb.DuckDBPyConnection, text: str, kind: type[DatabaseError]
) -> None:
    with pytest.raises(DatabaseError) as caught, Running(connection):
        connection.execute(text).fetchall()
    assert type(caught.value) is kind
    assert isinstance(caught.value.__cause__, duckdb.Error)
    assert str(caught.value) == str(caught.value.__cause__)


@pytest.mark.parametrize(
    "error", [duckdb.InterruptException("stop"), RuntimeError("Query interrupted")], ids=repr
)
def test_duckdbs_report_of_ctrl_c_becomes_an_interrupt(
    connection: duckdb.DuckDBPyConnection, error: Exception
) -> None:
    with pytest.raises(KeyboardInterrupt), Running(connection):
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), RuntimeError("other")])
def test_other_errors_stay_as_they_are_and_the_result_is_dropped(
    connection: duckdb.DuckDBPyConnection, error: BaseException
) -> None:
    connection.execute("SELECT * FROM range(10)")
    with pytest.raises(type(error)) as caught, Running(connection):
        raise error
    assert caught.value is error
    assert connection.fetchall() == []
    assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_a_statement_that_ends_well_keeps_its_result(connection: duckdb.DuckDBPyConnection) -> None:
    with Running(connection):
        connection.execute("SELECT 7")
    assert connection.fetchall() == [(7,)]
