"""Conditions on row numbers, and the subqueries into which they may be moved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlglot import exp

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.queries.rewriting.row_bounds import bound_of, with_bounds_inside
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.dialect import DIALECT

from .fixture_files import new_duck

NUMBERED = "(SELECT *, row_number() OVER (PARTITION BY name ORDER BY id) AS rn FROM names)"
PLACES = "(SELECT row_number() OVER (ORDER BY id) AS i FROM names) AS q"
ROWS = """
    INSERT INTO names SELECT i % 7, 'n' || i % 5, i % 3, NULL FROM range(40) AS t(i)
"""


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    duck = new_duck()
    duck.rows(ROWS)
    yield duck
    duck.close()


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("rn <= 3", 3),
        ("(rn) < (3)", 2),
        ("rn = 1", 1),
        ("3 >= rn", 3),
        ("3 > rn", 2),
        ("1 = rn", 1),
        ("rn BETWEEN 2 AND 5", 5),
        ("rn IN (4, 1)", 4),
    ],
)
def test_a_constant_bounds_a_number_from_above(condition: str, count: int) -> None:
    assert bound_of(_condition(condition)) == (exp.column("rn"), count)


@pytest.mark.parametrize(
    "condition",
    [
        *("rn >= 3", "3 < rn", "rn <> 3", "NOT rn > 3", "rn <= k", "rn <= 2.5", "rn <= '3'"),
        *(
            "rn <= 3 OR k = 1",
            "rn BETWEEN 2 AND k",
            "rn BETWEEN k AND 5",
            "rn BETWEEN SYMMETRIC 5 AND 2",
        ),
        *("rn IN (1, k)", "rn IN (SELECT 1)", "rn IS NULL", "rn <= NULL"),
    ],
)
def test_other_conditions_bound_nothing(condition: str) -> None:
    assert bound_of(_condition(condition)) is None


def _condition(text: str) -> exp.Expr:
    where = query_of(f"SELECT 1 FROM s WHERE {text}", DIALECT).args["where"]
    assert isinstance(where, exp.Where)
    condition = where.this
    assert isinstance(condition, exp.Expr)
    return condition


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM {NUMBERED} AS f WHERE rn <= 2",
        f"SELECT sum(id) FROM {NUMBERED} AS f WHERE f.rn = 1 AND weight > 0",
        f"SELECT * FROM {NUMBERED} AS f(a, b, c, d, place) WHERE place < 3",
        f"SELECT f.* FROM names AS n, {NUMBERED} AS f WHERE n.id = f.id AND f.rn <= 2",
        f"SELECT n.name, f.id FROM names AS n JOIN {NUMBERED} AS f ON n.id = f.id AND f.rn <= 2",
        f"SELECT n.name, f.x FROM names n LEFT JOIN {NUMBERED} AS f(x) ON n.id = f.x AND f.rn = 1",
        f"SELECT f.id FROM {NUMBERED} AS f FULL JOIN names AS n ON n.id = f.id WHERE f.rn <= 2",
        f"SELECT f.id FROM names AS n LEFT JOIN {NUMBERED} AS f ON n.id = f.id WHERE f.rn <= 2",
        "SELECT * FROM (SELECT name, rank() OVER (ORDER BY id) AS i FROM names) AS f WHERE i <= 3",
        """SELECT * FROM (SELECT id, row_number() OVER w AS i FROM names WINDOW w AS (ORDER BY id)
        QUALIFY weight > 0) AS f WHERE i <= 3""",
    ],
)
def test_a_bound_is_moved_to_where_rows_are_numbered(query: str, duck: Duck) -> None:
    moved = _moved(query, duck)
    assert "QUALIFY" in moved.sql(DIALECT).partition(" AS f")[0]
    _assert_same(query, moved, duck)


def test_a_bound_is_moved_through_a_subquery_that_passes_the_number_on(duck: Duck) -> None:
    query = (
        f"SELECT * FROM (SELECT id, rn AS i FROM {NUMBERED} AS f WHERE id > 1) AS q WHERE i <= 2"
    )
    moved = _moved(query, duck)
    [middle] = [each for each in moved.find_all(exp.Subquery) if each.alias == "q"]
    assert '"f"."rn" <= 2' in middle.sql(DIALECT)
    _assert_same(query, moved, duck)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM (SELECT *, row_number() OVER () AS i FROM names LIMIT 9) AS f WHERE i <= 3",
        """SELECT * FROM (SELECT DISTINCT ON (name) id, row_number() OVER (ORDER BY id DESC) AS i
        FROM names ORDER BY i DESC) AS f WHERE i <= 30""",
        f"SELECT * FROM {NUMBERED} AS f WHERE rn <= 2 OR id = 1",
        f"SELECT * FROM {NUMBERED} AS f WHERE rn + 1 <= 2",
        f"SELECT * FROM {NUMBERED} AS f WHERE id < 3",
        "SELECT * FROM (SELECT id, name FROM (SELECT * FROM names) AS q) AS f WHERE name <= 3",
        f"SELECT n.id, f.rn FROM names AS n LEFT JOIN {NUMBERED} AS f ON n.id = f.id AND n.id <= 2",
        f"SELECT n.id, f.rn FROM {NUMBERED} AS f LEFT JOIN names AS n ON n.id = f.id AND f.rn <= 2",
        f"SELECT f.id FROM {NUMBERED} AS f RIGHT JOIN names AS n ON n.id = f.id AND f.rn <= 2",
        f"SELECT n.id, f.rn FROM names AS n FULL JOIN {NUMBERED} AS f ON n.id = f.id AND f.rn <= 2",
        f"SELECT n.id, f.rn FROM names n ASOF JOIN {NUMBERED} f ON n.id >= f.id WHERE f.rn <= 1",
        f"SELECT n.id, f.rn FROM names AS n POSITIONAL JOIN {NUMBERED} AS f WHERE f.rn <= 1",
        f"SELECT * FROM (SELECT i, count(*) OVER () AS n FROM {PLACES}) AS f WHERE i <= 2",
        f"SELECT * FROM (SELECT i, count(*) AS n FROM {PLACES} GROUP BY i) AS f WHERE i <= 2",
        "SELECT * FROM (SELECT id, sum(id) OVER (ORDER BY id) AS i FROM names) AS f WHERE i <= 2",
    ],
)
def test_a_condition_that_would_change_the_result_stays_outside(query: str, duck: Duck) -> None:
    moved = _moved(query, duck)
    assert moved.sql(DIALECT) == query_of(query, DIALECT).sql(DIALECT)


def _moved(query: str, duck: Duck) -> exp.Select:
    tree = query_of(query, DIALECT)
    assert isinstance(tree, exp.Select)
    return with_bounds_inside(tree, Trial(duck, {}))


def _assert_same(query: str, moved: exp.Select, duck: Duck) -> None:
    """Assert that DuckDB returns the same rows; the rows that it numbers have ties."""
    wanted, found = duck.rows(query), duck.rows(moved.sql(DIALECT))
    assert len(wanted) > 0
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))
