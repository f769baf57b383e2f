"""An Arrow IPC stream from a stranger, as a table in which everything can be relied on."""

from __future__ import annotations

import pyarrow as pa

from ..errors import MalformedBodyError, TooManyRowsError, UnsupportedColumnError
from ..limits import Limits
from .layout import Layout, layout_of
from .messages import check_messages

_REFUSALS = (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError)
"""What pyarrow raises for bytes that are no stream."""
_NOT_ARROW = "the body is not an Arrow IPC stream"


def read_table(body: bytes, limits: Limits) -> tuple[Layout, pa.Table]:
    """Return what the stream holds, and which column is what; BodyError if it holds no updates.

    O(bytes): offsets, codes and UTF-8 are all checked, without which a stream could crash the
    process.
    """
    try:
        check_messages(body, limits)
        source = pa.BufferReader(body)
        options = pa.ipc.IpcReadOptions(use_threads=False)
        with pa.ipc.open_stream(source, options=options) as reader:
            schema = reader.schema
            layout = layout_of(schema, limits)
            batches = list(reader)
        if source.tell() != len(body):
            raise MalformedBodyError("there are bytes after the end of the stream", source.tell())
        for batch in batches:
            batch.validate(full=True)
        table = pa.Table.from_batches(batches, schema)
        if len(batches) > 1:
            table = _in_one_piece(table)
    except _REFUSALS:
        raise MalformedBodyError(_NOT_ARROW) from None
    if table.num_rows > limits.rows:
        raise TooManyRowsError(limits.rows)
    return layout, table


def _in_one_piece(table: pa.Table) -> pa.Table:
    try:
        return table.unify_dictionaries().combine_chunks()
    except pa.ArrowInvalid:
        raise UnsupportedColumnError(
            None, "dictionaries that differ from batch to batch must not hold a null"
        ) from None
