"""The tree of merges over the chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from upstream.queries.partials.chunk_tree import ChunkTree
from upstream.queries.partials.table_merge import RelationalMerge

from .contract import CheckedMerge, Partials, SlidingMergeContract

if TYPE_CHECKING:
    import pyarrow as pa


def relational(partials: Partials) -> RelationalMerge:
    return RelationalMerge(partials.groups, partials.states, partials.schema, partials.duck)


class CountedMerge:
    """A merge that counts what it is asked to do."""

    def __init__(self, merge: RelationalMerge) -> None:
        self.schema = merge.schema
        self.statements = self.tables = 0
        self._merge = merge

    def __call__(self, tables: Sequence[pa.Table]) -> pa.Table:
        self.statements += 1
        self.tables += len(tables)
        return self._merge(tables)

    def describe(self) -> str:
        return self._merge.describe()

    def close(self) -> None:
        self._merge.close()


class TestChunkTree(SlidingMergeContract):
    def make(self, partials: Partials) -> CheckedMerge:
        return ChunkTree(relational(partials))

    def test_a_slide_costs_a_statement_and_an_eighth_over_few_tables(self) -> None:
        """The window has 512 chunks, and slides by one."""
        counted = CountedMerge(relational(self.partials))
        tree = ChunkTree(counted)
        for chunk in range(512):
            tree.stage([(chunk, self.one("a", 1))])
        tree.merged(0, 512)
        counted.statements = counted.tables = 0
        for chunk in range(512, 1024):
            tree.stage([(chunk, self.one("a", 1))])
            tree.advance(chunk - 511, chunk + 1)
            tree.forget(chunk - 511)
            assert self.totals(tree.merged(chunk - 511, chunk + 1)) == {"a": 512}
        assert counted.statements / 512 < 1.25
        assert counted.tables / 512 < 3 * 14

    def test_an_amendment_merges_one_path_of_the_tree_again(self) -> None:
        counted = CountedMerge(relational(self.partials))
        tree = ChunkTree(counted)
        for chunk in range(512):
            tree.stage([(chunk, self.one("a", 1))])
        tree.merged(0, 512)
        counted.statements = 0
        tree.stage([(100, self.one("a", 1))])
        assert self.totals(tree.merged(0, 512)) == {"a": 513}
        assert counted.statements <= 4
