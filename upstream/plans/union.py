"""Union: merge several inputs into one stream that is in order for each key (report, section 3.2).

On append streams, the order would make a union wait for its slowest input. "In the update streams
case, it would be sufficient to deliver the most recent update": so it delivers the newest update
that it has of each key, and drops older ones.

Two inputs may have updates of one key with the same time. The order of the inputs is their rank,
and the first one is trusted most. If the other one was delivered first, the trusted one is
delivered as a correction, because the application's final value must not depend on which input was
faster. The report would allow only one of them to be delivered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..clock import Clock
from ..errors import ParameterError
from ..updates import TOMBSTONE, Key, Update
from .arc_queue import ArcQueue
from .plan_tree import Arc, Feed, Operator, arc_from
from .stage import AnyStage, Stage

Age = tuple[float, int]
"""The time of an update, and minus the rank of its input. The greatest age wins."""


class Union(Operator):
    """Deliver the newest update of each key from any input; of equal times, the first input's.

    >>> from upstream import Stream
    >>> from upstream.plans import Source
    >>> len(Union(Source(Stream()), Source(Stream())).arcs)
    2
    """

    kind: ClassVar[str] = "union"
    __slots__ = ("arcs", "name")

    arcs: tuple[Arc, ...]
    label = "Union"

    def __init__(self, *feeds: Feed, name: str = "") -> None:
        if len(feeds) < 2:
            raise ParameterError("feeds", feeds, "two inputs or more")
        self.arcs = tuple(map(arc_from, feeds))
        """The arcs that feed it, the most trusted first."""
        self.name = name

    def start(self, clock: Clock, default: str) -> AnyStage:
        """Return the running operator."""
        return _UnionStage(self._tuple_arcs(clock, default))


class _UnionStage(Stage[Update]):
    __slots__ = ("_delivered",)

    def __init__(self, arcs: Sequence[ArcQueue[Update]]) -> None:
        super().__init__(arcs)
        self._delivered: dict[Key, Age] = {}
        """The last delivered update of each key."""

    def process(self, batch: Sequence[tuple[int, Update]]) -> list[Update]:
        youngest: dict[Key, tuple[Age, Update]] = {}
        for number, update in batch:
            age = (update.time, -number)
            held = youngest.get(update.key)
            self.tally.dropped += held is not None
            if held is None or age >= held[0]:
                youngest[update.key] = age, update
        return [update for age, update in youngest.values() if self._is_news(age, update)]

    def _is_news(self, age: Age, update: Update) -> bool:
        last = self._delivered.get(update.key)
        if last is not None and age < last:
            self.tally.dropped += 1
            return False
        if update.value is TOMBSTONE:
            self._delivered.pop(update.key, None)  # the key is forgotten, as in streams
        else:
            self._delivered[update.key] = age
        return True
