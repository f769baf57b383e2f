"""A leaf of a query over the windows of several streams: their join, pair of steps by pair.

Only the new row and column of the matrix of pairs are computed (DataCell, section 3, "Multi-stream
Queries"): rows that come are joined with those of the other streams that are held, and these with
the rows that came. A pair is counted for the older of its steps, since it leaves with that.

The rows of the window are held, for rows to come; so are those of earlier windows that may still be
asked for, which are then joined anew: a pair of rows can be in a window that is older than the
younger of them, but not in all windows of the older one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from ..merging.pair_merge import PairMerge
from ..rewriting.split_query import STEP
from .step_leaf import by_step, with_steps

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from ..duck import Duck
    from ..rewriting.split_query import Leaf
    from .failing_rows import FailingRows
    from .step_leaf import Piece

_BEFORE_ALL: Final = -(1 << 63)
_AFTER_ALL: Final = (1 << 63) - 1


class JoinLeaf:
    """Evaluate a leaf over the windows of several streams."""

    __slots__ = (
        "_by_step",
        "_end",
        "_failing",
        "_filters",
        "_first",
        "_forgotten",
        "_held",
        "_merge",
        "_partial",
        "_schemas",
        "_waiting",
        "_windows",
        "schema",
    )

    def __init__(
        self, leaf: Leaf, schemas: dict[int, pa.Schema], duck: Duck, failing: FailingRows
    ) -> None:
        import pyarrow as pa

        self._windows = leaf.windows
        self._failing = failing
        step = pa.field(STEP, pa.int64())
        self._filters = {
            i: duck.prepare(leaf.filters_by_step[i], {f"chunk_{i}": schemas[i].append(step)})
            for i in leaf.windows
        }
        self._schemas = {i: self._filters[i].run().schema for i in leaf.windows}
        lent = {f"chunk_{i}": self._schemas[i] for i in leaf.windows}
        self._by_step = duck.prepare(leaf.partial_by_step, lent)
        without_step = {name: schema.remove(0) for name, schema in lent.items()}
        self._partial = duck.prepare(leaf.partial, without_step)
        self.schema = self._partial.run().schema
        self._merge = PairMerge(leaf.groups, leaf.states, self.schema, duck)
        self._waiting: dict[int, list[pa.Table]] = {i: [] for i in leaf.windows}
        self._held: dict[int, dict[int, list[pa.Table]]] = {i: {} for i in leaf.windows}
        self._first = self._end = self._forgotten = _BEFORE_ALL

    def feed(self, window: int, pieces: Iterable[Piece]) -> None:
        """Take rows of a stream, by step; they are joined when the window reaches them."""
        pieces = list(pieces)
        if pieces:
            run = self._filters[window].run
            rows = with_steps(pieces)
            filtered = self._failing.spare(lambda part: run(**{f"chunk_{window}": part}), rows)
            self._waiting[window].extend(part for part in filtered if part.num_rows)

    def advance(self, first: int, end: int) -> None:
        """Move the window, and join what waited for it."""
        self._first, self._end = first, end
        self._merge.advance(first)
        self._drop()
        self.join()

    def join(self) -> None:
        """Join what waits with what is held, as far as the window goes.

        Stream by stream: the new rows of each with all that are held of the others, and held from
        then on.
        """
        for window in self._windows:
            new = self._due(window)
            if new is None:
                continue
            others = {
                f"chunk_{other}": self._rows(other, self._first, self._end)
                for other in self._windows
                if other != window
            }
            in_window = in_steps(new, self._first, self._end)
            if in_window.num_rows and all(table.num_rows for table in others.values()):
                self._join(window, in_window, others)
            for step, rows in _by_step_with_it(new):
                self._held[window].setdefault(step, []).append(rows)

    def _join(self, window: int, rows: pa.Table, others: dict[str, pa.Table]) -> None:
        def run(part: pa.Table) -> pa.Table:
            return self._by_step.run(**{f"chunk_{window}": part}, **others)

        for pairs in self._failing.spare(run, rows):
            self._merge.stage(pairs)

    def merged(self) -> pa.Table:
        """Return the merged relation of the window."""
        self.join()
        return self._merge.merged()

    def merged_of(self, first: int, end: int) -> pa.Table:
        """Join the rows of an earlier window anew."""
        self.join()
        rows = {i: self._rows(i, first, end).remove_column(0) for i in self._windows}
        return self._partial.run(**{f"chunk_{i}": rows[i] for i in self._windows})

    def forget(self, before: int) -> None:
        """Forget steps that are in no window any more."""
        self._forgotten = max(before, self._forgotten)
        self._drop()

    def memory_rows(self) -> int:
        """Return how many rows are held."""
        waiting: int = sum(rows.num_rows for parts in self._waiting.values() for rows in parts)
        held: int = sum(
            rows.num_rows
            for steps in self._held.values()
            for parts in steps.values()
            for rows in parts
        )
        return waiting + held + self._merge.memory_rows()

    def describe(self) -> str:
        """Return how it is merged, in words."""
        return f"new rows are joined with those that are held; {self._merge.describe()}"

    def _due(self, window: int) -> pa.Table | None:
        """Take what waits of a stream and is in the window or behind it."""
        import pyarrow as pa

        if not self._waiting[window]:
            return None
        waiting = pa.concat_tables(self._waiting[window])
        due = in_steps(waiting, _BEFORE_ALL, self._end)
        is_all = due.num_rows == waiting.num_rows
        self._waiting[window] = [] if is_all else [in_steps(waiting, self._end, _AFTER_ALL)]
        return due if due.num_rows else None

    def _rows(self, window: int, first: int, end: int) -> pa.Table:
        import pyarrow as pa

        held = self._held[window]
        parts = [part for step in sorted(held) if first <= step < end for part in held[step]]
        return pa.concat_tables(parts) if parts else self._schemas[window].empty_table()

    def _drop(self) -> None:
        bound = min(self._forgotten, self._first)
        for held in self._held.values():
            for step in [step for step in held if step < bound]:
                del held[step]


def in_steps(rows: pa.Table, first: int, end: int) -> pa.Table:
    """Return the rows whose steps are in `[first, end)`."""
    steps: NDArray[np.int64] = rows.column(STEP).to_numpy()
    is_in = (steps >= first) & (steps < end)
    return rows if bool(is_in.all()) else rows.filter(is_in)


def _by_step_with_it(rows: pa.Table) -> Iterator[Piece]:
    """Yield rows by step, each with its step still."""
    return by_step(rows.add_column(0, "__of", rows.column(STEP)))
