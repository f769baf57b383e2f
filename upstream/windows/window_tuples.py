"""Tuples that leave a window queue: an update, and a mark that says what it means for windows.

The marks are Table 1 of the report. The queue knows which window is the most recent one, and marks
its starter with the end of the window. An operator opens windows only where the marks say so. With
negative times, a window may end at 0 or -1. So an end is a `WindowEnd`, which is a float but never
a `WindowMark`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ..updates import Key, Update


class WindowMark(IntEnum):
    """What a tuple means for windows, if it does not open one."""

    INSIDE = -1
    """It starts no window."""
    DISALLOW = 0
    """It starts a window that must not be opened."""
    CLOSE = -2
    """There is no tuple: the open window is complete."""
    ABORT = -3
    """There is no tuple: the open window lacks a tuple and ends without a result."""


class WindowEnd(float):
    """The mark of a tuple that opens a window. As a float it is the end of the window.

    `end` is the time at which the window ends.
    `start` is the time at which it starts; by default the time of the tuple.
    `last` is the time from which a tuple completes the window; by default its end.
    `earlier` has the marks of further windows that the same tuple opens and that end earlier.

    >>> mark = WindowEnd(4, start=1, last=3)
    >>> mark == 4, mark.start, mark.last
    (True, 1.0, 3.0)
    """

    __slots__ = ("earlier", "last", "start")

    start: float
    """Where the window starts."""
    last: float
    """The time from which a tuple completes the window: its last tick, or its end."""
    earlier: tuple[WindowEnd, ...]
    """Further windows that the same tuple opens and that end earlier (append window queues)."""

    def __new__(
        cls,
        end: float,
        *,
        start: float = float("-inf"),
        last: float | None = None,
        earlier: tuple[WindowEnd, ...] = (),
    ) -> WindowEnd:
        """Make the mark of the window that ends at `end`."""
        mark = super().__new__(cls, end)
        mark.start = float(start)
        mark.last = float(end if last is None else last)
        mark.earlier = earlier
        return mark


Mark = WindowMark | WindowEnd


class WindowTuple(NamedTuple):
    """One update of a committed window and its mark; or a mark without an update.

    >>> WindowTuple(Update("IBM", 24.0, 1.0), WindowMark.INSIDE).key
    'IBM'
    """

    update: Update | None
    mark: WindowMark | float

    @property
    def key(self) -> Key:
        """The key of the tuple."""
        return None if self.update is None else self.update.key


class WindowEnding(WindowTuple):  # without slots, because the key is no element of the tuple
    """A `CLOSE` or `ABORT` that knows the key of its window. It equals the tuple without a key.

    >>> ending = WindowEnding.of("IBM", WindowMark.CLOSE)
    >>> ending == WindowTuple(None, WindowMark.CLOSE), ending.key
    (True, 'IBM')
    """

    _key: Key = None

    @classmethod
    def of(cls, key: Key, mark: WindowMark) -> WindowEnding:
        """Return the ending of the open window of `key`."""
        ending = cls(None, mark)
        ending._key = key
        return ending

    @property
    def key(self) -> Key:
        """The key of the window that ends."""
        return self._key


class WindowResult(NamedTuple):
    """The result of an aggregate for one window."""

    key: Key
    start: float
    end: float
    value: object
