"""Arroyo's windows among the values give the stream of FROM a window."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.errors import WindowError
from upstream.queries.sql import ParsedQuery, check, read_query
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

from .example_streams import STREAMS, only_window, shown

MINUTE = 60_000_000
TUMBLE = WindowClause(WindowKind.TUMBLE, "trades", Axis.SOURCE, MINUTE, MINUTE)
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
    assert only_window(read(text, duck).windows) == WindowClause(
        WindowKind.HOP, "trades", Axis.SOURCE, 5 * MINUTE, MINUTE
    )


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
    assert only_window(read(text, duck).windows) == WindowClause(
        WindowKind.SESSION, "trades", Axis.SOURCE, 5 * MINUTE, per=per
    )


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (
            "SELECT 1, tumble(interval '1 minute') AS w FROM companies GROUP BY w",
            "tumble(",
            "over the one stream in FROM, and here is none",
        ),
        (
            "SELECT tumble(interval '1 minute') AS w FROM trades, ticks GROUP BY w",
            "tumble(",
            "here are 2",
        ),
        (
            "WITH x AS (FROM trades) SELECT tumble(interval '1 minute') AS w FROM x GROUP BY w",
            "tumble(",
            "here is none",
        ),
        (
            "SELECT tumble(interval '1 minute'), tumble(interval '2 minutes') FROM trades",
            "tumble(interval '2",
            "has one window",
        ),
        (
            "SELECT session(interval '1 minute') AS w FROM trades GROUP BY w, upper(symbol)",
            "upper(",
            "of the columns that are grouped by",
        ),
        (
            "SELECT session(interval '1 minute') AS w, symbol FROM trades GROUP BY ALL",
            "session(",
            "of the columns that are grouped by",
        ),
        (
            "SELECT hop(interval '0 minutes', interval '1 minute') AS w FROM trades",
            "hop(",
            "the slide of a window has to be greater than zero",
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
    with pytest.raises(WindowError, match=reason) as caught:
        read(text, duck)
    assert shown(caught).startswith(place)
    assert caught.value.hint
