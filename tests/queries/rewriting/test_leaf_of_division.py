"""The leaf of a block that was divided."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlglot import exp, parse_one

from upstream.database.duck import Duck
from upstream.queries.rewriting.split import split
from upstream.queries.rewriting.split_query import Leaf
from upstream.queries.sql.trees import key

from .fixture_files import new_duck
from .random_steps import SCHEMAS


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    duck = new_duck()
    yield duck
    duck.close()


def leaf_of(sql: str, duck: Duck) -> Leaf:
    query = parse_one(sql, dialect="duckdb")
    assert isinstance(query, exp.Query)
    [leaf] = split(query, (), SCHEMAS, duck).leaves
    return leaf


def test_of_a_chunk_it_needs_the_columns_that_are_read_and_the_rows_that_can_matter(
    duck: Duck,
) -> None:
    leaf = leaf_of("SELECT sum(y) FROM chunk_0 s WHERE x > 1 GROUP BY g", duck)
    assert set(leaf.columns[0]) == {"g", "x", "y"}
    assert key(leaf.filters[0]).endswith('WHERE "s"."x" > 1')
    assert "__step" in key(leaf.filters_by_step[0])


def test_what_it_is_about_is_said_as_the_user_wrote_it(duck: Duck) -> None:
    leaf = leaf_of("SELECT avg(y), avg(y), -max(x) FROM chunk_0 s GROUP BY g, x % 2", duck)
    assert leaf.aggregates == ("avg(y)", "max(x)")
    assert leaf.grouping == ("g", "x % 2")


def test_of_a_join_it_says_whose_columns_they_are(duck: Duck) -> None:
    leaf = leaf_of("SELECT sum(a.y) FROM chunk_0 a JOIN chunk_1 b ON a.g = b.g GROUP BY a.g", duck)
    assert (leaf.aggregates, leaf.grouping) == (("sum(a.y)",), ("a.g",))
