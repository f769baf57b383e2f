"""Arrow tables as bodies: IPC streams, in which dictionary-encoded keys stay codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from upstream.errors import ColumnTypeError

if TYPE_CHECKING:
    import pyarrow as pa

    ArrowUpdates: TypeAlias = pa.Table | pa.RecordBatch | pa.RecordBatchReader

ROWS_AT_ONCE: Final = 100_000
"""How many rows go in one body: more gain little, and keep everybody else waiting."""


def arrow_bodies(updates: ArrowUpdates, rows_at_once: int) -> Iterator[tuple[int, bytes]]:
    """Yield how many rows each body has, and the body. Small batches are put together."""
    gathered: list[pa.RecordBatch] = []
    rows = 0
    for batch in _batches(updates, rows_at_once):
        if rows + batch.num_rows > rows_at_once:
            yield rows, _body(gathered)
            gathered, rows = [], 0
        gathered.append(batch)
        rows += batch.num_rows
    if rows:
        yield rows, _body(gathered)


def _batches(updates: ArrowUpdates, most_rows: int) -> Iterable[pa.RecordBatch]:
    """Yield record batches, none of which is empty or has more rows than `most_rows`."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(
            "tables need pyarrow, which is not installed; install the extra `client`: "
            "pip install 'upstream-update-queues[client]'",
            name="pyarrow",
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


def _body(batches: list[pa.RecordBatch]) -> bytes:
    import pyarrow as pa

    # Batches may bring dictionaries of their own, which one stream writes once.
    table = pa.Table.from_batches(batches).unify_dictionaries()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
