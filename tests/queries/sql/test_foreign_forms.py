"""Syntax of other engines is read, or refused with a hint."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.errors import QueryError, QuerySyntaxError, WindowError
from upstream.queries.sql import ParsedQuery, check, parse, read_query
from upstream.queries.sql.foreign_forms import foreign_form
from upstream.queries.sql.source_text import SourceText
from upstream.queries.sql.window_clause import WindowClause
from upstream.rows.stream_definition import StreamDefinition

from .example_streams import STREAMS, only_window, refused, window


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        (
            "SELECT * FROM TABLE(CUMULATE(TABLE trades, DESCRIPTOR(time), INTERVAL '1' HOUR))",
            "CUMULATE(",
            r"FROM landmark\(trades, INTERVAL",
        ),
        (
            "SELECT * FROM cumulate(DATA => TABLE trades, TIMECOL => DESCRIPTOR(time))",
            "cumulate(",
            r"FROM landmark\(trades, INTERVAL",
        ),
        (
            "SELECT symbol FROM trades WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY symbol EMIT CHANGES",
            "WINDOW",
            r"FROM tumble\(trades, INTERVAL",
        ),
        (
            "SELECT symbol FROM trades WINDOW HOPPING (SIZE 2 DAYS, ADVANCE BY 1 DAY)",
            "WINDOW",
            r"FROM hop\(trades, INTERVAL",
        ),
        (
            "SELECT symbol FROM trades WINDOW SESSION (5 MINUTES) GROUP BY symbol",
            "WINDOW",
            r"FROM session\(trades, INTERVAL",
        ),
        ("SELECT symbol FROM trades EMIT CHANGES", "EMIT", r"continuous_query\(\)"),
        ("SELECT symbol FROM trades GROUP BY symbol EMIT FINAL", "EMIT", "leave it out"),
        ("SELCT symbol FROM trades", "SELCT", r"did you mean SELECT\?"),
        ("CREAT TABLE t (a INT)", "CREAT", r"did you mean CREATE\?"),
    ],
)
def test_forms_of_other_engines_are_recognised(
    text: str, place: str, hint: str, duck: Duck
) -> None:
    for read in (parse, lambda text, duck: read_query(text, STREAMS, duck)):
        with refused(QuerySyntaxError, place, hint):
            read(text, duck)


BID = StreamDefinition(
    "bid",
    pa.schema(
        {
            "bidtime": pa.timestamp("us"),
            "price": pa.decimal128(10, 2),
            "item": pa.string(),
            "supplier_id": pa.string(),
        }
    ),
    ("item",),
    "bidtime",
)
"""The table of the examples in Flink's documentation."""
TRIPS = StreamDefinition(
    "taxi_trips",
    pa.schema({"id": pa.int64(), "completed_at": pa.timestamp("us"), "distance": pa.float64()}),
    ("id",),
    "completed_at",
)
"""That of RisingWave's."""
EXAMPLES = {"bid": BID, "taxi_trips": TRIPS}
MINUTE = 60_000_000


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)",
            window("tumble", "bid", 10 * MINUTE, 10 * MINUTE),
        ),
        (
            """TABLE(
                TUMBLE(
                    DATA => TABLE Bid,
                    TIMECOL => DESCRIPTOR(bidtime),
                    SIZE => INTERVAL '10' MINUTES))""",
            window("tumble", "bid", 10 * MINUTE, 10 * MINUTE),
        ),
        (
            "TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '9' MINUTE))",
            window("tumble", "bid", 60 * MINUTE, 60 * MINUTE, offset=9 * MINUTE),
        ),
        (
            "HOP(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)",
            window("hop", "bid", 10 * MINUTE, 5 * MINUTE),
        ),
        (
            """HOP(DATA => TABLE Bid, TIMECOL => DESCRIPTOR(bidtime),
                SLIDE => INTERVAL '5' MINUTES, SIZE => INTERVAL '10' MINUTES,
                OFFSET => INTERVAL '1' MINUTE)""",
            window("hop", "bid", 10 * MINUTE, 5 * MINUTE, offset=MINUTE),
        ),
        (
            "SESSION(TABLE Bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES)",
            window("session", "bid", 5 * MINUTE, per=("item",)),
        ),
        (
            """SESSION(DATA => TABLE Bid PARTITION BY (item, supplier_id),
                TIMECOL => DESCRIPTOR(bidtime), GAP => INTERVAL '5' MINUTES)""",
            window("session", "bid", 5 * MINUTE, per=("item", "supplier_id")),
        ),
        (
            "SESSION(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES)",
            window("session", "bid", 5 * MINUTE),
        ),
        (
            "TUMBLE (taxi_trips, completed_at, INTERVAL '2 MINUTES')",
            window("tumble", "taxi_trips", 2 * MINUTE, 2 * MINUTE),
        ),
        (
            "HOP (taxi_trips, completed_at, INTERVAL '1 MINUTE', INTERVAL '2 MINUTES')",
            window("hop", "taxi_trips", 2 * MINUTE, MINUTE),
        ),
        (
            "tumble(taxi_trips, completed_at, INTERVAL '1 day', INTERVAL '-1 minute')",
            window("tumble", "taxi_trips", 1440 * MINUTE, 1440 * MINUTE, offset=1439 * MINUTE),
        ),
    ],
)
def test_windows_of_flink_and_risingwave_are_read(
    call: str, expected: WindowClause, duck: Duck
) -> None:
    for alias in ("", " AS w"):
        parsed = read_query(f"SELECT * FROM {call}{alias} WHERE 'é' = 'é'", EXAMPLES, duck)
        assert parsed.windows == (expected,)
        assert check(parsed, EXAMPLES, duck).inner == EXAMPLES[expected.stream].schema


