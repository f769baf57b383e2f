"""What a queue drops by itself: expired or shed, or superseded as it switches.

A stream forgets a key that has been quiet for `forget_after` seconds once nothing of it waits or
is in process. What a queue drops may have been the last of its key, so the stream is told. It must
be told in time, in the order in which things happen: what expires falls due there, and a queue
that may drop something as an update comes reads the log at once.
"""

from __future__ import annotations

from collections.abc import Callable

from .backlog import BacklogPlace
from .stream import Stream


class LetGo:
    """The keys of which something left since the stream was last told.

    `next_due` says when the queue will drop something next, no sooner than `age` seconds after an
    arrival; `settle` lets it.
    """

    __slots__ = ("_left", "_settle", "_stream", "age", "next_due")

    def __init__(
        self,
        stream: Stream,
        *,
        age: float | None,
        next_due: Callable[[], float],
        settle: Callable[[float], None],
    ) -> None:
        self._stream = stream
        self._left: dict[BacklogPlace, None] = {}
        self._settle = settle
        self.next_due = next_due
        if stream.forget_after is not None and age is not None:
            self.age = age
            stream.watch(self)

    def fall_due(self, due: float) -> None:
        """Let the queue drop what is due."""
        self._settle(due)

    def add(self, place: BacklogPlace) -> None:
        """Note that an update of a key left, never to be delivered."""
        if self._stream.forget_after is not None:
            self._left[place] = None

    def consider(self, now: float) -> None:
        """Let the stream forget the keys of which nothing is left and that are old enough."""
        while self._left:
            place, _ = self._left.popitem()
            if place.delivered_version != place.FORGOTTEN:
                self._stream.consider(place.cell, now)

    def close(self) -> None:
        """Tell the stream of nothing any more."""
        self._left.clear()
        self._stream.stop_watching(self)
