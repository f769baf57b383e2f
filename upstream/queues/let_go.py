"""Keys of which something left a queue unnoticed: expired or shed, superseded at a switch.

A stream forgets a key that has been quiet for `forget_after` seconds once nothing of it waits or
is in process. Queues that read the log late find out late that something left; the key is then
forgotten as of the moment at which it should have been.
"""

from __future__ import annotations

from .backlog import BacklogPlace
from .stream import Stream


class LetGo:
    """The keys of which something left since the stream was last asked to consider them."""

    __slots__ = ("_left", "_stream")

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._left: dict[BacklogPlace, float] = {}

    def add(self, place: BacklogPlace, moment: float) -> None:
        """Note that an update of a key left at `moment`, never to be delivered."""
        if self._stream.forget_after is not None:
            self._left[place] = moment

    def consider(self, now: float) -> None:
        """Let the stream forget the keys that it should have forgotten by `now`."""
        if not self._left:
            return
        left, self._left = self._left, {}
        for place, moment in left.items():
            forget_after = self._stream.forget_after
            assert forget_after is not None, "a stream that remembers all its keys"
            due = max(moment, place.cell.arrival + forget_after)
            if due <= now and place.delivered_version != place.FORGOTTEN:
                self._stream.consider(place.cell, due)
