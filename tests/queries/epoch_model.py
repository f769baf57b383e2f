"""What epochs mean, worked out row by row: which chunk each row is in, and when each epoch ends.

Nothing here comes from the engine. Rows come one by one to each input of a query. Moments are
multiples of half a second, so all that the clock alone changes is looked at every half second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

FOREVER = 1 << 60
TICK = 0.5


class Row(NamedTuple):
    """A row of a stream; `id` is unique."""

    t: int
    k: str | None
    v: int | None
    id: int


@dataclass(frozen=True)
class Chunking:
    """How a stream is cut: by one of time, arrival, count, object and punctuation."""

    sort: str
    length: int = 1
    offset: int = 0

    @property
    def is_ordinal(self) -> bool:
        return self.sort in ("count", "object", "punctuation")

    def of(self, time: int) -> int:
        """Return the chunk of a time."""
        return (time - self.offset) // self.length

    def start(self, chunk: int) -> int:
        return chunk * self.length + self.offset

    def arguments(self) -> str:
        """Return the arguments of `epochs` after the stream."""
        if self.sort == "time":
            return f"{self.length}" + (f", offset => {self.offset}" if self.offset else "")
        return {
            "arrival": f"INTERVAL '{self.length} seconds', by => arrival",
            "count": f"rows => {self.length}",
            "object": "by => k",
            "punctuation": "punctuation => v = 0",
        }[self.sort]


@dataclass
class ModelInput:
    """One input of a query: its chunks, and how far it has got.

    `passed` is a time, or the number of a chunk where chunks are not cut by time: what is before it
    is over. Silence adds to that as long as it lasts.
    """

    stream: str
    cut: Chunking
    close_after: float | None
    since: float
    chunks: dict[int, list[Row]] = field(default_factory=dict)
    passed: int | None = None
    newest: int | None = None
    last: float | None = None
    late: int = 0
    open_rows: int = 0

    def is_idle(self, now: float) -> bool:
        since = self.since if self.last is None else self.last
        return self.close_after is not None and now - since >= self.close_after

    def passed_at(self, now: float) -> int | None:
        """Return how far it has got; silence ends the open chunk, and then counts as time."""
        if self.cut.sort == "arrival":
            return int(now)
        if self.newest is None:
            return FOREVER if self.is_idle(now) else None
        assert self.passed is not None
        if not self.is_idle(now):
            return self.passed
        if self.cut.is_ordinal:
            return max(self.passed, self.newest + 1)
        assert self.last is not None
        end = self.cut.start(self.cut.of(self.newest) + 1)
        return max(self.passed, end, self.newest + int(now - self.last))

    def append(self, rows: Sequence[Row], now: float, common: int | None) -> None:
        """Take rows in; `common` is how far the inputs that are not idle have got."""
        own = self.passed_at(now)
        known = [each for each in (self.passed, own, common) if each not in (None, FOREVER)]
        passed = max((each for each in known if each is not None), default=None)
        if self.cut.is_ordinal:
            self._append_in_order(rows, now, passed or 0)
            return
        for row in rows:
            time = int(now) if self.cut.sort == "arrival" else row.t
            if passed is not None and self.cut.of(time) < self.cut.of(passed):
                self.late += 1
                continue
            passed = time if passed is None else max(time, passed)
            self._add(self.cut.of(time), row)
            self.newest = time if self.newest is None else max(time, self.newest)
            self.last = now
        self.passed = passed

    def _append_in_order(self, rows: Sequence[Row], now: float, at_least: int) -> None:
        chunk = self.passed or 0
        if at_least > chunk:
            chunk, self.open_rows = at_least, 0
        for row in rows:
            before = self.chunks.get(chunk, [])
            if self.cut.sort == "object" and self.open_rows and before[-1].k != row.k:
                chunk, self.open_rows = chunk + 1, 0
            self._add(chunk, row)
            self.newest, self.last = chunk, now
            self.open_rows += 1
            is_full = self.cut.sort == "count" and self.open_rows == self.cut.length
            if is_full or (self.cut.sort == "punctuation" and row.v == 0):
                chunk, self.open_rows = chunk + 1, 0
        self.passed = chunk

    def punctuate(self, now: float, common: int | None) -> None:
        """End the open chunk."""
        own = self.passed_at(now)
        known = [each for each in (self.passed, own, common) if each not in (None, FOREVER)]
        passed = max((each for each in known if each is not None), default=None)
        if self.cut.is_ordinal:
            self.passed = max(passed or 0, self.passed or 0) + 1
            self.newest, self.open_rows, self.last = self.passed - 1, 0, now
        elif self.cut.sort == "time" and self.newest is not None:
            assert passed is not None
            self.passed = max(passed, self.cut.start(self.cut.of(self.newest) + 1))
        elif passed is not None:
            self.passed = passed

    def _add(self, chunk: int, row: Row) -> None:
        self.chunks.setdefault(chunk, []).append(row)

    def rows(self, first: int = -FOREVER, last: int = FOREVER) -> Iterator[tuple[int, Row]]:
        """Yield the rows of chunks from `first` to `last`, with their chunks."""
        for chunk in sorted(self.chunks):
            if first <= chunk <= last:
                for row in self.chunks[chunk]:
                    yield chunk, row

    def bounds(self, chunk: int) -> tuple[int, int]:
        """Return the bounds of a chunk that has rows."""
        if self.cut.is_ordinal:
            rows = self.chunks[chunk]
            return rows[0].t, rows[-1].t
        return self.cut.start(chunk), self.cut.start(chunk + 1)


class EpochModel:
    """The inputs of a query, and which epochs have ended."""

    def __init__(
        self,
        inputs: Sequence[tuple[str, int]],
        cut: Chunking,
        *,
        now: float,
        close_after: float | None = None,
        answers_empty: bool = False,
    ) -> None:
        self._answers_empty = answers_empty
        self.cut = cut
        self.keeps = [keep for _, keep in inputs]
        self.inputs = [ModelInput(stream, cut, close_after, now) for stream, _ in inputs]
        self._close_after = close_after
        self._common: int | None = None
        self._now = now
        self._arrival = -1.0
        self._at_arrival: int | None = None

    @property
    def late(self) -> int:
        return sum(each.late for each in self.inputs)

    def append(self, stream: str, rows: Sequence[Row], now: float) -> None:
        """Let rows arrive."""
        common = self._before(now)
        for each in self.inputs:
            if each.stream == stream:
                each.append(rows, now, common)

    def punctuate(self, stream: str, now: float) -> None:
        """Let the source end its open chunk."""
        common = self._before(now)
        for each in self.inputs:
            if each.stream == stream:
                each.punctuate(now, common)

    def _before(self, now: float) -> int | None:
        """Return how far the inputs together had got before a moment, or None if that is no matter.

        One batch may be for several inputs.
        """
        if self._close_after is None or len(self.inputs) == 1:
            return None
        if self._arrival != now:
            self._at_arrival, self._arrival = self._common_at(now), now
        return self._at_arrival

    def _common_at(self, now: float) -> int | None:
        """Return how far the inputs that are not idle have ever got together."""
        moments = [now]
        while moments[-1] - TICK >= self._now:
            moments.append(moments[-1] - TICK)
        for moment in reversed(moments):
            passed = self._passed_now(moment)
            if passed is not None:
                self._common = passed if self._common is None else max(passed, self._common)
        self._now = now
        return self._common

    def _passed_now(self, now: float) -> int | None:
        awake = [each for each in self.inputs if not each.is_idle(now)] or self.inputs
        passed = [each.passed_at(now) for each in awake]
        known = [each for each in passed if each is not None]
        return min(known) if len(known) == len(passed) and min(known) < FOREVER else None

    def ended(self, now: float) -> int | None:
        """Return the first epoch that has not ended, or None if none can have."""
        if self._close_after is not None and len(self.inputs) > 1:
            passed = self._common_at(now)
        else:
            passed = self._passed_now(now)
        if passed is None:
            return None
        return passed if self.cut.is_ordinal else self.cut.of(passed)

    def answered(self, now: float) -> list[int]:
        """Return the epochs that have an answer: with rows, and the first one after such ones.

        All epochs since the first one with rows, if those without rows have an answer, too.
        """
        ended = self.ended(now)
        if ended is None:
            return []
        with_rows = {
            chunk + more
            for each, keep in zip(self.inputs, self.keeps, strict=True)
            for chunk in each.chunks
            for more in range(keep)
        }
        if self._answers_empty and with_rows:
            return list(range(min(with_rows), ended))
        return sorted(e for e in with_rows | {e + 1 for e in with_rows} if e < ended)
