"""What a queue drops by itself: expired or shed, or superseded as it switches.

A stream forgets a key that has been quiet for `forget_after` seconds once nothing of it waits or
is in process. What a queue drops may have been the last of its key, so the stream is told. It must
be told in time, in the order in which things happen: what expires falls due there, and a queue
that may drop something as an update comes reads the log at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from weakref import WeakMethod, ref

from .backlog import BacklogPlace
from .stream import Stream


class LetGo:
    """The keys of which something left since the stream was last told.

    `next_due`, a method of the queue, says when it will drop something next, no sooner than `age`
    seconds after an arrival; `settle` lets it. Neither is kept alive.
    """

    __slots__ = ("_is_told", "_left", "_next_due", "_settle", "_stream", "age")

    def __init__(
        self,
        stream: Stream,
        *,
        age: float | None,
        next_due: Callable[[], float],
        settle: Callable[[float], None],
    ) -> None:
        self._stream = ref(stream)
        self._is_told = stream.forget_after is not None
        self._left: dict[BacklogPlace, None] = {}
        self._settle = WeakMethod(settle)
        self._next_due = WeakMethod(next_due)
        if stream.forget_after is not None and age is not None:
            self.age = age
            stream.watch(self)

    def next_due(self) -> float:
        """Return when the queue drops something next, infinity if never."""
        next_due = self._next_due()
        return math.inf if next_due is None else next_due()

    def fall_due(self, due: float) -> None:
        """Let the queue drop what is due."""
        settle = self._settle()
        if settle is not None:
            settle(due)

    def add(self, place: BacklogPlace) -> None:
        """Note that an update of a key left, never to be delivered."""
        if self._is_told:
            self._left[place] = None

    def consider(self, now: float) -> None:
        """Let the stream forget the keys of which nothing is left and that are old enough."""
        while self._left:
            place, _ = self._left.popitem()
            stream = self._stream()
            if stream is not None and place.delivered_version != place.FORGOTTEN:
                stream.consider(place.cell, now)

    def close(self) -> None:
        """Tell the stream of nothing any more."""
        self._left.clear()
        stream = self._stream()
        if stream is not None:
            stream.stop_watching(self)
