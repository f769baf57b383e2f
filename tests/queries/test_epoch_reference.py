"""Every join, pairing and cut of epochs, against SQL over the whole recorded input.

EPOCH_CASES says how many random cases there are beside those of Hypothesis. The seed of each case
that differs is in the message.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import ContinuousQuery, Engine, ManualClock, Result

from .epoch_cases import NAMES, STREAMS, Case, random_case

CASES = int(os.environ.get("EPOCH_CASES", "120"))
PARTS = 4  # which run beside one another


class Sides:
    """An engine, and a database for the model."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.engine = Engine(clock=self.clock, stopwatch=ManualClock())
        for name in STREAMS:
            self.engine.sql(f"CREATE STREAM {name} (t BIGINT, k TEXT, v BIGINT, id BIGINT) TIME (t)")
        self.engine.create_table("names", NAMES)
        self.connection = duckdb.connect()
        self.connection.register("names", NAMES)

    def differences(self, case: Case, way: str = "increments", *, reads: bool = True) -> str:
        """Return what is different between the engine's answers and those of the model, or ''."""
        self.clock.advance(1.0 + int(self.clock.now()) - self.clock.now())
        model = case.model(self.clock.now())
        query = self.engine.continuous_query(
            case.text,
            evaluation=way,  # type: ignore[arg-type]  # one of the ways
            close_after=case.close_after,
        )
        found: list[Result] = []
        try:
            for event in case.events:
                if event[0] == "append":
                    rows = event[2]  # type: ignore[misc]
                    columns = zip(*rows, strict=True)
                    self.engine.append(event[1], dict(zip(rows[0]._fields, columns, strict=True)))
                    model.append(event[1], rows, self.clock.now())
                elif event[0] == "punctuate":
                    self.engine.punctuate(event[1])
                    model.punctuate(event[1], self.clock.now())
                elif event[0] == "advance":
                    self.clock.advance(event[1])
                elif reads:
                    found += query.results()
            found += query.results()
            return self._compared(case, model, found, query)
        finally:
            query.close()

    def _compared(
        self, case: Case, model: object, found: list[Result], query: ContinuousQuery
    ) -> str:
        now = self.clock.now()
        expected = model.answered(now)
        counts = query.statistics()
        if counts.rows_late != model.late:
            return f"late: {counts.rows_late}, not {model.late}"
        for number, (epoch, result) in enumerate(zip(expected, found, strict=False)):
            rows = case.answer(model, epoch, self.connection)
            if result.error:
                return f"error in epoch {epoch}: {result.error}"
            told = [tuple(row.values()) for row in result.table.to_pylist()]
            if not case.shape.is_ordered:
                rows, told = sorted(rows, key=repr), sorted(told, key=repr)
            if rows != told:
                return f"answer {number}, epoch {epoch}:\n  {told}\n  not\n  {rows}"
            bounds = case.bounds(model, epoch)
            if case.cut.sort != "arrival" and bounds != (result.window_start, result.window_end):
                return f"bounds of {epoch}: {result.window_start, result.window_end}, not {bounds}"
        if len(expected) != len(found):
            return f"{len(found)} answers, not those for the epochs {expected}"
        return ""

    def close(self) -> None:
        self.engine.close()
        self.connection.close()


@pytest.fixture(scope="module")
def sides() -> Iterator[Sides]:
    sides = Sides()
    yield sides
    sides.close()