TUMBLING = "TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (
            f"""SELECT window_start, window_end, SUM(price) AS total_price FROM {TUMBLING}
                GROUP BY window_start, window_end""",
            ["window_start", "window_end", "total_price"],
        ),
        (
            f"""SELECT window_start, window_end, supplier_id, SUM(price) AS price FROM {TUMBLING}
                GROUP BY window_start, window_end, GROUPING SETS ((supplier_id), ())""",
            ["window_start", "window_end", "supplier_id", "price"],
        ),
        (
            f"""SELECT * FROM (SELECT *, ROW_NUMBER() OVER (
                    PARTITION BY window_start, window_end ORDER BY price DESC) AS rownum
                FROM (SELECT window_start, window_end, supplier_id, SUM(price) AS price
                    FROM {TUMBLING} GROUP BY window_start, window_end, supplier_id))
                WHERE rownum <= 3""",
            ["window_start", "window_end", "supplier_id", "price", "rownum"],
        ),
        (
            f"""SELECT L.item AS L_Num, R.item AS R_Num,
                COALESCE(L.window_start, R.window_start) AS window_start,
                COALESCE(L.window_end, R.window_end) AS window_end
                FROM (SELECT * FROM {TUMBLING}) L FULL JOIN (SELECT * FROM {TUMBLING}) R
                ON L.item = R.item AND L.window_start = R.window_start
                AND L.window_end = R.window_end""",
            ["L_Num", "R_Num", "window_start", "window_end"],
        ),
        (
            f"""SELECT * FROM (SELECT * FROM {TUMBLING}) L WHERE NOT EXISTS (
                SELECT * FROM (SELECT * FROM {TUMBLING}) R WHERE L.item = R.item
                AND L.window_start = R.window_start AND L.window_end = R.window_end)""",
            BID.schema.names,
        ),
        (
            """SELECT id, completed_at, window_start, window_end
                FROM TUMBLE (taxi_trips, completed_at, INTERVAL '2 MINUTES')
                ORDER BY window_start ASC""",
            ["id", "completed_at", "window_start", "window_end"],
        ),
    ],
    ids=["aggregation", "grouping sets", "top-n", "join", "anti join", "RisingWave"],
)
def test_documented_examples_are_read_as_they_stand(
    text: str, columns: list[str], duck: Duck
) -> None:
    parsed = read_query(text, EXAMPLES, duck)
    assert check(parsed, EXAMPLES, duck).inner.names == columns


