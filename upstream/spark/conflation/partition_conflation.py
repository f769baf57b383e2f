"""Conflation before the shuffle: the newest row of each key of a partition, and counters.

It runs on Arrow columns inside `mapInArrow`. For each million input rows, the output has one row
per key. Spark's own aggregations keep state of their own in a stream, so this uses vector
operations of Arrow and NumPy, with no Python code per row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from upstream.columns import newest_so_far, stable_order, starts_of

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE: Final = 1 << 20
"""How many rows are conflated at once, and held in memory."""

BYTES_AT_ONCE: Final = 128 << 20
"""The most bytes that are conflated at once; an Arrow text column holds up to 2 GB."""

MOST_CODES: Final = 1 << 31
"""Above this, the codes of keys of several columns are renumbered without gaps."""

TIME: Final = "__upstream_time"
"""The column with the time in seconds."""
DELETED: Final = "__upstream_deleted"

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PartitionConflation:
    """Conflates the rows of a partition, a million at a time; a function for `mapInArrow`.

    `columns` are the columns of a row, and `keys` those of its key. The input also has the columns
    `TIME` and `DELETED`. The output has `columns` and the columns of `counted_schema`.
    """

    columns: tuple[str, ...]
    keys: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Conflate the batches of the current partition."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None, "this runs only in Spark's tasks"
        return self.conflate(batches, partition=context.partitionId())

    def conflate(
        self, batches: Iterable[pa.RecordBatch], *, partition: int
    ) -> Iterator[pa.RecordBatch]:
        """Conflate batches; `partition` is the number of their partition."""
        import pyarrow as pa

        before = 0
        for gathered in _gathered(batches):
            table = pa.Table.from_batches(gathered).combine_chunks()
            yield from self._conflate(table, partition, before)
            before += len(table)

    def _conflate(self, table: pa.Table, partition: int, before: int) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        times = table[TIME].to_numpy(zero_copy_only=False).astype(np.float64)
        is_good = np.isfinite(times)
        for key in self.keys:
            is_good &= table[key].is_valid().to_numpy()
        good = np.flatnonzero(is_good)
        if len(good):
            yield self._good_rows(table, times, good, partition, before)
        if len(good) < len(table):
            nulls = [pa.nulls(1, table.schema.field(name).type) for name in self.columns]
            counted = _Counted(1)
            counted.partition[:] = partition
            counted.rejected[:] = len(table) - len(good)
            yield pa.RecordBatch.from_arrays(
                [*nulls, *counted.as_arrays(pa.nulls(1, pa.bool_()))],
                names=[*self.columns, *COUNTED],
            )

    def _good_rows(
        self, table: pa.Table, times: Floats, rows: Integers, partition: int, before: int
    ) -> pa.RecordBatch:
        import pyarrow as pa

        codes, keys = self._codes(table, rows)
        order = stable_order(codes, keys)
        codes, rows, times = codes[order], rows[order], times[rows[order]]
        is_accepted = newest_so_far(codes, times, np.full(keys, -np.inf))
        arrived = np.bincount(codes, minlength=keys)
        codes, rows, times = codes[is_accepted], rows[is_accepted], times[is_accepted]
        starts = starts_of(codes)
        edges = np.append(starts, len(codes))
        newest = rows[edges[1:] - 1]
        counted = _Counted(keys)
        counted.partition[:] = partition
        counted.late = arrived - np.diff(edges)
        counted.times = times
        counted.positions = rows + before
        counted.edges = edges
        taken = table.take(pa.array(newest)).combine_chunks()
        columns = [taken[name].combine_chunks() for name in self.columns]
        deleted = taken[DELETED].combine_chunks()
        return pa.RecordBatch.from_arrays(
            [*columns, *counted.as_arrays(deleted)], names=[*self.columns, *COUNTED]
        )

    def _codes(self, table: pa.Table, rows: Integers) -> tuple[Integers, int]:
        """Return a code from 0 for the key of each of `rows`, and the number of keys."""
        codes = np.zeros(len(rows), dtype=np.int64)
        keys = 1
        for name in self.keys:
            encoded = table[name].combine_chunks().dictionary_encode()
            its_codes = encoded.indices.to_numpy(zero_copy_only=False)[rows].astype(np.int64)
            codes = codes * len(encoded.dictionary) + its_codes
            keys *= len(encoded.dictionary)
            if keys > MOST_CODES:
                codes, keys = _renumbered(codes)
        if len(self.keys) == 1 and len(rows) == len(table):
            return codes, keys
        return _renumbered(codes)


COUNTED: Final = (
    "__upstream_partition",
    "__upstream_late",
    "__upstream_rejected",
    "__upstream_times",
    "__upstream_positions",
    DELETED,
)


class _Counted:
    """The columns that `COUNTED` names, for a number of rows."""

    __slots__ = ("edges", "late", "partition", "positions", "rejected", "times")

    def __init__(self, rows: int) -> None:
        self.partition: Integers = np.zeros(rows, dtype=np.int64)
        self.late: Integers = np.zeros(rows, dtype=np.int64)
        self.rejected: Integers = np.zeros(rows, dtype=np.int64)
        self.times: Floats = np.empty(0)
        self.positions: Integers = np.empty(0, dtype=np.int64)
        self.edges: Integers = np.zeros(rows + 1, dtype=np.int64)
        """The first accepted update of each row, and the end of the last row."""

    def as_arrays(self, deleted: pa.Array) -> list[pa.Array]:
        import pyarrow as pa

        return [
            pa.array(self.partition),
            pa.array(self.late),
            pa.array(self.rejected),
            _as_binary(self.times, self.edges),
            _as_binary(self.positions, self.edges),
            deleted,
        ]


def _renumbered(codes: Integers) -> tuple[Integers, int]:
    """Return codes without gaps, and how many there are."""
    distinct, renumbered = np.unique(codes, return_inverse=True)
    return renumbered.astype(np.int64), len(distinct)


def _as_binary(numbers: Floats | Integers, edges: Integers) -> pa.Array:
    """Return the numbers between consecutive edges as binary values, without a copy of each."""
    import pyarrow as pa

    offsets = (edges * 8).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(numbers))]
    return pa.Array.from_buffers(pa.binary(), len(edges) - 1, buffers)


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Yield the batches in groups of about `ROWS_AT_ONCE` rows or `BYTES_AT_ONCE`."""
    gathered: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            part = batch.slice(start, ROWS_AT_ONCE)
            gathered.append(part)
            rows += part.num_rows
            size += part.nbytes
            if rows >= ROWS_AT_ONCE or size >= BYTES_AT_ONCE:
                yield gathered
                gathered, rows, size = [], 0, 0
    if gathered:
        yield gathered
