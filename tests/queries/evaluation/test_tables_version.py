"""The version of tables changes with statements, and always where files or the clock are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.queries.evaluation.tables_version import TablesVersion


class Database:
    """A database that counts the statements that it has run."""

    def __init__(self, duck: Duck) -> None:
        self.duck = duck
        self.statements = 0

    def run(self, text: str) -> None:
        self.duck.run_as_written(text, {})
        self.statements += 1

    def version(self, *texts: str) -> TablesVersion:
        return TablesVersion([*map(query_of, texts)], self.duck, lambda: self.statements)


@pytest.fixture
def database(duck: Duck, tmp_path: Path) -> Database:
    (tmp_path / "a.csv").write_text("a\n1\n")
    database = Database(duck)
    database.run("CREATE TABLE names AS SELECT 1 AS a")
    database.run("CREATE VIEW viewed AS FROM names")
    return database


def test_it_is_the_same_until_a_statement_ran(database: Database) -> None:
    version = database.version("FROM names", "SELECT 1")
    first = version()
    assert version() == first
    database.run("UPDATE names SET a = 2")
    second = version()
    assert second != first
    assert version() == second


def test_it_tells_without_asking_the_database_whether_it_is_still_the_same(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = database.version("FROM names")
    of_clock = database.version("SELECT now() AS t")
    first, moment = version(), of_clock()
    with monkeypatch.context() as patch:
        patch.setattr(Duck, "rows", None)
        assert version.is_still(first)
        assert not version.is_still(first - 1)
        assert not of_clock.is_still(moment)
    database.run("UPDATE names SET a = 2")
    with monkeypatch.context() as patch:
        patch.setattr(Duck, "rows", None)
        patch.setattr(Duck, "known", None)
        assert not version.is_still(first)
        assert not version.is_still(first + 1)  # nothing was looked up again
    assert version.is_still(version())


def test_queries_without_tables_and_macros_always_read_the_same(database: Database) -> None:
    version = database.version("SELECT upper('a') FROM range(3)")
    first = version()
    database.run("UPDATE names SET a = 2")
    assert version() == first


def test_a_macro_may_change_as_a_table_may(database: Database) -> None:
    database.run("CREATE MACRO one() AS 1")
    version = database.version("SELECT one() AS n")
    first = version()
    database.run("CREATE OR REPLACE MACRO one() AS 2")
    assert version() != first


@pytest.mark.parametrize(
    ("text", "is_of_files"),
    [
        ("SELECT now() AS t", False),
        ("FROM glob('*')", True),
        ("FROM rates", True),
        ("SELECT a FROM names, (SELECT random())", False),
    ],
)
def test_what_changes_without_a_statement_has_another_version_each_time(
    text: str, is_of_files: bool, database: Database
) -> None:
    version = database.version("SELECT 1 AS one", text)
    assert len({version() for _ in range(4)}) == 4
    assert version.reads_files is is_of_files


def test_a_view_that_is_replaced_may_read_files_from_then_on(
    database: Database, tmp_path: Path
) -> None:
    version = database.version("FROM viewed")
    assert version() == version()
    assert not version.reads_files
    database.run(f"CREATE OR REPLACE VIEW viewed AS FROM '{tmp_path}/a.csv'")
    assert len({version() for _ in range(4)}) == 4
    assert version.reads_files
    database.run("CREATE OR REPLACE VIEW viewed AS FROM names")
    assert version() == version()
    assert not version.reads_files
