"""Qc on Bytewax, by its `join_window` with packet ids as keys.

Bytewax has a clock for each key, and a packet id never comes again. So rows of the next minute do
not end the window of a key; only the wall clock or the end of the input does. With
`emit_mode="complete"` a pair comes out as soon as it is complete. A second window, with one key for
all pairs, takes the mean, and ends with the first pair of the next minute. This is the only way in
which the cut is seen at once. It is right because a packet passes a router once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from time import perf_counter
from typing import Any

import bytewax.operators as op
import bytewax.operators.windowing as win
from bytewax.dataflow import Dataflow
from bytewax.inputs import DynamicSource, StatelessSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.testing import run_main

from tests.benchmarks.epoch_peers import PeerRun, Step
from tests.benchmarks.packets import MINUTE
from tests.benchmarks.python_joins import Row, minute_of, received

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Batch = tuple[list[Row], int | None]
"""Rows of a router, and if an epoch ends with them, how many pairs there are before."""
Pair = tuple[int, float]
"""The number of a minute, and the time of a packet between the routers."""
Total = tuple[float, int]
"""A sum, and the number of its addends."""


@dataclass(slots=True)
class Cut:
    """When the newest cut was given."""

    at: float = 0.0
    pairs: int = 0
    """How many pairs there are so far."""


class Minutes(win.Clock[Any, None], win.ClockLogic[Any, None]):
    """The clock of a key goes from minute to minute, so that no row of a minute is late."""

    def __init__(self, minute: Callable[[Any], int]) -> None:
        self._minute = minute
        self._newest = EPOCH

    def build(self, resume_state: None) -> Minutes:
        return Minutes(self._minute)

    def before_batch(self) -> None:
        """Do nothing: the clock of the machine does not matter."""

    def on_item(self, value: Any) -> tuple[datetime, datetime]:
        at = EPOCH + timedelta(seconds=self._minute(value) * MINUTE)
        self._newest = max(self._newest, at)
        return at, self._newest

    def on_notify(self) -> datetime:
        return self._newest

    def on_eof(self) -> datetime:
        return datetime.max.replace(tzinfo=UTC)

    def to_system_utc(self, timestamp: datetime) -> None:
        """Return no time: there is no need to be woken."""

    def snapshot(self) -> None:
        """Return no state, since nothing is recovered."""


class Router(DynamicSource[Row], StatelessSourcePartition[Row]):
    """Gives the batches of a router, one whenever it is asked.

    It has nothing before a cut until all rows before have been worked on.
    """

    def __init__(self, batches: Sequence[Batch], cut: Cut) -> None:
        self._batches: Iterator[Batch] = iter(batches)
        self._next = next(self._batches, None)
        self._cut = cut

    def build(self, step_id: str, worker_index: int, worker_count: int) -> Router:
        return self

    def next_batch(self) -> list[Row]:
        if self._next is None:
            raise StopIteration
        rows, pairs = self._next
        if pairs is not None:
            if self._cut.pairs < pairs:
                return []
            self._cut.at = perf_counter()
        self._next = next(self._batches, None)
        return rows


class Answers(DynamicSink[Pair], StatelessSinkPartition[Pair]):
    """Notes the mean of each minute, and when it comes."""

    def __init__(self, run: PeerRun, cut: Cut) -> None:
        self._run = run
        self._cut = cut

    def build(self, step_id: str, worker_index: int, worker_count: int) -> Answers:
        return self

    def write_batch(self, items: list[Pair]) -> None:
        for minute, mean in items:
            self._run.means[minute] = mean
            self._run.after_cut.append(perf_counter() - self._cut.at)


def answer(steps: Sequence[Step], run: PeerRun, *, is_updated: bool) -> Callable[[], None]:
    """Return the work: to run a flow for all batches."""
    assert not is_updated
    flow = Dataflow("qc")
    cut = Cut()
    sides = [
        op.key_on(f"key{n}", op.input(f"rows{n}", flow, Router(_batches(steps, n), cut)), _id_of)
        for n in range(2)
    ]

    def pair_of(pair: tuple[str, tuple[int, Any]]) -> tuple[str, Pair]:
        _, (minute, (one, two)) = pair
        cut.pairs += 1
        return "all", (minute, two[2] - one[2])

    windower = win.TumblingWindower(length=timedelta(seconds=MINUTE), align_to=EPOCH)
    clock = Minutes(lambda side: minute_of(side[1]))
    pairs = win.join_window("join", clock, windower, *sides, emit_mode="complete", ordered=False)
    totals = win.fold_window(
        "total",
        op.map("pair", pairs.down, pair_of),
        Minutes(lambda pair: int(pair[0])),
        windower,
        builder=lambda: (0.0, 0),
        folder=lambda total, pair: (total[0] + pair[1], total[1] + 1),
        merger=lambda one, other: (one[0] + other[0], one[1] + other[1]),
        ordered=False,
    )
    op.output("out", op.map("mean", totals.down, _mean_of), Answers(run, cut))
    return partial(run_main, flow)


def _batches(steps: Sequence[Step], router: int) -> list[Batch]:
    """Return the batches of a router."""
    return [(received(step.rows), step.pairs) for step in steps if step.router == router]


def _id_of(row: Row) -> str:
    return str(row[0])


def _mean_of(total: tuple[str, tuple[int, Total]]) -> tuple[int, float]:
    _, (minute, (amount, count)) = total
    return minute, amount / count
