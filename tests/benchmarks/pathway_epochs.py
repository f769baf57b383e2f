"""Qc on Pathway, by its `window_join`.

`window_join` takes no `behavior`: it gives pairs as rows come, and never forgets a row. A second
step takes the mean of a minute. With `exactly_once_behavior` it is a window, which ends with the
first pair of the next minute. If it is updated, a grouping gives a new mean after each commit; then
the minute is known to have ended with the first mean of the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from threading import Condition
from time import perf_counter
from typing import Any, Final

import pyarrow as pa

from tests.benchmarks.epoch_peers import PeerRun, Step
from tests.benchmarks.packets import MINUTE

COMMIT: Final = 2
"""Milliseconds after which rows count at the latest. Without it some commits of one row hang."""
PATIENCE: Final = 120.0
"""Seconds after which an answer is given up."""

Row = tuple[int, int, float]
"""A packet's id, its time in seconds, and its time at the router."""


class Turns:
    """Lets the sources go in turn, each in its thread, and notes what comes and when."""

    def __init__(self, steps: Sequence[Step], run: PeerRun, *, is_updated: bool) -> None:
        self._rows = [_rows_of(step.rows) for step in steps]
        self._steps = steps
        self._run = run
        self._ends_with = 1 if is_updated else 0
        """The mean of this minute after the present one says that the present one has ended."""
        self._at = 0
        self._pairs = 0
        self._cuts = 0
        self._cut = 0.0
        """When the newest cut was given."""
        self._changed = Condition()

    def of(self, router: int) -> Iterator[list[Row]]:
        """Return the rows of a router, each batch in its turn.

        A cut is given when all pairs before are there, and the next rows after its answer.
        """
        for number, step in enumerate(self._steps):
            if step.router == router:
                self._wait(partial(self._is_turn, number))
                if step.pairs is not None:
                    self._wait(partial(self._has_pairs, step.pairs))
                    self._cuts += 1
                    self._cut = perf_counter()
                yield self._rows[number]
                if step.pairs is not None:
                    self._wait(self._is_answered)
                with self._changed:
                    self._at += 1
                    self._changed.notify_all()

    def counted(self, row: dict[str, Any]) -> None:
        """Note how many pairs there are."""
        with self._changed:
            self._pairs = row["pairs"]
            self._changed.notify_all()

    def answered(self, row: dict[str, Any]) -> None:
        """Note the mean of a minute."""
        with self._changed:
            self._run.means[row["minute"]] = row["mean"]
            if row["minute"] == len(self._run.after_cut) + self._ends_with:
                self._run.after_cut.append(perf_counter() - self._cut)
                self._changed.notify_all()

    def _wait(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, PATIENCE)

    def _is_turn(self, step: int) -> bool:
        return self._at == step

    def _has_pairs(self, pairs: int) -> bool:
        return self._pairs >= pairs

    def _is_answered(self) -> bool:
        return len(self._run.after_cut) >= self._cuts


def answer(steps: Sequence[Step], run: PeerRun, *, is_updated: bool) -> Callable[[], None]:
    """Return the work: to let Pathway run until all rows are given."""
    pw: Any = import_module("pathway")
    turns = Turns(steps, run, is_updated=is_updated)
    schema = pw.schema_from_types(pid=int, ts=int, trt=float)

    class Router(pw.io.python.ConnectorSubject):  # type: ignore[misc]  # its types are not told
        def __init__(self, router: int) -> None:
            super().__init__()
            self._router = router

        def run(self) -> None:
            for rows in turns.of(self._router):
                for pid, ts, trt in rows:
                    self.next(pid=pid, ts=ts, trt=trt)
                self.commit()

    one, two = (
        pw.io.python.read(Router(router), schema=schema, autocommit_duration_ms=COMMIT)
        for router in range(2)
    )
    windows = pw.temporal.tumbling(MINUTE)
    pairs = one.window_join(two, one.ts, two.ts, windows, one.pid == two.pid).select(
        ts=one.ts, minute=one.ts // MINUTE, delta=two.trt - one.trt
    )
    if is_updated:
        means = pairs.groupby(pairs.minute).reduce(pairs.minute, mean=pw.reducers.avg(pairs.delta))
    else:
        once = pw.temporal.exactly_once_behavior()
        means = pairs.windowby(pairs.ts, window=windows, behavior=once).reduce(
            minute=pw.this._pw_window_start // MINUTE, mean=pw.reducers.avg(pw.this.delta)
        )
    pw.io.subscribe(pairs.reduce(pairs=pw.reducers.count()), on_change=_noted(turns.counted))
    pw.io.subscribe(means, on_change=_noted(turns.answered))
    return partial(pw.run, monitoring_level=pw.MonitoringLevel.NONE)


def _noted(note: Callable[[dict[str, Any]], None]) -> Callable[..., None]:
    """Return what Pathway calls for each change of a table."""

    def on_change(row: dict[str, Any], *, is_addition: bool, **_: object) -> None:
        if is_addition:
            note(row)

    return on_change


def _rows_of(table: pa.Table) -> list[Row]:
    seconds = table["ts"].cast(pa.int64()).to_numpy() // 1_000_000
    columns = (table["pid"].to_pylist(), seconds.tolist(), table["trt"].to_pylist())
    return list(zip(*columns, strict=True))
