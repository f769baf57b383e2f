"""What a partial reads of tables is computed once, with the columns and rows that can matter."""

from __future__ import annotations

import pytest
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.queries.rewriting.static_parts import StaticPart, have_same_rows
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.lending import answer_once, run_once

from .static_tables import LENT, taken


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
        "SELECT count(*) AS n FROM chunk_0 s LEFT JOIN names n ON n.id = s.k WHERE weight IS NULL",
        "SELECT x, count(*) FROM names n RIGHT JOIN chunk_0 s ON n.id = s.k AND x > 1 GROUP BY 1",
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


SAME = "SELECT range AS n, 'a' AS k, '0.0'::DOUBLE AS f, [1.0, NULL] AS l FROM range(3000)"


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        (SAME, SAME, True),
        (SAME, f"{SAME} ORDER BY n DESC", False),
        (SAME, SAME.replace("3000", "2999"), False),
        (SAME, SAME.replace("range AS n", "range::INT AS n"), False),
        (SAME, SAME.replace("AS k", "AS key"), False),
        (SAME, SAME.replace("'a'", "if(range = 5, 'b', 'a')"), False),
        (SAME, SAME.replace("'a'", "if(range = 5, NULL, 'a')"), False),
        (SAME, SAME.replace("'0.0'", "if(range = 5, '-0.0', '0.0')"), False),
        (SAME, SAME.replace("1.0", "if(range = 5, 2.0, 1.0)"), False),
        ("SELECT 1 AS n LIMIT 0", "SELECT 1 AS n LIMIT 0", True),
        ("SELECT 1 AS n LIMIT 0", "SELECT NULL::INT AS n", False),
        ("SELECT 'nan'::DOUBLE AS n", "SELECT 'nan'::DOUBLE AS n", True),
        ("SELECT 'NULL' AS n", "SELECT NULL::TEXT AS n", False),
    ],
)
def test_parts_have_the_same_rows_if_each_value_is_the_same_in_its_place(
    duck: Duck, one: str, other: str, are_same: bool
) -> None:
    first, second = (StaticPart(f"__static_{n}", exp.select("*"), ()) for n in (1, 2))
    for part, text in ((first, one), (second, other)):
        duck.run_as_written(f'CREATE TEMP TABLE "{part.name}" AS {text}', {})

    def count(query: exp.Query) -> int:
        return int(run_once(duck, query, {}).column(0)[0].as_py())

    trial = Trial(duck, {})
    assert have_same_rows(first, second, trial, count) is are_same
    assert have_same_rows(second, first, trial, count) is are_same
