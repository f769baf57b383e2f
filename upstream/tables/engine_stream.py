"""A stream of an engine: what came is stored once, for all that read it.

append -> conform -> log -> standing queries, each from where it has got to
|         `-> the newest row of each key, for one-time queries
`-> a `Stream` of the library, for Python plans, if there are any
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..queues import Stream
from .log import Log
from .newest_rows import NewestRows

if TYPE_CHECKING:
    import pyarrow as pa

    from ..clock import Clock
    from ..rows.stream_definition import StreamDefinition

_BACKLOG_ROWS: Final = 1_048_576
_BACKLOG_BATCHES: Final = 4_096
"""How much waits for readers, each of which can take it at any time, before they have to."""


class EngineStream:
    """Stores what is appended to one stream."""

    __slots__ = ("_clock", "_newest", "_plans", "_reader", "log", "definition")

    def __init__(self, definition: StreamDefinition, clock: Clock) -> None:
        self.definition = definition
        self.log = Log()
        self._clock = clock
        self._newest = NewestRows(definition)
        self._reader = self.log.reader()
        self._plans: Stream | None = None

    def append(self, data: pa.Table | pa.RecordBatch) -> int:
        """Store rows, and return how many; StreamTypeError if they do not fit, and none is."""
        rows = self.definition.conform(data)
        arrival = self._clock.now()
        self.log.add(rows, arrival)
        if self._plans is not None:
            self._feed(self._plans, rows)
        if self.is_crowded():
            self._read()
        return int(rows.num_rows)

    def is_crowded(self) -> bool:
        """Tell whether so much is stored that whoever has not read it should."""
        return self.log.stored_rows > _BACKLOG_ROWS or self.log.stored_batches > _BACKLOG_BATCHES

    def newest_rows(self) -> pa.Table:
        """Return the newest row of each key. O(keys + what came since this was last asked)."""
        self._read()
        return self._newest.table()

    def for_plans(self) -> Stream:
        """Return a stream that what is appended from now on goes to, row by row.

        It begins with the newest row of each key.
        """
        if self._plans is None:
            self._plans = Stream(clock=self._clock)
            self._feed(self._plans, self.newest_rows())
        return self._plans

    def close(self) -> None:
        """Store no more."""
        self._reader.close()
        if self._plans is not None:
            self._plans.close()

    def _read(self) -> None:
        rows = self._reader.take_rows()
        if rows is not None:
            self._newest.add(rows)

    def _feed(self, stream: Stream, rows: pa.Table) -> None:
        """Enqueue rows as updates: the key as a value or a tuple, the row as a dict."""
        values = rows.to_pylist()
        columns = [rows.column(name).to_pylist() for name in self.definition.key]
        keys: list[object] = [None] * len(values)
        if len(columns) == 1:
            keys = columns[0]
        elif columns:
            keys = list(zip(*columns, strict=True))
        times = None
        if self.definition.time is not None:
            times = self.definition.times(rows) * self.definition.seconds_per_unit
        stream.enqueue_many(keys, values, times)
