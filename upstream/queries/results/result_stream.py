"""Appends the results of a standing query to a stream.

A result is a batch of rows. The end of its window is the time of the rows, unless the query selects
a time. A row that the stream cannot hold, because its key or its time is NULL, is left out and
counted.

With deletions, each result is a snapshot: a key that was in the result before, and is not in this
one, is deleted. A result that is an error says nothing about keys, and one that lacks rows, on
which the query failed, says nothing about the keys that it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import StreamTypeError
from ...rows.arrow_data import empty_table
from ...rows.arrow_words import one_array
from ...rows.group_codes import GroupCodes

if TYPE_CHECKING:
    from ...rows.stream_definition import StreamDefinition
    from ...tables.engine_stream import EngineStream
    from .answer import Answer


class _So(NamedTuple):
    """What became of the results so far."""

    appended: int = 0
    deleted: int = 0
    refused: int = 0
    error: str | None = None


class ResultStream:
    """The stream that a standing query fills; only its query writes to it.

    `columns` is the number of columns of a result. The stream may have one more, for the end of the
    window.
    """

    __slots__ = ("_columns", "_deletes", "_present", "_so", "stream")

    def __init__(self, stream: EngineStream, *, columns: int, deletes: bool) -> None:
        self.stream = stream
        self._columns = columns
        self._deletes = deletes
        definition = stream.definition
        kinds = [definition.schema.field(name) for name in definition.key]
        self._present = empty_table(pa.schema(kinds))
        """The keys of the results so far that were not deleted, if keys are deleted."""
        self._so = _So()

    @property
    def rows_appended(self) -> int:
        """How many rows were appended."""
        return self._so.appended

    @property
    def rows_refused(self) -> int:
        """How many rows were left out because their key or their time is NULL."""
        return self._so.refused

    @property
    def keys_deleted(self) -> int:
        """How often a key was deleted."""
        return self._so.deleted

    @property
    def error(self) -> str | None:
        """Why a row was last left out."""
        return self._so.error

    def describe(self) -> str:
        """Say where results go."""
        definition = self.stream.definition
        parts = [f"key {', '.join(definition.key)}"] if definition.key else []
        parts += [f"time {definition.time}"] if definition.time is not None else []
        parts += ["keys that leave the result are deleted"] if self._deletes else []
        clauses = f" ({'; '.join(parts)})" if parts else ""
        return f"results are appended to the stream {definition.name}{clauses}"

    def prepared(self, answers: Sequence[Answer]) -> Callable[[], None]:
        """Make rows of the answers; the returned function stores them and cannot fail."""
        steps = _Steps(self.stream)
        present, so = self._present, self._so
        for answer in answers:
            rows, keys, error = self._fitting(answer)
            refused = answer.table.num_rows - rows.num_rows
            if self._deletes and answer.error is None:
                gone, present = _followed(present, keys, is_whole=not answer.rows_failed)
                steps.delete(gone)
                so = so._replace(deleted=so.deleted + gone.num_rows)
            steps.append(rows)
            appended, refused = so.appended + rows.num_rows, so.refused + refused
            so = so._replace(appended=appended, refused=refused, error=error or so.error)
        store = steps.end()

        def give() -> None:
            self._present, self._so = present, so
            store()

        return give

    def _fitting(self, answer: Answer) -> tuple[pa.Table, pa.Table, str | None]:
        """Return the rows that the stream can hold, all keys that it can hold, and an error."""
        definition = self.stream.definition
        table, error = self._with_end(answer), None
        for name in definition.key:
            table, without = _present_in(table, name)
            error = without or error
        keys = table.select([*definition.key]) if self._deletes else table.slice(0, 0)
        if definition.time is not None:
            table, without = _present_in(table, definition.time)
            error = without or error
        rows, beyond = _in_range(table, definition)
        return rows, keys, beyond or error

    def _with_end(self, answer: Answer) -> pa.Table:
        """Return the rows of an answer with the end of its window, if the stream has that."""
        table, schema = answer.table, self.stream.definition.schema
        columns = [
            column.cast(field.type) if pa.types.is_dictionary(column.type) else column
            for column, field in zip(table.columns, schema, strict=False)
        ]
        if len(schema) > self._columns:
            end = pa.scalar(answer.end, schema.field(self._columns).type)
            columns.append(pa.chunked_array([pa.repeat(end, table.num_rows)]))
        return pa.Table.from_arrays(columns, schema=schema)


class _Steps:
    """What is done to a stream, in order: rows that come one after the other are one batch."""

    def __init__(self, stream: EngineStream) -> None:
        self._stream = stream
        self._waiting: list[pa.Table] = []
        self._steps: list[Callable[[], object]] = []

    def append(self, rows: pa.Table) -> None:
        """Append rows of the stream's schema."""
        if rows.num_rows:
            self._waiting.append(rows)

    def delete(self, keys: pa.Table) -> None:
        """Delete keys."""
        if keys.num_rows:
            self._flush()
            self._steps.append(partial(self._stream.delete, keys))

    def end(self) -> Callable[[], None]:
        """Return the function that does it all.

        The stream stores rows before it hands them to queues. If one of these refuses them, the
        exception is raised when everything is stored.
        """
        self._flush()
        steps = self._steps

        def run() -> None:
            with ExitStack() as stack:
                for step in reversed(steps):
                    stack.callback(step)

        return run

    def _flush(self) -> None:
        if self._waiting:
            self._steps.append(partial(self._stream.append, pa.concat_tables(self._waiting)))
            self._waiting = []


def _present_in(table: pa.Table, name: str) -> tuple[pa.Table, str | None]:
    """Return the rows in which a column is neither NULL nor NaN, and what is wrong with others."""
    column = table.column(name)
    is_there = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        is_there = pc.and_(is_there, pc.fill_null(pc.invert(pc.is_nan(column)), fill_value=False))
    if pc.all(is_there).as_py() is not False:
        return table, None
    return table.filter(is_there), f"rows are left out in which {name} is NULL or NaN"


def _in_range(table: pa.Table, definition: StreamDefinition) -> tuple[pa.Table, str | None]:
    """Return the rows whose time is not too far away, and what is wrong with others."""
    error = None
    while True:
        try:
            return definition.conform(table), error
        except StreamTypeError as failure:
            if failure.row is None:
                raise
            error, row = failure.reason, failure.row
            table = pa.concat_tables([table.slice(0, row), table.slice(row + 1)])


def _followed(before: pa.Table, now: pa.Table, *, is_whole: bool) -> tuple[pa.Table, pa.Table]:
    """Return the keys that are gone, and the keys that are present now, each once.

    If the result is not whole, no key is gone.
    """
    both = pa.concat_tables([before, now])
    codes = GroupCodes(both.schema.types)
    columns = [one_array(column) for column in both.columns]
    numbers = codes.codes_of(columns, both.num_rows)
    first, again = numbers[: before.num_rows], numbers[before.num_rows :]
    if not is_whole:
        _, places = np.unique(numbers, return_index=True)
        return before.slice(0, 0), both.take(pa.array(np.sort(places)))
    _, places = np.unique(again, return_index=True)
    gone = before.filter(pa.array(~np.isin(first, again)))
    return gone, now.take(pa.array(np.sort(places)))
