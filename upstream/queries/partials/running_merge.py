"""What keeps the merged relation of a window while it slides, and which of them to take.

DataCell merges the partials of all n steps for each window ("Merging Intermediates", section 3).
Here a slide costs about one merge:

- `DenseMerge`, where groups can be numbered and states are sums, minima, maxima or moments of
  numbers: the step that enters is added to columns in place, and the one that leaves taken away.
  On 512 steps it is 5 to 50 times as fast as the next, at 20 to 200,000 groups.
- `StepTree`, for everything else, rows too: merges of eight steps, of 64, and so on are kept, and
  the few that make up the window merged in one statement.
- `CumulativeMerge` for a landmark, of which nothing leaves.

A join of streams, of which every slide changes all steps, has `PairMerge`, which is none of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .cumulative_merge import CumulativeMerge
from .dense_columns import DenseColumns, can_be_dense
from .dense_merge import DenseMerge
from .step_tree import StepTree
from .table_merge import RelationalMerge, RowConcatenation

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.duck import Duck
    from ..rewriting.split_query import State
    from .table_merge import TableMerge


class RunningMerge(Protocol):
    """The merge of the partials of the steps in a window.

    The window is empty until the first `advance`. A step in the window is held, and so is one
    behind it until it is forgotten; what is staged for a step that is forgotten is ignored. Only
    `merged` and `merged_of` raise what the data cause (a sum that overflows); the window can move
    on after that.
    """

    def stage(self, step: int, partial: pa.Table) -> None:
        """Take a part of a step's partial.

        A step at or after the window's end waits; one before it is amended.
        """

    def advance(self, first: int, end: int) -> None:
        """Move the window to the steps `[first, end)`, of which neither ever falls.

        Costs by the steps that enter and leave, however far it is.
        """

    def merged(self) -> pa.Table:
        """Return the merge of the window: one row per group, in the schema of the partials."""

    def merged_of(self, first: int, end: int) -> pa.Table:
        """Return the merge of any steps that are held, which need not be fast.

        Where the merge is cumulative, that of all steps up to the window's end.
        """

    def forget(self, before: int) -> None:
        """Say that steps below are not asked for again once they have left the window."""

    def memory_rows(self) -> int:
        """Return how many rows are held. O(what is held)."""

    def describe(self) -> str:
        """Say in a phrase how it merges."""

    def close(self) -> None:
        """Give back what it has of DuckDB; it is of no more use."""


def running_merge(
    groups: tuple[str, ...] | None,
    states: tuple[State, ...],
    schema: pa.Schema,
    duck: Duck,
    *,
    cumulative: bool = False,
) -> RunningMerge:
    """Return what merges partials of this schema: the groups, then the columns of the states.

    `groups` is None where partials are rows. `cumulative` is for a landmark: nothing leaves, and
    nothing but the merge is kept.
    """
    merge: TableMerge
    if groups is None:
        merge = RowConcatenation(schema)
    else:
        merge = RelationalMerge(groups, states, schema, duck)
    if cumulative:
        return CumulativeMerge(merge)
    if groups is not None and can_be_dense(groups, states, schema):
        return DenseMerge(DenseColumns(groups, states, schema), merge)
    return StepTree(merge)
