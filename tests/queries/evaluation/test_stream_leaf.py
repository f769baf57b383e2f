"""Leaves are the same if they certainly have the same partials; their tables are made and dropped.

`test_state_planning.py` shows the same with views.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.queries.parsed import query_of
from tests.queries.rewriting.fixture_files import new_duck, split_of
from tests.queries.rewriting.random_steps import SCHEMA
from tests.queries.rewriting.static_tables import LENT, WINDOWS
from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.chunks.windows import Span
from upstream.queries.evaluation.stream_leaf import PartTables, PlannedLeaf, StreamLeaf, _form
from upstream.queries.results.failing_rows import FailedRows
from upstream.queries.rewriting.relations import renamed_tables
from upstream.queries.rewriting.split_query import Leaf
from upstream.queries.rewriting.static_parts import StaticPart
from upstream.queries.sql.dialect import DIALECT

SUM = "SELECT g, sum(x) FROM chunk_0 s GROUP BY g"
RATED = "SELECT g, sum(x * weight) FROM chunk_0 s JOIN names n ON n.id = s.k GROUP BY g"


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = new_duck()
    yield duck
    duck.close()


def leaf_of(sql: str, duck: Duck) -> Leaf:
    [leaf] = split_of(sql, duck, WINDOWS).leaves
    return leaf


def planned(sql: str, duck: Duck, version: int = 1) -> PlannedLeaf:
    return planned_leaf(leaf_of(sql, duck), duck, version)


def planned_leaf(leaf: Leaf, duck: Duck, version: int = 1) -> PlannedLeaf:
    return PlannedLeaf(leaf, SCHEMA, duck, PartTables(duck), tables_version=version)


def own_tables(duck: Duck) -> int:
    text = "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, '__static')"
    return len(duck.rows(text))


def test_equal_leaves_are_the_same_whatever_statements_ran_between(duck: Duck) -> None:
    assert planned(SUM, duck, 1).is_same(planned(SUM, duck, 2))
    assert not planned(SUM, duck).is_same(planned(SUM.replace("x", "k"), duck))


def test_leaves_over_other_columns_are_not_the_same(duck: Duck) -> None:
    one, other = planned("SELECT count(*) FROM chunk_0 s", duck), PartTables(duck)
    schema = SCHEMA.remove(0)
    leaf = leaf_of("SELECT count(*) FROM chunk_0 s", duck)
    assert not one.is_same(PlannedLeaf(leaf, schema, duck, other, tables_version=1))


def test_leaves_over_tables_are_the_same_as_long_as_no_statement_ran(duck: Duck) -> None:
    one = planned(RATED, duck, 1)
    assert one.is_same(planned(RATED, duck, 1))
    assert not one.is_same(planned(RATED, duck, 2))


def test_leaves_over_tables_with_other_rows_are_not_the_same(duck: Duck) -> None:
    one = planned(RATED, duck)
    duck.run_as_written("UPDATE names SET weight = -weight WHERE id = 7", {})
    assert not one.is_same(planned(RATED, duck))


def test_the_number_of_the_input_does_not_matter(duck: Duck) -> None:
    leaf = leaf_of(RATED, duck)
    names = {"chunk_0": "chunk_1"}
    second = replace(
        leaf,
        windows=(1,),
        partial=renamed_tables(leaf.partial, names),
        partial_by_step=renamed_tables(leaf.partial_by_step, names),
    )
    one, other = planned_leaf(leaf, duck), planned_leaf(second, duck)
    assert one.is_same(other)
    assert other.leaf.windows == (0,)


@pytest.mark.parametrize(
    ("definition", "query"),
    [
        ("CREATE MACRO own(x) AS 2 * x", "SELECT sum(own(x)) FROM chunk_0 s"),
        ("CREATE TYPE own AS INT", "SELECT sum(x::own) FROM chunk_0 s"),
    ],
    ids=["macro", "type"],
)
def test_what_the_user_defined_is_the_same_as_long_as_no_statement_ran(
    definition: str, query: str, duck: Duck
) -> None:
    duck.run_as_written(definition, {})
    assert planned(query, duck, 1).is_same(planned(query, duck, 1))
    assert not planned(query, duck, 1).is_same(planned(query, duck, 2))


def test_a_leaf_that_reads_tables_or_other_values_each_time_is_not_the_same_as_any(
    duck: Duck,
) -> None:
    leaf = leaf_of(SUM, duck)
    names = {"chunk_0": "names"}
    for partial in (
        query_of("SELECT sum(x + random()) FROM chunk_0 s", DIALECT),
        query_of("SELECT sum(x) FROM chunk_0 s, glob('*') g", DIALECT),
        query_of("WITH c AS (FROM chunk_0) SELECT sum(x) FROM c", DIALECT),
        renamed_tables(leaf.partial, names),
    ):
        assert _form(replace(leaf, partial=partial), [], duck, 1) is None
    one = planned(SUM, duck)
    one._form = one._form[0], None
    assert not one.is_same(one)


def test_the_tables_of_parts_are_dropped_with_the_leaf(duck: Duck) -> None:
    leaf = StreamLeaf.of(planned(RATED, duck), SCHEMA, duck)
    assert own_tables(duck) == 1
    take = leaf.merge.feed(0, [(0, LENT)], FailedRows(0))
    take()
    merged = leaf.merge.merged([Span(0, 1)])
    assert sorted(merged.column(1).to_pylist()) == [3.0, 21.5]
    leaf.close()
    leaf.close()
    assert own_tables(duck) == 0


def test_the_table_of_a_part_that_fails_is_dropped_too(duck: Duck) -> None:
    parts = PartTables(duck)
    query = query_of("SELECT name::INT AS n FROM names", DIALECT)
    with pytest.raises(DatabaseError, match="Could not convert"):
        parts.make(StaticPart("__static_1", query, ("names",)))
    assert len(parts.made) == 1
    parts.drop()
    assert (own_tables(duck), parts.made) == (0, [])
