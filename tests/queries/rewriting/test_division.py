"""A block divided: its leaf."""

from __future__ import annotations

from upstream.database.duck import Duck
from upstream.queries.rewriting.split_query import Leaf
from upstream.queries.sql.trees import key

from .fixture_files import split_of


def leaf_of(sql: str, duck: Duck) -> Leaf:
    [leaf] = split_of(sql, duck).leaves
    return leaf


def test_a_join_picks_only_needed_columns_and_rows_of_a_chunk(
    tables: Duck,
) -> None:
    text = "SELECT sum(s.y) FROM chunk_0 s JOIN chunk_1 u ON s.k = u.k WHERE s.x > 1 GROUP BY s.g"
    picks = leaf_of(text, tables).picks
    assert key(picks[0]) == (
        'SELECT "__step", "g", "k", "x", "y" FROM chunk_0 AS "s" WHERE "s"."x" > 1'
    )
    assert key(picks[1]) == 'SELECT "__step", "g", "k", "x", "y" FROM chunk_1 AS "u"'


def test_nothing_is_picked_where_no_streams_are_joined(tables: Duck) -> None:
    assert not leaf_of("SELECT sum(y) FROM chunk_0 s WHERE x > 1 GROUP BY g", tables).picks


def test_errors_quote_the_part_as_the_user_wrote_it(tables: Duck) -> None:
    leaf = leaf_of("SELECT avg(y), avg(y), -max(x) FROM chunk_0 s GROUP BY g, x % 2", tables)
    assert leaf.aggregates == ("avg(y)", "max(x)")
    assert leaf.grouping == ("g", "x % 2")


def test_the_hint_for_a_join_names_the_table_of_the_column(tables: Duck) -> None:
    leaf = leaf_of(
        "SELECT sum(a.y) FROM chunk_0 a JOIN chunk_1 b ON a.g = b.g GROUP BY a.g", tables
    )
    assert (leaf.aggregates, leaf.grouping) == (("sum(a.y)",), ("a.g",))
