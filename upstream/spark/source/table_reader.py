"""Reads the newest values of a stream as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from .columns import record_batches
from .layout import Layout
from .options import TableOptions
from .service import snapshot

if TYPE_CHECKING:
    import pyarrow as pa


class TableReader(DataSourceReader):
    """Reads a snapshot in one task, because the service sends it in one answer."""

    def __init__(self, options: TableOptions, layout: Layout) -> None:
        self._options = options
        self._layout = layout

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the newest updates at the moment when the task runs."""
        address = self._options.address
        with address.client() as client:
            updates = snapshot(client, address.url, self._options.stream)
        yield from record_batches(updates, self._layout)
