"""The streams of an engine: rows are stored once, for all that read them.

append -> conform -> log -> standing queries, each from its own position
delete ------------^ | `-> the newest row of each key, for one-time queries
punctuate ---------^ |
                     `-> a `Stream` of the library, for Python plans, if there are any
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from math import inf
from threading import Lock
from typing import TYPE_CHECKING, Final

from ..errors import UnknownNameError
from ..queues import Stream
from ..updates import TOMBSTONE
from .log import Log
from .newest_reader import NewestReader
from .newest_rows import NewestRows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from ..clock import Clock
    from ..rows.stream_definition import StreamDefinition
    from .log import LogReader
    from .relation import Condition, TimeRange

_BACKLOG_ROWS: Final = 1_048_576
_BACKLOG_BATCHES: Final = 4_096
"""This much may wait for readers, which can take it at any time, before they have to take it."""
_MOST_ROWS: Final = 16 * _BACKLOG_ROWS
"""The most that may wait while another thread evaluates."""


class EngineStream:
    """Stores what is appended to one stream; as a `Relation`, it is the newest row of each key.

    Any thread may append, and any may scan. `append` never waits for a scan.
    """

    __slots__ = (
        "_clock",
        "_newest",
        "_newest_lock",
        "_plans",
        "_plans_lock",
        "_reader",
        "definition",
        "log",
    )

    def __init__(
        self, definition: StreamDefinition, clock: Clock, plans_lock: AbstractContextManager[bool]
    ) -> None:
        self.definition = definition
        self.log = Log()
        self._clock = clock
        self._reader = self.log.reader(follows_deletions=True)
        self._newest = NewestReader(self._reader, NewestRows(definition))
        self._newest_lock = Lock()
        """Held by the thread that brings the newest rows up to date; `append` never waits for
        it."""
        self._plans: Stream | None = None
        self._plans_lock = plans_lock
        """Held while Python plans run, and while their streams are fed."""

    def append(self, data: pa.Table) -> int:
        """Store rows, and return how many.

        Raise StreamTypeError and store none if they do not fit.
        """
        rows = self.definition.conform(data)
        self.log.add(rows, self._clock.now())
        if self._plans is not None:
            with self._plans_lock:
                self._feed(self._plans, rows)
        if self.is_crowded():
            self._relieve()
        return int(rows.num_rows)

    def delete(self, keys: pa.Table) -> None:
        """Store that the keys in these conformed rows of the key columns are deleted.

        Without key columns this is the one key of the stream.
        """
        if self.definition.key and not keys.num_rows:
            return
        self.log.delete(keys, self._clock.now())
        if self._plans is not None:
            with self._plans_lock:
                self._feed_deletions(self._plans, keys)
        if self.is_crowded():
            self._relieve()

    def punctuate(self) -> None:
        """Store that the open chunk of each `epochs` over the stream ends now."""
        self.log.punctuate(self._clock.now())

    def is_crowded(self) -> bool:
        """Tell whether so much is stored that slow readers should read it."""
        return self.log.stored_pieces > _BACKLOG_BATCHES or self.log.stored_rows > _BACKLOG_ROWS

    def is_full(self) -> bool:
        """Tell whether so much is stored that no more is accepted before it is read."""
        return self.log.stored_rows > _MOST_ROWS

    def scan(
        self,
        columns: Sequence[str] | None = None,
        conditions: Sequence[Condition] = (),
        between: TimeRange | None = None,
    ) -> pa.Table:
        """Return the newest row of each key, in the order of arrival.

        The cost depends on what arrived since the last scan, see `NewestRows.table`. `conditions`
        and `between` leave nothing out.
        """
        with self._newest_lock:
            self._read()
            rows = self._newest.newest.table()
        return rows if columns is None else rows.select([*columns])

    def newest_and_reader(self) -> tuple[pa.Table, LogReader]:
        """Return the newest row of each key, and a reader for what comes after them.

        The reader follows deletions.
        """
        with self._newest_lock:
            self._read()
            return self._newest.newest.table(), self._reader.fork()

    def for_plans(self) -> Stream:
        """Return a stream that receives row by row what is appended from now on.

        It begins with the newest row of each key.
        """
        if self._plans is None:
            self._plans = Stream(clock=self._clock)
            self._feed(self._plans, self.scan())
        return self._plans

    def close(self) -> None:
        """Store no more."""
        self._reader.close()
        if self._plans is not None:
            self._plans.close()

    def _relieve(self) -> None:
        """Add what waits to the newest rows, if it is much and no other thread does so."""
        is_much = (
            self._reader.waiting > _BACKLOG_ROWS or self._reader.waiting_batches > _BACKLOG_BATCHES
        )
        if is_much and self._newest_lock.acquire(blocking=False):
            try:
                self._read()
            finally:
                self._newest_lock.release()

    def _read(self) -> None:
        """Add what waits to the newest rows. No group expires, so the time does not matter."""
        self._newest.read(-inf)

    def _feed(self, stream: Stream, rows: pa.Table) -> None:
        """Enqueue rows as updates: the key as a value or a tuple, the row as a dict."""
        values = rows.to_pylist()
        keys = self._keys_of(rows)
        times = None
        if self.definition.time is not None:
            times = self.definition.times(rows) * self.definition.seconds_per_unit
        stream.enqueue_many(keys, values, times)

    def _feed_deletions(self, stream: Stream, keys: pa.Table) -> None:
        """Enqueue tombstones for the known keys, each at the time of the newest update of its key.

        So no tombstone is late.
        """
        deleted_keys = dict.fromkeys(self._keys_of(keys) if self.definition.key else [None])
        found = [(key, stream.newest_time(key)) for key in deleted_keys]
        known = [(key, time) for key, time in found if time is not None]
        deleted, times = [key for key, _ in known], [time for _, time in known]
        stream.enqueue_many(deleted, [TOMBSTONE] * len(known), times)

    def _keys_of(self, rows: pa.Table) -> list[Hashable]:
        """Return the keys of rows as a plan has them; None is the key of a stream without a key."""
        columns = [rows.column(name).to_pylist() for name in self.definition.key]
        if not columns:
            return [None] * rows.num_rows
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


class Streams(Mapping[str, EngineStream]):
    """Streams by name; names are found in any case, as in SQL.

    Any thread may look one up while another defines or drops one.
    """

    __slots__ = ("_streams",)

    def __init__(self) -> None:
        self._streams: Mapping[str, EngineStream] = {}
        """Never changed, but replaced by another mapping."""

    def __getitem__(self, name: str) -> EngineStream:
        """Return the stream that was defined with exactly this name."""
        return self._streams[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names as they were defined."""
        return iter(self._streams)

    def __len__(self) -> int:
        """Return how many streams there are."""
        return len(self._streams)

    def found(self, name: str) -> str | None:
        """Return a stream's name as it was defined, for a name in any case.

        None if it is unknown.
        """
        streams = self._streams
        if name in streams:
            return name
        return next((each for each in streams if each.lower() == name.lower()), None)

    def named(self, name: str) -> EngineStream:
        """Return the stream of a name in any case; raise UnknownNameError if there is none."""
        streams, known = self._streams, self.found(name)
        if known is None or known not in streams:
            raise UnknownNameError("stream", name)
        return streams[known]

    def add(self, stream: EngineStream) -> None:
        """Add a stream under the name of its definition."""
        self._streams = {**self._streams, stream.definition.name: stream}

    def remove(self, name: str) -> EngineStream:
        """Remove the stream that was defined with this name, and return it."""
        removed = self._streams[name]
        self._streams = {each: of for each, of in self._streams.items() if each != name}
        return removed

    def definitions(self) -> dict[str, StreamDefinition]:
        """Return the definition of each stream, by name."""
        return {name: stream.definition for name, stream in self._streams.items()}
