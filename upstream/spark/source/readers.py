"""Reads the newest values of a stream as a table, and a queue as a stream.

The driver takes the batches of a queue, and tasks parse them. The service hands out updates from
one thread, so requests from several places would gain nothing. Parsing is the expensive part, so
each answer of the service becomes a task. A repeated task still has its answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from upstream.client import Client

from .columns import record_batches
from .layout import Layout
from .offsets import Offset
from .options import QueueOptions, TableOptions
from .raw_updates import raw_updates
from .service import ServiceQueue, snapshot
from .taking import BatchTaker


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


class AnswerPartition(InputPartition):
    """One answer of the service."""

    def __init__(self, body: bytes) -> None:
        super().__init__(None)
        self.body = body

    def __repr__(self) -> str:
        return f"AnswerPartition({len(self.body)} bytes)"


class QueueReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a queue; `taking` explains what happens when batches are repeated."""

    def __init__(self, options: QueueOptions, layout: Layout) -> None:
        self._options = options
        self._layout = layout
        self._client: Client | None = None
        self._batches: BatchTaker | None = None

    def initialOffset(self) -> dict[str, object]:  # noqa: N802 - Spark's names, here and below
        """Return where a query without a checkpoint starts."""
        return self._taker().initial().as_dict()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return the most updates in a batch, unless the trigger wants all."""
        return ReadMaxRows(self._options.max_updates)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """End the query once it has taken as many updates as wait now."""
        self._taker().stop_after_what_waits()

    def latestOffset(  # noqa: N802
        self, start: dict[str, object], limit: ReadLimit
    ) -> dict[str, object]:
        """Take the next batch, and return its end; `start` if nothing waits."""
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return self._taker().next(Offset.of(start), most).as_dict()

    def partitions(
        self, start: dict[str, object], end: dict[str, object]
    ) -> Sequence[InputPartition]:
        """Return the answers in a batch."""
        if start == end:
            return []
        return [AnswerPartition(body) for body in self._taker().answers(Offset.of(end))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the updates of one answer."""
        assert isinstance(partition, AnswerPartition)
        return record_batches(raw_updates(partition.body), self._layout)

    def stop(self) -> None:
        """Close the connections to the service."""
        if self._client is not None:
            self._client.close()

    def _taker(self) -> BatchTaker:
        """Return the object that takes batches, in the process that Spark asks for offsets."""
        if self._batches is None:
            address = self._options.address
            self._client = address.client()
            queue = ServiceQueue(self._client, address.url, self._options.queue)
            self._batches = BatchTaker(queue, self._options)
        return self._batches
