"""EAGER window buffers: what counts is the window that was started last (report, section 6.2.2).

The operator commits to a window that may still be open and processes its tuples as they come. A
new starter empties the enqueue buffer, which so holds the window that was started last and nothing
else; tuples of the committed window go to the dequeue buffer as well.

The report promotes an IDLE key when a tuple inside its window comes. Read to the letter, a key
would be IDLE for ever when no tuple falls on the last tick of its window, so here the tuple that
closes the window promotes it, too.
"""

from __future__ import annotations

from ..updates import Update
from .key_transitions import IS_UPDATE, SHOULD_PROMOTE, SUPERSEDES, WITHDRAWS
from .open_windows import Opened
from .window_buffer import WindowBuffer
from .window_tuples import WindowEnd, WindowTuple


class EagerWindowBuffer(WindowBuffer):
    """Update by windows that are started.

    >>> from upstream.windows import WindowSpecification
    >>> buffer = EagerWindowBuffer(WindowSpecification(size=2, slide=2))
    >>> _ = buffer.arrive(Update("IBM", 24.0, 0.0))
    >>> buffer.commit()
    >>> buffer.take().mark, buffer.take()
    (2.0, None)
    """

    __slots__ = ()

    def is_update(self, time: float) -> bool:
        """Tell whether a tuple at `time` starts a window: the last one started is the newest."""
        specification = self._specification
        if time < self._next_start:
            return False
        holding = specification.holding(time)
        first = specification.first(time) if self._first_index is None else self._next_index
        return len(holding) > 0 and holding[-1] >= first

    def should_promote(self, time: float) -> bool:
        """Tell whether a tuple at `time` is in the committed window, or closes it."""
        return not (self._is_complete or self.is_aborted or self.is_finished)

    @property
    def held_windows(self) -> int:
        """How many windows wait: one or none."""
        return int(self.is_waiting)

    def commit(self) -> None:
        """Commit to the window that was started last."""
        index = self._waiting_index
        assert index is not None, "nothing waits"
        self._begin_processing(index, is_complete=not self._is_open(index))
        specification = self._specification
        end = specification.end(index)
        mark = WindowEnd(end, start=specification.start(index), last=self._committed_last)
        count = self._end - self._first
        self._tuples.commit(count, mark, dropping=count)
        self._taken = self._first
        self._first = self._committed_end = self._end
        self._waiting_index = None

    def waiting(self) -> list[Update]:
        """Return the tuples of the window that waits, as far as they have come."""
        held = self._tuples.enqueued()
        return [entry.update for entry in held if entry.update is not None]

    def erase(self) -> int:
        """Let go of the window that waits, and of the committed one unless it is complete."""
        triggers = self._withdraw()
        self._counts.superseded += triggers == WITHDRAWS
        self._open.clear()
        if not self._is_complete and not self.is_finished:
            self.abort()
            triggers |= SHOULD_PROMOTE
        return triggers

    def _is_open(self, index: int) -> bool:
        return bool(self._open) and self._open[-1].newest >= index

    def _note_start(self, opened: Opened, windows: int) -> int:
        was_waiting = self._waiting_index is not None
        self._counts.superseded += windows - 1 + was_waiting
        self._waiting_index = opened.newest
        self._drop_until(self._end)
        opened.number = self._end
        return IS_UPDATE | SUPERSEDES if was_waiting else IS_UPDATE

    def _note_close(self, index: int, number: int, windows: int) -> int:
        committed = self.committed_index
        if self._is_complete or self.is_finished or committed is None or committed > index:
            return 0
        self._is_complete = True
        return SHOULD_PROMOTE

    def _keep(self, window_tuple: WindowTuple) -> int:
        is_committed = not (self._is_complete or self.is_aborted or self.is_finished)
        if self._waiting_index is None:
            assert is_committed, "an open window that neither waits nor is committed"
            self._tuples.append_committed(window_tuple)
            self._first += 1
        elif is_committed:
            self._tuples.append_to_both(window_tuple)
        else:
            self._tuples.append(window_tuple)
        self._end += 1
        if is_committed:
            self._committed_end = self._end
            return SHOULD_PROMOTE
        return 0

    def _refuse(self) -> int:
        """Let go of the window that waits, and of the committed one: both hold the tuple."""
        triggers = self._withdraw()
        self._counts.rejected += triggers == WITHDRAWS
        if self.should_promote(self.late_before):
            self.abort()
            triggers |= SHOULD_PROMOTE
        return triggers

    def _withdraw(self) -> int:
        if self._waiting_index is None:
            return 0
        self._waiting_index = None
        self._drop_until(self._end)
        return WITHDRAWS

    def _check(self) -> None:
        super()._check()
        assert self._tuples.enqueued_count == self._end - self._first
        if self._waiting_index is None:
            assert self._first == self._end, "tuples in the enqueue buffer that wait for nothing"
        else:
            assert self._first < self._end, "a window that waits without its starter"
