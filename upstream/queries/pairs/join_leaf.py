"""A leaf of a query over several inputs: their join, which makes each new pair of rows once.

New rows are joined with the held rows of the other inputs, and are held from then on (DataCell,
section 3, "Multi-stream Queries"). A `Pairing` decides which rows meet, and when a pair leaves.

The rows of the window are held for later rows. Rows of earlier windows that may still be requested
are held as well, and then joined again: a pair of rows can be in a window that is older than the
younger row, but not in all windows of the older row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ...database.failure import DatabaseError
from ...held_interrupt import HeldInterrupt
from ...rows.arrow_data import empty_table
from ..chunks.chunk_rows import SlidingTable
from ..chunks.pieces import with_chunks, with_their_chunks
from ..chunks.ring import Ring
from ..chunks.windows import Span
from ..results.failing_rows import spare
from ..sql.names import STEP
from .pair_merge import PairMerge
from .pair_statements import PairStatements
from .sparing_join import Joined, sparing_join

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..chunks.cutter import Piece
    from ..results.failing_rows import FailedRows, FailingRows, Place
    from ..rewriting.split_query import Leaf
    from .pairing import Pairing
    from .sparing_join import Join

_BEFORE_ALL: Final = -(1 << 63)
_WORTH: Final = 0.5
"""Aggregating before the join is worth it if at most this fraction of the rows is left."""


class JoinLeaf:
    """Evaluate a leaf over several inputs.

    If an input can be aggregated before the join, this is done if it at least halves the first
    rows.
    """

    __slots__ = (
        "_failed_pairs",
        "_failing",
        "_forgotten",
        "_forms",
        "_held",
        "_inputs",
        "_is_chosen",
        "_merge",
        "_pairing",
        "_spans",
        "_tables",
        "_waiting",
        "keeps_rows",
        "merge_query",
        "schema",
    )

    def __init__(
        self,
        leaf: Leaf,
        schemas: Mapping[int, pa.Schema],
        duck: Duck,
        *,
        pairing: Pairing,
        failing: FailingRows,
    ) -> None:
        self._inputs = leaf.windows
        self._pairing = pairing
        self._failing = failing
        self._failed_pairs: Counter[Place] = Counter()
        """How many pairs were left out, by the places of their rows."""
        self.keeps_rows = bool(leaf.reason)
        leaves = [leaf] if leaf.early is None else [leaf.early, leaf]
        self._forms = [PairStatements(each, schemas, duck) for each in leaves]
        """The possible forms of the join; one is chosen once there are rows to choose by."""
        self._is_chosen = False
        assert leaf.schema is not None, "a leaf has a schema once it was tried"
        self.schema = leaf.schema
        self._merge = PairMerge(leaf.groups, leaf.states, self.schema, duck)
        self.merge_query = self._merge.query
        """The query by which the finish merges the tables from `merged`."""
        self._waiting = {i: Ring["pa.Table"]() for i in leaf.windows}
        """The picked rows that no window has reached yet."""
        self._held = {i: Ring["pa.Table"]() for i in leaf.windows}
        """The rows that were joined with what was there."""
        self._tables: dict[int, SlidingTable] = {}
        """The held rows of each input for the window."""
        count = max(leaf.windows) + 1
        self._spans: Sequence[Span] = (Span(_BEFORE_ALL, _BEFORE_ALL),) * count
        self._forgotten: Sequence[int] = (_BEFORE_ALL,) * count

    def reads(self, number: int) -> bool:
        """Tell whether the leaf reads an input."""
        return number in self._inputs

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Callable[[], None]:
        """Pick the needed columns of new rows, to be joined when the window reaches them."""
        rows = with_chunks(pieces)
        form = self._chosen_form(number, rows)
        spared = spare(partial(form.pick, number), rows)
        if spared.left_out:
            chunks = rows.column(STEP).to_pylist()
            for place, count in spared.left_out:
                for each in range(place, place + count):
                    at = each - chunks.index(chunks[each])
                    failed.note(chunks[each], [at], spared.error)
        found = [piece for part in spared.results for piece in with_their_chunks(part)]
        return partial(self._take, number, form, [self._keyed(number, *each) for each in found])

    def settle(self) -> None:
        """Join what waited for the window."""
        self._join()

    def advance(self, spans: Sequence[Span]) -> None:
        """Move to a window, and join what waited for it.

        If an evaluation of several windows was interrupted, the next one begins at an older window.
        """
        if self._has_passed(spans):
            return
        if spans != self._spans:
            first = self._pairing.kept_from(spans)
            with HeldInterrupt():
                self._spans = spans
                self._merge.advance(first)
            self._drop()
        self._join()

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the partials of the pairs of a window that is not forgotten."""
        if self._has_passed(spans):
            return self._joined_anew(spans)
        self.advance(spans)
        return self._merge.partials()

    def _has_passed(self, spans: Sequence[Span]) -> bool:
        return any(spans[i].first < self._spans[i].first for i in self._inputs)

    def forget(self, before: Sequence[int]) -> None:
        """Forget earlier chunks, once the window has passed them."""
        self._forgotten = before
        self._drop()

    @property
    def rows(self) -> int:
        """How many rows are held."""
        rings = (*self._waiting.values(), *self._held.values())
        held: int = sum(
            rows.num_rows for ring in rings for chunk in ring for rows in ring.of(chunk)
        )
        return held + self._merge.rows

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._merge.close()
        for form in self._forms:
            form.close()

    def describe(self) -> str:
        """Describe how the leaf is merged."""
        forms = self._forms[:1] if self._is_chosen else self._forms
        early = ["aggregated before the join" in form.rule for form in forms]
        may_be = "" if all(early) else ", if that reduces them enough"
        first = f"rows are first aggregated by the columns of the join{may_be}; "
        joined = "new rows are joined once with the held rows, "
        return f"{first if any(early) else ''}{joined}{self._merge.describe()}"

    # Picking

    def _take(self, number: int, form: PairStatements, pieces: Sequence[Piece]) -> None:
        for chunk, rows in pieces:
            self._waiting[number].add(chunk, rows)
        self._forms = [form, *(each for each in self._forms if each is not form)]
        self._is_chosen = True

    def _chosen_form(self, number: int, rows: pa.Table) -> PairStatements:
        """Find out how many rows are left if they are aggregated before the join."""
        form, *others = self._forms
        if self._is_chosen or not others:
            return form
        try:
            picked = form.pick(number, rows).num_rows
        except DatabaseError:
            picked = rows.num_rows  # afterwards, rows that fail could not be told apart
        return others[0] if picked > rows.num_rows * _WORTH else form

    def _keyed(self, number: int, chunk: int, rows: pa.Table) -> Piece:
        """Return rows with the key of their pairs as the first column."""
        key = self._pairing.key(number, chunk)
        if key != chunk:
            keys = pa.array(np.full(rows.num_rows, key, np.int64))
            rows = rows.set_column(0, rows.schema.field(0), keys)
        return chunk, rows

    # Joining

    def _join(self) -> None:
        """Join what waits with what is held, as far as the window goes.

        Input by input, the new rows of each are joined with all held rows of the others, and are
        held from then on.
        """
        for number in self._inputs:
            span = self._spans[number]
            waiting = self._waiting[number].between(_BEFORE_ALL, span.end)
            new = [(chunk, rows) for chunk, rows in waiting if chunk >= span.first]
            joined = self._joined(self._forms[0].join, number, new, self._spans)
            found = self._merge.conformed(joined.results)
            with HeldInterrupt():
                self._merge.stage(found)
                self._failed_pairs.update(joined.failed)
                self._failing.add(joined.failed, joined.error)
                for chunk, pieces in self._waiting[number].forget(span.end):
                    for piece in pieces:
                        self._held[number].add(chunk, piece)
                        self._table(number).add(chunk, piece)
            self._merge.settle()

    def _joined_anew(self, spans: Sequence[Span]) -> pa.Table:
        """Join the rows of an earlier window again."""
        self._join()
        one, *_ = self._inputs
        pieces = list(self._held[one].between(*spans[one]))
        joined = self._joined(self._forms[0].partial, one, pieces, spans)
        new = joined.failed - self._failed_pairs  # those that were not joined yet
        self._failed_pairs.update(new)
        self._failing.add(new, joined.error)
        return pa.concat_tables(joined.results) if joined.results else empty_table(self.schema)

    def _joined(
        self, join: Join, number: int, pieces: Sequence[Piece], spans: Sequence[Span]
    ) -> Joined:
        """Join pieces of an input with the held rows of the others for a window."""
        partners = self._pairing.partners(number, spans)
        others = {each: self._rows(each, span) for each, span in partners.items()}
        if not pieces or not all(table.num_rows for table in others.values()):
            return Joined([], Counter(), None)
        rows = pa.concat_tables([rows for _, rows in pieces])
        made_of: dict[int, Iterable[Piece]] = {
            other: self._held[other].between(*span) for other, span in partners.items()
        }
        return sparing_join(join, number, rows, others, made_of | {number: pieces})

    def _rows(self, number: int, span: Span) -> pa.Table:
        """Return the held rows of an input for a span."""
        if span == self._spans[number]:
            return self._table(number).window(*span, self._held[number])
        parts = [rows for _, rows in self._held[number].between(*span)]
        return pa.concat_tables(parts) if parts else empty_table(self._forms[0].picked[number])

    def _table(self, number: int) -> SlidingTable:
        if number not in self._tables:
            self._tables[number] = SlidingTable(self._forms[0].picked[number])
        return self._tables[number]

    def _drop(self) -> None:
        bounds = [
            min(forgotten, span.first)
            for forgotten, span in zip(self._forgotten, self._spans, strict=True)
        ]
        for number in self._inputs:
            self._held[number].forget(bounds[number])
        for place in [
            place
            for place in self._failed_pairs
            if any(chunk < bounds[number] for number, chunk in place)
        ]:
            del self._failed_pairs[place]
