"""Random streams: rows with NULLs, ties and gaps, some of them late, at random times of a clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import inf, nan
from random import Random

import pyarrow as pa

from .arrivals import MICROSECONDS, StreamOf
from .grammar import QUOTES, TRADES

STREAMS = {
    TRADES: StreamOf(
        TRADES,
        pa.schema(
            [
                ("time", pa.timestamp("us")),
                ("symbol", pa.string()),
                ("price", pa.float64()),
                ("size", pa.int32()),
                ("amount", pa.decimal128(12, 2)),
                ("note", pa.string()),
                ("flag", pa.bool_()),
            ]
        ),
        "time",
        ("symbol",),
    ),
    QUOTES: StreamOf(
        QUOTES,
        pa.schema(
            [
                ("time", pa.timestamp("us")),
                ("symbol", pa.string()),
                ("bid", pa.float64()),
                ("lots", pa.int64()),
            ]
        ),
        "time",
        ("symbol",),
    ),
}
DEFINITIONS = {
    TRADES: """
        CREATE STREAM trades (
            time TIMESTAMP, symbol TEXT, price DOUBLE, size INTEGER, amount DECIMAL(12, 2),
            note TEXT, flag BOOLEAN
        ) KEY (symbol)
    """,
    QUOTES: """
        CREATE STREAM quotes (time TIMESTAMP, symbol TEXT, bid DOUBLE, lots BIGINT) KEY (symbol)
    """,
}
LISTED = pa.table(
    {
        "symbol": pa.array(["A", "b1", "b1", "C", None], pa.string()),
        "sector": pa.array(["tech", "food", "tech", None, "none"], pa.string()),
        "factor": pa.array([1, 2, 3, 4, 5], pa.int32()),
    }
)
SYMBOLS = ("A", "b1", "b2", "C", "D")
NOTES = ("A", "b", "10", "7", "7", None)
EPOCH_SECONDS = 1_767_600_000  # early in 2026


@dataclass(frozen=True, slots=True)
class Append:
    """Rows arrive."""

    stream: str
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class Pause:
    """Time passes on the clock."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Poll:
    """The results are asked for."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The landmark of the query, if it has one, is set anew."""


Event = Append | Pause | Poll | Reset


@dataclass(slots=True)
class Feed:
    """Makes the events of one case."""

    random: Random
    late: float = 0.1
    strange: float = 0.0
    is_rough: bool = False
    has_rows: bool = False  # in each stream, from the beginning
    at: float = float(EPOCH_SECONDS)

    def events(self, streams: Sequence[str]) -> list[Event]:
        """Return what happens, and at the end a poll."""
        found: list[Event] = []
        for _ in range(self.random.randint(5, 12)):
            found.append(Pause(self.random.choice([0.0, 0.25, 0.5, 1.0, 3.5])))
            least = 1 if self.has_rows and len(found) == 1 else 0
            found.extend(Append(name, self._rows(name, least)) for name in sorted(set(streams)))
            if self.random.random() < 0.5:
                found.append(Pause(self.random.choice([0.0, 0.25, 6.0])))
                found.append(Poll())
                found.extend([Reset()] if self.random.random() < 0.1 else [])
            self.at += self.random.choice([0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 9.0])
        return [*found, Pause(1.0), Poll()]

    def _rows(self, stream: str, least: int = 0) -> pa.Table:
        schema = STREAMS[stream].schema
        count = max(least, self.random.choice([0, 1, 2, 5, 12, 25]))
        self.at += (ahead := self.random.choice([0.0, 0.3, 2.0])) / 2
        times = sorted(self._time(ahead) for _ in range(count))
        if self.random.random() < 0.25:
            self.random.shuffle(times)
        times = [self._late(time) for time in times]
        columns = [
            times if field.name == "time" else [self._value(field) for _ in times]
            for field in schema
        ]
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)
        ]
        return pa.table(arrays, schema=schema)

    def _time(self, ahead: float) -> int:
        seconds = self.at + self.random.choice([0.0, self.random.random()]) * ahead
        return int(seconds * 1000) * (MICROSECONDS // 1000)

    def _late(self, time: int) -> int:
        if self.random.random() >= self.late:
            return time
        return time - self.random.choice([1, 10**6, 3 * 10**6, 8 * 10**6])

    def _value(self, field: pa.Field) -> object:
        if field.name == "symbol":
            return self.random.choice(SYMBOLS)
        if field.name == "note":
            return self.random.choice(NOTES)
        if self.random.random() < 0.12:
            return None
        if pa.types.is_boolean(field.type):
            return self.random.random() < 0.5
        if pa.types.is_decimal(field.type):
            return Decimal(self.random.randint(-500, 5000)) / 100
        if pa.types.is_integer(field.type):
            return self.random.randint(-3, 9)
        return self._double()

    def _double(self) -> float:
        if self.random.random() < self.strange:
            return self.random.choice([nan, inf, -inf, -0.0])
        if self.is_rough:  # sums of these are rounded
            return self.random.uniform(-100.0, 300.0)
        return self.random.randint(-40, 80) / 4
