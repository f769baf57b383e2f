"""Rows of INSERT INTO fit the stream; otherwise none is accepted, and the value is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.database.duck import Duck
from upstream.errors import (
    QueryError,
    QuerySyntaxError,
    QueryTypeError,
    StatementError,
    UnknownColumnError,
    UnknownTableError,
)
from upstream.queries.sql import InsertInto, inserting, parse, rows_to_insert
from upstream.queries.sql.inserting import place_of_value, rows_of_literals
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables.relation import Condition, Relation, TimeRange

from .example_streams import STREAMS, refused, shown

MIDNIGHT = datetime(2026, 1, 1)
QUOTES = pa.table({"s": ["IBM"], "n": pa.array([7], pa.int64())})


class Quotes:
    """A stream of these rows, which counts how often it is scanned."""

    definition = StreamDefinition("quotes", QUOTES.schema, (), None)
    scans = 0

    def scan(
        self,
        columns: Sequence[str] | None = None,
        conditions: Sequence[Condition] = (),
        between: TimeRange | None = None,
    ) -> pa.Table:
        self.scans += 1
        return QUOTES if columns is None else QUOTES.select([*columns])


def statement(text: str, duck: Duck) -> InsertInto:
    parsed = parse(text, duck)
    assert isinstance(parsed, InsertInto)
    return parsed


def inserted(
    text: str, duck: Duck, streams: Mapping[str, Relation] | None = None
) -> list[dict[str, object]]:
    trades = STREAMS["trades"]
    rows = rows_to_insert(statement(text, duck), trades, duck, streams or {"quotes": Quotes()})
    assert rows.schema == trades.schema
    listed: list[dict[str, object]] = rows.to_pylist()
    return listed


ROW = {"time": MIDNIGHT, "symbol": "IBM", "price": None, "size": None}


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("INSERT INTO trades VALUES ('2026-01-01', 'IBM', 1.5, 3)", {"price": 1.5, "size": 3}),
        ("INSERT INTO trades VALUES ('2026-01-01', 'IBM', 1, '3')", {"price": 1.0, "size": 3}),
        ("INSERT INTO trades VALUES ('2026-01-01', 'IBM', NULL, NULL)", {}),
        ("INSERT INTO trades (symbol, TIME) VALUES ('IBM', DATE '2026-01-01')", {}),
        ("INSERT INTO trades BY NAME SELECT 'IBM' AS symbol, '2026-01-01' AS time", {}),
        (
            "INSERT INTO trades (size, symbol, time) SELECT n, s, '2026-01-01' FROM Quotes",
            {"size": 7},
        ),
        (
            """WITH q AS (FROM quotes) INSERT INTO trades (size, symbol, time)
                SELECT q.n, q.s, TIMESTAMP '2026-01-01' FROM q""",
            {"size": 7},
        ),
        (
            """INSERT INTO trades (size, symbol, time)
                WITH quotes AS (SELECT 8 AS n) SELECT n, 'IBM', '2026-01-01' FROM quotes""",
            {"size": 8},
        ),
    ],
)
def test_rows_are_read_as_the_types_of_the_stream(
    text: str, rest: dict[str, object], duck: Duck
) -> None:
    assert inserted(text, duck) == [ROW | rest]


def test_only_streams_that_the_query_names_are_scanned(duck: Duck) -> None:
    named, other = Quotes(), Quotes()
    streams = {"quotes": named, "trades": other}
    inserted("INSERT INTO trades VALUES ('2026-01-01 00:00:00', 'quotes', 1.5, 3)", duck, streams)
    inserted("INSERT INTO trades VALUES ('2026-01-01', upper('ibm'), 1.5, 3)", duck, streams)
    assert (named.scans, other.scans) == (0, 0)
    text = "INSERT INTO trades (time, symbol) SELECT '2026-01-01', s FROM quotes"
    inserted(text, duck, streams)
    assert (named.scans, other.scans) == (1, 0)


def test_several_rows_are_several_rows(duck: Duck) -> None:
    text = "INSERT INTO trades (time, symbol) VALUES ('2026-01-01', 'IBM'), ('2026-01-01', 'IBM')"
    assert inserted(text, duck) == [ROW, ROW]
    nothing = "INSERT INTO trades (time, symbol) SELECT '2026-01-01', s FROM quotes WHERE n > 7"
    assert inserted(nothing, duck) == []


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("INSERT INTO trades VALUES ('2026-01-01', 'IBM', 1, 1.7)", "1.7)", "does not fit into"),
        ("INSERT INTO trades VALUES ('2026-01-01', 'IBM', 1, 5000000000)", "5000", "INTEGER"),
        (
            "INSERT INTO trades VALUES ('2026-01-01', 7, 1, 1)",
            "7,",
            "cannot be converted to VARCHAR",
        ),
        (
            "INSERT INTO trades VALUES ('2026-01-01', 'IBM', 1, 1), (NULL, 'A', 1, 1)",
            "NULL",
            "^column time is NULL",
        ),
        ("INSERT INTO trades (time) VALUES ('2026-01-01')", "trades", "^column symbol is missing"),
        (
            "INSERT INTO trades (time, symbol) SELECT '2026-01-01', n FROM quotes",
            "trades",
            "BIGINT",
        ),
    ],
)
def test_rows_that_do_not_fit_are_an_error_where_the_value_is(
    text: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(QueryTypeError, place, reason):
        inserted(text, duck)


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("INSERT INTO trades VALUES ('soon', 'IBM', 1, 1)", QueryTypeError, "'soon'"),
        (
            "INSERT INTO trades VALUES ('2026-01-01', 'A', '1', 1), ('2026-01-01', 'B', 'x', 1)",
            QueryTypeError,
            "'x'",
        ),
        ("INSERT INTO trades VALUES ('2026-01-01', 'IBM')", QueryTypeError, "trades"),
        ("INSERT INTO trades (time, smbol) VALUES (1, 2)", UnknownColumnError, "smbol)"),
        ("INSERT INTO trades (time, time) VALUES (1, 2)", StatementError, "time) V"),
        ("INSERT INTO trades SELECT m FROM quotes", UnknownColumnError, "m FROM"),
        ("INSERT INTO trades SELECT 1 FROM quote", UnknownTableError, "quote"),
        ("INSERT INTO trades VALUES (1, 2), (3)", QuerySyntaxError, "trades"),
        ("INSERT INTO trades DEFAULT VALUES", StatementError, "trades"),
        ("INSERT OR REPLACE INTO trades VALUES (1)", StatementError, "trades"),
        ("INSERT INTO trades VALUES (1) ON CONFLICT DO NOTHING", StatementError, "trades"),
        ("INSERT INTO trades VALUES (1) RETURNING *", StatementError, "trades"),
    ],
)
def test_a_statement_that_does_not_fit_is_shown_where_it_is(
    text: str, kind: type[QueryError], place: str, duck: Duck
) -> None:
    with pytest.raises(kind) as caught:
        inserted(text, duck)
    assert type(caught.value) is kind
    assert shown(caught).startswith(place)


def shown_at(text: str, row: int, column: int | None, duck: Duck) -> str:
    return text[place_of_value(statement(text, duck), row, column) :]


PLACED = "INSERT INTO s (a, b) VALUES (1, -2),\n ((3), f(4, [5, 6])), ({'a': 7, 'b': 8}, NULL)"


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        (0, 0, "1,"),
        (0, 1, "-2)"),
        (1, 0, "(3),"),
        (1, 1, "f(4"),
        (2, 0, "{'a'"),
        (2, 1, "NULL"),
        (2, None, "s ("),
        (2, 2, "s ("),
        (3, 0, "s ("),
    ],
)
def test_a_value_is_where_its_text_begins(
    row: int, column: int | None, value: str, duck: Duck
) -> None:
    assert shown_at(PLACED, row, column, duck).startswith(value)


def test_a_query_has_no_places_of_values(duck: Duck) -> None:
    assert shown_at("INSERT INTO s SELECT 1", 0, 0, duck) == "s SELECT 1"


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
def test_everything_else_is_left_to_duckdb(text: str, duck: Duck) -> None:
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
