"""One leaf serves several queries: each has its own columns of what is merged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.chunks.windows import Span
from upstream.queries.evaluation.shared_leaf import OwnLeaf, SharedLeaf, is_dense
from upstream.queries.results.failing_rows import FailedRows, FailingRows
from upstream.queries.rewriting.shared_partial import in_common
from upstream.queries.rewriting.split import split
from upstream.queries.sql.functions import functions_of
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

from ..parsed import query_of

SCHEMA = pa.schema([("k", pa.string()), ("x", pa.int64()), ("note", pa.string())])
WINDOW = WindowClause(WindowKind.HOP, "s", Axis.SOURCE, 20, 10)


class Feed:
    """A leaf for some queries, which is fed with rows."""

    def __init__(self, duck: Duck, *texts: str) -> None:
        self.leaf = SharedLeaf(0, SCHEMA, duck)
        self.own = [own_leaf(duck, text) for text in texts]
        for each in self.own:
            self.leaf.add(each)

    def add(self, chunk: int, *rows: tuple[str, int, str]) -> None:
        keys, numbers, notes = zip(*rows, strict=True)
        table = pa.table({"k": keys, "x": numbers, "note": notes}, SCHEMA)
        self.leaf.feed(0, [(chunk, table)], FailedRows(0))()

    def merged(self, number: int, first: int, end: int) -> list[tuple[object, ...]]:
        """Return the merged relation of a query, without its number of rows."""
        return rows_of(self.own[number].of(self.leaf.merged([Span(first, end)])))


def own_leaf(duck: Duck, text: str) -> OwnLeaf:
    [leaf] = split(query_of(text), (WINDOW,), {"chunk_0": SCHEMA}, duck).leaves
    common = in_common(leaf, functions_of(duck))
    assert common is not None
    return OwnLeaf(common, SCHEMA, duck, FailingRows())


def rows_of(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted(tuple(map(plain, each.values())) for each in table.to_pylist())


def plain(value: object) -> object:
    return value if isinstance(value, str) or value is None else int(str(value))


SMALL = "SELECT k, sum(x) AS s FROM chunk_0 s WHERE x < 10 GROUP BY k"
LARGE = "SELECT k, max(x) AS m FROM chunk_0 s WHERE x >= 10 GROUP BY k"
NOTED = "SELECT k, sum(CAST(note AS INT)) AS n FROM chunk_0 s WHERE x < 10 GROUP BY k"
ALL = "SELECT count(*) AS n FROM chunk_0 s WHERE x > 3"


@pytest.fixture
def feed(duck: Duck) -> Iterator[Feed]:
    made = Feed(duck, SMALL, LARGE, NOTED)
    with closing(made.leaf):
        yield made


def test_each_query_has_the_groups_with_rows_that_it_reads(feed: Feed) -> None:
    feed.add(0, ("a", 1, "1"), ("b", 12, "1"))
    feed.add(1, ("a", 2, "1"), ("a", 40, "1"))
    assert feed.merged(0, 0, 2) == [("a", 3)]
    assert feed.merged(1, 0, 2) == [("a", 40), ("b", 12)]
    feed.leaf.forget([1])
    assert feed.merged(1, 1, 3) == [("a", 40)]


def test_a_group_that_a_query_reads_no_row_of_any_more_is_gone(feed: Feed) -> None:
    feed.add(0, ("a", 1, "1"))
    feed.add(1, ("a", 11, "1"))
    assert feed.merged(0, 0, 2) == [("a", 1)]
    assert feed.merged(0, 1, 3) == []
    assert feed.merged(1, 1, 3) == [("a", 11)]


def test_without_groups_there_is_one_row_if_any_was_read(duck: Duck) -> None:
    feed = Feed(duck, ALL, "SELECT max(x) AS m FROM chunk_0 s")
    with closing(feed.leaf):
        assert feed.merged(0, 0, 2) == []
        feed.add(0, ("a", 1, "1"))
        assert feed.merged(0, 0, 2) == [(0,)]
        assert feed.merged(1, 0, 2) == [(1,)]


def test_nothing_changes_before_evaluated_rows_are_taken(feed: Feed) -> None:
    table = pa.table({"k": ["a"], "x": [1], "note": ["bad"]}, SCHEMA)
    take = feed.leaf.feed(0, [(0, table)], FailedRows(0))
    assert feed.merged(0, 0, 2) == []
    assert feed.own[2].failing.count == 0
    take()
    assert feed.merged(0, 0, 2) == [("a", 1)]
    assert feed.own[2].failing.count == 1


def test_a_row_is_left_out_for_the_query_that_fails_on_it(feed: Feed) -> None:
    feed.add(0, ("a", 1, "5"))
    feed.add(0, ("a", 2, "bad"), ("a", 3, "7"))
    feed.add(1, ("a", 4, "9"))
    assert feed.merged(0, 0, 2) == [("a", 10)]
    assert feed.merged(2, 0, 2) == [("a", 21)]
    assert [each.failing.count for each in feed.own] == [0, 0, 1]


def test_what_was_merged_before_a_row_failed_can_still_be_read(feed: Feed) -> None:
    feed.add(0, ("a", 1, "5"))
    before = feed.leaf.merged([Span(0, 1)])
    feed.add(1, ("a", 2, "bad"))
    assert rows_of(feed.own[2].of(before)) == [("a", 5)]
    assert feed.merged(2, 0, 2) == [("a", 5)]


def test_columns_of_queries_that_have_left_are_dropped(feed: Feed) -> None:
    feed.add(0, ("a", 1, "5"), ("b", 20, "1"))
    assert feed.merged(1, 0, 2) == [("b", 20)]
    for own in feed.own[:1] + feed.own[2:]:
        feed.leaf.remove(own)
    feed.add(1, ("a", 30, "5"))
    assert feed.merged(1, 0, 2) == [("a", 30), ("b", 20)]
    assert len(feed.leaf.schema) == 3  # the group, the rows and the maximum


def test_one_query_can_be_merged_by_itself(feed: Feed) -> None:
    feed.add(0, ("a", 1, "5"))
    feed.add(1, ("a", 2, "6"))
    feed.leaf.merged([Span(0, 2)])
    alone = feed.leaf.own_merged(feed.own[0], [Span(0, 2)])
    assert alone is not None
    assert rows_of(alone) == [("a", 3)]
    feed.leaf.merged([Span(1, 3)])
    feed.leaf.forget([1])
    assert feed.leaf.own_merged(feed.own[0], [Span(0, 2)]) is None
    nothing = feed.leaf.own_merged(feed.own[0], [Span(2, 4)])
    assert nothing is not None
    assert nothing.num_rows == 0


def test_it_says_how_it_merges_and_how_much_it_holds(feed: Feed) -> None:
    assert feed.leaf.rows == 0
    feed.add(0, ("a", 1, "5"))
    assert feed.leaf.rows == 1
    assert feed.leaf.describe().startswith("each chunk is evaluated once, and chunks are merged by")
    assert feed.leaf.merge_query is None
    assert feed.leaf.reads(0)
    assert not feed.leaf.reads(1)


def test_only_states_that_numpy_can_merge_are_shared(duck: Duck) -> None:
    text = "SELECT k, max(note) AS n FROM chunk_0 s GROUP BY k"
    leaves = [
        split(query_of(each), (WINDOW,), {"chunk_0": SCHEMA}, duck).leaves[0]
        for each in (text, SMALL)
    ]
    assert [is_dense(leaf) for leaf in leaves] == [False, True]
