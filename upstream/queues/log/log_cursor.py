"""How a queue reads its stream's log: only when it is used, each update as of its own arrival.

Whatever may fail for an entry, such as a codec, is called before the entry counts as read. If it
fails, this entry and those after it stay unread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .shared_log import LogEntry, SharedLog

if TYPE_CHECKING:
    from ..stream.feed import Feed

Take = Callable[[LogEntry, float], None]
"""Processes an entry that arrives at the queue at a given time."""


class LogCursor:
    """Pass each entry of a stream's log to `take`, after `ask`, which may fail.

    `read_ahead` is the largest number of unread entries. With more, the log makes the cursor
    settle.
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
        """The entries that the queue starts with and has not read yet."""
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

        With `at_once`, read each update when it arrives if the stream forgets quiet keys.
        """
        if at_once and feed.forgetting.after is not None:
            self.read_ahead = 1
        self._log = feed.open_log(self)
        self._first.extend(first)
        self._begun_at = now

    def close(self, feed: Feed) -> None:
        """Stop reading."""
        self._log = None
        self._first.clear()
        feed.close_log(self)

    def release(self) -> None:
        """Release the log and the parts of the queue, which refer back to the cursor."""
        self._log = self._take = self._ask = None

    def settle(self) -> None:
        """Read all unread entries. Raises what `ask` raises for an entry."""
        log = self._log
        if log is None or self._is_settling or (self.position == log.end and not self._first):
            return
        take, ask = self._take, self._ask
        if take is None:  # the queue no longer exists, and its stream is closed
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
        """Process one update that is not in the log, as if it had arrived now."""
        take, ask = self._take, self._ask
        assert take is not None, "the queue no longer exists"
        if ask is not None:
            ask(entry, now)
        take(entry, now)

    def try_settle(self) -> bool:
        """Read as many unread entries as possible, and tell whether these were all.

        It is for callers in the middle of a change. The queue's next call raises the failure.
        """
        try:
            self.settle()
        except Exception:  # noqa: BLE001 - the user's functions may raise anything
            return False
        return True
