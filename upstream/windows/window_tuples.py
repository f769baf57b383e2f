"""Tuples as they leave a window queue: an update, and a mark that says what it means for windows.

The marks are Table 1 of the report. The queue knows which window is the most recent and marks its
starter with the window's end; an operator opens windows where the marks say so, and nowhere else.
A window's end may be 0 or -1 when times are negative, so an end is a `WindowEnd`, which is a float
but never a `WindowMark`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ..updates import Key, Update


class WindowMark(IntEnum):
    """What a tuple means for windows, unless it opens one."""

    INSIDE = -1
    """It starts no window."""
    DISALLOW = 0
    """It starts a window that must not be opened."""
    CLOSE = -2
    """No tuple: the window that is open is complete."""
    ABORT = -3
    """No tuple: the window that is open lacks a tuple, and must be given up."""


class WindowEnd(float):
    """The mark of a tuple that opens a window: where the window ends, and what else is known of it.

    >>> mark = WindowEnd(4, start=1, last=3)
    >>> mark == 4, mark.start, mark.last
    (True, 1.0, 3.0)
    """

    __slots__ = ("earlier", "last", "start")

    start: float
    """Where the window starts."""
    last: float
    """The time from which on a tuple completes the window; its end, if no tick is known."""
    earlier: tuple[WindowEnd, ...]
    """Windows with earlier ends that the same tuple opens, where every window is processed."""

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
    """One update of a committed window and its mark, or a mark alone.

    >>> WindowTuple(Update("IBM", 24.0, 1.0), WindowMark.INSIDE).key
    'IBM'
    """

    update: Update | None
    mark: WindowMark | float

    @property
    def key(self) -> Key:
        """The key that the tuple is about."""
        return None if self.update is None else self.update.key


class WindowEnding(WindowTuple):  # without slots, since the key is no element of the tuple
    """A `CLOSE` or `ABORT`, which equals the bare mark and knows the key of its window.

    >>> ending = WindowEnding.of("IBM", WindowMark.CLOSE)
    >>> ending == WindowTuple(None, WindowMark.CLOSE), ending.key
    (True, 'IBM')
    """

    _key: Key = None

    @classmethod
    def of(cls, key: Key, mark: WindowMark) -> WindowEnding:
        """Return the ending of the window of `key` that is open."""
        ending = cls(None, mark)
        ending._key = key
        return ending

    @property
    def key(self) -> Key:
        """The key of the window that ends."""
        return self._key


class WindowResult(NamedTuple):
    """What an aggregate has made of one window."""

    key: Key
    start: float
    end: float
    value: object
