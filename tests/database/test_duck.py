"""The database of an engine: tables, statements as they were written, and what is locked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from upstream import Engine
from upstream.database.duck import Duck
from upstream.errors import (
    NameTakenError,
    ParameterError,
    QueryError,
    StatementError,
    UnknownTableError,
)

from .setting import table, views


def test_tables_are_found_by_their_names(duck: Duck) -> None:
    duck.create_table("trades", table(1, 2))
    assert duck.has_table("trades")
    assert duck.has_table("TRADES")
    assert not duck.has_table('"trades"')
    with pytest.raises(NameTakenError):
        duck.create_table("Trades", table(1))


def test_a_table_is_made_of_a_file(duck: Duck, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table(1, 2), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("k,v\na,3\n")
    (tmp_path / "t.ndjson").write_text('{"k": "a", "v": 4}\n')
    for ending in ("parquet", "csv", "ndjson"):
        duck.create_table(f"of_{ending}", tmp_path / f"t.{ending}")
    union = "(FROM of_parquet UNION ALL FROM of_csv UNION ALL FROM of_ndjson)"
    counted = duck.rows(f"SELECT sum(v)::INT::VARCHAR FROM {union}")
    assert counted == [("10",)]


def test_a_file_of_another_kind_or_of_nothing_is_an_error(duck: Duck, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"ends with \.parquet, \.csv, \.tsv"):
        duck.create_table("t", "trades.xlsx")
    with Engine() as engine, pytest.raises(QueryError, match="table t"):
        engine.create_table("t", tmp_path / "none.parquet")
    assert not duck.has_table("t")


def test_a_text_is_run_as_it_is_and_finds_tables_by_name(duck: Duck) -> None:
    rows = duck.run_as_written("SELECT sum(a.v) AS s FROM t a, T b", {"T": table(1, 2)})
    assert rows.to_pylist() == [{"s": 6}]
    assert views(duck) == []
    assert duck.run_as_written("CREATE TABLE kept AS FROM t", {"t": table(7)}).num_rows == 1
    with pytest.raises(Exception, match="t does not exist"):
        duck.run_as_written("FROM t", {})


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT 1;", "SELECT"),
        ("PIVOT t ON a USING sum(b)", "MULTI"),
        ("DROP TABLE t", "DROP"),
        ("SELECT 1; SELECT 2", ""),
        ("SELECT FROM", ""),
        ("", ""),
    ],
)
def test_duckdb_says_what_kind_of_statement_a_text_is(text: str, kind: str, duck: Duck) -> None:
    assert duck.statement_type(text) == kind


@pytest.mark.parametrize("files", [True, False])
@pytest.mark.parametrize(
    "statement",
    [
        "INSTALL httpfs",
        "/* first */ FORCE INSTALL httpfs FROM community",
        "UPDATE EXTENSIONS",
        "SET autoinstall_known_extensions = true",
        "SET GLOBAL custom_extension_repository = 'http://localhost'",
    ],
)
def test_nothing_is_downloaded(statement: str, *, files: bool) -> None:
    with Engine(files=files) as engine, pytest.raises(StatementError, match="no network"):
        engine.sql(statement)


def test_an_extension_that_is_not_there_is_not_fetched_on_demand() -> None:
    with Engine() as engine, pytest.raises(QueryError, match="requires the extension httpfs"):
        engine.sql("SELECT * FROM read_parquet('https://localhost:1/x.parquet')")


@pytest.mark.parametrize(
    "statement",
    [
        "COPY (SELECT 1) TO '{path}'",
        "SELECT * FROM read_text('{path}')",
        "ATTACH '{path}'",
        "EXPORT DATABASE '{path}'",
        "SET threads = 2",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
    ],
)
def test_a_locked_engine_touches_no_file_and_no_setting(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "there.txt"
    path.write_text("secret")
    with Engine(files=False) as engine, pytest.raises(QueryError):
        engine.sql(statement.format(path=path))
    assert [each.name for each in tmp_path.iterdir()] == ["there.txt"]


def test_a_locked_engine_makes_tables_of_rows_and_says_why_not_of_files(tmp_path: Path) -> None:
    path = tmp_path / "there.csv"
    path.write_text("x\n1\n")
    with Engine(files=False) as engine:
        engine.create_table("rows", {"x": [1, 2]})
        assert engine.sql("SELECT count(*) AS n FROM rows").to_pylist() == [{"n": 2}]
        with pytest.raises(QueryError, match="disabled by configuration"):
            engine.create_table("files", str(path))
    with Engine() as engine:
        engine.create_table("files", str(path))


def test_an_answer_is_known_until_the_database_changes(duck: Duck) -> None:
    asked = []

    def tables(duck: Duck) -> int:
        asked.append(1)
        return len(duck.rows("SELECT table_name FROM duckdb_tables()"))

    assert (duck.known(tables), duck.known(tables), len(asked)) == (0, 0, 1)
    duck.run_as_written("SELECT 1", {})
    assert (duck.known(tables), len(asked)) == (0, 1)
    duck.run_as_written("CREATE TABLE one (a INT)", {})
    assert duck.known(tables) == 1
    duck.run_as_written("WITH x AS (SELECT 1) INSERT INTO one FROM x", {})
    duck.create_table("two", table(1))
    assert (duck.known(tables), len(asked)) == (2, 3)


def test_a_checksum_of_a_table_of_our_own_sees_each_value_and_no_order(duck: Duck) -> None:
    queries = [
        "SELECT range AS n, 'a' AS k FROM range(5)",
        "SELECT range AS n, 'a' AS k FROM range(5) ORDER BY n DESC",
        "SELECT range AS n, 'a' AS k FROM range(6)",
        "SELECT range AS n, if(range = 3, NULL, 'a') AS k FROM range(5)",
        "SELECT 1 AS n, 'a' AS k LIMIT 0",
    ]
    checksums = []
    for number, query in enumerate(queries):
        duck.run_as_written(f'CREATE TEMP TABLE "__static_{number}" AS {query}', {})
        checksums.append(duck.checksum(f"__static_{number}"))
    assert checksums[0] == checksums[1]
    assert len({*checksums}) == 4
    assert [rows for rows, _ in checksums] == ["5", "5", "6", "5", "0"]


def test_the_environment_names_the_settings_that_results_depend_on(duck: Duck) -> None:
    before = duck.environment()
    assert before["DuckDB"] == duckdb.__version__
    assert before["default_null_order"] == "NULLS_LAST"
    duck.run_as_written("SET default_null_order = 'nulls_first'", {})
    after = duck.environment()
    assert after.pop("default_null_order") == "NULLS_FIRST"
    assert after == {name: before[name] for name in after}
    duck.run_as_written("RESET default_null_order", {})


def test_python_variables_are_not_read_as_tables() -> None:
    tables = {"x": [1]}
    with Engine() as engine, pytest.raises(UnknownTableError):
        engine.sql("SELECT * FROM tables")
    assert tables


INTERRUPTED = """
import os, signal, threading
from upstream import Engine

engine = Engine()
timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
timer.daemon = True
try:
    timer.start()
    engine.sql("SELECT count(*) FROM range(100000000000) t(x) WHERE x % 7 = 3")
except KeyboardInterrupt:
    print("stopped", engine.sql("SELECT 1 AS one").to_pylist())
"""


def test_ctrl_c_ends_a_statement_with_keyboard_interrupt() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "stopped [{'one': 1}]\n", done.stderr


def test_duckdb_shows_no_progress_where_python_is_interactive() -> None:
    code = (
        "import duckdb; from upstream.database.duck import Duck\n"
        "ask = \"SELECT current_setting('enable_progress_bar')\"\n"
        "print(duckdb.connect().execute(ask).fetchall(), Duck().rows(ask))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[(True,)] [(False,)]\n"
