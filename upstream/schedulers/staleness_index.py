"""STALENESS INDEX: serve the key whose service reduces mean staleness most (not in the report).

The index of a waiting key is `weight * (w**2 / 2 + w * quiet) / cost`. Here `w` is its queue
staleness, and `quiet = (1 - exp(-rate * h)) / rate` is the part of the horizon `h` in which no
further update of the key is expected. The first term is the staleness that serving the key saves
now, and the second term is what its quiet time saves. The horizon follows the present backlog:
`h = 4 * (W + c)`, where `W` is the longest wait of any key and `c` the cost of an update. Without
the horizon this is Whittle's index, which is best far beyond saturation, but up to 60 % worse than
IN-PLACE below it (DESIGN.md).

Keys of about the same rate and priority (weight divided by cost) are ordered by their wait alone.
So they wait in classes, each with the order of IN-PLACE, and only the heads of the occupied classes
are compared. Each head is compared by its own rate. So two rates just above and just below the
border of a class have almost the same index. The rate of a key is estimated when its wait begins
and stays fixed during the wait.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from typing import ClassVar, cast

from ..errors import CostError, ParameterError, WeightError
from ..keys import KeyCell, Place, QueueOfKeys
from ..statistics import AnyKey, PerKey, check_cost, is_quantity
from ..updates import Key
from .scheduler import Scheduler, Terms

PRIORITIES_PER_DOUBLING = 4
MOST_DOUBLINGS = 400.0
"""Weights divided by costs count as equal beyond 2 to this power."""
HORIZON = 4.0
LONGEST_INTERVAL = 2.0**300
"""The mean interval of keys with an unknown rate: they are expected to stay quiet."""

_expm1 = math.expm1


class _KeyClass(QueueOfKeys):
    """Keys of about the same update rate and priority, in the order of IN-PLACE."""

    __slots__ = ("interval", "known_head", "name", "priority", "since")

    known_head: Place | None
    """The key at the head when `next` last looked. `interval` and `since` are about this key."""
    interval: float
    """The mean time between two of its updates."""
    since: float
    """The start of its wait."""

    def __init__(self, name: tuple[int | None, int | None]) -> None:
        super().__init__()
        self.known_head = None
        self.interval = self.since = 0.0
        self.call(name)

    def call(self, name: tuple[int | None, int | None]) -> None:
        """Give this empty class a name, which includes its priority."""
        _, priority_class = name
        self.name = name
        self.priority = (
            0.0 if priority_class is None else 2.0 ** (priority_class / PRIORITIES_PER_DOUBLING)
        )


class StalenessIndexScheduler(Scheduler):
    """Serve the key with the largest staleness index. A dequeue is O(occupied classes).

    `longest_wait` bounds the wait of a key, in seconds: a key that has waited this long is served
    first. By default there is no bound.
    `weight` says how much the staleness of each key matters, as a mapping or a function of the key.
    The default is 1, also for keys that are missing from a mapping.
    `cost` is the processing cost in seconds: one number, or a mapping or a function of the key. A
    key that is missing from a mapping, or has cost 0, gets the mean of the given costs. The horizon
    uses the cost that the queue measures or is given.

    A function is called once for each new key.
    """

    __slots__ = (
        "_classes",
        "_cost",
        "_has_priorities",
        "_intervals",
        "_longest_wait",
        "_priorities",
        "_spare",
        "_usual_cost",
        "_waiting",
        "_weight",
    )

    name: ClassVar[str] = "index"

    def __init__(
        self,
        longest_wait: float | None = None,
        *,
        weight: PerKey[AnyKey] | None = None,
        cost: PerKey[AnyKey] | float | None = None,
    ) -> None:
        super().__init__()
        if longest_wait is not None and not is_quantity(longest_wait):
            raise ParameterError("longest_wait", longest_wait, "a finite number of seconds or None")
        if not (cost is None or isinstance(cost, Mapping) or callable(cost)):
            check_cost("cost", cost)
        self._longest_wait = math.inf if longest_wait is None else float(longest_wait)
        self._weight = cast(PerKey[Key] | None, weight)
        self._cost = cast(PerKey[Key] | float | None, cost)
        self._has_priorities = weight is not None or cost is not None
        self._classes: dict[tuple[int | None, int | None], _KeyClass] = {}
        self._spare: _KeyClass | None = None
        """The class that became empty last. With few waiting keys, classes come and go often."""
        self._intervals = array("d")
        """The mean intervals of waiting keys, by key number."""
        self._priorities: list[int | None] = []
        """The priority classes by key number, if any weight or cost was given."""
        self._waiting = 0
        self._usual_cost = _mean(cost) if isinstance(cost, Mapping) else 1.0
        for given in (weight, cost):
            if isinstance(given, Mapping):
                for key in given:
                    self._priority_class(key)

    def unbind(self) -> None:
        """Release the queue, and forget the intervals and priorities of its keys."""
        super().unbind()
        self._intervals = array("d")
        self._priorities.clear()
        self._spare = None

    def terms_for(self, key: Key) -> Terms:
        """Return the key's priority; an invalid number raises WeightError or CostError."""
        return self._priority_class(key) if self._has_priorities else None

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note the key's priority."""
        if self._has_priorities:
            missing = cell.index + 1 - len(self._priorities)
            if missing > 0:
                self._priorities.extend([None] * (missing + cell.index // 8))
            self._priorities[cell.index] = cast("int | None", terms)

    def schedule(self, place: Place) -> None:
        """Put the key at the tail of its class."""
        self._class_of(place).append(place)
        self._waiting += 1

    def restore(self, place: Place) -> None:
        """Put the key into its class at the place of its original arrival."""
        self._class_of(place).insert_by_wait(place)
        self._waiting += 1

    def remove(self, place: Place) -> None:
        """Remove the key. A class that becomes empty is kept for the next use."""
        self._waiting -= 1
        line = place.line
        assert isinstance(line, _KeyClass)
        line.remove(place)
        place.line = None
        if place is line.known_head:
            line.known_head = None
        if line.head() is None:
            del self._classes[line.name]
            self._spare = line

    def next(self, now: float) -> Place | None:
        """Return the key with the largest index, or first a key that has waited too long."""
        longest: Place | None = None
        since = math.inf
        for line in self._classes.values():
            head = line.end.next  # `head()` without the call; no class is empty
            if head is not line.known_head:
                assert head.waiting_since is not None
                line.known_head = head
                line.since = head.waiting_since
                line.interval = self._intervals[head.cell.index]
            if line.since < since:
                longest = head
                since = line.since
        if longest is None or len(self._classes) == 1 or now - since >= self._longest_wait:
            return longest
        return self._largest_index(now, HORIZON * (now - since + self._mean_cost()))

    def waiting_since(self) -> float | None:
        """Return the start of the longest wait of any key. O(occupied classes)."""
        waits = [line.end.next.waiting_since for line in self._classes.values()]
        return min((since for since in waits if since is not None), default=None)

    def _largest_index(self, now: float, horizon: float) -> Place | None:
        """Return the known head with the largest index; among equals the longest waiting.

        If no key has waited yet, every index is 0, and the slope of the index decides. If the cost
        is unknown too, the priority decides.
        """
        best: Place | None = None
        most = -1.0
        others = (0.0, 0.0, 0.0)
        for line in self._classes.values():
            wait = now - line.since
            interval = line.interval
            slope = line.priority * (0.5 * wait - interval * _expm1(-horizon / interval))
            index = wait * slope
            if index > most or (index == most and (slope, line.priority, wait) > others):
                best, most, others = line.known_head, index, (slope, line.priority, wait)
        return best

    def _mean_cost(self) -> float:
        assert self._surroundings is not None, "the scheduler is not bound to a queue"
        measured = self._surroundings.cost.seconds()
        if measured is not None:
            return measured
        return self._cost if isinstance(self._cost, (int, float)) else 0.0

    def _class_of(self, place: Place) -> _KeyClass:
        assert self._surroundings is not None, "the scheduler is not bound to a queue"
        cell = place.cell
        rate = self._surroundings.rates.observe(cell)
        if rate:
            rate_class = math.frexp(rate)[1]
            interval = min(1.0 / rate, LONGEST_INTERVAL)
        else:
            rate_class = None
            interval = LONGEST_INTERVAL
        try:
            self._intervals[cell.index] = interval
        except IndexError:
            missing = cell.index + 1 + cell.index // 8 - len(self._intervals)
            self._intervals.frombytes(bytes(8 * missing))
            self._intervals[cell.index] = interval
        name = (rate_class, self._priorities[cell.index] if self._has_priorities else 0)
        line = self._classes.get(name)
        if line is None:
            line, self._spare = self._spare, None
            if line is None:
                line = _KeyClass(name)
            else:
                line.call(name)
            self._classes[name] = line
        place.line = line
        return line

    def _priority_class(self, key: Key) -> int | None:
        """Return the class of the key's weight divided by cost; None for weight 0."""
        weight = _look_up(self._weight, key)
        cost = _look_up(self._cost, key)
        if weight is not None and not is_quantity(weight):
            raise WeightError(f"the weight of {key!r}", weight, "a finite number, 0 or more")
        if cost is not None and not is_quantity(cost):
            raise CostError(f"the cost of {key!r}", cost, "a finite number, 0 or more")
        if weight == 0:
            return None
        doublings = math.log2(weight or 1.0) - math.log2(cost or self._usual_cost)
        bounded = min(max(doublings, -MOST_DOUBLINGS), MOST_DOUBLINGS)
        return round(PRIORITIES_PER_DOUBLING * bounded)

    def __len__(self) -> int:
        return self._waiting

    def __iter__(self) -> Iterator[Place]:
        for line in self._classes.values():
            yield from line

    def _check(self) -> None:
        waiting = 0
        for name, line in self._classes.items():
            line._check()
            assert line.name == name and line.head() is not None, "an empty class"
            places = list(line)
            assert all(place.line is line for place in places)
            if line.known_head is not None:
                assert line.known_head in places and line.since == line.known_head.waiting_since
                assert line.interval == self._intervals[line.known_head.cell.index]
            if self._has_priorities:
                priorities = {self._priorities[place.cell.index] for place in places}
                assert priorities == {name[1]}, "a key that lost its weight"
            waits = [place.waiting_since for place in places if place.waiting_since is not None]
            assert waits == sorted(waits), "the keys of a class are out of order"
            waiting += len(places)
        assert waiting == self._waiting
        if self._spare is not None:
            self._spare._check()
            assert self._spare.head() is self._spare.known_head is None, "the spare class is used"


def _look_up(given: PerKey[Key] | float | None, key: Key) -> float | None:
    if isinstance(given, Mapping):
        return given.get(key)
    return given(key) if callable(given) else given


def _mean(costs: Mapping[AnyKey, float]) -> float:
    """Return the mean of the costs above 0, or 1 if there are none."""
    for key, cost in costs.items():
        check_cost(f"the cost of {key!r}", cost)
    above = [float(cost) for cost in costs.values() if cost > 0]
    return sum(above) / len(above) if above else 1.0
