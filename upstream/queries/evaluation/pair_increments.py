"""Epochs that answer with new pairs: each pair of rows is in the answer of one epoch.

Rows are joined as they arrive. When an epoch has ended, the query runs over the pairs of which the
newest chunk is that of the epoch. Rows of an outer or anti join that have no partner are in the
last epoch in which they could have one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ...held_interrupt import HeldInterrupt
from ..pairs.reach import Reach
from ..pairs.tracked_join import TrackedJoin
from .over_pairs import OverPairs

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..chunks.chunk_rows import ChunkRows
    from ..chunks.windows import Span
    from ..results.failing_rows import FailingRows
    from ..rewriting.paired import PairedQuery


class PairIncrements:
    """The new pairs of each epoch, and the query over them.

    `kept` is how many chunks each input keeps. If each row of the result comes from one pair, a
    pair on which the query fails is left out; otherwise the whole epoch fails.
    """

    __slots__ = (
        "_answered",
        "_dropped",
        "_failing",
        "_is_row_wise",
        "_join",
        "_kept",
        "_kind",
        "_over_pairs",
    )

    def __init__(
        self,
        paired: PairedQuery,
        schemas: Mapping[int, pa.Schema],
        kept: Mapping[int, int],
        duck: Duck,
        *,
        schema: pa.Schema,
        failing: FailingRows,
        is_row_wise: bool,
    ) -> None:
        reach = Reach.of_chunks(kept)
        self._join = TrackedJoin(paired, schemas, duck, failing, reach=reach)
        self._over_pairs = OverPairs(paired, schemas, duck, schema)
        self._kept = kept
        self._failing = failing
        self._is_row_wise = is_row_wise
        self._kind = paired.kind
        self._answered: dict[int, pa.Table] = {}
        """The results of epochs whose pairs were taken, by epoch, until they are forgotten."""
        self._dropped: int | None = None
        """The epoch before which pairs were dropped last."""

    @property
    def rows(self) -> int:
        """How many rows and pairs are held."""
        return self._join.rows

    @property
    def way(self) -> str:
        """The name of this way of evaluation."""
        return f"by new pairs: {self._join.describe()}"

    @property
    def can_skip(self) -> bool:
        """Whether rows that are only in epochs without an answer need not be taken in.

        In joins that are not inner, it matters whether a row had a partner in an earlier epoch.
        """
        return self._kind == "inner"

    def feed(self, number: int, rows: ChunkRows, end: int) -> None:
        """Join the rows of an input before a chunk that were not joined yet."""
        pieces = rows.unfed(end)
        if not pieces:
            return
        chunks, tables = zip(*pieces, strict=True)
        places = np.repeat(np.array(chunks, np.int64), [table.num_rows for table in tables])
        take = self._join.feed(number, pa.concat_tables(tables), places)
        with HeldInterrupt():
            take()
            rows.take_as_fed(pieces)

    def advance(self, spans: Sequence[Span]) -> None:
        """Do nothing, since rows are joined when they are fed."""

    def table(self, spans: Sequence[Span], bounds: Mapping[str, pa.Table]) -> pa.Table:
        """Return the result over the new pairs of an epoch, which is newer than all before it."""
        assert not bounds, "epochs have columns in place of tables of bounds"
        epoch = spans[0].end - 1
        if epoch not in self._answered:
            self._drop(epoch)
            self._evict(epoch + 1)
            result, failed, error = self._result(self._join.ready(epoch + 1))
            place = ((min(self._kept), epoch),)
            with HeldInterrupt():
                self._answered[epoch] = result
                self._join.taken()
                self._failing.add(Counter({place: failed} if failed else {}), error)
        return self._answered[epoch]

    def forget(self, before: Sequence[int]) -> None:
        """Forget what only earlier epochs need; `before` are the first chunks that are kept."""
        oldest = max(chunk + self._kept[number] - 1 for number, chunk in enumerate(before))
        for epoch in [epoch for epoch in self._answered if epoch < oldest]:
            del self._answered[epoch]
        if self._failing.count:
            self._failing.forget(before)

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._join.close()
        self._over_pairs.close()

    def describe(self) -> tuple[str, ...]:
        """Return nothing, since there are no partials."""
        return ()

    def _drop(self, epoch: int) -> None:
        """Drop the pairs of earlier epochs, which have no answer any more.

        This is done once for an epoch: a further attempt to answer it would drop its own rows.
        """
        if self._dropped == epoch:
            return
        self._evict(epoch)
        self._join.ready(epoch)
        with HeldInterrupt():
            self._join.taken()
            self._dropped = epoch

    def _evict(self, epoch: int) -> None:
        """Let go of rows that meet no rows of this epoch or of later ones."""
        for number, kept in self._kept.items():
            self._join.evict(number, epoch - kept + 1)

    def _result(self, rows: Mapping[int, pa.Table]) -> tuple[pa.Table, int, str | None]:
        """Run the query over the rows of pairs; count the pairs that it fails on."""
        if not self._is_row_wise:
            return self._over_pairs.run(rows), 0, None
        table, spared = self._over_pairs.sparing(rows)
        return table, spared.rows_failed, spared.error