@pytest.mark.parametrize(
    ("call", "place", "reason"),
    [
        (
            "TUMBLE(TABLE Bid, DESCRIPTOR(price), INTERVAL '10' MINUTES)",
            "price",
            "the time column of bid is bidtime",
        ),
        ("tumble(Bid, item, INTERVAL '10 minutes')", "item", "the time column of bid is bidtime"),
        (
            "hop(DATA => TABLE Bid, TIMECOL => DESCRIPTOR(item), SIZE => '9 d', SLIDE => '1 day')",
            "item",
            "the time column of bid is bidtime",
        ),
        ("TUMBLE(TABLE Bid, DESCRIPTOR(bidtime))", "TUMBLE(", "tumble needs a size"),
        ("TUMBLE(TABLE Bid, DESCRIPTOR(), '1 day')", "DESCRIPTOR", "time column of bid is bidtime"),
        (
            "HOP(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '0' MINUTES, INTERVAL '1' MINUTE)",
            "INTERVAL '0'",
            "the slide of a window must be greater than zero",
        ),
        (
            "SESSION(TABLE Bid PARTITION BY itm, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES)",
            "itm,",
            "no column itm",
        ),
        (
            "TUMBLE(TABLE Bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES)",
            "PARTITION",
            "expected",
        ),
    ],
)
def test_an_error_in_the_form_of_another_engine_has_its_place(
    call: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(QueryError, place, reason):
        read_query(f"SELECT 1 FROM {call}", EXAMPLES, duck)


@pytest.mark.parametrize(
    "text", ["SELECT a FROM t WINDOW w AS (ORDER BY a)", "SELECT emit FROM t", "SELECT 1"]
)
def test_forms_that_are_also_ours_are_not_foreign(text: str) -> None:
    assert foreign_form(SourceText(text).tokens) is None


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("SELECT * FROM main.trades", "main", "write trades without a schema"),
        ("SELECT k.tick FROM trades SEMI JOIN ticks k ON size = k.tick", "k.tick", "filters"),
        ("SELECT ticks.tick FROM trades", "ticks.tick", "choose one of|did you mean"),
        ('SELECT * FROM trades WHERE symbol = "IBM"', '"IBM"', "single quotes: 'IBM'"),
        ("SELECT symbol, sum(price) FROM tumble(trades, INTERVAL '1 day')", "symbol", "BY ALL"),
        ("SELECT * FROM tumble(companies, INTERVAL '1 day')", "companies", "companies is a table"),
        ("SELECT * FROM landmark(trades, INTERVAL '1 month')", "INTERVAL", "'30 days'.*'month'"),
    ],
)
def test_an_ambiguous_query_is_refused_with_a_hint(
    text: str, place: str, hint: str, duck: Duck
) -> None:
    with refused(QueryError, place, hint):
        check(read_query(text, STREAMS, duck), STREAMS, duck)


TUMBLE = window("tumble", "trades", MINUTE, MINUTE)
BOUNDS = """STRUCT_PACK("start" := (SELECT window_start FROM bounds_0),
    "end" := (SELECT window_end FROM bounds_0))"""


