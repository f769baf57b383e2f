"""A leaf of a query over one window: a partial per step, and their running merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial as bind
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from ...database.failure import DatabaseError
from ...queries.sql.lending import prepare
from ..partials import running_merge
from ..sql.names import STEP

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray
    from sqlglot import exp

    from ...database.duck import Duck
    from ..rewriting.split_query import Leaf
    from .failing_rows import FailingRows

_BY_STEP_ROWS: Final = 4_096
"""Steps that are shorter than this are evaluated together, if several wait."""
_TOGETHER_ROWS: Final = 65_536
"""How many rows are evaluated together at most."""
_BEFORE_ALL: Final = -(1 << 63)

Piece = tuple[int, "pa.Table"]


class LeafEvaluation(Protocol):
    """One leaf of a query, and the window that it is merged for."""

    schema: pa.Schema
    keeps_rows: bool
    """Whether it merges nothing, and all that the query asks is left to the finish."""

    def feed(self, window: int, pieces: Iterable[Piece]) -> None:
        """Take rows of one of its windows, by step. They may be of steps that are not due."""

    def advance(self, first: int, end: int) -> None:
        """Move to the window of the steps `[first, end)`, of which neither ever falls."""

    def merged(self) -> pa.Table:
        """Return the merged relation of the window."""

    def merge(self) -> exp.Query | None:
        """Return the query that merges what `merged` gives, if that is left to the finish."""

    def merged_of(self, first: int, end: int) -> pa.Table:
        """Return the same of an earlier window that is not forgotten."""

    def forget(self, before: int) -> None:
        """Say that steps below are not asked for again once the window has passed them."""

    def memory_rows(self) -> int:
        """Return how many rows are held. O(what is held)."""

    def close(self) -> None:
        """Give back what it has of DuckDB."""

    def describe(self) -> str:
        """Return how it is merged, in words."""


class StepLeaf:
    """Evaluate a leaf over one window, step by step."""

    __slots__ = (
        "_by_step",
        "_failing",
        "_merge",
        "_new_merge",
        "_partial",
        "_position",
        "_relation",
        "keeps_rows",
        "schema",
        "window",
    )

    def __init__(
        self,
        leaf: Leaf,
        schema: pa.Schema,
        duck: Duck,
        failing: FailingRows,
        *,
        cumulative: bool = False,
    ) -> None:
        import pyarrow as pa

        [self.window] = leaf.windows
        """The number of the one window that it reads."""
        self._relation = f"chunk_{self.window}"
        self._failing = failing
        self.keeps_rows = bool(leaf.reason)
        self._partial = prepare(duck, leaf.partial, {self._relation: schema})
        with_step = schema.append(pa.field(STEP, pa.int64()))
        self._by_step = prepare(duck, leaf.partial_by_step, {self._relation: with_step})
        self.schema = self._partial.run().schema
        """The schema of its partials, and of what they are merged to."""
        self._new_merge = bind(
            running_merge, leaf.groups, leaf.states, self.schema, duck, cumulative=cumulative
        )
        self._merge = self._new_merge()
        self._position = (_BEFORE_ALL, _BEFORE_ALL)

    def feed(self, window: int, pieces: Iterable[Piece]) -> None:
        """Take rows, by step."""
        short: list[Piece] = []
        for step, rows in pieces:
            if rows.num_rows < _BY_STEP_ROWS:
                short.append((step, rows))
            else:
                self._feed_step(step, rows)
        for together in portions(short, _TOGETHER_ROWS):
            self._feed_together(together)

    def advance(self, first: int, end: int) -> None:
        """Move to the window of the steps `[first, end)`."""
        self._position = first, end
        self._merge.advance(first, end)

    def merged(self) -> pa.Table:
        """Return the merged relation of the window."""
        return self._merge.merged(*self._position)

    def merged_of(self, first: int, end: int) -> pa.Table:
        """Return the merged relation of an earlier window."""
        return self._merge.merged(first, end)

    def forget(self, before: int) -> None:
        """Forget steps that are in no window any more."""
        self._merge.forget(before)

    def merge(self) -> exp.Query | None:
        """Return None: what `merged` gives is merged."""
        return None

    def reset(self) -> None:
        """Forget everything."""
        self._merge.close()
        self._merge = self._new_merge()
        self._position = (_BEFORE_ALL, _BEFORE_ALL)

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._merge.close()
        self._partial.close()
        self._by_step.close()

    def memory_rows(self) -> int:
        """Return how many rows are held."""
        return self._merge.rows

    def describe(self) -> str:
        """Return how it is merged, in words."""
        return f"each step is evaluated once; steps are merged by {self._merge.describe()}"

    def _feed_step(self, step: int, rows: pa.Table) -> None:
        def left_out(place: int, count: int) -> None:
            for each in range(place, place + count):
                self._failing.note_row(step, each)

        for partial in self._failing.spare(self._run, rows, left_out):
            self._merge.stage(step, partial)

    def _run(self, rows: pa.Table) -> pa.Table:
        return self._partial.run(**{self._relation: rows})

    def _feed_together(self, pieces: list[Piece]) -> None:
        if len(pieces) == 1:
            self._feed_step(*pieces[0])
            return
        try:
            partials = self._by_step.run(**{self._relation: with_steps(pieces)})
        except DatabaseError:
            for step, rows in pieces:
                self._feed_step(step, rows)
        else:
            for step, partial in by_step(partials):
                self._merge.stage(step, partial)


def portions(pieces: list[Piece], most_rows: int) -> Iterator[list[Piece]]:
    """Yield pieces in lists of no more rows than this, but of one piece at least."""
    portion: list[Piece] = []
    rows = 0
    for piece in pieces:
        if portion and rows + piece[1].num_rows > most_rows:
            yield portion
            portion, rows = [], 0
        portion.append(piece)
        rows += piece[1].num_rows
    if portion:
        yield portion


def with_steps(pieces: Iterable[Piece]) -> pa.Table:
    """Return the rows of all pieces, with a column for their steps."""
    import pyarrow as pa

    steps, tables = zip(*pieces, strict=True)
    column = np.repeat(np.array(steps, np.int64), [table.num_rows for table in tables])
    return pa.concat_tables(tables).append_column(STEP, pa.array(column))


def by_step(rows: pa.Table) -> Iterator[Piece]:
    """Yield rows by step: the first column, which is dropped."""
    if not rows.num_rows:
        return
    steps: NDArray[np.int64] = rows.column(0).to_numpy()
    rows = rows.remove_column(0)
    if bool((steps[1:] < steps[:-1]).any()):
        order = np.argsort(steps, kind="stable")
        rows, steps = rows.take(order), steps[order]
    starts = np.flatnonzero(np.concatenate(([True], steps[1:] != steps[:-1])))
    ends = np.append(starts[1:], len(steps))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield int(steps[start]), rows.slice(start, end - start)
