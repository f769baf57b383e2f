"""The merge of a landmark, which nothing leaves."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from upstream.database.failure import DatabaseError
from upstream.queries.partials.cumulative_merge import CumulativeMerge
from upstream.queries.partials.running_merge import RelationalMerge

from .contract import BEFORE_ALL, CheckedMerge, Partials, PlainMerge, RunningMergeContract

if TYPE_CHECKING:
    import pyarrow as pa


class PlainCumulativeMerge(PlainMerge):
    """Everything that was staged, from the beginning on."""

    def kept_from(self) -> int:
        return BEFORE_ALL

    def merged(self, first: int, end: int) -> pa.Table:
        if first >= self.first and end >= self.end:
            self.advance(first, end)
        self.end = max(end, self.end)
        chunks = sorted(chunk for chunk in self._chunks if chunk < self.end)
        return self._partials.merge([part for chunk in chunks for part in self._chunks[chunk]])


class TestCumulativeMerge(RunningMergeContract):
    def make(self, partials: Partials) -> CheckedMerge:
        merge = RelationalMerge(partials.groups, partials.states, partials.schema, partials.duck)
        return CumulativeMerge(merge)

    def plain(self) -> PlainMerge:
        return PlainCumulativeMerge(self.partials)

    def test_nothing_leaves(self) -> None:
        merge = self.make(self.partials)
        for chunk in range(100):
            merge.stage([(chunk, self.one("a", 1))])
            merge.advance(chunk, chunk + 1)
            merge.forget(chunk)
        assert self.totals(merge.merged(99, 100)) == {"a": 100}
        assert merge.rows == 1

    def test_a_sum_that_overflows_fails_only_when_it_is_read(self) -> None:
        merge = self.make(self.partials)
        merge.advance(0, 1)
        rows = [(str(i), Decimal(10**38 - 1), 1, 1.0, 1, 1.0) for i in range(4_000)]
        partial = self.partials.table(rows)
        for _ in range(8):
            merge.stage([(0, partial)])
            merge.settle()
            merge._check()
        with pytest.raises(DatabaseError):
            merge.merged(0, 1)

    def test_unread_partials_do_not_pile_up(self) -> None:
        merge = self.make(self.partials)
        merge.advance(0, 1)
        partial = self.partials.table([(str(i), 1, 1, 1.0, 1, 1.0) for i in range(1_000)])
        for _ in range(100):
            merge.stage([(0, partial)])
            merge.settle()
        assert merge.rows < 10_000
        assert self.totals(merge.merged(0, 1))["7"] == 100

    def test_partials_of_a_chunk_that_is_not_due_do_not_pile_up(self) -> None:
        merge = self.make(self.partials)
        merge.advance(0, 1)
        partial = self.partials.table([(str(i), 1, 1, 1.0, 1, 1.0) for i in range(1_000)])
        for _ in range(100):
            merge.stage([(0, partial), (1, partial)])
            merge.settle()
            merge._check()
        assert merge.rows < 20_000
        assert self.totals(merge.merged(0, 1))["7"] == 100
        assert self.totals(merge.merged(0, 2))["7"] == 200
