"""A query reads outside if anything that it names does: a function, a file, a macro or a view."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.queries.sql.reading_outside import reads_files, volatile_in

DEFINITIONS = (
    "CREATE TABLE names (k VARCHAR, n BIGINT)",
    "CREATE VIEW plain AS SELECT k FROM names",
    "CREATE VIEW above AS WITH plain AS (FROM plain) SELECT * FROM plain",
    "CREATE VIEW filed AS FROM '{file}'",
    "CREATE VIEW over_filed AS SELECT * FROM names, (FROM filed)",
    "CREATE VIEW summed AS SELECT sum_of_file() AS n",
    "CREATE VIEW now_and_then AS SELECT now() AS t FROM names",
    "CREATE VIEW over_now AS FROM now_and_then",
    "CREATE SCHEMA other",
    "CREATE TABLE twice (n BIGINT)",
    "CREATE VIEW other.twice AS FROM '{file}'",
    'CREATE TABLE "tables" (n BIGINT)',
)
MACROS = (
    "CREATE MACRO twice_of(x) AS 2 * x",
    "CREATE MACRO sum_of_file() AS (SELECT sum(a) FROM '{file}')",
    "CREATE MACRO above_sum() AS 1 + sum_of_file()",
    "CREATE MACRO rows_of_file() AS TABLE FROM '{file}'",
)


@pytest.fixture(scope="module")
def defined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Duck]:
    file = tmp_path_factory.mktemp("files") / "a.csv"
    file.write_text("a\n1\n")
    duck = Duck()
    for text in (*MACROS, *DEFINITIONS):
        duck.run_as_written(text.format(file=file), {})
    yield duck
    duck.close()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT upper(k) FROM names",
        "SELECT * FROM main.names, plain",
        "SELECT * FROM above",
        "SELECT * FROM now_and_then",
        "SELECT twice_of(n) FROM names",
        "SELECT * FROM range(3) AS r, generate_series(1, 2) AS s, LATERAL range(2) AS t",
        "WITH q AS (FROM names) SELECT * FROM q",
        "SELECT 1",
    ],
)
def test_tables_and_views_over_them_are_inside(text: str, defined: Duck) -> None:
    assert not reads_files(query_of(text), defined)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM read_csv('a.csv') AS r",
        "SELECT * FROM names, LATERAL read_csv('a.csv')",
        "SELECT * FROM rows_of_file() AS r",
        "SELECT * FROM 'a.csv'",
        "SELECT * FROM rates",
        "SELECT * FROM filed",
        "SELECT * FROM Over_Filed",
        "SELECT k FROM names WHERE n IN (SELECT a FROM filed)",
        "SELECT sum_of_file()",
        "SELECT above_sum() FROM names",
        "SELECT * FROM summed",
        "SELECT * FROM twice",
        "SELECT * FROM information_schema.tables",
        "WITH filed AS (FROM filed) SELECT * FROM filed",
        "SELECT * FROM (WITH filed AS (SELECT 1) FROM filed) AS q, filed",
        "WITH filed AS (SELECT 1) SELECT * FROM main.filed",
    ],
)
def test_files_and_what_is_not_known_are_outside(text: str, defined: Duck) -> None:
    assert reads_files(query_of(text), defined)


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("SELECT random() FROM names", "random"),
        ("SELECT * FROM now_and_then", "now"),
        ("SELECT * FROM over_now, names", "now"),
        ("SELECT * FROM above", ""),
        ("SELECT * FROM unknown", ""),
    ],
)
def test_a_view_may_hide_a_volatile_function(text: str, function: str, defined: Duck) -> None:
    assert volatile_in(query_of(text), defined) == function


def test_a_name_is_looked_up_anew_after_a_statement(duck: Duck, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    query = query_of("SELECT * FROM thing")
    found = [reads_files(query, duck)]
    for text in (
        "CREATE TABLE thing (a BIGINT)",
        f"CREATE TEMP VIEW thing AS FROM '{tmp_path}/a.csv'",
        "DROP VIEW thing",
        "DROP TABLE thing",
    ):
        duck.run_as_written(text, {})
        found.append(reads_files(query, duck))
    assert found == [True, False, True, False, True]


def test_a_view_that_cannot_be_read_is_outside(
    defined: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("upstream.queries.sql.source_text.LONGEST", 20)
    assert reads_files(query_of("SELECT * FROM plain"), defined)
