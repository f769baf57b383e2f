"""What a partial reads of tables is computed once, with the columns and rows that can matter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count

import pyarrow as pa
import pytest
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.queries.rewriting.split_query import Leaf
from upstream.queries.rewriting.static_parts import StaticPart, as_table, with_static_parts
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.lending import answer_once, prepare, run_once
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from .fixture_files import split_of
from .random_steps import SCHEMA, SCHEMAS

WINDOWS = (WindowClause(WindowKind.LANDMARK, "s"),)
ROWS = pa.table({"g": ["a", "b", "a"], "k": [0, 1, 7], "x": [1, 2, 3]})
LENT = pa.table(
    {
        field.name: ROWS[field.name] if field.name in ROWS.schema.names else pa.nulls(3, field.type)
        for field in SCHEMA
    }
).cast(SCHEMA)


class Parts:
    """Makes the tables of parts, and notes which there are."""

    def __init__(self, duck: Duck) -> None:
        self.made: list[StaticPart] = []
        self._duck = duck

    def make(self, part: StaticPart) -> None:
        self.made.append(part)
        with closing(prepare(self._duck, as_table(part), {})) as statement:
            statement.run()

    def count(self, query: exp.Query) -> int:
        count: int = run_once(self._duck, query, {}).column(0)[0].as_py()
        return count


@contextmanager
def taken(sql: str, tables: Duck) -> Iterator[tuple[Leaf, Leaf, list[StaticPart]]]:
    """Yield the only leaf of a query, the leaf over parts, and the parts, which are made."""
    [leaf] = split_of(sql, tables, WINDOWS).leaves
    numbers = count(1)
    parts = Parts(tables)
    try:
        changed = with_static_parts(
            leaf, Trial(tables, SCHEMAS), lambda: f"__static_{next(numbers)}", parts
        )
        yield leaf, changed, parts.made
    finally:
        for part in parts.made:
            tables.drop_own_table(part.name)


def written(parts: list[StaticPart]) -> list[str]:
    return [part.query.sql("duckdb").replace('"', "") for part in parts]


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("SELECT g, sum(x) FROM chunk_0 s GROUP BY g", []),
        (
            "SELECT s.g, sum(x * weight) FROM chunk_0 s JOIN names n ON n.id = s.k GROUP BY s.g",
            ["SELECT id, weight FROM names AS n"],
        ),
        (
            "SELECT sum(x) FROM chunk_0 s JOIN names n ON n.id = s.k WHERE weight > 1 AND x > 1",
            ["SELECT id, weight FROM names AS n WHERE n.weight > 1"],
        ),
        (
            "SELECT sum(x) FROM chunk_0 s LEFT JOIN names n ON n.id = s.k AND n.weight > 1",
            ["SELECT id, weight FROM names AS n"],
        ),
        (
            "SELECT sum(x) FROM chunk_0 s WHERE k IN (SELECT id FROM names)",
            ["SELECT id FROM names"],
        ),
        ("SELECT sum(x) FROM chunk_0 s, names n", ["SELECT id FROM names AS n"]),
        ("SELECT sum(x * r.i) FROM chunk_0 s, range(2) r(i)", ["SELECT i FROM RANGE(2) AS r(i)"]),
    ],
)
def test_a_part_has_the_columns_and_rows_that_can_matter(
    sql: str, parts: list[str], tables: Duck
) -> None:
    with taken(sql, tables) as (_, _, made):
        assert written(made) == parts


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s.g, sum(x * weight) AS n FROM chunk_0 s JOIN names n ON n.id = s.k GROUP BY s.g",
        "SELECT n.name, count(*) AS n FROM chunk_0 s LEFT JOIN names n ON n.id = s.k GROUP BY 1",
        "SELECT count(*) AS n FROM chunk_0 s JOIN names n ON n.id = s.k WHERE weight > 1",
        "SELECT count(*) AS n FROM chunk_0 s SEMI JOIN names n ON n.id = s.k AND weight > 1",
        "SELECT count(*) AS n FROM chunk_0 s ANTI JOIN names n ON n.id = s.k",
        "SELECT g, sum(x) AS n FROM chunk_0 s WHERE k IN (SELECT id FROM names) GROUP BY g",
        "SELECT g, sum(x) AS n FROM chunk_0 s WHERE k NOT IN (SELECT id FROM names) GROUP BY g",
        "SELECT sum(x * (SELECT max(weight) FROM names)) AS n FROM chunk_0 s",
        "SELECT max(n) AS n FROM chunk_0 s, names n",
        "SELECT sum(x) AS n FROM chunk_0 s, names a, names b WHERE a.id = b.id AND a.id = s.k",
        (
            "SELECT sum(x * w) AS n FROM chunk_0 s JOIN"
            " (SELECT id, max(weight) AS w FROM names GROUP BY id) q ON q.id = s.k"
        ),
        (
            "SELECT u, sum(w) AS n FROM (SELECT upper(g) AS u, weight AS w FROM chunk_0 s"
            " JOIN names n ON n.id = s.k) q GROUP BY u"
        ),
        "SELECT i, sum(x) AS n FROM chunk_0 s, generate_series(1, 2) AS r(i) GROUP BY i",
        "SELECT w, count(*) AS n FROM chunk_0 s JOIN (VALUES (0, 5)) v(k, w) USING (k) GROUP BY 1",
    ],
)
def test_a_partial_over_parts_is_the_partial(sql: str, tables: Duck) -> None:
    rows = {"chunk_0": LENT}
    with taken(sql, tables) as (leaf, changed, _):
        expected = answer_once(tables, leaf.partial, sql, rows)
        found = answer_once(tables, changed.partial, sql, rows)
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.to_pylist()))
    assert found.schema == expected.schema


def test_a_part_that_is_read_twice_is_computed_once(tables: Duck) -> None:
    sql = (
        "SELECT sum(x) FROM chunk_0 s WHERE k IN (SELECT id FROM names) OR"
        " x IN (SELECT id FROM names)"
    )
    with taken(sql, tables) as (_, changed, parts):
        assert len(parts) == 1
        assert changed.partial.sql("duckdb").count("__static_1") == 2


def test_a_part_tells_the_names_of_the_tables_that_it_reads(tables: Duck) -> None:
    sql = (
        "SELECT sum(x) FROM chunk_0 s JOIN names n ON n.id = s.k JOIN"
        " (SELECT max(id) AS m FROM names) AS top ON top.m > s.k JOIN range(3) AS r ON true"
    )
    with taken(sql, tables) as (_, _, parts):
        assert {part.reads for part in parts} == {("names",), ("r",)}
