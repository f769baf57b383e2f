"""Grouping, ordering and comparing by bounds alone is left out, and changes no result."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.errors import WindowError
from upstream.queries.sql import read_query

from .example_streams import STREAMS, shown

START = "(SELECT window_start FROM bounds_0)"
END = "(SELECT window_end FROM bounds_0)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT window_start, sensor FROM tumble(ticks, 10) t GROUP BY window_start, sensor",
            f"SELECT {START} AS window_start, sensor FROM chunk_0 AS t GROUP BY sensor",
        ),
        (
            "SELECT sensor, window_start FROM tumble(ticks, 10) t GROUP BY 1, 2",
            f"SELECT sensor, {START} AS window_start FROM chunk_0 AS t GROUP BY 1",
        ),
        (
            "SELECT window_start, sensor FROM tumble(ticks, 10) t GROUP BY ALL",
            f"SELECT {START} AS window_start, sensor FROM chunk_0 AS t GROUP BY 2",
        ),
        (
            "SELECT window_start AS s, sum(tick) AS n FROM tumble(ticks, 10) t GROUP BY s",
            f"SELECT {START} AS s, SUM(tick) AS n FROM chunk_0 AS t HAVING COUNT(*) > 0",
        ),
        (
            "SELECT sum(tick) AS n FROM tumble(ticks, 10) t GROUP BY t.window_end HAVING n > 3",
            "SELECT SUM(tick) AS n FROM chunk_0 AS t HAVING n > 3 AND COUNT(*) > 0",
        ),
        (
            """SELECT sum(tick) AS n FROM tumble(ticks, 10) t GROUP BY window_end
                HAVING n > 3 OR n < 1""",
            "SELECT SUM(tick) AS n FROM chunk_0 AS t HAVING (n > 3 OR n < 1) AND COUNT(*) > 0",
        ),
        (
            "SELECT window_end // 10 AS d, sum(tick) AS n FROM tumble(ticks, 10) t GROUP BY d",
            f"SELECT {END} // 10 AS d, SUM(tick) AS n FROM chunk_0 AS t HAVING COUNT(*) > 0",
        ),
        (
            "SELECT window_end // 10 AS d, count(*) AS n FROM tumble(ticks, 10) t GROUP BY ALL",
            f"SELECT {END} // 10 AS d, COUNT(*) AS n FROM chunk_0 AS t HAVING COUNT(*) > 0",
        ),
        (
            "SELECT sensor FROM tumble(ticks, 10) t GROUP BY (window_start), ROLLUP (sensor)",
            "SELECT sensor FROM chunk_0 AS t GROUP BY ROLLUP (sensor) HAVING COUNT(*) > 0",
        ),
        (
            "SELECT tick FROM tumble(ticks, 10) t ORDER BY window_end DESC, tick",
            "SELECT tick FROM chunk_0 AS t ORDER BY tick",
        ),
        (
            "SELECT window_start, tick FROM tumble(ticks, 10) t ORDER BY 1, window_start",
            f"SELECT {START} AS window_start, tick FROM chunk_0 AS t",
        ),
        (
            """SELECT a.tick FROM tumble(ticks, 10) a JOIN tumble(ticks, 10) b
                ON (a.tick = b.tick AND a.window_start = b.window_start)""",
            "SELECT a.tick FROM chunk_0 AS a JOIN chunk_1 AS b ON a.tick = b.tick",
        ),
        (
            """SELECT a.tick FROM tumble(ticks, 10) a LEFT JOIN tumble(ticks, 10) b
                ON a.window_end = (b.window_end)""",
            "SELECT a.tick FROM chunk_0 AS a LEFT JOIN chunk_1 AS b ON TRUE",
        ),
        (
            """SELECT a.tick FROM tumble(ticks, 10) a, tumble(ticks, 10) b
                WHERE a.window_start = b.window_start""",
            "SELECT a.tick FROM chunk_0 AS a, chunk_1 AS b",
        ),
    ],
)
def test_what_is_constant_is_left_out(text: str, expected: str, duck: Duck) -> None:
    assert read_query(text, STREAMS, duck).query.sql("duckdb") == expected


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("GROUP BY window_end + tick", f"GROUP BY {END} + tick"),
        ("GROUP BY window_end + random()", f"GROUP BY {END} + RANDOM()"),
        ("GROUP BY window_end + (SELECT 1)", f"GROUP BY {END} + (SELECT 1)"),
        ("ORDER BY tick - window_end", f"ORDER BY tick - {END}"),
        ("WHERE window_start = window_end", f"WHERE {START} = {END}"),
        ("WHERE window_end = 10 OR window_end = window_end", None),
    ],
)
def test_what_is_not_constant_stays(clause: str, expected: str | None, duck: Duck) -> None:
    parsed = read_query(f"SELECT 1 AS one FROM tumble(ticks, 10) t {clause}", STREAMS, duck)
    written = parsed.query.sql("duckdb")
    expected = expected or f"WHERE {END} = 10 OR {END} = {END}"
    assert written == f"SELECT 1 AS one FROM chunk_0 AS t {expected}"


def test_bounds_of_different_windows_are_compared(duck: Duck) -> None:
    text = """SELECT a.tick FROM tumble(ticks, 10) a JOIN tumble(ticks, 20) b
        ON a.window_start = b.window_start"""
    on = "(SELECT window_start FROM bounds_0) = (SELECT window_start FROM bounds_1)"
    assert f"ON {on}" in read_query(text, STREAMS, duck).query.sql("duckdb")


def test_without_the_functions_of_duckdb_only_bare_bounds_are_constant() -> None:
    text = "SELECT window_end + 1 AS e FROM tumble(ticks, 10) GROUP BY window_end, e"
    assert read_query(text, STREAMS).query.sql("duckdb").endswith("GROUP BY e")
    text = "SELECT window_end, sensor FROM tumble(ticks, 10) GROUP BY ALL"
    assert read_query(text, STREAMS).query.sql("duckdb").endswith("GROUP BY ALL")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT window_start, sensor FROM tumble(ticks, 10) GROUP BY ROLLUP (window_start, sensor)",
        "SELECT window_start, sensor FROM tumble(ticks, 10) GROUP BY CUBE (1, sensor)",
        "SELECT window_end AS e FROM tumble(ticks, 10) GROUP BY GROUPING SETS ((e, sensor), (e))",
        "SELECT grouping(window_start) FROM tumble(ticks, 10) GROUP BY window_start, sensor",
    ],
)
def test_totals_over_several_windows_are_refused(text: str, duck: Duck) -> None:
    with pytest.raises(WindowError, match="GROUP BY window_start, ROLLUP") as caught:
        read_query(text, STREAMS, duck)
    assert shown(caught).startswith(("window_start", "1", "e", "sensor", "grouping"))
