"""COPY stream FROM 'file' appends the rows of a file: all, or none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.queries.sql.example_streams import refused
from upstream import Engine, ManualClock
from upstream.errors import QueryError, QueryTypeError, StatementError
from upstream.queries.sql import copying

GOOD = "time,symbol,n,price\n2026-01-01 09:00:00,a,1,1.5\n2026-01-02,b,2,\n"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.chdir(tmp_path)
    with Engine(clock=ManualClock()) as engine:
        columns = "time TIMESTAMP, symbol TEXT, n INTEGER, price DECIMAL(8, 2)"
        engine.sql(f"CREATE STREAM Trades ({columns}) KEY (symbol)")
        yield engine


def written(text: str, name: str = "t.csv") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def rows(engine: Engine, *columns: str) -> list[tuple[object, ...]]:
    table = engine.sql("FROM trades ORDER BY symbol").select(list(columns))
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.mark.parametrize(
    "options", ["", " CSV", " (FORMAT csv, HEADER)", " (HEADER true, DELIMITER ',')"]
)
def test_the_rows_of_a_file_are_appended(engine: Engine, options: str) -> None:
    written(GOOD)
    query = engine.continuous_query("SELECT symbol, n FROM trades")
    assert engine.sql(f"COPY trades FROM 't.csv'{options}").to_pydict() == {"Count": [2]}
    assert rows(engine, "time", "symbol", "n") == [
        (datetime(2026, 1, 1, 9), "a", 1),
        (datetime(2026, 1, 2), "b", 2),
    ]
    assert [each.table.num_rows for each in query.results()] == [2]


def test_columns_may_be_named_and_the_others_are_null(engine: Engine) -> None:
    written("b|2026-01-01\nc|2026-01-02\n")
    text = "COPY Trades (symbol, time) FROM 't.csv' (HEADER false, DELIMITER '|')"
    assert engine.sql(text).to_pydict() == {"Count": [2]}
    assert rows(engine, "symbol", "n") == [("b", None), ("c", None)]


def test_a_parquet_file_is_read(engine: Engine) -> None:
    columns = {"time": [datetime(2026, 1, 1)], "symbol": ["a"], "n": [1], "price": [2.5]}
    pq.write_table(pa.table(columns), "t.parquet")
    engine.sql("COPY trades FROM 't.parquet' (FORMAT parquet)")
    assert rows(engine, "symbol", "n", "price")[0][:2] == ("a", 1)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("2026-01-02,b,zz,1", r'line 3 of t\.csv: column n: could not convert string "zz" to INT'),
        ("2026-01-02,b,1.7,1", r"row 2 of t\.csv, column n: 1\.7 does not fit into INTEGER"),
        ("2026-01-02,b,3000000000,1", r"row 2 of t\.csv, column n: 3000000000 does not fit"),
        ("2026-01-02,b,1,1.255", r"row 2 of t\.csv, column price: 1\.255 does not fit into DEC"),
        ("2026-01-02,,1,1", r"row 2 of t\.csv, column symbol is NULL"),
        ("yesterday,b,1,1", r"line 3 of t\.csv: column time: could not convert"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_accepted(engine: Engine, line: str, reason: str) -> None:
    written(f"time,symbol,n,price\n2026-01-01,a,1,1\n{line}\n")
    with refused(QueryTypeError, "trades", reason) as caught:
        engine.sql("COPY trades FROM 't.csv'")
    assert caught.value.hint == "no row was accepted"
    assert engine._catalogue.streams["Trades"].log.rows == 0
    written(GOOD)
    assert engine.sql("COPY trades FROM 't.csv'").to_pydict() == {"Count": [2]}


@pytest.mark.parametrize("name", ["t.parquet", "t.json"])
def test_numbers_with_types_are_exact_and_not_rounded(engine: Engine, name: str) -> None:
    columns = {"time": [datetime(2026, 1, 1)] * 4, "symbol": list("abcd")}
    columns |= {"n": [1.0, 123457.0, -7.0, 2147483647.0], "price": [1.1, 123456.78, 0.29, None]}
    engine.create_table("kept", pa.table(columns))
    engine.sql(f"COPY kept TO '{name}'")
    engine.sql(f"COPY trades FROM '{name}'")
    assert [n for (n,) in rows(engine, "n")] == columns["n"]
    assert [p and float(str(p)) for (p,) in rows(engine, "price")] == columns["price"]


def test_a_text_in_place_of_a_number_is_refused(engine: Engine) -> None:
    written('{"time": "2026-01-01", "symbol": "a", "n": "many", "price": 1}', "t.json")
    with pytest.raises(QueryError, match="many"):
        engine.sql("COPY trades FROM 't.json'")
    assert rows(engine, "symbol") == []


def test_parquet_numbers_are_not_rounded(engine: Engine) -> None:
    columns = {"time": [datetime(2026, 1, 1)], "symbol": ["a"], "n": [1.7], "price": [2.5]}
    pq.write_table(pa.table(columns), "t.parquet")
    with pytest.raises(QueryTypeError, match=r"1\.7 does not fit into INTEGER"):
        engine.sql("COPY trades FROM 't.parquet'")


@pytest.mark.parametrize("bad_row", [None, 0, 4, 9])
def test_a_large_file_is_appended_in_batches_once_all_rows_fit(
    engine: Engine, bad_row: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_BATCH_ROWS", 4)
    numbers = [f"{i}.5" if i == bad_row else str(i) for i in range(10)]
    lines = [f"2026-01-01,s{number},{number},0" for number in numbers]
    written("time,symbol,n,price\n" + "\n".join(lines))
    query = engine.continuous_query("SELECT n FROM trades")
    if bad_row is None:
        engine.sql("COPY trades FROM 't.csv'")
        entry = engine._catalogue.streams["Trades"]
        assert [batch.rows.num_rows for batch in entry.log.batches] == [4, 4, 2]
        [result] = query.results()
        assert result.table["n"].to_pylist() == list(range(10))
    else:
        with pytest.raises(QueryTypeError, match=rf"row {bad_row + 1} of t\.csv"):
            engine.sql("COPY trades FROM 't.csv'")
        assert query.results() == []


def test_all_integers_and_decimals_are_read_exactly(engine: Engine) -> None:
    columns = {"k": "UBIGINT", "i": "BIGINT", "d": "DECIMAL(38, 10)", "h": "DECIMAL(18, 0)"}
    engine.sql(f"CREATE STREAM wide ({', '.join(' '.join(each) for each in columns.items())})")
    values = [2**64 - 1, -(2**63), "1234567890123456789012345678.0123456789", 10**18 - 1]
    written(f"k,i,d,h\n{','.join(map(str, values))}\n")
    engine.sql("COPY wide FROM 't.csv'")
    assert [*map(str, engine.sql("FROM wide").to_pylist()[0].values())] == [*map(str, values)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("COPY trades FROM 'none.csv'", "none.csv"),
        ("COPY trades FROM 't.csv' (NOTHING 3)", "nothing"),
        ("COPY trades (symbol, m) FROM 't.csv'", "m"),
        ("COPY main.trades FROM 't.csv'", "no stream or table"),
    ],
)
def test_what_duckdb_cannot_read_is_an_error(engine: Engine, text: str, reason: str) -> None:
    written(GOOD)
    with pytest.raises(QueryError, match=f"(?i){reason}"):
        engine.sql(text)
    assert rows(engine, "symbol") == []
    assert not engine._duck.has_table("Trades")


def test_a_stream_with_a_column_named_rowid_is_filled_by_insert(engine: Engine) -> None:
    engine.sql("CREATE STREAM odd (RowId INTEGER)")
    with refused(StatementError, "odd", r"INSERT INTO odd FROM read_csv\('t.csv'\)"):
        engine.sql("COPY odd FROM 't.csv'")


def test_no_file_is_read_where_files_are_forbidden(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(GOOD, encoding="utf-8")
    with Engine(clock=ManualClock(), files=False) as engine:
        engine.sql("CREATE STREAM trades (time TIMESTAMP, symbol TEXT, n INT, price DOUBLE)")
        with pytest.raises(QueryError, match="disabled by configuration"):
            engine.sql(f"COPY trades FROM '{tmp_path / 't.csv'}'")
        assert engine.sql("FROM trades").num_rows == 0


def test_tables_and_files_are_copied_as_before(engine: Engine) -> None:
    written(GOOD)
    engine.sql("CREATE TABLE kept (time TIMESTAMP, symbol TEXT, n INTEGER, price DOUBLE)")
    engine.sql("COPY kept FROM 't.csv'")
    assert engine.sql("COPY (FROM kept) TO 'out.csv'").to_pydict() == {"Count": [2]}
    engine.sql("COPY trades FROM 'out.csv'")
    engine.sql("COPY trades TO 'stream.csv'")
    assert Path("stream.csv").read_text(encoding="utf-8").count("\n") == 3
