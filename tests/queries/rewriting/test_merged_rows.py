"""Which columns of a query are columns of a merged relation, and what cannot fail."""

from __future__ import annotations

import pyarrow as pa
import pytest
from sqlglot import exp

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.queries.rewriting.merged_rows import MergedRows
from upstream.queries.rewriting.split_query import Leaf

from .fixture_files import LASTING, split_of


@pytest.fixture(scope="module")
def rows(tables: Duck) -> MergedRows:
    return MergedRows(leaf_of("SELECT g, sum(x), max(y), min(day) FROM chunk_0 GROUP BY g", tables))


def leaf_of(text: str, tables: Duck) -> Leaf:
    [leaf] = split_of(text, tables, LASTING).leaves
    return leaf


def test_only_numbers_and_times_sort_as_integers_do(rows: MergedRows) -> None:
    assert rows.sortable == {"__s0", "__s2"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("merged_0", {"__g0": "__g0", "__s0": "__s0", "__s1": "__s1", "__s2": "__s2"}),
        ("(SELECT __g0 AS a, __s0 FROM merged_0)", {"a": "__g0", "__s0": "__s0"}),
        ("(SELECT __g0, 1 AS one FROM merged_0) AS t(B)", {"b": "__g0", "one": None}),
        (
            "(SELECT * FROM (SELECT __s0 AS n, __g0 AS g FROM merged_0) AS t) AS u(m)",
            {"m": "__s0", "g": "__g0"},
        ),
        ("(SELECT CAST(__s0 AS HUGEINT) AS n FROM merged_0)", {"n": "__s0"}),
    ],
)
def test_columns_pass_through_subqueries(
    source: str, names: dict[str, str | None], rows: MergedRows
) -> None:
    assert rows.names(query_of(f"SELECT 1 FROM {source}")) == names


@pytest.mark.parametrize(
    "source",
    [
        "names",
        "merged_0, names",
        "merged_0 AS a, merged_0 AS b",
        "(SELECT __g0 FROM merged_0 WHERE __s0 > 1)",
        "(SELECT DISTINCT __g0 FROM merged_0)",
        "(SELECT __g0, __s0 AS __g0 FROM merged_0)",
        "(SELECT CAST(__g0 AS INT) AS i FROM merged_0)",
        "(SELECT CAST(__s1 AS HUGEINT) AS i FROM merged_0)",
        "(SELECT __s0 + 1 AS n FROM merged_0)",
        "(SELECT __g0 FROM merged_0 UNION ALL SELECT __g0 FROM merged_0)",
        "merged_0 TABLESAMPLE 10%",
    ],
)
def test_other_relations_have_other_rows_or_may_fail(source: str, rows: MergedRows) -> None:
    assert rows.names(query_of(f"SELECT 1 FROM {source}")) is None


def test_a_query_without_from_reads_nothing(rows: MergedRows) -> None:
    assert rows.names(query_of("SELECT 1")) is None
    assert rows.names(exp.Table()) is None


def test_the_schema_decides_which_casts_are_exact(tables: Duck) -> None:
    leaf = leaf_of("SELECT g, sum(x), sum(y) FROM chunk_0 GROUP BY g", tables)
    assert leaf.schema is not None
    assert leaf.schema.field("__s0").type == pa.decimal128(38, 0)
    rows = MergedRows(leaf)
    casts = [exp.cast(exp.column(name), "HUGEINT") for name in ("__s0", "__s1", "__g0")]
    assert [rows.is_safe(each) for each in casts] == [True, False, False]
