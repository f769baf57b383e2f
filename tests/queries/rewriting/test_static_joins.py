"""Joins of tables below a stream are computed once, if they are not larger than their sides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.database.duck import Duck
from upstream.queries.rewriting.static_parts import StaticPart
from upstream.queries.sql.lending import answer_once

from .static_tables import LENT, taken

Row = tuple[int | None, int | None]

VALUES = st.none() | st.integers(0, 3)
ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=6)

QUERIES = (
    "SELECT sum(x + r.e + t.f) AS n FROM chunk_0 s, r, t WHERE s.k = r.a AND r.e = t.c",
    "SELECT t.f, count(*) AS n FROM chunk_0 s, r, t WHERE s.k = r.a AND r.e = t.c GROUP BY t.f",
    "SELECT sum(x) AS n FROM chunk_0 s, r, t WHERE s.k = r.a AND r.e = t.c AND t.f > 1",
    "SELECT sum(x) AS n FROM chunk_0 s, r, t WHERE s.k = r.a AND r.e < t.c",
    "SELECT sum(x) AS n FROM chunk_0 s, r, t WHERE r.e = t.c",
    "SELECT count(*) AS n FROM chunk_0 s, r, t WHERE r.e = t.c AND s.k = r.a + t.f",
    "SELECT count(*) AS n FROM chunk_0 s, r, t",
    "SELECT count(*) AS n FROM chunk_0 s, r, t WHERE 1 = 1 AND r.a = t.c AND t.f = s.k",
    "SELECT count(*) AS n FROM chunk_0 s, r, t WHERE false AND r.a = t.c",
    "SELECT count(*) AS n FROM chunk_0 s, r, t WHERE r.a = t.c AND random() >= 0",
    "SELECT count(*) AS n FROM chunk_0 s, r, t WHERE r.a IS NOT DISTINCT FROM t.c AND t.f = s.k",
    "SELECT count(*) AS n FROM chunk_0 s, r, t WHERE r.a + t.c = 3 AND t.f = s.k",
    "SELECT count(*) AS n FROM chunk_0 s, r, t WHERE (r.a = t.c OR t.f = s.k) AND r.e = t.f",
    "SELECT count(*) AS n FROM chunk_0, r, t WHERE k = a AND e = c",
    "SELECT max(a + f) AS n FROM chunk_0 JOIN r ON k = a JOIN t ON e = c",
    "SELECT sum(x) AS n FROM chunk_0 s JOIN r ON s.k = r.a JOIN t ON r.e = t.c AND t.f < 3",
    "SELECT p.e, sum(x) AS n FROM chunk_0 s, r p, r q WHERE s.k = p.a AND p.e = q.a GROUP BY p.e",
    "SELECT count(*) AS n FROM chunk_0 s, r p, r q WHERE p.a = q.a AND p.e = q.e AND p.e = s.k",
    "SELECT count(*) AS n FROM chunk_0 s, r p, r q WHERE p.a = p.e AND p.a = q.a AND s.k = q.e",
    (
        "SELECT u.f, count(*) AS n FROM chunk_0 s, r, t, t u WHERE r.a = s.k AND t.c = r.e"
        " AND u.c = t.f GROUP BY u.f"
    ),
    "SELECT count(*) AS n FROM chunk_0 s LEFT JOIN r ON s.k = r.a LEFT JOIN t ON r.e = t.c",
    "SELECT count(*) AS n FROM chunk_0 s JOIN r ON s.k = r.a LEFT JOIN t ON r.e = t.c",
    "SELECT count(*) AS n FROM r LEFT JOIN t ON r.e = t.c JOIN chunk_0 s ON s.k = r.a",
    "SELECT count(*) AS n FROM chunk_0 s JOIN r ON s.k = r.a SEMI JOIN t ON r.e = t.c",
    "SELECT count(*) AS n FROM chunk_0 s JOIN r ON s.k = r.a ANTI JOIN t ON r.e = t.c",
    "SELECT e, count(*) AS n FROM chunk_0 s JOIN r p ON s.k = p.a JOIN r q USING (e) GROUP BY e",
    "SELECT count(*) AS n FROM chunk_0 s JOIN r p ON s.k = p.a NATURAL JOIN r q",
    (
        "SELECT count(*) AS n FROM chunk_0 s, r, t WHERE s.k = r.a AND r.e = t.c"
        " AND r.a IN (SELECT c FROM t)"
    ),
    (
        "SELECT count(*) AS n FROM chunk_0 s, r, t WHERE s.k = r.a AND r.e = t.c"
        " AND EXISTS (SELECT 1 FROM t u WHERE u.c = r.a AND u.f = t.f)"
    ),
    (
        "SELECT sum((SELECT max(f) FROM t u WHERE u.c = r.e)) AS n FROM chunk_0 s, r, t"
        " WHERE s.k = r.a AND r.e = t.c"
    ),
    (
        "SELECT count(*) AS n FROM chunk_0 s, (SELECT e, max(a) AS a FROM r GROUP BY e) q, t"
        " WHERE q.e = t.c AND q.a = s.k"
    ),
    (
        "SELECT count(*) AS n FROM chunk_0 s, r, (VALUES (1, 2), (2, NULL)) v(c, f)"
        " WHERE r.e = v.c AND v.f = s.k"
    ),
    "SELECT count(*) AS n FROM chunk_0 s, range(3) AS i(i), t WHERE i.i = t.c AND t.f = s.k",
    (
        "SELECT u, sum(m) AS n FROM (SELECT t.f AS u, x AS m FROM chunk_0 s, r, t"
        " WHERE s.k = r.a AND r.e = t.c) q GROUP BY u"
    ),
    (
        "SELECT q.u, sum(m) AS n FROM (SELECT r.e AS u, x AS m FROM chunk_0 s, r"
        " WHERE s.k = r.a) q, r, t WHERE q.u = r.e AND r.a = t.c GROUP BY q.u"
    ),
    "SELECT count(DISTINCT r) AS n FROM chunk_0 s, r, t WHERE s.k = r.a AND r.e = t.c",
    "SELECT count(COLUMNS(t.*)) FROM chunk_0 s, r, t WHERE s.k = r.a AND r.e = t.c",
    (
        "WITH q AS (SELECT * FROM r) SELECT count(*) AS n FROM chunk_0 s, q, t WHERE q.a = t.c"
        " AND q.e = s.k"
    ),
    'SELECT count(*) AS n FROM chunk_0 s, r "R 1", t "t" WHERE s.k = "R 1".a AND "R 1".e = T.c',
)
"""`r` has columns a and e, and `t` has c and f."""


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


def fill(duck: Duck, r: list[Row], t: list[Row]) -> None:
    """Give both tables these rows."""
    for name, columns, rows in (("r", "a BIGINT, e BIGINT", r), ("t", "c BIGINT, f BIGINT", t)):
        duck.rows(f"CREATE OR REPLACE TABLE {name} ({columns})")
        for one, other in rows:
            values = ", ".join("NULL" if each is None else str(each) for each in (one, other))
            duck.rows(f"INSERT INTO {name} VALUES ({values})")


def joined(parts: list[StaticPart]) -> list[tuple[str, ...]]:
    """Return the tables of the parts that join some."""
    return [tuple(sorted(part.reads)) for part in parts if len(part.reads) > 1]


@pytest.mark.parametrize("number", range(len(QUERIES)))
@given(r=ROWS, t=ROWS)
@settings(max_examples=max(5, settings().max_examples // 12))
def test_a_leaf_over_joined_tables_is_the_leaf_over_the_tables(
    duck: Duck, number: int, r: list[Row], t: list[Row]
) -> None:
    fill(duck, r, t)
    text, rows = QUERIES[number], {"chunk_0": LENT}
    with taken(text, duck) as (leaf, changed, _):
        expected = answer_once(duck, leaf.partial, text, rows)
        found = answer_once(duck, changed.partial, text, rows)
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.to_pylist()))
    assert found.schema == expected.schema


FEW: list[Row] = [(0, 0), (1, 1)]
MANY: list[Row] = [(number % 4, number % 2) for number in range(8)]


@pytest.mark.parametrize("number", [0, 1, 2, 4, 5, 7, 13, 14, 15])
def test_a_join_with_no_more_rows_than_the_larger_table_is_computed_once(
    number: int, duck: Duck
) -> None:
    fill(duck, MANY, FEW)
    with taken(QUERIES[number], duck) as (_, changed, parts):
        assert joined(parts) == [("r", "t")]
        assert len(parts) == 1
        assert changed.partial.sql("duckdb").count("JOIN") == 1


def test_a_join_with_more_rows_than_both_tables_is_not_computed(duck: Duck) -> None:
    fill(duck, [(0, 1), (1, 1)], [(1, 0), (1, 1)])
    with taken(QUERIES[0], duck) as (_, _, parts):
        assert [part.reads for part in parts] == [("r",), ("t",)]


@pytest.mark.parametrize(
    ("rows", "is_computed"), [([(0, 1), (1, 2)], True), ([(0, 1), (1, 1)], False)]
)
def test_a_join_may_have_just_as_many_rows_as_the_larger_table(
    rows: list[Row], duck: Duck, *, is_computed: bool
) -> None:
    fill(duck, rows, [(1, 0), (1, 1)])
    with taken(QUERIES[0], duck) as (_, _, parts):
        assert bool(joined(parts)) == is_computed


@pytest.mark.parametrize("number", [3, 6, 10, 20, 22, 26, 27, 28])
def test_other_joins_are_left_to_the_leaf(number: int, duck: Duck) -> None:
    fill(duck, MANY, FEW)
    with taken(QUERIES[number], duck) as (_, _, parts):
        assert joined(parts) == []


def test_a_table_joins_itself_under_two_names(duck: Duck) -> None:
    fill(duck, [(0, 1), (1, 2), (2, 0)], [])
    with taken(QUERIES[16], duck) as (_, _, parts):
        assert joined(parts) == [("r", "r")]


def test_three_tables_are_joined_one_after_another(duck: Duck) -> None:
    fill(duck, MANY, FEW)
    with taken(QUERIES[19], duck) as (_, _, parts):
        assert [sorted(part.reads) for part in parts] == [["r", "t", "t"]]


def test_a_join_keeps_only_the_columns_that_are_read(duck: Duck) -> None:
    fill(duck, MANY, FEW)
    for number, columns in ((0, 3), (2, 1), (4, 1)):
        with taken(QUERIES[number], duck) as (_, _, [part]):
            assert len(duck.rows(f"SELECT name FROM pragma_table_info('{part.name}')")) == columns
