"""How a queue reads its stream's log: when it is looked at, each update as of its own arrival.

Nothing happens in an append or adaptive queue when an update is enqueued. Whenever such a queue
is asked anything it settles, which takes over what it has not read. So an enqueue costs the same
however many of these queues a stream has.

What may fail about an entry, such as a codec, is asked before the entry counts as read. So if it
fails, that entry and those behind it are still to be read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from weakref import WeakMethod

from .shared_log import LogEntry, SharedLog
from .stream import Stream

Take = Callable[[LogEntry, float], None]
"""Does something with an entry that reaches the queue at a moment."""


class LogFeed:
    """A reader of a stream's log that hands each entry to `take`, after `ask`, which may fail.

    Both are methods of its queue, which is not kept alive by them, so that its memory comes back as
    soon as nothing else does. `read_ahead` bounds what may be unread: past it the log makes the
    reader settle.
    """

    __slots__ = (
        "_ask",
        "_begun_at",
        "_first",
        "_is_settling",
        "_log",
        "_take",
        "position",
        "read_ahead",
    )

    def __init__(self, take: Take, *, read_ahead: int | None, ask: Take | None = None) -> None:
        self._take = WeakMethod(take)
        self._ask = None if ask is None else WeakMethod(ask)
        self._log: SharedLog | None = None
        self._first: deque[LogEntry] = deque()
        """What the queue begins with, as far as it was not read yet."""
        self._begun_at = 0.0
        self._is_settling = False
        self.position = 0
        self.read_ahead = read_ahead

    def open(
        self,
        stream: Stream,
        *,
        at_once: bool = False,
        first: Sequence[LogEntry] = (),
        now: float = 0.0,
    ) -> None:
        """Read the updates of `stream` from now on, `first` before them.

        `at_once` if the stream is to forget keys by age.
        """
        if at_once and stream.forget_after is not None:
            self.read_ahead = 1
        self._log = stream.open_log(self)
        self._first.extend(first)
        self._begun_at = now

    def close(self, stream: Stream) -> None:
        """Read no more."""
        self._log = None
        self._first.clear()
        stream.close_log(self)

    def take_apart(self) -> None:
        """Let go of the log, which refers back to it."""
        self._log = None

    def settle(self) -> None:
        """Take over all that was not read; raise if something about an entry cannot be told."""
        log = self._log
        if log is None or self._is_settling or (self.position == log.end and not self._first):
            return
        take = self._take()
        ask = None if self._ask is None else self._ask()
        if take is None:  # its stream is closed, and lets nothing more come
            return
        self._is_settling = True
        try:
            while self._first:
                entry = self._first[0]
                if ask is not None:
                    ask(entry, self._begun_at)
                self._first.popleft()
                take(entry, self._begun_at)
            for entry in log.unread(self):
                if ask is not None:
                    ask(entry, entry.arrival)
                self.position += 1
                take(entry, entry.arrival)
        finally:
            self._is_settling = False
            log.note_read()

    def take_one(self, entry: LogEntry, now: float) -> None:
        """Take over one update that is not in the log, as if it arrived now."""
        take = self._take()
        ask = None if self._ask is None else self._ask()
        assert take is not None, "a queue that is gone and was not closed"
        if ask is not None:
            ask(entry, now)
        take(entry, now)

    def try_settle(self) -> bool:
        """Take over what can be, and tell whether that was all.

        For callers in the middle of a change; whoever asks the queue next sees the failure.
        """
        try:
            self.settle()
        except Exception:  # noqa: BLE001 - what users give may raise anything
            return False
        return True
