"""A leaf of a query over the windows of several streams: their join, pair of steps by pair.

Only the new row and column of the matrix of pairs are computed (DataCell, section 3, "Multi-stream
Queries"): rows that come are joined with those of the other streams that are held, and these with
the rows that came. A pair is counted for the older of its steps, since it leaves with that.

The rows of the window are held, for rows to come; so are those of earlier windows that may still be
asked for, which are then joined anew: a pair of rows can be in a window that is older than the
younger of them, but not in all windows of the older one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from ...database.failure import DatabaseError
from ...rows.arrow_data import empty_table
from ..chunks.sliding_table import SlidingTable, pieces_between
from ..evaluation.step_leaf import by_step, with_steps
from ..sql.names import STEP
from .pair_merge import PairMerge
from .pair_statements import PairStatements

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from sqlglot import exp

    from ...database.duck import Duck
    from ..evaluation.failing_rows import FailingRows, LeftOut
    from ..evaluation.step_leaf import Piece
    from ..rewriting.split_query import Leaf

Join = Callable[[int, "pa.Table", Mapping[int, "pa.Table"]], "pa.Table"]

_BEFORE_ALL: Final = -(1 << 63)
_AFTER_ALL: Final = (1 << 63) - 1
_WORTH: Final = 0.5
"""Aggregating before the join is worth it if it leaves no more of the rows than this."""


class JoinLeaf:
    """Evaluate a leaf over the windows of several streams.

    `early` is the same leaf with each stream aggregated before the join, if it can be. That is
    taken if the first rows become half as many by it.
    """

    __slots__ = (
        "_end",
        "_failed_pairs",
        "_failing",
        "_first",
        "_forgotten",
        "_forms",
        "_held",
        "_merge",
        "_order",
        "_raw",
        "_tables",
        "_waiting",
        "_windows",
        "keeps_rows",
        "schema",
    )

    def __init__(
        self,
        leaf: Leaf,
        early: Leaf | None,
        schemas: Mapping[int, pa.Schema],
        duck: Duck,
        failing: FailingRows,
    ) -> None:
        self._windows = leaf.windows
        self._failing = failing
        self._failed_pairs: Counter[tuple[int, int]] = Counter()
        """How many pairs were left out by the first and the last of their steps."""
        self.keeps_rows = bool(leaf.reason)
        leaves = [leaf] if early is None else [early, leaf]
        self._forms = [PairStatements(each, schemas, duck) for each in leaves]
        """The ways to join that there are; one, as soon as there were rows to choose by."""
        self.schema = self._forms[0].schema
        self._merge = PairMerge(leaf.groups, leaf.states, self.schema, duck)
        self._raw: dict[int, list[pa.Table]] = {i: [] for i in leaf.windows}
        self._waiting: dict[int, list[pa.Table]] = {i: [] for i in leaf.windows}
        self._held: dict[int, dict[int, list[pa.Table]]] = {i: {} for i in leaf.windows}
        self._order: dict[int, list[int]] = {i: [] for i in leaf.windows}
        """The steps that are held, as heaps."""
        self._tables: dict[int, SlidingTable] = {}
        """Of each stream what is held for the window."""
        self._first = self._end = self._forgotten = _BEFORE_ALL

    def merge(self) -> exp.Query | None:
        """Return the query by which the finish merges what `merged` gives."""
        return self._merge.query

    def feed(self, window: int, pieces: Iterable[Piece]) -> None:
        """Take rows of a stream, by step; they are joined when the window reaches them."""
        pieces = list(pieces)
        if pieces:
            self._raw[window].append(with_steps(pieces))
            self.join()

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
        self._pick()
        for window in self._windows:
            new = self._due(window)
            if new is None:
                continue
            others = {
                other: self._rows(other, self._first, self._end)
                for other in self._windows
                if other != window
            }
            in_window = in_steps(new, self._first, self._end)
            if in_window.num_rows and all(table.num_rows for table in others.values()):
                join, note = self._forms[0].join, self._note_pair
                for pairs in self._spare_pairs(join, window, in_window, others, note):
                    self._merge.stage(pairs)
            for step, rows in _by_step_with_it(new):
                held = self._held[window]
                if step not in held:
                    held[step] = []
                    heappush(self._order[window], step)
                held[step].append(rows)
                self._tables[window].add(step, rows)

    def _spare_pairs(
        self,
        run: Join,
        window: int,
        rows: pa.Table,
        others: dict[int, pa.Table],
        note: Callable[[int, int], None],
    ) -> list[pa.Table]:
        """Join rows of a stream with the others', and leave out those that fail.

        Where one row fails by itself, it may be for a row of the other stream: then that one is
        looked for, so that the pairs of the first with all others stay. `note` is told the first
        and the last step of each pair that is left out, or of a row that pairs with none.
        """
        found: list[pa.Table] = []

        def left_out(place: int, count: int) -> None:
            for step in _steps_of(rows.slice(place, count)):
                note(step, step)

        def join(part: pa.Table) -> pa.Table:
            try:
                return run(window, part, others)
            except DatabaseError:
                if part.num_rows != 1 or len(others) != 1:
                    raise
            [(other, table)] = others.items()
            [own] = _steps_of(part)

            def pair_left_out(place: int, count: int) -> None:
                for step in _steps_of(table.slice(place, count)):
                    note(min(own, step), max(own, step))

            def join_half(half: pa.Table) -> pa.Table:
                return run(window, part, {other: half})

            found.extend(self._failing.spare(join_half, table, pair_left_out))
            return run(window, part.slice(0, 0), others)

        results = self._failing.spare(join, rows, left_out)
        return [*results, *found]

    def _pick(self) -> None:
        """Pick what is needed of the rows that came."""
        if len(self._forms) > 1 and any(self._raw.values()):
            self._choose_form()
        if not self._tables and any(self._raw.values()):
            schemas = self._forms[0].picked
            self._tables = {window: SlidingTable(schemas[window]) for window in self._windows}
        pick = self._forms[0].pick
        for window, raw in self._raw.items():
            for rows in raw:
                picked = self._failing.spare(partial(pick, window), rows, self._noting(rows))
                self._waiting[window].extend(part for part in picked if part.num_rows)
            raw.clear()

    def _noting(self, rows: pa.Table) -> LeftOut:
        """Return what notes which of the rows of a stream, by step, could not be picked."""

        def left_out(place: int, count: int) -> None:
            steps = _steps_of(rows)
            for each in range(place, place + count):
                self._failing.note_row(steps[each], each - steps.index(steps[each]))

        return left_out

    def _note_pair(self, first: int, last: int) -> None:
        self._failed_pairs[first, last] += 1
        self._failing.note(first, last)

    def _choose_form(self) -> None:
        """See how many rows are left when they are aggregated before the join."""
        rows = picked = 0
        try:
            for window, raw in self._raw.items():
                for table in raw:
                    rows += table.num_rows
                    picked += self._forms[0].pick(window, table).num_rows
        except DatabaseError:
            picked = rows  # rows that fail one by one cannot be told apart any more
        self._forms.pop(0 if picked > rows * _WORTH else 1).close()

    def merged(self) -> pa.Table:
        """Return the partials of the window's pairs of steps."""
        self.join()
        return self._merge.partials()

    def merged_of(self, first: int, end: int) -> pa.Table:
        """Join the rows of an earlier window anew."""
        import pyarrow as pa

        self.join()
        rows = {i: self._rows(i, first, end) for i in self._windows}
        form = self._forms[0]
        try:
            return form.partial(rows)
        except DatabaseError:
            one, *_ = self._windows
            others = {i: rows[i] for i in self._windows if i != one}
            left_out: Counter[tuple[int, int]] = Counter()
            parts = self._spare_pairs(
                lambda window, part, rest: form.partial({window: part, **rest}),
                one,
                rows[one],
                others,
                lambda *span: left_out.update([span]),
            )
            for span, count in left_out.items():
                for _ in range(count - self._failed_pairs[span]):  # those that were not joined yet
                    self._note_pair(*span)
            return pa.concat_tables(parts) if parts else empty_table(self.schema)

    def forget(self, before: int) -> None:
        """Forget steps that are in no window any more."""
        self._forgotten = max(before, self._forgotten)
        self._drop()

    def memory_rows(self) -> int:
        """Return how many rows are held."""
        waiting: int = sum(
            rows.num_rows
            for tables in (self._raw, self._waiting)
            for parts in tables.values()
            for rows in parts
        )
        held: int = sum(
            rows.num_rows
            for steps in self._held.values()
            for parts in steps.values()
            for rows in parts
        )
        return waiting + held + self._merge.rows

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._merge.close()
        for form in self._forms:
            form.close()

    def describe(self) -> str:
        """Return how it is merged, in words."""
        early = ["aggregated before the join" in form.rule for form in self._forms]
        may_be = "" if all(early) else ", if that makes them much fewer"
        first = f"rows are first aggregated by what they are joined by{may_be}; "
        joined = "new rows are joined once with those that are held, "
        return f"{first if any(early) else ''}{joined}{self._merge.describe()}"

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
        """Return what is held of a stream for the steps in `[first, end)`."""
        import pyarrow as pa

        if self._tables and (first, end) == (self._first, self._end):
            return self._tables[window].window(
                first, end, partial(pieces_between, self._held[window])
            )
        parts = [rows for _, rows in pieces_between(self._held[window], first, end)]
        return pa.concat_tables(parts) if parts else empty_table(self._forms[0].picked[window])

    def _drop(self) -> None:
        bound = min(self._forgotten, self._first)
        for window, order in self._order.items():
            while order and order[0] < bound:
                del self._held[window][heappop(order)]
        for span in [span for span in self._failed_pairs if span[0] < bound]:
            del self._failed_pairs[span]


def in_steps(rows: pa.Table, first: int, end: int) -> pa.Table:
    """Return the rows whose steps are in `[first, end)`."""
    steps: NDArray[np.int64] = rows.column(STEP).to_numpy()
    is_in = (steps >= first) & (steps < end)
    return rows if bool(is_in.all()) else rows.filter(is_in)


def _steps_of(rows: pa.Table) -> list[int]:
    steps: list[int] = rows.column(STEP).to_pylist()
    return steps


def _by_step_with_it(rows: pa.Table) -> Iterator[Piece]:
    """Yield rows by step, each with its step still."""
    return by_step(rows.add_column(0, "__of", rows.column(STEP)))
