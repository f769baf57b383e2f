"""What window queues are measured against: a plain deque per key, and no accounting.

The same work, though: the most recent closed window of each key, keys served in the order in which
they began to wait, and a window's tuples one by one, with the marks by which an operator knows what
they are. Times are whole numbers, so the tuple before a window's end is its last.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from upstream import Update, WindowMark, WindowTuple
from upstream.windows import WindowEnd

Entry = tuple[str, object, float]


class BareLine:
    __slots__ = ("closed", "is_waiting", "start", "tuples")

    def __init__(self, start: float) -> None:
        self.tuples: deque[Entry] = deque()
        self.start = start
        self.closed = 0
        self.is_waiting = False


class BareWindows:
    """The newest closed window per key, keys in place: dicts and deques, nothing else."""

    __slots__ = ("_lines", "_ready", "_size", "_slide", "_waiting")

    def __init__(self, size: float, slide: float) -> None:
        self._size = size
        self._slide = slide
        self._lines: dict[str, BareLine] = {}
        self._waiting: deque[BareLine] = deque()
        self._ready: deque[WindowTuple] = deque()

    def enqueue(self, key: str, value: object, time: float) -> None:
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = BareLine(time)
        tuples = line.tuples
        tuples.append((key, value, time))
        if time >= line.start + self._size - 1:  # the window that starts there is closed
            start = line.start
            while tuples[0][2] < start:
                tuples.popleft()
            line.closed = len(tuples)
            line.start = start + self._slide
            if not line.is_waiting:
                line.is_waiting = True
                self._waiting.append(line)

    def dequeue(self) -> WindowTuple | None:
        if not self._ready:
            if not self._waiting:
                return None
            line = self._waiting.popleft()
            line.is_waiting = False
            self._commit(line)
        return self._ready.popleft()

    def _commit(self, line: BareLine) -> None:
        slide = self._slide
        first, *others = islice(line.tuples, line.closed)
        start = first[2]
        end = start + self._size
        mark = WindowEnd(end, start=start, last=end - 1)
        self._ready.append(WindowTuple(Update(*first), mark))
        for entry in others:
            is_starter = (entry[2] - start) % slide == 0
            self._ready.append(
                WindowTuple(
                    Update(*entry), WindowMark.DISALLOW if is_starter else WindowMark.INSIDE
                )
            )
