"""How a queue reads its stream's log: when it is looked at, each update as of its own arrival.

Nothing happens in such a queue when an update is enqueued. Whenever it is asked anything, it
settles: it takes what it has not read. So an enqueue costs the same however many of these queues a
stream has.

What may fail about an entry, such as a codec, is asked before the entry counts as read. If it
fails, that entry and those behind it are still to be read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .shared_log import LogEntry, SharedLog

if TYPE_CHECKING:
    from ..stream.feed import Feed

Take = Callable[[LogEntry, float], None]
"""Does something with an entry that reaches the queue at a moment."""


class LogCursor:
    """Hands each entry of a stream's log to `take`, after `ask`, which may fail.

    `read_ahead` bounds what may be unread: past it, the log makes the cursor settle.
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
        self._take: Take | None = take
        self._ask = ask
        self._log: SharedLog | None = None
        self._first: deque[LogEntry] = deque()
        """What the queue begins with, as far as it was not read yet."""
        self._begun_at = 0.0
        self._is_settling = False
        self.position = 0
        self.read_ahead = read_ahead

    def open(
        self,
        feed: Feed,
        *,
        at_once: bool = False,
        first: Sequence[LogEntry] = (),
        now: float = 0.0,
    ) -> None:
        """Read the updates of a stream from now on, and `first` before them.

        With `at_once`, read each as it arrives if the stream forgets quiet keys.
        """
        if at_once and feed.forgetting.after is not None:
            self.read_ahead = 1
        self._log = feed.open_log(self)
        self._first.extend(first)
        self._begun_at = now

    def close(self, feed: Feed) -> None:
        """Read no more."""
        self._log = None
        self._first.clear()
        feed.close_log(self)

    def release(self) -> None:
        """Release the log and the queue's parts, which refer back to the cursor."""
        self._log = self._take = self._ask = None

    def settle(self) -> None:
        """Take all that was not read. Raises what asking about an entry raises."""
        log = self._log
        if log is None or self._is_settling or (self.position == log.end and not self._first):
            return
        take, ask = self._take, self._ask
        if take is None:  # the queue is gone, and its stream closed
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
        """Take one update that is not in the log, as if it arrived now."""
        take, ask = self._take, self._ask
        assert take is not None, "a queue that is gone"
        if ask is not None:
            ask(entry, now)
        take(entry, now)

    def try_settle(self) -> bool:
        """Take what can be taken, and tell whether that was all.

        For callers in the middle of a change. The next one to ask the queue sees the failure.
        """
        try:
            self.settle()
        except Exception:  # noqa: BLE001 - what users give may raise anything
            return False
        return True
