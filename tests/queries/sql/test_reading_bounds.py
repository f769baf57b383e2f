"""The names of bounds behave like columns of the window."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.errors import QueryError, UnknownColumnError
from upstream.queries.sql import ParsedQuery, check, check_constants, read_query
from upstream.rows.stream_definition import StreamDefinition

from .example_streams import STREAMS, refused

OWN = StreamDefinition("own", pa.schema({"t": pa.int64(), "Window_Start": pa.string()}), (), "t")
"""A stream with a column of that name."""
START, END = "(SELECT window_start FROM bounds_0)", "(SELECT window_end FROM bounds_0)"
OTHER = "(SELECT window_start FROM bounds_1)"


def read(text: str, duck: Duck | None = None) -> ParsedQuery:
    return read_query(text, STREAMS | {"own": OWN}, duck)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT window_start, WINDOW_END AS e FROM tumble(ticks, 10)",
            f"SELECT {START} AS window_start, {END} AS e FROM chunk_0 AS ticks",
        ),
        (
            "SELECT t.Window_Start, (window_end) FROM hop(ticks, 10, 5) t",
            f"SELECT {START} AS window_start, {END} AS window_end FROM chunk_0 AS t",
        ),
        (
            "SELECT * FROM tumble(ticks, 10) WHERE tick > window_end - 3",
            f"SELECT * FROM chunk_0 AS ticks WHERE tick > {END} - 3",
        ),
        (
            "SELECT b.window_start FROM tumble(ticks, 10) a, tumble(ticks, 20) b",
            f"SELECT {OTHER} AS window_start FROM chunk_0 AS a, chunk_1 AS b",
        ),
        (
            "SELECT b.window_start FROM tumble(ticks, 10) a, tumble(ticks, 10) b",
            f"SELECT {START} AS window_start FROM chunk_0 AS a, chunk_1 AS b",
        ),
        (
            "SELECT window_start FROM tumble(ticks, 10) a, latest(news) b",
            f"SELECT {START} AS window_start FROM chunk_0 AS a, chunk_1 AS b",
        ),
        (
            "SELECT window_start FROM tumble(ticks, 10) a, (SELECT k FROM latest(news)) x",
            f"""SELECT {START} AS window_start
                FROM chunk_0 AS a, (SELECT k FROM chunk_1 AS news) AS x""",
        ),
        (
            "SELECT window_start FROM tumble(ticks, 10), companies",
            f"SELECT {START} AS window_start FROM chunk_0 AS ticks, companies",
        ),
        (
            "SELECT window_start FROM (tumble(ticks, 10) JOIN companies ON true)",
            f"SELECT {START} AS window_start FROM (chunk_0 AS ticks JOIN companies ON TRUE)",
        ),
        (
            """SELECT (SELECT max(k) FROM latest(days) WHERE k > window_start) AS m
                FROM tumble(ticks, 10)""",
            f"""SELECT (SELECT MAX(k) FROM chunk_0 AS days WHERE k > {OTHER}) AS m
                FROM chunk_1 AS ticks""",
        ),
        (
            "SELECT window_start FROM (SELECT window_start FROM tumble(ticks, 10)) x",
            f"SELECT window_start FROM (SELECT {START} AS window_start FROM chunk_0 AS ticks) AS x",
        ),
        (
            "SELECT x.window_end FROM (SELECT * FROM tumble(ticks, 10) WHERE tick > 3) x",
            f"SELECT {END} AS window_end FROM (SELECT * FROM chunk_0 AS ticks WHERE tick > 3) AS x",
        ),
        (
            """WITH x AS (SELECT t.* EXCLUDE (sensor) FROM tumble(ticks, 10) t, companies)
                SELECT window_end FROM x""",
            f"""WITH x AS (SELECT t.* EXCLUDE (sensor) FROM chunk_0 AS t, companies)
                SELECT {END} AS window_end FROM x""",
        ),
        (
            "WITH x AS (SELECT window_end, * FROM tumble(ticks, 10)) SELECT window_end FROM x",
            f"""WITH x AS (SELECT {END} AS window_end, * FROM chunk_0 AS ticks)
                SELECT window_end FROM x""",
        ),
    ],
)
def test_a_bound_is_read_from_the_table_of_its_window(text: str, expected: str, duck: Duck) -> None:
    parsed = read(text, duck)
    assert parsed.query.sql("duckdb") == " ".join(expected.split())
    check(parsed, STREAMS, duck)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT window_start FROM tumble(own, 10)",
        "SELECT own.window_start FROM tumble(own, 10)",
        "SELECT window_end FROM tumble(own, 10) AS x(a, window_end)",
        "SELECT tick % 7 AS window_start FROM tumble(ticks, 10) GROUP BY window_start",
        "SELECT tick AS window_end FROM tumble(ticks, 10) ORDER BY window_end",
        "SELECT 1 AS window_end, window_end + 1 AS more FROM tumble(ticks, 10)",
        "SELECT x.window_start FROM tumble(ticks, 10), (SELECT 1 AS window_start) x",
        "SELECT list_transform([{'window_end': 1}], lambda x: x.window_end) FROM tumble(ticks, 10)",
        "SELECT window_end FROM landmark(ticks) AS x(window_end)",
        "WITH w AS (SELECT 1 AS window_end) SELECT window_end FROM w, landmark(ticks)",
    ],
)
def test_a_column_or_an_alias_of_the_name_comes_first(text: str, duck: Duck) -> None:
    parsed = read(text, duck)
    assert parsed.bounds == frozenset()
    check(parsed, STREAMS | {"own": OWN}, duck)


@pytest.mark.parametrize(
    ("join", "start", "end"),
    [
        ("a LEFT JOIN tumble(ticks, 10) b", START, ("b", "sensor")),
        ("a RIGHT JOIN tumble(ticks, 10) b", ("a", "sensor"), END),
        ("a FULL JOIN tumble(ticks, 10) AS b(x, y)", ("a", "sensor"), ("b", "y")),
        ("a FULL JOIN (SELECT * FROM tumble(ticks, 10)) b", ("a", "sensor"), ("b", "sensor")),
        ("a JOIN companies ON true LEFT JOIN tumble(ticks, 10) b", START, ("b", "sensor")),
        ("a LEFT JOIN companies ON true JOIN tumble(ticks, 10) b", START, END),
    ],
)
def test_a_bound_is_null_where_an_outer_join_has_no_row(
    join: str, start: str | tuple[str, str], end: str | tuple[str, str], duck: Duck
) -> None:
    def value(bound: str, found: str | tuple[str, str]) -> str:
        if isinstance(found, str):
            return bound
        return f'CASE WHEN NOT "{found[0]}"."{found[1]}" IS NULL THEN {bound} END'

    text = f"SELECT a.window_start, b.window_end FROM tumble(ticks, 10) {join}"
    parsed = read(f"{text} ON a.window_start = b.window_start", duck)
    items = [item.unalias().sql("duckdb") for item in parsed.query.selects]
    assert items == [value(START, start), value(END, end)]
    assert parsed.query.sql("duckdb").endswith("ON TRUE")
    check(parsed, STREAMS, duck)


def test_an_outer_join_in_brackets_may_add_null_rows(duck: Duck) -> None:
    text = """SELECT window_end FROM (companies LEFT JOIN tumble(ticks, 10) b ON true)"""
    assert "CASE WHEN" in read(text, duck).query.sql("duckdb")


def test_a_stream_whose_columns_may_all_be_null_has_no_bounds_in_an_outer_join(duck: Duck) -> None:
    stream = StreamDefinition("s", pa.schema({"n": pa.int64()}), (), None)
    text = "SELECT s.window_end FROM companies LEFT JOIN rows(s, 3) ON true"
    with refused(UnknownColumnError, "s.window_end", "is NULL where s has no row"):
        read_query(text, {"s": stream}, duck)


def test_a_bound_in_the_definition_of_an_alias_is_the_bound(duck: Duck) -> None:
    parsed = read("SELECT window_end + 1 AS window_end FROM tumble(ticks, 10)", duck)
    assert parsed.query.sql("duckdb") == f"SELECT {END} + 1 AS window_end FROM chunk_0 AS ticks"


def test_a_star_leaves_the_bounds_out(duck: Duck) -> None:
    parsed = read("SELECT * FROM tumble(ticks, 10) WHERE window_end > 3", duck)
    assert check(parsed, STREAMS, duck).inner.names == ["tick", "sensor"]


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (
            "SELECT 1, window_start FROM tumble(ticks, 10) a, tumble(ticks, 10) b",
            "window_start FROM",
            r"several relations may have window_start[^$]*write a\.window_start",
        ),
        (
            "SELECT window_end FROM tumble(ticks, 10), (SELECT 1 AS window_end) x",
            "window_end",
            "several relations may have window_end",
        ),
        (
            "SELECT window_end FROM tumble(ticks, 10), read_csv('x.csv')",
            "window_end",
            "several relations may have window_end",
        ),
        (
            "SELECT window_end FROM tumble(ticks, 10), (SELECT * FROM read_csv('x.csv')) x",
            "window_end",
            "several relations may have window_end",
        ),
        (
            "SELECT tick, window_end FROM landmark(ticks)",
            "window_end",
            r"landmark\(ticks\) has no window_end[^$]*tumble, hop, rows, session and epochs",
        ),
        ("SELECT x.window_end FROM landmark(ticks) x", "x.window_end", "has no window_end"),
    ],
)
def test_a_name_that_is_not_clear_is_refused_where_it_is(
    text: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(UnknownColumnError, place, reason):
        read(text, duck)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT window_start FROM ticks",
        "SELECT window_start FROM latest(ticks)",
        "SELECT x.window_start FROM tumble(ticks, 10) t",
        "SELECT main.t.window_start FROM tumble(ticks, 10) t",
        "SELECT window_start FROM companies",
        "WITH x AS (SELECT window_start) SELECT (SELECT 1 FROM x) AS y FROM tumble(ticks, 10)",
        "SELECT window_end FROM (SELECT tick FROM tumble(ticks, 10))",
        "SELECT window_start FROM (SELECT tick FROM tumble(ticks, 10) GROUP BY tick)",
        "SELECT window_start FROM (SELECT u.* FROM tumble(ticks, 10) t, tumble(ticks, 10) u)",
    ],
)
def test_without_a_window_there_are_no_bounds(text: str, duck: Duck) -> None:
    parsed = read(text, duck)
    assert parsed.bounds == frozenset()
    with pytest.raises(QueryError, match=r"window_(start|end)|no source named|table named"):
        check(parsed, STREAMS, duck)


def test_an_error_about_a_bound_has_its_place(duck: Duck) -> None:
    parsed = read("SELECT tick FROM tumble(trades, '1 day') t(tick) WHERE window_end > 'x'", duck)
    check(parsed, STREAMS, duck)
    with refused(QueryError, "window_end"):
        check_constants(parsed, STREAMS, duck)
    with pytest.raises(QueryError, match=r"window_end[^$]*in the select list where the window is"):
        check(read("SELECT window_end FROM (SELECT 1 FROM tumble(ticks, 10))", duck), STREAMS, duck)
    with pytest.raises(QueryError, match="no column named wndow_end"):
        check(read("SELECT wndow_end FROM tumble(ticks, 10)", duck), STREAMS, duck)
