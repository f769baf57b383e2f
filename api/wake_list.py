"""Callbacks that wait for the next update.

Long polls and push connections register when they have nothing to do. A busy connection is in no
list, so an update wakes only the idle ones, however many connections there are.
"""

from __future__ import annotations

from collections.abc import Callable

Wake = Callable[[], None]


class WakeList:
    """Callbacks that are called once.

    >>> woken = WakeList()
    >>> woken.add(lambda: print("up"))
    >>> woken.wake_all()
    up
    >>> woken.wake_all()
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: dict[Wake, None] = {}

    def add(self, wake: Wake) -> None:
        """Call `wake` the next time. Adding it twice changes nothing."""
        self._waiting[wake] = None

    def remove(self, wake: Wake) -> None:
        """Do not call `wake`."""
        self._waiting.pop(wake, None)

    def wake_all(self) -> None:
        """Call all callbacks in the order in which they were added, and forget them."""
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            for wake in waiting:
                wake()

    def __len__(self) -> int:
        return len(self._waiting)
