"""The tree of merges over the chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from upstream.queries.partials.chunk_tree import ChunkTree
from upstream.queries.partials.running_merge import RelationalMerge

from .contract import CheckedMerge, Partials, SlidingMergeContract

if TYPE_CHECKING:
    import pyarrow as pa


def relational(partials: Partials) -> RelationalMerge:
    return RelationalMerge(partials.groups, partials.states, partials.schema, partials.duck)


class CountedMerge(RelationalMerge):
    """A merge that counts what it is asked to do."""

    __slots__ = ("statements", "tables")

    def __init__(self, partials: Partials) -> None:
        super().__init__(partials.groups, partials.states, partials.schema, partials.duck)
        self.statements = self.tables = 0

    def __call__(self, tables: Sequence[pa.Table]) -> pa.Table:
        self.statements += 1
        self.tables += len(tables)
        return super().__call__(tables)


class TestChunkTree(SlidingMergeContract):
    def make(self, partials: Partials) -> CheckedMerge:
        return ChunkTree(relational(partials))

    def test_a_slide_costs_a_statement_and_an_eighth_over_few_tables(self) -> None:
        """The window has 512 chunks, and slides by one."""
        counted = CountedMerge(self.partials)
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
        counted = CountedMerge(self.partials)
        tree = ChunkTree(counted)
        for chunk in range(512):
            tree.stage([(chunk, self.one("a", 1))])
        tree.merged(0, 512)
        counted.statements = 0
        tree.stage([(100, self.one("a", 1))])
        assert self.totals(tree.merged(0, 512)) == {"a": 513}
        assert counted.statements <= 4
