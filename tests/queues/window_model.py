"""A model of window queues that is too plain to be wrong, made of models of their keys.

It is written from what windows, their two semantics and their staleness mean (DESIGN.md, section
4), and knows nothing of buffers, blocks, versions or sums.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields

from upstream import Key, Outcome, Update
from upstream.windows import WindowSpecification, WindowTuple
from upstream.windows.accounting import TupleStatistics, WindowStatistics

from .window_model_keys import ModelKey


class WindowModel:
    """All keys, of which at most one is served at a time until it has nothing left."""

    def __init__(self, kind: type[ModelKey], specification: WindowSpecification) -> None:
        self.kind = kind
        self.specification = specification
        self.keys: dict[Key, ModelKey] = {}
        self.forgotten: list[ModelKey] = []
        self.served: ModelKey
        """The key that was served last."""
        self.events = 0

    def enqueue(
        self, key: Key, value: object, time: float, now: float, *, is_refused: bool = False
    ) -> Outcome:
        """Take in one tuple."""
        self.events += 1
        if key not in self.keys:
            self.keys[key] = self.kind(self.specification, key, now)
        update = Update(key, value, float(time))
        return self.keys[key].take(update, now, self.events, is_refused=is_refused)

    def advance(self, time: float, now: float) -> None:
        """Close the windows of all keys that ended by `time`."""
        self.events += 1
        for known in self.keys.values():
            known.advance(time, now, self.events)

    def dequeue(self, now: float, hint: Key = None) -> WindowTuple | None:
        """Serve the key whose turn it is, `hint` where one event gave several keys their turn."""
        self.events += 1
        while (turns := self.turns()) and turns[0].leaving() is None:
            turns[0].turn = None
        if not turns:
            ranked = self.ranked()
            if not ranked:
                return None
            choose(ranked, hint).commit(now, self.events)
            turns = self.turns()
        self.served = choose(turns, hint)
        self.served.turn = -math.inf
        return self.served.leave()

    def forget(self, key: Key, now: float) -> None:
        """End the life of a key, whose averages count once more from now on."""
        self.events += 1
        self.forgotten.append(self.keys.pop(key))
        self.forgotten[-1].forget(now, self.events)

    def turns(self) -> list[ModelKey]:
        """Return the keys that are to be served next, of which one event gave them their turn."""
        turns = [(each.turn, each) for each in self.every() if each.turn is not None]
        first = min((turn for turn, _ in turns), default=None)
        return [each for turn, each in turns if turn == first]

    def ranked(self) -> list[ModelKey]:
        """Return the keys that are to be committed next, which began to wait by one event."""
        ranked = [each for each in self.waiting() if each.processed is None]
        first = min((each.rank for each in ranked), default=None)
        return [each for each in ranked if each.rank == first]

    def waiting(self) -> list[ModelKey]:
        """Return the keys that wait."""
        return [each for each in self.keys.values() if each.waiting() is not None]

    def every(self) -> list[ModelKey]:
        """Return the keys that are known and those that were."""
        return [*self.keys.values(), *self.forgotten]

    def window_counts(self) -> dict[str, int]:
        """Return the fates of the windows of all keys that ever were."""
        return add_up(each.window_counts() for each in [self.nobody(), *self.every()])

    def tuple_counts(self) -> dict[str, int]:
        """Return the fates of the tuples of all keys that ever were."""
        return add_up(each.tuple_counts() for each in [self.nobody(), *self.every()])

    def nobody(self) -> ModelKey:
        """Return a key that never was, so that there is always a sum."""
        return self.kind(self.specification, None, 0.0)

    def means(self, now: float) -> tuple[float, float]:
        """Return queue and application staleness, averaged over time and then over keys."""
        means = [each.means(now) for each in self.every()]
        if not means:
            return 0.0, 0.0
        queue, application = (sum(column) / len(means) for column in zip(*means, strict=True))
        return queue, application


def counters_of(counted: WindowStatistics | TupleStatistics) -> dict[str, int]:
    """Return counters by name; `dataclasses.asdict` would copy each of them."""
    return {counter.name: getattr(counted, counter.name) for counter in fields(counted)}


def choose(candidates: list[ModelKey], hint: Key) -> ModelKey:
    """Return the candidate of that key if there is one, else the first one."""
    return next((each for each in candidates if each.key == hint), candidates[0])


def add_up(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Return the sums by name."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)
