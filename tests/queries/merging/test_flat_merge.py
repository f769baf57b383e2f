"""The merge of all steps anew each time."""

from __future__ import annotations

from upstream.queries.merging.flat_merge import FlatMerge
from upstream.queries.merging.table_merge import RelationalMerge

from .contract import CheckedMerge, Partials, SlidingMergeContract


class TestFlatMerge(SlidingMergeContract):
    def make(self, partials: Partials) -> CheckedMerge:
        merge = RelationalMerge(partials.groups, partials.states, partials.schema, partials.duck)
        return FlatMerge(merge)
