"""Keys with an update that a queue dropped by itself: it expired, was shed or was superseded.

A stream forgets a key that has been quiet for `forget_after` seconds once no queue holds an update
of it. An update that a queue drops may be the last one of its key, so the queue tells the stream.
It must do so in time, and in the order of events. So the stream watches when updates expire, and a
queue that may drop an update at an arrival reads the log at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .backlog import BacklogPlace

if TYPE_CHECKING:
    from ..stream.feed import Feed


class Departures:
    """The keys whose updates were dropped since the stream was told last.

    `next_due` returns when the queue will drop an update next, at least `age` seconds after an
    arrival; infinity if never. `fall_due` makes the queue drop what is due. With None as `age`, the
    queue never drops an update by itself.
    """

    __slots__ = ("_feed", "_is_told", "_left", "age", "fall_due", "next_due")

    def __init__(
        self,
        feed: Feed,
        *,
        age: float | None,
        next_due: Callable[[], float],
        fall_due: Callable[[float], None],
    ) -> None:
        self._feed = feed
        self._is_told = feed.forgetting.after is not None
        self._left: dict[BacklogPlace, None] = {}
        self.next_due = next_due
        self.fall_due = fall_due
        if self._is_told and age is not None:
            self.age = age
            feed.watch(self)

    def reconsider(self) -> None:
        """Note that the queue may drop an update sooner than it said."""
        self._feed.reconsider(self)

    def add(self, place: BacklogPlace) -> None:
        """Note that an update of a key was dropped."""
        if self._is_told:
            self._left[place] = None

    def tell(self, now: float) -> None:
        """Let the stream forget the keys that no queue holds and that are old enough."""
        while self._left:
            place, _ = self._left.popitem()
            if place.delivered_version != place.FORGOTTEN:
                self._feed.forgetting.if_quiet(place.cell, now)

    def close(self) -> None:
        """Stop telling the stream."""
        self._left.clear()
        self._feed.stop_watching(self)
