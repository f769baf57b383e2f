"""Join: pairs of updates of one key from two inputs, close in time (report, section 3.2).

"The join predicate is assumed to implicitly include a condition on the equality of the key fields",
and "it would be sufficient to deliver the most recent match". So an arriving update is paired with
the newest update of the other input that it matches. The match is delivered unless a more recent
match of its key was delivered before.

Pairs are compared by the time of their newer update, and then by that of their older one. Updates
are kept until the other input has passed them by more than the window. A silent input passes
nothing, so the number of updates kept per key is bounded as well.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar, Final

from ..clock import Clock
from ..errors import ParameterError
from ..statistics import check_count, is_quantity
from ..updates import TOMBSTONE, Key, Update
from .arc_queue import ArcQueue
from .plan_statistics import FAILED
from .plan_tree import Arc, Feed, Operator, arc_from, check_function, name_of_function
from .stage import AnyStage, Stage

PairPredicate = Callable[[Update, Update], object]
Combination = Callable[[Update, Update], object]
"""Returns the value of a match of an update of the left input and one of the right input."""
Recency = tuple[float, float, float]
"""Orders pairs: by the later time, the earlier time and, to distinguish mirrored pairs, the left
time."""
_TIME: Final = attrgetter("time")


@dataclass(frozen=True, slots=True)
class Join(Operator):
    """Match updates of one key that are at most `window` seconds of source time apart.

    `predicate` tells whether two such updates match. `combine` computes the value of the result; by
    default it is the pair of their values. The result has the later of their times. At most `keep`
    updates are kept per key and input.

    >>> from upstream import Stream
    >>> from upstream.plans import Source
    >>> Join(Source(Stream()), Source(Stream()), window=5).label
    'Join within 5 s'
    """

    kind: ClassVar[str] = "join"

    left: Feed
    right: Feed
    window: float
    predicate: PairPredicate | None = None
    combine: Combination | None = None
    keep: int = 1_000
    name: str = ""

    def __post_init__(self) -> None:
        arc_from(self.left)
        arc_from(self.right)
        if not is_quantity(self.window):
            raise ParameterError("window", self.window, "a finite number of seconds, zero or more")
        check_function("predicate", self.predicate, "a function of two updates", or_none=True)
        check_function("combine", self.combine, "a function of two updates", or_none=True)
        check_count("keep", self.keep, least=1)

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """The arcs that feed it."""
        return arc_from(self.left), arc_from(self.right)

    @property
    def label(self) -> str:
        """The description for `explain`."""
        on = "" if self.predicate is None else f" if {name_of_function(self.predicate)}"
        return f"Join within {self.window:g} s{on}"

    def start(self, clock: Clock, default: str) -> AnyStage:
        """Return the running operator."""
        return _JoinStage(self, self._tuple_arcs(clock, default))


class _Side:
    """The updates of one key and input that may still match, in the order of their times."""

    __slots__ = ("newest", "updates")

    def __init__(self) -> None:
        self.updates: list[Update] = []
        self.newest = -math.inf

    def add(self, update: Update, keep: int) -> int:
        """Keep an update, in place of one with the same time; return how many were dropped."""
        self.newest = max(self.newest, update.time)
        place = bisect_left(self.updates, update.time, key=_TIME)
        is_held = place < len(self.updates) and self.updates[place].time == update.time
        self.updates[place : place + is_held] = [update]
        surplus = max(len(self.updates) - keep, 0)
        del self.updates[:surplus]
        return surplus

    def forget_before(self, time: float) -> None:
        """Remove the updates before `time`."""
        del self.updates[: bisect_left(self.updates, time, key=_TIME)]

    def within(self, earliest: float, latest: float) -> list[Update]:
        """Return the updates with times in this range, the newest first."""
        start = bisect_left(self.updates, earliest, key=_TIME)
        end = bisect_right(self.updates, latest, key=_TIME)
        return self.updates[start:end][::-1]


class _JoinedKey:
    """What a join knows about one key."""

    __slots__ = ("delivered", "sides")

    def __init__(self) -> None:
        self.sides = [_Side(), _Side()]
        self.delivered: Recency | None = None
        """The recency of the last delivered match."""


class _JoinStage(Stage[Update]):
    __slots__ = ("_combine", "_join", "_keys", "_window")

    def __init__(self, join: Join, arcs: Sequence[ArcQueue[Update]]) -> None:
        super().__init__(arcs)
        self._join = join
        self._window = float(join.window)
        self._combine = _pair if join.combine is None else join.combine
        self._keys: dict[Key, _JoinedKey] = {}

    def process(self, batch: Sequence[tuple[int, Update]]) -> list[Update]:
        """Take the inputs in the order of source time, so that neither gets ahead of the other."""
        in_order = sorted(batch, key=lambda item: item[1].time)
        matches = (self._take(number, update) for number, update in in_order)
        return [match for match in matches if match is not None]

    def _take(self, number: int, update: Update) -> Update | None:
        known = self._keys.get(update.key)
        if known is None:
            known = self._keys[update.key] = _JoinedKey()
        if update.value is TOMBSTONE:
            return self._delete(known, number, update)
        own, other = known.sides[number], known.sides[1 - number]
        match = self._match(known, number, update)
        self.tally.evicted += own.add(update, self._join.keep)
        own.forget_before(other.newest - self._window)
        other.forget_before(own.newest - self._window)
        return match

    def _match(self, known: _JoinedKey, number: int, update: Update) -> Update | None:
        """Return the most recent match of an update, or count why there is none."""
        has_failed = False
        time, window = update.time, self._window
        for other in known.sides[1 - number].within(time - window, time + window):
            pair = (other, update) if number else (update, other)
            matches = self.tally.attempt(self._is_match, *pair)
            if matches is FAILED:
                has_failed = True
            elif matches:
                return self._deliver(known, *pair)
        if has_failed:
            self.tally.failed += 1
        else:
            self.tally.filtered += 1
        return None

    def _is_match(self, left: Update, right: Update) -> bool:
        predicate = self._join.predicate
        return predicate is None or bool(predicate(left, right))

    def _deliver(self, known: _JoinedKey, left: Update, right: Update) -> Update | None:
        """Return a match, unless a more recent one was delivered."""
        recency = (max(left.time, right.time), min(left.time, right.time), left.time)
        if known.delivered is not None and recency < known.delivered:
            self.tally.dropped += 1
            return None
        value = self.tally.attempt(self._combine, left, right)
        if value is FAILED:
            self.tally.failed += 1
            return None
        known.delivered = recency
        return Update(left.key, value, recency[0])

    def _delete(self, known: _JoinedKey, number: int, update: Update) -> Update | None:
        """Forget one input's updates of a key; also forget the match if one was delivered."""
        was_delivered = known.delivered is not None
        known.sides[number], known.delivered = _Side(), None
        if not any(side.updates for side in known.sides):
            del self._keys[update.key]
        if was_delivered:
            return update
        self.tally.filtered += 1
        return None


def _pair(left: Update, right: Update) -> object:
    return left.value, right.value
