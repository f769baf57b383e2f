"""The relations of a split query: merges, the finish over tables, the sides of a join."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.relations import (
    Merged,
    finish_over,
    merge_query,
    plain_columns,
    reads_tables,
    renamed_tables,
    with_last,
)
from upstream.queries.rewriting.split import split
from upstream.queries.rewriting.split_query import SplitQuery
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

from ..parsed import query_of
from ..partials.contract import GREATEST, LEAST

SCHEMA = pa.schema([("k", pa.string()), ("x", pa.int64()), ("note", pa.string())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)


@pytest.fixture(scope="module")
def duck(shared_duck: Duck) -> Duck:
    shared_duck.run_as_written("CREATE TABLE names (k TEXT, name TEXT)", {})
    return shared_duck


def split_of(text: str, duck: Duck, windows: int = 2) -> SplitQuery:
    schemas = {f"chunk_{i}": SCHEMA for i in range(windows)}
    return split(query_of(text), (WINDOW,) * windows, schemas, duck)


def test_each_state_is_merged_by_its_own_aggregate_under_its_own_name() -> None:
    merged = merge_query(("place",), (LEAST, GREATEST)).sql("duckdb")
    assert merged == (
        'SELECT "place", MIN("least") AS "least", MAX("greatest") AS "greatest" '
        'FROM partials GROUP BY "place"'
    )


def test_names_are_quoted_in_the_query() -> None:
    assert '"of a price"' in merge_query(("of a price",), (LEAST,)).sql("duckdb")


def test_without_groups_everything_is_merged_to_one_row() -> None:
    assert merge_query((), (LEAST,)).sql("duckdb") == 'SELECT MIN("least") AS "least" FROM partials'


def test_the_states_can_be_used_again() -> None:
    before = LEAST.merge[0].sql("duckdb")
    merge_query(("place",), (LEAST,))
    assert LEAST.merge[0].sql("duckdb") == before
    assert LEAST.merge[0].parent is None


MERGE = "SELECT __g0, SUM(__s0) AS __s0 FROM partials GROUP BY __g0"
OVER_P_0 = MERGE.replace("partials", 'p_0 AS "partials"')


@pytest.mark.parametrize(
    ("finish", "merge", "expected"),
    [
        ("SELECT __s0 FROM merged_0", None, 'SELECT __s0 FROM p_0 AS "merged_0"'),
        ("SELECT m.__s0 FROM merged_0 AS m", None, "SELECT m.__s0 FROM p_0 AS m"),
        ("SELECT __s0 FROM other", None, "SELECT __s0 FROM other"),
        ("SELECT __s0 FROM db.merged_0", None, "SELECT __s0 FROM db.merged_0"),
        (
            "SELECT * FROM merged_0 AS m PIVOT(SUM(x) FOR k IN ('a'))",
            None,
            "SELECT * FROM p_0 AS m PIVOT(SUM(x) FOR k IN ('a'))",
        ),
        (
            "SELECT __s0 FROM merged_0",
            MERGE,
            f'SELECT __s0 FROM ({OVER_P_0}) AS "merged_0"',
        ),
    ],
    ids=["a table", "with an alias", "another table", "of a schema", "turned", "with its merge"],
)
def test_the_output_of_a_leaf_replaces_its_relation(
    finish: str, merge: str | None, expected: str
) -> None:
    tree = query_of(finish)
    merged = {"merged_0": Merged("p_0", None if merge is None else query_of(merge))}
    assert finish_over(merged, tree).sql("duckdb") == expected
    assert tree.sql("duckdb") == finish


def test_a_merge_stays_as_it_is_for_the_next_finish() -> None:
    merge = query_of(MERGE)
    for _ in range(2):
        finish_over({"merged_0": Merged("p_0", merge)}, query_of("SELECT __s0 FROM merged_0"))
    assert merge.sql("duckdb") == MERGE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT x FROM chunk_0", False),
        ("WITH own AS (SELECT x FROM chunk_0) SELECT max(x) AS x FROM own", False),
        ("SELECT name FROM chunk_0 JOIN names USING (k)", True),
        ("SELECT x FROM chunk_0 WHERE k IN (SELECT k FROM names)", True),
    ],
)
def test_a_table_is_what_is_neither_a_chunk_nor_defined_in_the_query(
    text: str, expected: bool, duck: Duck
) -> None:
    assert reads_tables(split_of(text, duck, 1)) is expected


def test_tables_get_other_names_and_keep_what_the_query_calls_them() -> None:
    text = "SELECT chunk_1.x, b.y FROM chunk_1, chunk_0 AS b, other, db.chunk_0"
    tree = query_of(text)
    renamed = renamed_tables(tree, {"chunk_0": "lent_7", "chunk_1": "chunk_0"})
    assert renamed.sql("duckdb") == (
        'SELECT chunk_1.x, b.y FROM chunk_0 AS "chunk_1", lent_7 AS b, other, db.chunk_0'
    )
    assert tree.sql("duckdb") == text


def test_columns_are_picked_as_they_are_unless_rows_are_left_out(duck: Duck) -> None:
    text = "SELECT a.x, b.x FROM chunk_0 a JOIN chunk_1 b ON a.k = b.k WHERE b.x > 1"
    [leaf] = split_of(text, duck).leaves
    assert plain_columns(leaf, 0) == ("__step", "k", "x")
    assert plain_columns(leaf, 1) is None


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("SELECT * FROM a JOIN b ON a.k = b.k", "SELECT * FROM b JOIN a ON a.k = b.k"),
        ("SELECT * FROM b JOIN a ON a.k = b.k", None),
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.k", None),
        ("SELECT * FROM a SEMI JOIN b ON a.k = b.k", None),
        ("SELECT * FROM a ASOF JOIN b ON a.k >= b.k", None),
        ("SELECT * FROM a JOIN b ON a.k = b.k JOIN c ON b.k = c.k", None),
        ("SELECT * FROM (SELECT 1 AS k) AS d JOIN a ON a.k = d.k", None),
        ("SELECT 1", None),
    ],
)
def test_two_tables_change_places_where_that_changes_nothing(text: str, turned: str | None) -> None:
    tree = query_of(text)
    assert with_last(tree, "a").sql("duckdb") == (turned or text)
    assert tree.sql("duckdb") == text
