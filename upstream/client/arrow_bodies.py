"""Arrow tables as bodies: IPC streams, in which dictionary-encoded keys stay codes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from upstream.errors import ColumnTypeError
from upstream.extras import missing_extra

from .batches import BODY_BYTES, check_batch_size

if TYPE_CHECKING:
    import pyarrow as pa

    ArrowUpdates: TypeAlias = pa.Table | pa.RecordBatch | pa.RecordBatchReader

ROWS_AT_ONCE: Final = 100_000
"""How many rows go in one body: more gain little, and keep everybody else waiting."""


def arrow_bodies(updates: ArrowUpdates, rows_at_once: int) -> Iterator[tuple[int, bytes]]:
    """Yield how many rows each body has, and the body. Small batches are put together."""
    check_batch_size(rows_at_once)
    gathered: list[pa.RecordBatch] = []
    rows = 0
    for batch in _batches(updates, rows_at_once):
        if rows + batch.num_rows > rows_at_once:
            yield from _bodies(gathered)
            gathered, rows = [], 0
        gathered.append(batch)
        rows += batch.num_rows
    if rows:
        yield from _bodies(gathered)


def _batches(updates: ArrowUpdates, most_rows: int) -> Iterable[pa.RecordBatch]:
    """Yield record batches, none of which is empty or has more rows than `most_rows`."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(
            missing_extra("sending a table", "pyarrow", "client"), name="pyarrow"
        ) from error
    if isinstance(updates, pa.RecordBatch):
        updates = [updates]
    elif isinstance(updates, pa.Table):
        updates = updates.to_batches()
    elif not isinstance(updates, pa.RecordBatchReader):
        raise ColumnTypeError("table", "it must be a table, record batch or reader of Arrow's")
    for batch in updates:
        for start in range(0, batch.num_rows, most_rows):
            yield batch.slice(start, most_rows)


def _bodies(batches: list[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the rows in one body, or in as many as it takes for none to be too long."""
    import pyarrow as pa

    # Batches may bring dictionaries of their own, which one stream writes once.
    table = pa.Table.from_batches(list(map(_compact, batches))).unify_dictionaries()
    body = _body(table)
    parts = min(math.ceil(len(body) / BODY_BYTES), table.num_rows)
    if parts == 1:
        yield table.num_rows, body
        return
    rows = math.ceil(table.num_rows / parts)
    for start in range(0, table.num_rows, rows):
        yield from _bodies(table.slice(start, rows).to_batches())


def _compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without the entries of long dictionaries that no row of it has."""
    import pyarrow as pa

    for index, column in enumerate(batch.columns):
        if pa.types.is_dictionary(column.type) and len(column.dictionary) > len(column):
            batch = batch.set_column(index, batch.schema.field(index), _without_unused(column))
    return batch


def _without_unused(column: pa.DictionaryArray) -> pa.DictionaryArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    used = column.indices.drop_null().unique()
    codes = pc.index_in(column.indices, value_set=used).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(
        codes, column.dictionary.take(used), ordered=column.type.ordered
    )


def _body(table: pa.Table) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
