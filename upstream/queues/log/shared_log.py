"""The log of all updates of a stream, shared by the queues that want every one of them.

An append queue reads the log from its own position when it is looked at, so an enqueue costs the
same however many append queues there are. The log is cut at the slowest reader. A reader that has
taken an entry over holds on to that entry only, and all readers share its one copy of the value.
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
        """Which of its key's accepted updates it is; 0 if it was late."""


class LogReader(Protocol):
    """A queue that reads the log."""

    position: int
    """The number of the first entry that it has not read."""
    read_ahead: int | None
    """How many unread entries it tolerates before it must read, None for any number."""

    def settle(self) -> None:
        """Read the log up to its end."""
        ...


class SharedLog:
    """The updates that some reader has not read yet, numbered from the first ever.

    Appending is O(1) but for readers that bound what is unread, who then read; reading is O(1)
    amortised over the entries.
    """

    __slots__ = ("_entries", "_first", "_is_appending", "_readers", "_settle_at", "failure")

    def __init__(self) -> None:
        self._entries: list[LogEntry] = []
        self._first = 0
        self._readers: list[LogReader] = []
        self._settle_at: int | None = None
        self._is_appending = False
        self.failure: Exception | None = None
        """What the first reader raised that could not read as an update was appended."""

    @property
    def end(self) -> int:
        """Return the number that the next entry will get."""
        return self._first + len(self._entries)

    @property
    def has_readers(self) -> bool:
        """Whether anybody reads the log."""
        return bool(self._readers)

    def __len__(self) -> int:
        return len(self._entries)

    def append(self, entry: LogEntry) -> None:
        """Add an update; readers that bound what is unread may read at once.

        What these raise is kept for `raise_failure`: nobody else is to miss the update for it.
        """
        self._entries.append(entry)
        end = self.end
        if self._settle_at is not None and end >= self._settle_at:
            self._is_appending = True
            try:
                for reader in tuple(self._readers):  # one that reads may close, or others do
                    if reader.read_ahead is not None and end - reader.position >= reader.read_ahead:
                        self._let_settle(reader)
            finally:
                self._is_appending = False
                self._cut()

    def open(self, reader: LogReader) -> None:
        """Let `reader` read all entries from the end on."""
        reader.position = self.end
        self._readers.append(reader)
        self._cut()

    def close(self, reader: LogReader) -> None:
        """Let `reader` read no more."""
        self._readers.remove(reader)
        self._cut()

    def raise_failure(self) -> None:
        """Raise what the first reader raised that could not read since this was called last."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    def _let_settle(self, reader: LogReader) -> None:
        try:
            reader.settle()
        except Exception as error:  # noqa: BLE001 - it is raised when the enqueue is complete
            self.failure = self.failure or error

    def read(self, reader: LogReader) -> list[LogEntry]:
        """Return what `reader` has not read, and note that it has."""
        unread = self.unread(reader)
        if unread:
            reader.position = self.end
            self.note_read()
        return unread

    def unread(self, reader: LogReader) -> list[LogEntry]:
        """Return what `reader` has not read."""
        return self._entries[reader.position - self._first :]

    def note_read(self) -> None:
        """Note that a reader has read something."""
        if not self._is_appending:  # else once, when all have read
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
