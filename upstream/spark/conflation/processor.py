"""The bucket queues as a stateful processor, which runs each bucket once per trigger.

This module needs PySpark, so only `conflate` and Spark's workers import it.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, cast, get_type_hints

import numpy as np
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DoubleType,
    LongType,
    StructField,
    StructType,
)

from upstream.errors import UpStreamError
from upstream.updates import Key

from .bucket_queue import FORMAT, BucketQueue, ConflatedRow, Served
from .metrics import ConflationMetrics
from .partition_conflation import COUNTED, DELETED

BUCKET: Final = "__upstream_bucket"
HASH: Final = "__upstream_hash"
SERVED: Final = "upstream"
"""The column with the measures of a served update."""
COUNTS: Final = "__upstream_counts"

_BLOCK_KEY: Final = StructType([StructField("line", LongType()), StructField("number", LongType())])
_BLOCK: Final = StructType([StructField("block", BinaryType())])


class CheckpointMismatchError(UpStreamError, ValueError):
    """A query continues from the checkpoint of a query with another definition."""

    def __init__(self, what: str, before: object, now: object) -> None:
        self.what = what
        self.before = before
        self.now = now
        super().__init__(
            f"the checkpoint is from a query with the {what} {before}, and this one has {now}; use "
            f"{before} again, or start with a new checkpoint"
        )


@dataclass(frozen=True, slots=True)
class BucketSettings:
    """The settings that all buckets of a query share."""

    policy: str
    columns: tuple[str, ...]
    """The columns of a row, by name and type."""
    names: tuple[str, ...]
    keys: tuple[int, ...]
    """The places of the key columns."""
    time: str | None
    """The time column; None if the order of the rows decides which is newer."""
    shares: dict[int, int | None]
    """How many keys each bucket may serve per trigger."""

    def identity(self) -> dict[str, object]:
        """Return the settings that must not change while a checkpoint is in use."""
        return {
            "format": FORMAT,
            "policy": self.policy,
            "columns": list(self.columns),
            "key": [self.names[place] for place in self.keys],
            "time": self.time,
            "number of partitions": len(self.shares),
        }


def counted_schema(kept: StructType) -> StructType:
    """Return the columns of a conflated partition, whose rows have the columns `kept`."""
    kinds = {DELETED: BooleanType(), COUNTED[3]: BinaryType(), COUNTED[4]: BinaryType()}
    counted = [StructField(name, kinds.get(name, LongType())) for name in COUNTED]
    return StructType([*kept.fields, *counted])


def turn_schema(kept: StructType) -> StructType:
    """Return the columns of the output of a run: served updates, and counters in the last row."""
    whole, real = LongType(), DoubleType()
    served = {
        "waiting_since": whole,
        "served": whole,
        "staleness_seconds": real,
        "superseded": whole,
        "mean_staleness_seconds": real,
    }
    hints = get_type_hints(ConflationMetrics)
    counts = {name: whole if hints[name] is int else real for name in ConflationMetrics.names()}
    known = [
        StructField(name, StructType([StructField(each, kind) for each, kind in fields.items()]))
        for name, fields in ((SERVED, served), (COUNTS, counts))
    ]
    return StructType([*kept.fields, *known])


class BucketProcessor(StatefulProcessor):
    """Runs each bucket once per trigger, with the rows that arrived or without rows."""

    def __init__(self, settings: BucketSettings) -> None:
        self._settings = settings
        names = (*settings.names, SERVED, COUNTS)
        self._row = Row(*names)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state: blocks, and one small value with the state of the bucket."""
        self._handle = handle
        self._blocks = _Blocks(handle.getMapState("blocks", _BLOCK_KEY, _BLOCK))
        self._summary = handle.getValueState("summary", _BLOCK)

    def handleInputRows(  # noqa: N802 - as Spark calls it
        self,
        key: object,
        rows: Iterator[object],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """Accept the rows of a micro-batch, and serve the bucket's share."""
        yield from self._turn(
            key, cast("Iterator[Row]", rows), timerValues.getCurrentProcessingTimeInMs()
        )

    def handleExpiredTimer(  # noqa: N802
        self,
        key: object,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[Row]:
        """Serve the share of a bucket that got no rows in this trigger."""
        now = timerValues.getCurrentProcessingTimeInMs()
        yield from self._turn(key, (), now, fired=expiredTimerInfo.getExpiryTimeInMs())

    def _turn(
        self, key: object, rows: Iterable[Row], now: int, *, fired: int | None = None
    ) -> Iterator[Row]:
        bucket = cast("tuple[int]", key)[0]
        state, before, timer = self._restore()
        batch_time = now
        now = max(now, before)  # the machine's clock may have been set back
        queue = BucketQueue(self._blocks, policy=self._settings.policy, state=state)
        queue.take_in(self._conflated(rows), now=now)
        for served in queue.serve(self._settings.shares[bucket], now=now):
            yield self._row(*served.payload, _as_row(served, now), None)
        if timer is not None and timer != fired:
            self._handle.deleteTimer(timer)
        # The timer runs the bucket in the next trigger, even if no rows arrive.
        self._handle.registerTimer(batch_time + 1)
        stored = (self._settings.identity(), queue.save(), now, batch_time + 1)
        self._summary.update((pickle.dumps(stored, pickle.HIGHEST_PROTOCOL),))
        nothing = (None,) * len(self._settings.names)
        yield self._row(*nothing, None, queue.counts(now).numbers())

    def _restore(self) -> tuple[bytes | None, int, int | None]:
        found = self._summary.get()
        if found is None:
            return None, 0, None
        identity, state, before, timer = pickle.loads(found[0])  # noqa: S301 - see `_turn`
        for what, now in self._settings.identity().items():
            if identity[what] != now:
                raise CheckpointMismatchError(what, identity[what], now)
        return state, before, timer

    def _conflated(self, rows: Iterable[Row]) -> list[ConflatedRow]:
        """Return the rows of a micro-batch, sorted by the partition that they come from."""
        keys = self._settings.keys
        found = [_as_conflated(row, keys) for row in rows]
        found.sort(key=_by_partition)
        return found


class _Blocks:
    """The block store in a map of Spark's state store."""

    __slots__ = ("_state",)

    def __init__(self, state: MapState) -> None:
        self._state = state

    def get(self, line: int, number: int) -> bytes | None:
        found = self._state.getValue((line, number))
        return None if found is None else bytes(found[0])

    def put(self, line: int, number: int, block: bytes) -> None:
        self._state.updateValue((line, number), (block,))

    def remove(self, line: int, number: int) -> None:
        self._state.removeKey((line, number))


_AHEAD: Final = 2 + len(COUNTED)
"""How many columns come before those of the row: bucket, hash, and counters."""


def _as_conflated(row: Row, keys: tuple[int, ...]) -> ConflatedRow:
    _, key_hash, partition, late, rejected, times, positions, deleted = row[:_AHEAD]
    payload = tuple(row[_AHEAD:])
    if rejected:
        return ConflatedRow(0, None, (), (), (), partition, rejected=rejected)
    key: Key = payload[keys[0]] if len(keys) == 1 else tuple(payload[place] for place in keys)
    return ConflatedRow(
        key_hash,
        key,
        payload,
        np.frombuffer(times, dtype=np.float64).tolist(),
        np.frombuffer(positions, dtype=np.int64).tolist(),
        partition,
        late,
        is_deletion=bool(deleted),
    )


def _by_partition(row: ConflatedRow) -> tuple[int, int]:
    return row.partition, row.positions[0] if row.positions else 0


def _as_row(served: Served, now: int) -> tuple[object, ...]:
    staleness = (now - served.since) / 1000
    mean = served.mean_staleness_seconds
    return served.since, now, staleness, served.superseded, mean
