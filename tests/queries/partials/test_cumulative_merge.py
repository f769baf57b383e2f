"""The merge of a landmark, which nothing leaves."""

from __future__ import annotations

from upstream.queries.partials.cumulative_merge import CumulativeMerge
from upstream.queries.partials.running_merge import RelationalMerge

from .contract import CheckedMerge, CumulativeMergeContract, Partials


class TestCumulativeMerge(CumulativeMergeContract):
    def make(self, partials: Partials) -> CheckedMerge:
        merge = RelationalMerge(partials.groups, partials.states, partials.schema, partials.duck)
        return CumulativeMerge(merge)
