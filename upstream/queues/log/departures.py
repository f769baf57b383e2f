"""Keys of which a queue dropped something by itself: it expired, was shed, or was superseded.

A stream forgets a key that has been quiet for `forget_after` seconds once no queue holds an update
of it. What a queue drops may have been the last update of its key, so the stream is told. It must
be told in time, in the order in which things happen. So what expires falls due in the stream, and
a queue that may drop something when an update comes reads the log at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .backlog import BacklogPlace

if TYPE_CHECKING:
    from ..stream.feed import Feed


class Departures:
    """The keys of which something was dropped since the stream was last told.

    `next_due` says when the queue will drop something next, no sooner than `age` seconds after an
    arrival, and `settle` lets it. An `age` of None means that it never does so by itself.
    """

    __slots__ = ("_feed", "_is_told", "_left", "_next_due", "_settle", "age")

    def __init__(
        self,
        feed: Feed,
        *,
        age: float | None,
        next_due: Callable[[], float],
        settle: Callable[[float], None],
    ) -> None:
        self._feed = feed
        self._is_told = feed.forgetting.after is not None
        self._left: dict[BacklogPlace, None] = {}
        self._settle = settle
        self._next_due = next_due
        if self._is_told and age is not None:
            self.age = age
            feed.watch(self)

    def next_due(self) -> float:
        """Return when the queue drops something next, infinity if never."""
        return self._next_due()

    def fall_due(self, due: float) -> None:
        """Let the queue drop what is due."""
        self._settle(due)

    def reconsider(self) -> None:
        """Note that the queue may drop something sooner than it said."""
        self._feed.reconsider(self)

    def add(self, place: BacklogPlace) -> None:
        """Note that an update of a key was dropped."""
        if self._is_told:
            self._left[place] = None

    def tell(self, now: float) -> None:
        """Let the stream forget the keys of which nothing is left and that are old enough."""
        while self._left:
            place, _ = self._left.popitem()
            if place.delivered_version != place.FORGOTTEN:
                self._feed.forgetting.if_quiet(place.cell, now)

    def close(self) -> None:
        """Tell the stream nothing any more."""
        self._left.clear()
        self._feed.stop_watching(self)
