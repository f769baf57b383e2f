"""Integers of 128 bits are returned as int64, or there is an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from upstream import ContinuousQuery, Engine, ManualClock, QueryTypeError
from upstream.database.result_schema import ResultSchema

LARGE = 2**62
WIDE = pa.decimal128(38, 0)
SUM = "SELECT sum(n) AS total FROM "


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as made:
        made.sql("CREATE STREAM s (k TEXT, time BIGINT, n BIGINT) KEY (k) TIME (time)")
        yield made


def append(engine: Engine, *rows: tuple[int, int]) -> None:
    engine.append("s", [{"k": f"k{time}", "time": time, "n": n} for time, n in rows])


STANDING = {
    "tumble": SUM + "tumble(s, 10)",
    "hop": SUM + "hop(s, 10, 10)",
    "rows": SUM + "rows(s, 3, 3)",
    "subquery": "SELECT max(t) AS total FROM (SELECT sum(n) AS t FROM tumble(s, 10))",
    "union": SUM + "tumble(s, 10) UNION " + SUM + "tumble(s, 10)",
    "kept rows": "SELECT max(n::HUGEINT * 4) + min(n::HUGEINT * 4) AS total FROM tumble(s, 10)",
}


def standing(engine: Engine, sql: str, **choices: object) -> ContinuousQuery:
    return engine.continuous_query(sql, **choices)  # type: ignore[arg-type]  # of all kinds


@pytest.mark.parametrize("way", ["increments", "whole"])
@pytest.mark.parametrize("large", [LARGE, -LARGE - 1], ids=["upwards", "downwards"])
@pytest.mark.parametrize("form", STANDING)
def test_a_window_beyond_64_bits_is_an_error_and_the_next_answers(
    engine: Engine, form: str, large: int, way: str
) -> None:
    query = standing(engine, STANDING[form], evaluation=way)
    assert query.schema == pa.schema([("total", pa.int64())])
    append(engine, (1, 1), (2, 2), (3, 4), (11, large), (12, large), (13, 1))
    append(engine, (21, 1), (22, 2), (23, 4), (31, 1))
    first, failed, last = query.results()
    assert [each.table.schema for each in (first, failed, last)] == [query.schema] * 3
    assert first.error is None
    assert json.dumps(last.table.to_pylist()) == json.dumps(first.table.to_pylist())
    assert failed.table.num_rows == 0
    assert failed.error is not None
    assert "column total" in failed.error
    assert "sum(x)::DECIMAL(38, 0)" in failed.error
    assert query.statistics().error == failed.error


def test_a_landmark_answers_as_long_as_its_sum_fits(engine: Engine) -> None:
    query = standing(engine, SUM + "landmark(s)", emit="asked")
    asked = []
    for time, n in enumerate([LARGE, LARGE - 1, 1, -5]):
        append(engine, (time, n))
        result = query.ask()
        assert result is not None
        assert result.table.schema == query.schema
        asked.append(None if result.error else result.table.to_pylist()[0]["total"])
    assert asked == [LARGE, 2 * LARGE - 1, None, 2 * LARGE - 5]


@pytest.mark.parametrize("source", ["s", "latest(s)"])
def test_the_newest_rows_follow_the_same_rule(engine: Engine, source: str) -> None:
    sql = f"SELECT k, n::HUGEINT * 2 AS twice FROM {source}"
    query = standing(engine, sql, semantics="update")
    append(engine, (1, LARGE - 1))
    [row] = query.results()[0].table.to_pylist()
    assert row == {"k": "k1", "twice": 2 * LARGE - 2}
    append(engine, (2, LARGE))
    [failed] = query.results()
    assert failed.error is not None
    assert failed.table.num_rows == 0


def test_an_error_instead_of_failed_rows_stays_the_error(engine: Engine) -> None:
    sql = "SELECT sum(n) AS total FROM tumble(s, 10) WHERE k::INT > 0"
    query = standing(engine, sql, on_error="fail")
    append(engine, (1, LARGE), (2, LARGE), (11, 1))
    [result] = query.results()
    assert result.error is not None
    assert result.error.startswith("2 rows fail")


def test_unchanged_sums_give_no_result(engine: Engine) -> None:
    query = standing(engine, SUM + "tumble(s, 10)", emit="changed")
    append(engine, (1, 3), (11, 3), (21, 4), (31, 1))
    assert [each.table["total"].to_pylist() for each in query.results()] == [[3], [4]]


ONCE = [
    SUM + "s",
    SUM + "s UNION " + SUM + "s",
    "SELECT (SELECT sum(n) FROM s) AS total",
    "WITH t AS (" + SUM + "s) SELECT max(total) AS total FROM t",
    "PIVOT (SELECT 'total' AS name, n FROM s) ON name USING sum(n)",
    "FROM (SELECT sum(n)::UHUGEINT AS total FROM s)",
    "SELECT n::HUGEINT AS total FROM s LIMIT 1",
]


@pytest.mark.parametrize("sql", ONCE)
def test_a_query_that_is_answered_once_gives_integers(engine: Engine, sql: str) -> None:
    append(engine, (1, 7))
    table = engine.sql(sql)
    assert table.schema.field("total").type == pa.int64()
    assert json.loads(json.dumps(table.to_pylist()))[0]["total"] == 7


@pytest.mark.parametrize("rows", [[], [(1, None)]], ids=["no row", "NULL"])
def test_the_schema_does_not_depend_on_data(engine: Engine, rows: list[tuple[int, int]]) -> None:
    append(engine, *rows)
    table = engine.sql(SUM + "s")
    assert table.schema == pa.schema([("total", pa.int64())])
    assert table.to_pylist() == [{"total": None}]


@pytest.mark.parametrize(
    "value",
    [
        *(f"{2**63}::HUGEINT", f"({-(2**63) - 1})::HUGEINT", f"{2**64 + 5}::HUGEINT"),
        *(f"{2**127 - 1}::HUGEINT", f"{2**63}::UHUGEINT", f"{2**128 - 1}::UHUGEINT"),
        *(f"[{2**70}::HUGEINT]", f"{{'a': [{2**128 - 1}::UHUGEINT]}}", f"map {{{2**63}: 1}}"),
    ],
)
def test_no_value_beyond_64_bits_is_answered(engine: Engine, value: str) -> None:
    with pytest.raises(QueryTypeError) as caught:
        engine.sql(f"SELECT {value} AS total")
    assert "column total" in caught.value.reason
    assert "sum(x)::DECIMAL(38, 0)" in caught.value.hint


def test_the_ends_of_64_bits_are_answered(engine: Engine) -> None:
    low, high = -(2**63), 2**63 - 1
    table = engine.sql(f"SELECT {high}::HUGEINT AS a, ({low})::HUGEINT AS b, {high}::UHUGEINT AS c")
    assert table.to_pylist() == [{"a": high, "b": low, "c": high}]


def test_integers_within_other_values_are_handed_out_alike(engine: Engine) -> None:
    sql = (
        "SELECT [1::HUGEINT, NULL] AS l, {'a': 2::UHUGEINT, 'b': 'x', 'c': [3::HUGEINT]} AS s,"
        " map {4::HUGEINT: 5::HUGEINT} AS m, [6::HUGEINT]::HUGEINT[1] AS a, 7.5 AS d"
    )
    [row] = engine.sql(sql).to_pylist()
    assert row.pop("d") == Decimal("7.5")
    within = {"l": [1, None], "s": {"a": 2, "b": "x", "c": [3]}, "m": [[4, 5]], "a": [6]}
    assert json.loads(json.dumps(row)) == within


def test_decimals_that_were_written_stay_decimals(engine: Engine) -> None:
    sql = "SELECT sum(n)::DECIMAL(38, 0) AS total FROM "
    query = standing(engine, sql + "tumble(s, 10)")
    append(engine, (1, LARGE), (2, LARGE), (11, 1))
    assert query.schema.field("total").type == WIDE
    assert query.results()[0].table.to_pylist() == [{"total": Decimal(2 * LARGE)}]
    mixed = engine.sql("SELECT 1::DECIMAL(38, 0) AS d, 1::HUGEINT AS h, sum(1.0) AS t")
    assert mixed.schema.types == [WIDE, pa.int64(), pa.decimal128(38, 1)]


def test_tables_and_streams_are_filled_with_sums_of_any_size(engine: Engine) -> None:
    append(engine, (1, LARGE), (2, LARGE))
    engine.sql("CREATE TABLE sums AS SELECT sum(n) AS total FROM s")
    engine.sql("CREATE STREAM totals (total DECIMAL(38, 0))")
    engine.sql("INSERT INTO totals SELECT sum(n) FROM s")
    assert engine.sql("SELECT total / 2 AS half FROM sums").to_pylist() == [{"half": LARGE}]
    assert engine.sql("SELECT total FROM totals").to_pylist() == [{"total": 2 * LARGE}]
    with pytest.raises(QueryTypeError, match="column total"):
        engine.sql("SELECT total FROM sums")


def test_an_insert_that_returns_wide_integers_takes_effect_and_says_so(engine: Engine) -> None:
    engine.sql("CREATE TABLE sums (total HUGEINT)")
    returned = engine.sql(f"INSERT INTO sums VALUES ({2**70}) RETURNING total")
    assert returned.to_pylist() == [{"total": Decimal(2**70)}]
    assert engine.sql("SELECT count(*) AS n FROM sums").to_pylist() == [{"n": 1}]


def test_columns_of_one_name_are_handed_out_each_by_its_type(engine: Engine) -> None:
    table = engine.sql("SELECT 1::HUGEINT AS a, 2::DECIMAL(38, 0) AS a, 3::HUGEINT AS a")
    assert table.schema.types == [pa.int64(), WIDE, pa.int64()]


@pytest.mark.parametrize("rows", [999, 1_000, 5_000])
@pytest.mark.parametrize("values", [[0, -1, 2 * LARGE - 1, -2 * LARGE], [1, None, -7]])
def test_many_integers_of_128_bits_are_handed_out_as_they_are(
    rows: int, values: list[int | None]
) -> None:
    chosen = [values[row % len(values)] for row in range(rows)]
    column = pa.array(chosen, pa.decimal128(38, 0))
    table = pa.table({"a": pa.chunked_array([column[:0], column[:7], column[7:]])})
    schema = ResultSchema.of(table.schema, [duckdb.sqltypes.HUGEINT])
    assert schema.handed_out(table)["a"].to_pylist() == chosen
    assert schema.handed_out(table).schema == pa.schema([("a", pa.int64())])


@pytest.mark.parametrize("beyond", [2 * LARGE, -2 * LARGE - 1, 1 << 100])
def test_one_integer_beyond_64_bits_among_many_is_an_error(beyond: int) -> None:
    column = pa.array([1] * 2_000 + [beyond] + [2] * 2_000, pa.decimal128(38, 0))
    schema = ResultSchema.of(pa.schema([("a", column.type)]), [duckdb.sqltypes.HUGEINT])
    with pytest.raises(QueryTypeError, match="column a has an integer that does not fit"):
        schema.handed_out(pa.table({"a": column}))
