"""EAGER window buffers: the most recent window is the one started last (report, section 6.2.2).

The operator commits to a window that may still be open, and processes its tuples as they arrive. A
new starter empties the enqueue buffer, so this buffer contains only the window that was started
last. Tuples of the committed window also go to the dequeue buffer.

In the report, a tuple inside its window promotes an IDLE key. Taken literally, a key would stay
IDLE for ever if no tuple falls on the last tick of its window. So here the tuple that closes the
window promotes the key too.
"""

from __future__ import annotations

from collections.abc import Callable

from ..updates import Update
from .accounting import WindowCounts
from .buffered_tuples import Row
from .key_transitions import IS_UPDATE, SHOULD_PROMOTE, WITHDRAWS
from .window_buffer import WindowBuffer


class EagerWindowBuffer(WindowBuffer):
    """The windows of one key, where the most recent window is the one started last.

    Pass the class, or an instance without arguments, to a `WindowQueue`. The queue makes one
    buffer per key: of the windows in `specification`, with the tuples in `tuples`, counting in
    `counts`.

    >>> from upstream.windows import WindowSpecification
    >>> buffer = EagerWindowBuffer(WindowSpecification(size=2, slide=2))
    >>> _ = buffer.arrive(("IBM", 24.0, 0.0))
    >>> buffer.commit()
    >>> buffer.take().mark, buffer.take()
    (2.0, None)
    """

    __slots__ = ()

    def is_update(self, time: float) -> bool:
        """Tell whether a tuple at `time` starts a window."""
        return len(self.windows.starts(time)) > 0

    def should_promote(self, time: float) -> bool:
        """Tell whether a tuple at `time` is in the committed window or closes it."""
        return self._is_receiving

    @property
    def _is_receiving(self) -> bool:
        """Whether the committed window is open, so that more of its tuples may arrive."""
        return not (self._is_complete or self.is_aborted or self.is_finished)

    @property
    def held_windows(self) -> int:
        """How many windows wait: one or zero."""
        return int(self.is_waiting)

    def commit(self) -> None:
        """Commit to the window that was started last."""
        index = self._waiting_index
        assert index is not None, "no window waits"
        self._begin_processing(index)
        count = self._tuples.enqueued_count()
        self._tuples.commit(count, dropping=count)
        self._taken = self._first
        self._first += count
        if not self.windows.has_open(index):
            self._complete()
        self._choose_append()

    def waiting(self) -> list[Update]:
        """Return the tuples of the waiting window that have arrived."""
        return [Update(*row) for row in self._tuples.enqueued()]

    def drop_uncommitted(self) -> int:
        """Drop the waiting window, and the committed one unless it is complete."""
        triggers = self._withdraw()
        self._counts.superseded += triggers == WITHDRAWS
        self.windows.drop_open()
        return triggers | self._abort_if_open()

    def note_start(self, newest: int, windows: int) -> tuple[int, int]:
        """Note that a tuple starts windows; the newest of them waits now."""
        tuples = self._tuples
        if self._waiting_index is not None:
            self._counts.superseded += windows
            self._waiting_index = newest
            self._drop_enqueued()
            return IS_UPDATE, self._first
        self._counts.superseded += windows - 1
        self._waiting_index = newest
        end = self._taken + tuples.committed_count()
        if end > self._first:
            self._first = end
        self._choose_append()
        return IS_UPDATE, self._first

    def note_close(self, index: int, number: int, windows: int) -> int:
        """Note that windows closed; the committed one is complete if it is among them."""
        if self.committed_index > index or not self._is_receiving:
            return 0
        self._complete()
        self._choose_append()
        return SHOULD_PROMOTE

    def _choose_append(self) -> None:
        """Choose where tuples go: to the waiting window, to the committed one, or to both."""
        tuples = self._tuples
        is_open = self._is_receiving
        windows = self.windows
        windows.kept_trigger = SHOULD_PROMOTE if is_open else 0
        if self._waiting_index is None:
            windows.keep = tuples.append_committed if is_open else _dropping(self._counts)
        else:
            windows.keep = tuples.append_to_both if is_open else tuples.append

    def reject_open(self) -> int:
        """Drop the waiting window and the committed one, because both lack a tuple."""
        triggers = self._withdraw()
        self._counts.rejected += triggers == WITHDRAWS
        return triggers | self._abort_if_open()

    def _withdraw(self) -> int:
        if self._waiting_index is None:
            return 0
        self._drop_enqueued()
        self._waiting_index = None
        return WITHDRAWS

    def _drop_enqueued(self) -> None:
        """Empty the enqueue buffer, which shares some tuples with the committed window."""
        tuples = self._tuples
        count = tuples.enqueued_count()
        first = self._first
        end = self._first = first + count
        if not self.windows.kept_trigger:  # else the committed window has all of them
            kept = self._used_until
            if kept < self._last_number:
                kept = self._last_number
            if kept < first:
                kept = first
            if end > kept:
                self._counts.dropped += end - kept
        tuples.drop(count)

    def _abort_if_open(self) -> int:
        return self.abort() if self._is_receiving else 0

    def abort(self) -> int:
        """Drop the tuples of the committed window that have not left; return triggers."""
        triggers = super().abort()
        self._choose_append()
        return triggers

    def _check(self) -> None:
        super()._check()
        count = self._tuples.enqueued_count()
        assert (count > 0) == self.is_waiting, "a waiting window lacks its starter"


def _dropping(counts: WindowCounts) -> Callable[[Row], None]:
    """Return a function that drops tuples, for open windows that were superseded or aborted."""

    def drop(_row: Row) -> None:
        counts.dropped += 1

    return drop
