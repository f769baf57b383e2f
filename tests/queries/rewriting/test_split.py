"""Properties of every split, whatever the rules."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from sqlglot import exp
from sqlglot.errors import ParseError

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.rewriting import division, nested_blocks
from upstream.queries.rewriting.concatenation import concatenation
from upstream.queries.rewriting.division import Division, Task
from upstream.queries.rewriting.split import DEFECT, split
from upstream.queries.rewriting.split_query import SplitQuery
from upstream.queries.sql.trees import key

from ..parsed import query_of
from .fixture_files import split_of
from .random_steps import SCHEMAS


def test_a_query_that_duckdb_refuses_is_refused_as_duckdb_does(tables: Duck) -> None:
    with pytest.raises(DatabaseError, match="nothing"):
        split_of("SELECT nothing FROM chunk_0 s", tables)


@pytest.mark.parametrize(
    ("sql", "is_row_wise"),
    [
        ("SELECT x FROM chunk_0 s WHERE b", True),
        ("SELECT s.x, n.name FROM chunk_0 s JOIN names n ON s.k = n.id", True),
        ("SELECT x, now() FROM chunk_0 s", True),
        ("SELECT x FROM chunk_0 s UNION ALL SELECT y FROM chunk_1 u", True),
        ("SELECT x FROM chunk_0 s UNION SELECT y FROM chunk_1 u", False),
        ("SELECT s.x FROM chunk_0 s JOIN chunk_1 u ON s.k = u.k", False),
        ("SELECT x, (SELECT max(x) FROM chunk_1 u) FROM chunk_0 s", False),
        ("SELECT x FROM chunk_0 s ORDER BY x", False),
        ("SELECT x FROM chunk_0 s LIMIT 3", False),
        ("SELECT DISTINCT x FROM chunk_0 s", False),
        ("SELECT sum(x) FROM chunk_0 s", False),
        ("SELECT geomean(x) FROM chunk_0 s", False),
        ("SELECT (SELECT sum(s.x)) AS v FROM chunk_0 s", False),
        ("SELECT (SELECT sum(x)) AS v FROM chunk_0 s", False),
        ("SELECT x, (SELECT max(weight) FROM names WHERE id = s.k) AS v FROM chunk_0 s", True),
        ("SELECT row_number() OVER () FROM chunk_0 s", False),
    ],
)
def test_row_wise_is_what_comes_one_by_one(sql: str, is_row_wise: bool, tables: Duck) -> None:
    assert split_of(sql, tables).row_wise is is_row_wise


@pytest.mark.parametrize(
    "error", [KeyError, RecursionError, pa.ArrowNotImplementedError, ParseError]
)
def test_a_defect_of_a_rule_costs_speed_only(
    error: type[Exception], tables: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(task: object) -> None:
        raise error(task)

    monkeypatch.setattr(nested_blocks, "_RULES", (defective,))
    [leaf] = split_of("SELECT sum(x) FROM chunk_0 s", tables).leaves
    assert leaf.reason.startswith(DEFECT)
    assert key(leaf.partial) == 'SELECT "x" FROM chunk_0 AS "s"'


def test_parts_that_duckdb_refuses_are_not_handed_out(
    tables: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested_blocks, "_RULES", (_of_a_name_that_is_not_there,))
    [leaf] = split_of("SELECT x FROM chunk_0 s", tables).leaves
    assert leaf.rule == "kept rows"
    assert "DuckDB rejects" in leaf.reason


def _of_a_name_that_is_not_there(task: Task) -> Division:
    division = concatenation(task)
    assert division is not None
    return replace(division, finish=exp.select("nothing").from_("merged_0"))


def test_the_query_as_it_was_is_kept_whole(tables: Duck) -> None:
    sql = "WITH r AS (SELECT g, SUM(x) AS n FROM chunk_0 AS s GROUP BY g) SELECT * FROM r"
    assert split_of(sql, tables).whole.sql("duckdb") == sql


def test_a_column_made_by_a_subquery_is_named_by_its_text(tables: Duck) -> None:
    query = split_of("SELECT (SELECT max(x) FROM chunk_0 s), sum(k) FROM chunk_1 u", tables)
    assert [item.alias for item in query.finish.selects] == [
        "(SELECT MAX(x) FROM chunk_0 AS s)",
        "sum(k)",
    ]


@pytest.mark.parametrize("item", ["s", "COLUMNS('.*')"])
def test_a_row_taken_whole_is_taken_without_its_step(item: str, tables: Duck) -> None:
    [leaf] = split_of(f"SELECT {item} FROM chunk_0 s", tables).leaves
    assert leaf.rule == "kept rows"
    assert tuple(leaf.partial.named_selects) == tuple(SCHEMAS["chunk_0"].names)


def test_merged_relations_are_not_named_as_a_table_of_the_query(tables: Duck) -> None:
    sql = "SELECT count(*) FROM chunk_0 s JOIN names AS merged_0 ON s.k = merged_0.id"
    [leaf] = split_of(sql, tables).leaves
    assert leaf.relation == "_merged_0"


def test_a_table_with_a_schema_is_not_a_chunk(tables: Duck) -> None:
    tables.rows("CREATE SCHEMA IF NOT EXISTS other")
    tables.rows("CREATE OR REPLACE TABLE other.chunk_1 (k BIGINT)")
    sql = "SELECT count(*) FROM chunk_0 s JOIN other.chunk_1 u ON s.k = u.k"
    [leaf] = split_of(sql, tables).leaves
    assert leaf.windows == (0,)


BOUNDS = pa.schema([("window_start", pa.timestamp("us")), ("window_end", pa.timestamp("us"))])
_START, _END = "(SELECT window_start FROM bounds_0)", "(SELECT window_end FROM bounds_0)"


def split_with_bounds(sql: str, duck: Duck) -> SplitQuery:
    query = query_of(sql.format(start=_START, end=_END))
    return split(query, (), SCHEMAS | {"bounds_0": BOUNDS}, duck)


@pytest.mark.parametrize(
    ("sql", "rules"),
    [
        ("SELECT {start} AS a, g, sum(x) FROM chunk_0 s GROUP BY g", ["synchronous replication"]),
        (
            "SELECT g FROM chunk_0 s GROUP BY g HAVING max(t) > {end} ORDER BY sum(x) LIMIT 3",
            ["synchronous replication"],
        ),
        (
            "SELECT {start}, sum(s.x) FROM chunk_0 s JOIN chunk_1 u ON s.k = u.k",
            ["concatenation with compensation"],
        ),
        ("SELECT x, {end} FROM chunk_0 s", ["kept rows"]),
        ("SELECT x FROM chunk_0 s WHERE t > {start}", ["kept rows"]),
        ("SELECT sum(x) FROM chunk_0 s WHERE t > {start}", ["kept rows"]),
        ("SELECT sum(x) FILTER (WHERE t > {start}) FROM chunk_0 s", ["kept rows"]),
        ("SELECT count(*) FROM chunk_0 s GROUP BY t > {end}", ["kept rows"]),
        ("SELECT x FROM chunk_0 s ORDER BY t - {end} LIMIT 3", ["kept rows"]),
        ("SELECT DISTINCT g, {end} FROM chunk_0 s", ["kept rows"]),
        ("SELECT DISTINCT {end} FROM chunk_0 s", ["kept rows"]),
        ("SELECT g, max({end}), histogram(b) FROM chunk_0 s GROUP BY g", ["counted rows"]),
        ("SELECT count(*) FROM (SELECT x, {end} FROM chunk_0 s)", ["kept rows"]),
        (
            "SELECT s.x FROM chunk_0 s JOIN chunk_1 u ON s.k = u.k AND s.t > {end}",
            ["kept rows", "kept rows"],
        ),
        (
            """SELECT sum(x) FROM (SELECT x FROM chunk_0 s UNION ALL
                SELECT x FROM chunk_1 u WHERE t > {end})""",
            ["concatenation", "kept rows"],
        ),
    ],
)
def test_no_partial_reads_the_bounds_of_the_window(
    sql: str, rules: list[str], tables: Duck
) -> None:
    parts = split_with_bounds(sql, tables)
    assert [leaf.rule for leaf in parts.leaves] == rules
    assert parts.bounds == {0}
    for leaf in parts.leaves:
        for part in (leaf.partial, leaf.partial_by_step, *leaf.picks.values()):
            assert "bounds_0" not in part.sql()
    assert not parts.row_wise


def test_a_rule_that_reads_bounds_in_a_partial_is_not_used(
    tables: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(division, "bounds_in", lambda _: frozenset())
    parts = split_with_bounds("SELECT sum(x + epoch({end})) FROM chunk_0 s", tables)
    [leaf] = parts.leaves
    assert leaf.rule == "kept rows"
    assert "known only when it has ended" in leaf.reason


def test_a_query_without_bounds_needs_no_bounds(tables: Duck) -> None:
    assert split_of("SELECT sum(x) FROM chunk_0 s", tables).bounds == frozenset()
