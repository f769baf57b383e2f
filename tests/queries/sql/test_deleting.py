"""DELETE FROM a stream deletes the keys that DELETE FROM a table of the newest rows would."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.sql.example_streams import refused
from upstream import Engine, ManualClock
from upstream.errors import QueryError, StatementError, UnknownColumnError, UnknownTableError

ROWS = {
    "k": ["a", "b", "c", "d", "e", "f"],
    "n": [1, 2, 3, None, 0, -1],
    "x": [0.5, None, float("nan"), 2.0, -1.0, 3.0],
    "note": ["IBM", "it's", "", None, "50%", "ibm"],
}


def filled() -> Engine:
    engine = Engine(clock=ManualClock())
    engine.sql("CREATE STREAM Trades (k TEXT, n INTEGER, x DOUBLE, note TEXT) KEY (k)")
    engine.append("trades", {"k": ["a", "c"], "n": [7, 8]})
    engine.append("trades", ROWS)
    engine.create_table("kept", engine.sql("FROM trades"))
    engine.sql("CREATE TABLE others AS SELECT unnest([2, 3]) AS n")
    return engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    with filled() as engine:
        yield engine


def keys(engine: Engine, name: str = "trades") -> list[str]:
    return sorted(engine.sql(f"SELECT k FROM {name}")["k"].to_pylist())


CONDITIONS = [
    "n = 1",
    "n > 0 OR x < 0",
    "NOT n IN (SELECT n FROM others)",
    "EXISTS (FROM others o WHERE o.n = {0}.n)",
    "n = (SELECT max(n) FROM {0})",
    "note LIKE 'I%' AND x IS NOT NULL",
    "note = 'it''s'",
    "x > 1",
    "n / 0",
    "n",
    "NULL",
    "true",
    "k BETWEEN 'b' AND 'd' AND n IS NOT DISTINCT FROM NULL",
    "CASE WHEN n > 1 THEN x IS NULL ELSE n = 0 END",
    "{0}.n = 2",
    "(n, k) IN ((1, 'a'), (2, 'c'))",
    "lower(note) = 'ibm' -- a remark",
    "n::TEXT = '3'",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_keys_whose_newest_row_meets_the_condition_are_deleted(
    engine: Engine, condition: str
) -> None:
    count = engine.sql(f"DELETE FROM trades WHERE {condition.format('trades')}").to_pydict()
    assert engine.sql(f"DELETE FROM kept WHERE {condition.format('kept')}").to_pydict() == count
    assert keys(engine) == keys(engine, "kept")


ATOMS = st.sampled_from(
    ["n = 1", "n > 0", "x < 1", "x = 'NaN'", "note IS NULL", "k > 'b'", "n IN (0, 2)", "x", "NULL"]
)
WHERE = st.recursive(
    ATOMS,
    lambda of: st.one_of(
        of.map("NOT ({})".format),
        st.tuples(of, st.sampled_from(["AND", "OR", "IS DISTINCT FROM"]), of).map(
            lambda parts: "({}) {} ({})".format(*parts)
        ),
    ),
    max_leaves=5,
)


def test_random_conditions_delete_what_they_delete_from_a_table(engine: Engine) -> None:
    @given(where=WHERE)
    def check(where: str) -> None:
        engine.sql("TRUNCATE trades")
        engine.append("trades", ROWS)
        engine.sql("CREATE OR REPLACE TABLE kept AS FROM trades")
        counts = [engine.sql(f"DELETE FROM {name} WHERE {where}") for name in ("trades", "kept")]
        assert counts[0].to_pydict() == counts[1].to_pydict()
        assert keys(engine) == keys(engine, "kept")

    check()


@pytest.mark.parametrize(
    "text",
    ["DELETE FROM trades", "TRUNCATE trades", "truncate table Trades;", "DELETE FROM TRADES"],
)
def test_without_a_condition_all_keys_are_deleted(engine: Engine, text: str) -> None:
    assert engine.sql(text).to_pydict() == {"Count": [6]}
    assert keys(engine) == []
    assert engine.sql(text).to_pydict() == {"Count": [0]}
    assert keys(engine, "kept") == list("abcdef")


def test_an_alias_and_a_common_table_expression_are_read(engine: Engine) -> None:
    engine.sql("DELETE FROM trades AS t WHERE t.n = 1")
    engine.sql("WITH q AS (SELECT 2 AS n) DELETE FROM trades t WHERE n IN (SELECT n FROM q)")
    assert keys(engine) == list("cdef")


def test_the_only_key_of_a_stream_without_a_key_is_deleted(engine: Engine) -> None:
    engine.sql("CREATE STREAM beats (n INTEGER)")
    engine.append("beats", {"n": [1, 2]})
    assert engine.sql("DELETE FROM beats WHERE n = 1").to_pydict() == {"Count": [0]}
    assert engine.sql("DELETE FROM beats WHERE n = 2").to_pydict() == {"Count": [1]}
    assert engine.sql("FROM beats").num_rows == 0


@pytest.mark.parametrize(
    ("text", "kind", "place", "reason"),
    [
        ("DELETE FROM trades RETURNING *", StatementError, "trades", "run SELECT … FROM Trades"),
        ("DELETE FROM trades USING others o WHERE o.n = 1", StatementError, "trades", "EXISTS"),
        ("WITH Trades AS (SELECT 1) DELETE FROM trades", StatementError, "trades", "another name"),
        ("DELETE FROM trades WHERE m = 1", UnknownColumnError, "m = 1", "no column named m"),
        ("DELETE FROM trades\nWHERE note::INT", QueryError, "", "Could not convert"),
        ("DELETE FROM main.trades", UnknownTableError, "trades", "no stream or table"),
        ("DELETE FROM trades WHERE n = 1 LIMIT 1", StatementError, "trades", "for tables"),
        ("DELETE FROM trades WHERE rowid = 1", QueryError, "rowid", "rowid"),
        ("DELETE FROM trades WHERE count(*) > 1", QueryError, "", "aggregate"),
        (
            "DELETE FROM trades WHERE n IN (SELECT n FROM tumble(trades, 10))",
            QueryError,
            "tumble",
            "",
        ),
        (
            "DELETE FROM trades WHERE EXISTS (SELECT 1 AS delete)",
            StatementError,
            "delete)",
            "twice",
        ),
    ],
)
def test_what_is_not_understood_is_refused_in_the_words_of_the_statement(
    engine: Engine, text: str, kind: type[QueryError], place: str, reason: str
) -> None:
    with pytest.raises(kind, match=f"(?i){reason}") as caught:
        engine.sql(text)
    assert caught.value.text in ("", text)
    if place:
        with refused(kind, place):
            engine.sql(text)
    assert keys(engine) == list("abcdef")


def test_tables_are_deleted_from_as_before(engine: Engine) -> None:
    assert engine.sql("DELETE FROM others WHERE n = 2").to_pydict() == {"Count": [1]}
    assert engine.sql("DELETE FROM kept RETURNING k").num_rows == 6
    assert engine.sql("TRUNCATE others").to_pydict() == {"Count": [1]}


def test_the_same_time_is_new_again_after_a_deletion() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM bids (time BIGINT, k TEXT, x BIGINT) KEY (k) TIME (time)")
        engine.append("bids", pa.table({"time": [9, 9], "k": ["a", "b"], "x": [1, 2]}))
        engine.sql("DELETE FROM bids WHERE x = 1")
        engine.append("bids", pa.table({"time": [1, 1], "k": ["a", "b"], "x": [3, 4]}))
        assert engine.sql("SELECT x FROM bids ORDER BY x")["x"].to_pylist() == [2, 3]
