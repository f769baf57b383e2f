"""The order in which a bucket's waiting keys are served: lines of entries, in segments.

A policy decides the line of a key, and which line's head is served first:

- `in-place`: one line; a key is appended when it starts to wait.
- `fifo`: one line; a key is appended at each update. Its earlier entries are then outdated. They
  are skipped when they are taken, or swept out when they are the majority.
- `index`: a line for each class of update rates, as in `upstream.schedulers.staleness_index`; the
  head with the largest index is first.

Segments are blocks of the store. Only those at the two ends of a line are read, so the cost of
appending and taking does not depend on the number of waiting keys.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from upstream.schedulers.staleness_index import HORIZON, LONGEST_INTERVAL
from upstream.updates import Key

from .block_store import BlockStore

SEGMENT: Final = 512
"""Entries in a segment."""


class Entry(NamedTuple):
    """A key in a line."""

    place: int
    key_hash: int
    key: Key
    since: int
    """The time of the trigger in which it began to wait, in milliseconds."""
    interval: float
    """The expected time between its updates in seconds, from when it began to wait."""


@dataclass(slots=True)
class Line:
    """A line; its segments are numbered from `first` to `last`, and read when needed."""

    number: int
    first: int = 0
    last: int = 0
    taken: int = 0
    """How many entries of the first segment were taken."""
    entries: int = 0
    """How many entries remain."""
    read: dict[int, list[Entry]] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    unsaved: set[int] = field(default_factory=set)
    """The segments that are not written to the store yet."""


LineState = tuple[int | None, int, int, int, int, int]


class WaitingLines:
    """Lines by name, in the order in which they were occupied. No line is empty.

    >>> from .block_store import DictBlockStore
    >>> lines = WaitingLines(DictBlockStore())
    >>> lines.append(0, Entry(1, 77, "IBM", since=0, interval=1.0))
    >>> lines.append(0, Entry(2, 78, "SAP", since=0, interval=1.0))
    >>> lines.take(now=5).key, len(lines)
    ('IBM', 1)
    """

    __slots__ = ("_lines", "_next_number", "_store")

    def __init__(self, store: BlockStore) -> None:
        self._store = store
        self._lines: dict[int | None, Line] = {}
        self._next_number = 1

    def __len__(self) -> int:
        """Return the number of entries, including outdated ones."""
        return sum(line.entries for line in self._lines.values())

    def state(self) -> tuple[int, list[LineState]]:
        """Return the state for `restore`."""
        lines = [
            (name, line.number, line.first, line.last, line.taken, line.entries)
            for name, line in self._lines.items()
        ]
        return self._next_number, lines

    def restore(self, state: tuple[int, list[LineState]]) -> None:
        """Restore the lines as they were when `state` was called."""
        self._next_number, lines = state
        for name, number, first, last, taken, entries in lines:
            self._lines[name] = Line(number, first, last, taken, entries)

    def append(self, name: int | None, entry: Entry) -> None:
        """Append an entry to a line."""
        line = self._lines.get(name)
        if line is None:
            line = self._lines[name] = Line(self._next_number)
            self._next_number += 1
            segment = _new_segment(line)
        else:
            segment = self._segment(line, line.last)
        if len(segment) == SEGMENT:
            line.last += 1
            segment = _new_segment(line)
        segment.append(entry)
        line.changed.add(line.last)
        line.entries += 1

    def take(self, now: int) -> Entry:
        """Remove and return the first entry at `now`, a time in milliseconds. O(lines)."""
        name = self._best(now) if len(self._lines) > 1 else next(iter(self._lines))
        return self._take_from(name)

    def sweep(self) -> None:
        """Remove outdated entries: all but the last of each key. O(entries)."""
        for name, line in list(self._lines.items()):
            kept: dict[Key, Entry] = {}
            for entry in self._all_of(line):
                kept.pop(entry.key, None)
                kept[entry.key] = entry
            while name in self._lines:
                self._take_from(name)
            for entry in kept.values():
                self.append(name, entry)

    def save(self) -> None:
        """Write the changed segments."""
        for line in self._lines.values():
            for number in sorted(line.changed):
                block = pickle.dumps([tuple(entry) for entry in line.read[number]], protocol=5)
                self._store.put(line.number, number, block)
            line.changed.clear()
            line.unsaved.clear()

    def _best(self, now: int) -> int | None:
        """Return the line whose head has the largest index, as StalenessIndexScheduler does."""
        moment = now / 1000
        heads = [(name, self._head(line)) for name, line in self._lines.items()]
        since = min(head.since for _, head in heads) / 1000
        horizon = HORIZON * (moment - since)
        best: int | None = None
        most, others = -1.0, (0.0, 0.0)
        for name, head in heads:
            wait = moment - head.since / 1000
            slope = 0.5 * wait - head.interval * math.expm1(-horizon / head.interval)
            index = wait * slope
            if index > most or (index == most and (slope, wait) > others):
                best, most, others = name, index, (slope, wait)
        return best

    def _head(self, line: Line) -> Entry:
        return self._segment(line, line.first)[line.taken]

    def _take_from(self, name: int | None) -> Entry:
        line = self._lines[name]
        segment = self._segment(line, line.first)
        entry = segment[line.taken]
        line.taken += 1
        line.entries -= 1
        if line.taken == len(segment):
            self._drop_first(line)
            if line.entries == 0:
                del self._lines[name]
        return entry

    def _drop_first(self, line: Line) -> None:
        number = line.first
        del line.read[number]
        line.changed.discard(number)
        if number in line.unsaved:
            line.unsaved.remove(number)
        else:
            self._store.remove(line.number, number)
        line.first += 1
        line.taken = 0

    def _segment(self, line: Line, number: int) -> list[Entry]:
        segment = line.read.get(number)
        if segment is None:
            block = self._store.get(line.number, number)
            assert block is not None, "a missing segment"
            stored = pickle.loads(block)  # noqa: S301 - our own, out of the query's checkpoint
            segment = line.read[number] = [Entry(*fields) for fields in stored]
        return segment

    def _all_of(self, line: Line) -> Iterator[Entry]:
        taken = line.taken
        for number in range(line.first, line.last + 1):
            yield from self._segment(line, number)[taken:]
            taken = 0


def _new_segment(line: Line) -> list[Entry]:
    line.unsaved.add(line.last)
    segment = line.read[line.last] = []
    return segment


def class_of(rate: float | None) -> tuple[int | None, float]:
    """Return the class of an update rate, and the mean interval between updates.

    >>> class_of(0.25), class_of(None) == (None, LONGEST_INTERVAL)
    ((-1, 4.0), True)
    """
    if not rate:
        return None, LONGEST_INTERVAL
    return math.frexp(rate)[1], min(1.0 / rate, LONGEST_INTERVAL)
