"""The log of all updates of a stream, shared by the queues that need every update.

A queue reads the log from its own position when it is called, so an enqueue costs the same for any
number of such queues. The log is cut at the position of the slowest reader. A reader keeps only the
entries that wait in it, and all readers share one copy of each value.
"""

from __future__ import annotations

from typing import Protocol

from ...keys import KeyCell


class LogEntry:
    """One update as it arrived."""

    __slots__ = ("arrival", "cell", "time", "value", "version")

    def __init__(
        self, cell: KeyCell, value: object, *, time: float, arrival: float, version: int
    ) -> None:
        self.cell = cell
        self.value = value
        self.time = time
        self.arrival = arrival
        self.version = version
        """The number of this update among the accepted ones of its key; 0 if it was late."""


class LogReader(Protocol):
    """A queue that reads the log."""

    position: int
    """The number of the first entry that it has not read."""
    read_ahead: int | None
    """How many entries may be unread before it must read, or None for any number."""

    def settle(self) -> None:
        """Read the log to its end."""
        ...


class SharedLog:
    """The updates that some reader has not read yet, numbered from the first ever.

    Appending is O(1), except that readers with a `read_ahead` may have to read. Reading is O(1)
    per entry, amortised.
    """

    __slots__ = ("_entries", "_first", "_is_appending", "_readers", "_settle_at", "failure")

    def __init__(self) -> None:
        self._entries: list[LogEntry] = []
        self._first = 0
        self._readers: list[LogReader] = []
        self._settle_at: int | None = None
        self._is_appending = False
        self.failure: Exception | None = None
        """The exception of the first reader that failed to read while an update was appended."""

    @property
    def end(self) -> int:
        """Return the number of the next entry."""
        return self._first + len(self._entries)

    @property
    def has_readers(self) -> bool:
        """Whether the log has readers."""
        return bool(self._readers)

    def __len__(self) -> int:
        return len(self._entries)

    def append(self, entry: LogEntry) -> None:
        """Add an update. Readers with a `read_ahead` may read at once.

        Their exceptions are kept for `raise_failure`, so that no other reader misses the update.
        """
        self._entries.append(entry)
        end = self.end
        if self._settle_at is not None and end >= self._settle_at:
            self._is_appending = True
            try:
                for reader in tuple(self._readers):  # reading may close this reader or others
                    if reader.read_ahead is not None and end - reader.position >= reader.read_ahead:
                        self._let_settle(reader)
            finally:
                self._is_appending = False
                self._cut()

    def open(self, reader: LogReader) -> None:
        """Add a reader, which reads all entries from the end on."""
        reader.position = self.end
        self._readers.append(reader)
        self._cut()

    def close(self, reader: LogReader) -> None:
        """Remove a reader."""
        self._readers.remove(reader)
        self._cut()

    def raise_failure(self) -> None:
        """Raise the first exception of a reader since the last call, if there was one."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    def _let_settle(self, reader: LogReader) -> None:
        try:
            reader.settle()
        except Exception as error:  # noqa: BLE001 - it is raised after the enqueue
            self.failure = self.failure or error

    def read(self, reader: LogReader) -> list[LogEntry]:
        """Return the unread entries of `reader`, and note that it has read them."""
        unread = self.unread(reader)
        if unread:
            reader.position = self.end
            self.note_read()
        return unread

    def unread(self, reader: LogReader) -> list[LogEntry]:
        """Return the unread entries of `reader`."""
        return self._entries[reader.position - self._first :]

    def note_read(self) -> None:
        """Note that a reader has read entries."""
        if not self._is_appending:  # otherwise the log is cut once, after all have read
            self._cut()

    def _cut(self) -> None:
        slowest = min((reader.position for reader in self._readers), default=self.end)
        surplus = slowest - self._first
        if 2 * surplus >= len(self._entries):
            del self._entries[:surplus]
            self._first = slowest
        self._settle_at = min(
            (
                reader.position + reader.read_ahead
                for reader in self._readers
                if reader.read_ahead is not None
            ),
            default=None,
        )

    def _check(self) -> None:
        for reader in self._readers:
            assert self._first <= reader.position <= self.end
        assert self._readers or not self._entries
