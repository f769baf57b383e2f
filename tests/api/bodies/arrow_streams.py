"""Arrow IPC streams to test with."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


def stream_of(*batches: pa.RecordBatch, **options: object) -> bytes:
    """Return record batches of one schema as an IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(
        sink, batches[0].schema, options=pa.ipc.IpcWriteOptions(**options)
    ) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def body_of(**columns: pa.Array | Sequence[object]) -> bytes:
    """Return columns as an IPC stream of one record batch."""
    arrays = {
        name: column if isinstance(column, pa.Array) else pa.array(column)
        for name, column in columns.items()
    }
    return stream_of(pa.record_batch(arrays))
