"""Writes rows to a stream of the service: tables, and the batches of a streaming query."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import types
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from upstream.client import Counts

from .errors import ColumnError, OptionError, RowsRejectedError, rejection_text
from .layout import DELETED, KEY, OF_UPDATES, TIME
from .options import WriteOptions
from .sending import Sent, send_all
from .service import check_stream

QUERY_PROPERTY: Final = "sql.streaming.queryId"
BATCH_PROPERTY: Final = "streaming.sql.batchId"
"""The local property in which Spark names the streaming query of a task."""


class SentMessage(WriterCommitMessage):
    """What happened to the rows of a task, for the driver."""

    def __init__(self, sent: Sent) -> None:
        self.sent = sent


class TableWriter(DataSourceArrowWriter):
    """Writes a table; within `foreachBatch`, a repeated batch counts once."""

    def __init__(self, options: WriteOptions, schema: types.StructType, *, overwrite: bool) -> None:
        if overwrite:
            raise OptionError(
                "mode",
                "cannot be overwrite, because rows replace only the values that they are newer "
                "than; use append",
            )
        self._rows = _Rows(options, schema)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> SentMessage:
        """Send the rows of a task."""
        return self._rows.send(iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Check the results of the tasks; RowsRejectedError if rows were rejected."""
        self._rows.check(messages)


class StreamWriter(DataSourceStreamArrowWriter):
    """Writes the batches of a streaming query; a repeated batch counts once."""

    def __init__(self, options: WriteOptions, schema: types.StructType) -> None:
        self._rows = _Rows(options, schema)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> SentMessage:
        """Send the rows of a task."""
        return self._rows.send(iterator)

    def commit(
        self,
        messages: Sequence[WriterCommitMessage | None],
        batchId: int,  # noqa: N803 - Spark's name
    ) -> None:
        """Check the results of the tasks; RowsRejectedError if rows were rejected."""
        self._rows.check(messages)


class _Rows:
    """What both writers share: sending rows, and reporting rejected ones."""

    def __init__(self, options: WriteOptions, schema: types.StructType) -> None:
        check_writable(schema)
        with options.address.client() as client:
            check_stream(client, options.address.url, options.stream)
        self._options = options
        self._write = uuid.uuid4().hex

    def send(self, batches: Iterable[pa.RecordBatch]) -> SentMessage:
        options = self._options
        with options.address.client() as client:
            sent = send_all(
                client, options.stream, batches, rows=options.batch_rows, identity=self._identity()
            )
        return SentMessage(sent)

    def check(self, messages: Iterable[WriterCommitMessage | None]) -> None:
        parts = [message.sent for message in messages if isinstance(message, SentMessage)]
        sent = reduce(Sent.plus, parts, Sent(0, Counts()))
        rejected = sent.counts.rejected
        if not rejected:
            return
        stream = self._options.stream
        if self._options.does_fail:
            raise RowsRejectedError(stream, sent.rows, rejected, sent.reasons())
        said = rejection_text(stream, sent.rows, rejected, sent.reasons())
        with warnings.catch_warnings():
            warnings.simplefilter("always")  # show a line for each batch, even if it repeats
            warnings.warn(said, RuntimeWarning, stacklevel=3)

    def _identity(self) -> str:
        """Return the identity of a task: its part of a query's batch, or of this one table."""
        context = TaskContext.get()
        assert context is not None, "only tasks send rows"
        query = context.getLocalProperty(QUERY_PROPERTY)
        batch = context.getLocalProperty(BATCH_PROPERTY)
        what = self._write if query is None or batch is None else f"{query}-{batch}"
        return f"spark-{what}-{context.partitionId()}"


def check_writable(schema: types.StructType) -> None:
    """Raise ColumnError unless a data frame has a key, a value, and types that JSON has."""
    kinds = {field.name: field.dataType for field in schema.fields}
    if KEY not in kinds:
        raise ColumnError(KEY, f"is missing; the columns are {', '.join(kinds)}")
    if not isinstance(kinds[KEY], types.StringType | types.IntegralType):
        raise ColumnError(KEY, f"is {kinds[KEY].simpleString()}: expected string or a whole number")
    timely = types.NumericType | types.TimestampType | types.TimestampNTZType
    time = kinds.get(TIME)
    if time is not None and (not isinstance(time, timely) or isinstance(time, types.DecimalType)):
        raise ColumnError(
            TIME, f"is {time.simpleString()}: expected seconds as a double, or timestamp"
        )
    if DELETED in kinds:
        raise ColumnError(
            DELETED,
            "cannot be written, because rows cannot be deletions: filter these rows out, "
            "drop the column, and delete keys with upstream.client",
        )
    values = {name: kind for name, kind in kinds.items() if name not in OF_UPDATES}
    if not values:
        raise ColumnError("value", "is missing, and there are no columns for its members")
    for name, kind in values.items():
        if not _is_value(kind):
            raise ColumnError(
                name,
                f"is {kind.simpleString()}, which JSON lacks; cast it, such as to string or double",
            )


def _is_value(kind: types.DataType) -> bool:
    if isinstance(kind, types.ArrayType):
        return _is_value(kind.elementType)
    if isinstance(kind, types.StructType):
        return bool(kind.fields) and all(_is_value(field.dataType) for field in kind.fields)
    simple = types.StringType | types.BooleanType | types.NumericType
    return isinstance(kind, simple) and not isinstance(kind, types.DecimalType)
