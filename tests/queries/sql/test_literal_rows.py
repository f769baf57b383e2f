"""Literals are read as DuckDB reads them, or left to it."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.database.duck import Duck
from upstream.errors import QueryError
from upstream.queries.sql import InsertInto, inserting, parse
from upstream.queries.sql.literal_rows import rows_of_literals
from upstream.rows.stream_definition import StreamDefinition

SCHEMA = pa.schema(
    {
        "time": pa.timestamp("us"),
        "k": pa.string(),
        "price": pa.float64(),
        "size": pa.int32(),
        "day": pa.date32(),
        "cost": pa.decimal128(9, 2),
        "is_new": pa.bool_(),
        "zoned": pa.timestamp("us", "UTC"),
    }
)
STREAM = StreamDefinition("s", SCHEMA, (), None)


def statement(text: str, duck: Duck) -> InsertInto:
    parsed = parse(text, duck)
    assert isinstance(parsed, InsertInto)
    return parsed


@pytest.mark.parametrize(
    ("values", "row"),
    [
        ("k) VALUES ('it''s \\n')", {"k": "it's \\n"}),
        ("k, price) VALUES ('a', 1.5)", {"k": "a", "price": 1.5}),
        ("price, size) VALUES (-2, -3)", {"price": -2.0, "size": -3}),
        ("SIZE, cost) VALUES (007, 12.50)", {"size": 7, "cost": Decimal("12.50")}),
        ("is_new, k) VALUES (TRUE, NULL)", {"is_new": True}),
    ],
)
def test_plain_literals_are_read(values: str, row: dict[str, object], duck: Duck) -> None:
    rows = rows_of_literals(statement(f"INSERT INTO s ({values}", duck), STREAM)
    assert rows is not None
    assert rows.schema == SCHEMA
    assert rows.to_pylist() == [dict.fromkeys(SCHEMA.names) | row]


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO s (k) SELECT 'a'",
        "WITH x AS (SELECT 1) INSERT INTO s (k) VALUES ('a')",
        "INSERT INTO s BY NAME VALUES ('a')",
        "INSERT INTO s (k) VALUES ('a') RETURNING *",
        "INSERT INTO s (k) VALUES (E'a\\n')",
        "INSERT INTO s (k) VALUES ($$a$$)",
        "INSERT INTO s (k) VALUES (upper('a'))",
        "INSERT INTO s (k) VALUES (DEFAULT)",
        "INSERT INTO s (k) VALUES ('a' 'b')",
        "INSERT INTO s (k) VALUES (7)",
        "INSERT INTO s (k, k) VALUES ('a', 'b')",
        "INSERT INTO s (none) VALUES ('a')",
        "INSERT INTO s (k, size) VALUES ('a')",
        "INSERT INTO s (size) VALUES ('1')",
        "INSERT INTO s (size) VALUES (1.5)",
        "INSERT INTO s (size) VALUES (5000000000)",
        "INSERT INTO s (price) VALUES (1e5)",
        "INSERT INTO s (price) VALUES (1), (1.5)",
        "INSERT INTO s (price) VALUES (+1)",
        "INSERT INTO s (time) VALUES ('2026-01-01T00:00:00Z')",
        "INSERT INTO s (time) VALUES ('2026-02-30')",
        "INSERT INTO s (time) VALUES ('2026-01-01 24:00:00')",
        "INSERT INTO s (time) VALUES ('2026-01-01 00:00:00.1234567')",
        "INSERT INTO s (zoned) VALUES ('2026-01-01 00:00:00')",
        "INSERT INTO s (day) VALUES ('2026-01-01 00:00:00')",
    ],
)
def test_whatever_else_there_is_is_left_to_duckdb(text: str, duck: Duck) -> None:
    assert rows_of_literals(statement(text, duck), STREAM) is None


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
LITERALS = {
    "k": TEXT.map(lambda text: "'" + text.replace("'", "''") + "'"),
    "price": st.one_of(
        st.integers(-(10**17), 10**17).map(str),
        st.decimals(-1000, 1000, places=3, allow_nan=False).map(str),
    ),
    "size": st.integers(-(2**31), 2**31).map(str),
    "cost": st.decimals(-10_000, 10_000, places=2).map(str),
    "is_new": st.sampled_from(["TRUE", "false"]),
    "time": st.datetimes().map(lambda each: f"'{each}'"),
    "day": st.dates().map(lambda each: f"'{each}'"),
}


@pytest.mark.parametrize("column", LITERALS)
def test_a_literal_is_what_duckdb_takes_it_for(column: str, duck: Duck) -> None:
    value = st.one_of(st.just("NULL"), LITERALS[column])

    @given(st.lists(value, min_size=1, max_size=3))
    @settings(max_examples=40, deadline=None)
    def check(values: list[str]) -> None:
        text = f"INSERT INTO s ({column}) VALUES {', '.join(f'({value})' for value in values)}"
        insert = statement(text, duck)
        rows = rows_of_literals(insert, STREAM)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(inserting, "rows_of_literals", lambda *_: None)
            try:
                expected = inserting.rows_to_insert(insert, STREAM, duck, {})
            except QueryError:
                expected = None
        assert rows is None or rows.equals(expected)

    check()