def read(text: str, duck: Duck) -> ParsedQuery:
    parsed = read_query(text, STREAMS, duck)
    check(parsed, STREAMS, duck)
    return parsed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            """SELECT tumble(interval '1 minute') AS window, count(*) AS n FROM trades
                GROUP BY window""",
            f"""SELECT {BOUNDS} AS "window", COUNT(*) AS n FROM chunk_0 AS trades
                HAVING COUNT(*) > 0""",
        ),
        (
            """SELECT tumble(interval '1 minute') as window, symbol, count(*) AS n FROM trades
                GROUP BY 1, 2""",
            f"""SELECT {BOUNDS} AS "window", symbol, COUNT(*) AS n FROM chunk_0 AS trades
                GROUP BY 2""",
        ),
        (
            """SELECT symbol, w.start, w.end AS until, tumble(interval '1 minute') AS w
                FROM trades t JOIN companies c USING (symbol) GROUP BY w, symbol
                HAVING w.end > '2020-01-01'""",
            f"""SELECT symbol, (SELECT window_start FROM bounds_0) AS "start",
                (SELECT window_end FROM bounds_0) AS until, {BOUNDS} AS w
                FROM chunk_0 AS t JOIN companies AS c USING (symbol) GROUP BY symbol
                HAVING (SELECT window_end FROM bounds_0) > '2020-01-01'""",
        ),
        (
            "SELECT count(*) AS n FROM trades GROUP BY tumble(interval '1 minute')",
            "SELECT COUNT(*) AS n FROM chunk_0 AS trades HAVING COUNT(*) > 0",
        ),
        (
            """SELECT window.start, n FROM (SELECT tumble(interval '1 minute') AS window,
                count(*) AS n FROM trades GROUP BY window)""",
            f"""SELECT "window".start, n FROM (SELECT {BOUNDS} AS "window",
                COUNT(*) AS n FROM chunk_0 AS trades HAVING COUNT(*) > 0)""",
        ),
        (
            """SELECT tumble(interval '1 minute') AS window, rank() OVER w AS r FROM trades
                GROUP BY window WINDOW w AS (ORDER BY count(*))""",
            f"""SELECT {BOUNDS} AS "window", RANK() OVER w AS r FROM chunk_0 AS trades
                HAVING COUNT(*) > 0 WINDOW w AS (ORDER BY COUNT(*))""",
        ),
    ],
)
def test_the_value_of_a_window_is_its_bounds(text: str, expected: str, duck: Duck) -> None:
    parsed = read(text, duck)
    assert parsed.query.sql("duckdb") == " ".join(expected.split())
    assert parsed.windows == (TUMBLE,)
    assert parsed.text == text


def test_the_width_of_a_hop_comes_behind_its_slide(duck: Duck) -> None:
    text = """SELECT hop(interval '1 minute', interval '5 minutes') AS window, avg(price)
        FROM trades GROUP BY window"""
    assert only_window(read(text, duck).windows) == window("hop", "trades", 5 * MINUTE, MINUTE)


@pytest.mark.parametrize(
    ("group", "per"),
    [
        ("window", ()),
        ("window, symbol", ("symbol",)),
        ("1, 2, t.size", ("symbol", "size")),
        ("s, window", ("symbol",)),
    ],
)
def test_a_session_is_of_what_is_grouped_by_beside_it(
    group: str, per: tuple[str, ...], duck: Duck
) -> None:
    text = f"""SELECT session(interval '5 minutes') AS window, any_value(symbol) AS x
        FROM trades t GROUP BY {group}"""
    text = text if per == () else text.replace("any_value(symbol) AS x", "symbol AS s")
    assert only_window(read(text, duck).windows) == window("session", "trades", 5 * MINUTE, per=per)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (
            "SELECT 1, tumble(interval '1 minute') AS w FROM companies GROUP BY w",
            "tumble(",
            "the one stream in FROM, and here there is none",
        ),
        (
            "SELECT tumble(interval '1 minute') AS w FROM trades, ticks GROUP BY w",
            "tumble(",
            "here there are 2",
        ),
        (
            "WITH x AS (FROM trades) SELECT tumble(interval '1 minute') AS w FROM x GROUP BY w",
            "tumble(",
            "here is none",
        ),
        (
            "WITH trades AS (FROM ticks) SELECT tumble(interval '1 minute') AS w FROM trades",
            "tumble(",
            "here is none",
        ),
        (
            "SELECT tumble(interval '1 minute'), tumble(interval '2 minutes') FROM trades",
            "tumble(interval '2",
            "have only one window",
        ),
        (
            "SELECT session(interval '1 minute') AS w FROM trades GROUP BY w, upper(symbol)",
            "upper(",
            "define the groups of a session",
        ),
        (
            "SELECT session(interval '1 minute') AS w, symbol FROM trades GROUP BY ALL",
            "session(",
            "define the groups of a session",
        ),
        (
            "SELECT hop(interval '0 minutes', interval '1 minute') AS w FROM trades",
            "hop(",
            "the slide of a window must be greater than zero",
        ),
        (
            "SELECT tumble(interval '1 minute') AS w FROM news GROUP BY w",
            "tumble(",
            "has no time column",
        ),
    ],
)
def test_a_window_that_is_not_clear_is_refused_where_it_is(
    text: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(WindowError, place, reason) as caught:
        read(text, duck)
    assert caught.value.hint
