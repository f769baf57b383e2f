"""What a view says of its parts: once, as rows arrive, and when it is read."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.explain_view import explain_view
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from .fixture_files import split_of

WINDOWS = (WindowClause(WindowKind.LANDMARK, "bids"), WindowClause(WindowKind.LANDMARK, "asks"))
LAST = "if nothing has come since the view was last read, its last result is used again"
MERGED = "when the view is read: the results are merged"
REST = "when the view is read: the rest of the query, over these results"


@pytest.mark.parametrize(
    ("sql", "static", "beside", "lines"),
    [
        (
            "SELECT g, sum(x) AS s FROM chunk_0 bids GROUP BY g",
            [],
            [],
            ["as rows arrive in bids: sum(x) by g", MERGED],
        ),
        (
            "SELECT g, sum(x) AS s FROM chunk_0 bids GROUP BY g",
            ["names", "rates", "names"],
            [],
            [
                "once, when the view was created: names, rates",
                "as rows arrive in bids: sum(x) by g",
                MERGED,
            ],
        ),
        (
            "SELECT g, sum(x) AS s FROM chunk_0 bids GROUP BY g HAVING count(*) > 1",
            [],
            ["latest(asks)", "names", "names"],
            [
                "as rows arrive in bids: sum(x), count(*) by g",
                f"{REST}, with latest(asks), names",
            ],
        ),
        (
            "SELECT (SELECT max(x) FROM chunk_0 b) AS b, (SELECT min(x) FROM chunk_1 a) AS a",
            [],
            [],
            ["as rows arrive in b: max(x)", "as rows arrive in a: min(x)", REST],
        ),
    ],
)
def test_a_view_is_described_part_by_part(
    sql: str, static: list[str], beside: list[str], lines: list[str], tables: Duck
) -> None:
    told = explain_view(split_of(sql, tables, WINDOWS), static, beside, (), ())
    assert told.splitlines() == [*lines, LAST]


def test_a_view_over_views_is_one_query(tables: Duck) -> None:
    split_query = split_of("SELECT max(weight) AS w FROM names", tables)
    assert explain_view(split_query, [], ["sums"], (), ()).splitlines() == [
        "when the view is read: the query, with sums",
        LAST,
    ]


@pytest.mark.parametrize(
    ("followed", "present", "line"),
    [
        (["merged_0"], [], "as the newest rows of bids change: sum(x) by g"),
        ([], ["merged_0"], "when the view is read, over the newest rows of bids: sum(x) by g"),
    ],
    ids=["followed", "present"],
)
def test_newest_rows_are_followed_or_read_with_the_view(
    followed: Collection[str], present: Collection[str], line: str, tables: Duck
) -> None:
    split_query = split_of("SELECT g, sum(x) AS s FROM chunk_0 bids GROUP BY g", tables, WINDOWS)
    told = explain_view(split_query, [], [], followed, present)
    assert told.splitlines() == [line, MERGED, LAST]


def test_a_column_of_signs_is_named_with_the_stream_that_has_it(tables: Duck) -> None:
    sql = "SELECT (SELECT sum(x) FROM chunk_0 b) AS b, (SELECT min(x) FROM chunk_1 a) AS a"
    told = explain_view(split_of(sql, tables, WINDOWS), [], [], (), (), signs={"merged_0": "op"})
    assert told.splitlines() == [
        "as rows arrive in b, added or taken away by op: sum(x)",
        "as rows arrive in a: min(x)",
        REST,
        LAST,
    ]


def test_a_view_that_reads_the_clock_is_computed_by_each_read(tables: Duck) -> None:
    split = split_of("SELECT g, sum(x) AS s FROM chunk_0 bids GROUP BY g", tables, WINDOWS)
    told = explain_view(split, [], [], (), (), is_lasting=False)
    assert told.endswith(
        "\nit reads a file, the clock or random numbers, so each read computes its result"
    )
