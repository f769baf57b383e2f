"""How a queue reads its stream's log: when it is looked at, each update as of its own arrival.

Nothing happens in an append or adaptive queue when an update is enqueued. Whenever such a queue
is asked anything it settles, which takes over what it has not read. So an enqueue costs the same
however many of these queues a stream has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from weakref import WeakMethod

from ..keys import KeyCell
from .shared_log import LogEntry, SharedLog
from .stream import Stream


class LogFeed:
    """A reader of a stream's log that hands each entry to `take`, a method of its queue.

    The queue is not kept alive by it, so that its memory comes back as soon as nothing else does.
    `read_ahead` bounds what may be unread: past it the log makes the reader settle.
    """

    __slots__ = ("_log", "_take", "position", "read_ahead")

    def __init__(self, take: Callable[[LogEntry], None], *, read_ahead: int | None) -> None:
        self._take = WeakMethod(take)
        self._log: SharedLog | None = None
        self.position = 0
        self.read_ahead = read_ahead

    def open(self, stream: Stream, *, at_once: bool = False) -> None:
        """Read the updates of `stream` from now on; `at_once` if it is to forget keys by age."""
        if at_once and stream.forget_after is not None:
            self.read_ahead = 1
        self._log = stream.open_log(self)

    def close(self, stream: Stream) -> None:
        """Read no more."""
        self._log = None
        stream.close_log(self)

    def settle(self) -> None:
        """Take over all that was not read."""
        log = self._log
        if log is not None and self.position != log.end:
            take = self._take()
            assert take is not None, "a queue that is gone and was not closed"
            for entry in log.read(self):
                take(entry)


def newest_entries(
    stream: Stream, now: float, time_to_live: float | None, *, since: float = -math.inf
) -> list[LogEntry]:
    """Return the newest values of a stream since then that are not `time_to_live` old. O(keys)."""
    oldest = -math.inf if time_to_live is None else now - time_to_live
    return [entry_of(stream, cell) for cell in stream.newest_cells(since) if cell.arrival > oldest]


def entry_of(stream: Stream, cell: KeyCell) -> LogEntry:
    """Return the newest update of a key as the log would have it."""
    value = stream.update_of(cell).value
    return LogEntry(cell, value, time=cell.time, arrival=cell.arrival, version=cell.version)
