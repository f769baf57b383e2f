"""Updates cut into request bodies that the service accepts: JSON rows and Arrow IPC streams.

Dictionary-encoded keys of an Arrow table stay dictionary-encoded.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from upstream.errors import ColumnTypeError, ParameterError
from upstream.extras import missing_extra

from .encoding import Row, encode_row, encode_rows

if TYPE_CHECKING:
    import pyarrow as pa

    ArrowUpdates: TypeAlias = pa.Table | pa.RecordBatch | pa.RecordBatchReader

BATCH_SIZE: Final = 1_000
"""How many JSON updates are sent in one request by default; larger batches gain little."""
ROWS_AT_ONCE: Final = 100_000
"""How many Arrow rows are sent in one request by default.

More rows gain little and make the service's other clients wait.
"""
BODY_BYTES: Final = 8_000_000
"""The size limit of a body with more than one update: half of what the service takes by default."""

T = TypeVar("T")


def bodies(rows: Iterable[Row], batch_size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number of rows of each JSON body, and the body.

    All rows of a batch are encoded before the first body of the batch is yielded. A row that cannot
    be encoded raises ValueNotEncodableError.
    """
    for batch in in_batches(rows, batch_size):
        body = encode_rows(batch)
        if len(body) <= BODY_BYTES:
            yield len(batch), body
            continue
        encoded = deque(encode_row(*row) for row in batch)
        while encoded:
            yield next_body(encoded, batch_size)


def next_body(rows: deque[bytes], most_rows: int) -> tuple[int, bytes]:
    """Remove rows from the left for one body; return how many there are, and the body."""
    taken: list[bytes] = []
    size = len(b"[]")
    while rows and len(taken) < most_rows:
        size += len(rows[0]) + len(b",")
        if taken and size > BODY_BYTES:
            break
        taken.append(rows.popleft())
    return len(taken), b"[" + b",".join(taken) + b"]"


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield `items` in lists of `size`; the last list may be shorter."""
    check_batch_size(size)
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def check_batch_size(size: object) -> None:
    """Raise ParameterError unless `size` is a whole number of at least 1."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ParameterError("batch_size", size, "a whole number, 1 or more")


def arrow_bodies(updates: ArrowUpdates, rows_at_once: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number of rows of each Arrow body, and the body; small batches are combined."""
    check_batch_size(rows_at_once)
    gathered: list[pa.RecordBatch] = []
    rows = 0
    for batch in _batches(updates, rows_at_once):
        if rows + batch.num_rows > rows_at_once:
            yield from _arrow_bodies(gathered)
            gathered, rows = [], 0
        gathered.append(batch)
        rows += batch.num_rows
    if rows:
        yield from _arrow_bodies(gathered)


def _batches(updates: ArrowUpdates, most_rows: int) -> Iterable[pa.RecordBatch]:
    """Yield record batches that have between one and `most_rows` rows."""
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
        raise ColumnTypeError("table", "expected an Arrow table, record batch or reader")
    for batch in updates:
        for start in range(0, batch.num_rows, most_rows):
            yield batch.slice(start, most_rows)


def _arrow_bodies(batches: list[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the rows in as few bodies as the size limit allows."""
    import pyarrow as pa

    # Every batch may have dictionaries of its own; a unified one is written once per body.
    table = pa.Table.from_batches(list(map(_compact, batches))).unify_dictionaries()
    body = _arrow_body(table)
    parts = min(math.ceil(len(body) / BODY_BYTES), table.num_rows)
    if parts == 1:
        yield table.num_rows, body
        return
    rows = math.ceil(table.num_rows / parts)
    for start in range(0, table.num_rows, rows):
        yield from _arrow_bodies(table.slice(start, rows).to_batches())


def _compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose dictionaries have no unused entries if they are long."""
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


def _arrow_body(table: pa.Table) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
