"""Queries over epochs go on after a restart as if there had been none.

A feed is a list of rows and punctuations in order. An engine takes them in until it is killed: at
any event, or at any step of the disk. The next one takes them in from the positions of the query.
All results together, repeats left out by their numbers, must be those of an engine that lives on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from upstream import Engine, ManualClock, Result
from upstream.queries import query_records
from upstream.queries.choices import Way
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables.engine_stream import EngineStream

from .epoch_cases import KINDS, NAMES, STREAMS, Case, Event, random_case
from .epoch_model import Row
from .sinks import QuickDisk

CASES = int(os.environ.get("EPOCH_CASES", "120" if os.environ.get("CI") else "8"))
PARTS = 4  # which run beside one another
MOST_RESTARTS = 5
WAYS: tuple[Way, ...] = ("increments", "whole", "measured")


class KilledError(BaseException):
    """Stands for the end of a process."""


class KillingDisk(QuickDisk):
    """A disk that kills the process at one of its steps, before or after it is done."""

    __slots__ = ()
    left: int | None = None
    """How many steps are left; None for a disk that kills nothing."""

    def write(self, path: Path, content: bytes | memoryview) -> None:
        """Write all, or only a half in the last step."""
        is_last = KillingDisk.left == 1
        super().write(path, memoryview(content)[: len(content) // 2] if is_last else content)
        self._step()

    def sync(self, path: Path) -> None:
        """Do nothing."""
        self._step()

    def sync_names(self, folder: Path) -> None:
        """Do nothing; the last step ends after a record was renamed."""
        self._step()

    def rename(self, path: Path, new: Path) -> None:
        """Rename a file, unless this is the last step."""
        self._step()
        super().rename(path, new)

    def _step(self) -> None:
        if KillingDisk.left is not None:
            KillingDisk.left -= 1
            if KillingDisk.left == 0:
                KillingDisk.left = None
                raise KilledError


@cache
def definitions() -> tuple[StreamDefinition, ...]:
    with Engine(clock=ManualClock()) as engine:
        for name in STREAMS:
            columns = "t BIGINT, k TEXT, v BIGINT, id BIGINT"
            engine.sql(f"CREATE STREAM {name} ({columns}) TIME (t)")
        return tuple(engine.streams.values())


class Run:
    """An engine with one query, and the results that were taken from it."""

    def __init__(self, text: str, way: Way, directory: Path | None) -> None:
        self.clock = ManualClock()
        self.engine = Engine(clock=self.clock, stopwatch=ManualClock(), directory=directory)
        for definition in definitions():
            streams = self.engine._catalogue.streams
            streams.add(EngineStream(definition, self.clock, self.engine._lock))
        self.engine.create_table("names", NAMES)
        try:
            self.query = self.engine.continuous_query(text, name="q", evaluation=way)
        except BaseException:
            self.kill()
            raise

    def let_happen(self, event: Event, first: int = 0) -> list[Result]:
        """Let an event happen, without the rows before one; return what was read."""
        if event.what == "append" and event.rows[first:]:
            columns = zip(*event.rows[first:], strict=True)
            rows = dict(zip(event.rows[0]._fields, columns, strict=True))
            self.engine.append(event.stream, rows)
        elif event.what == "punctuate":
            self.engine.punctuate(event.stream)
        elif event.what == "read":
            return self.query.results()
        elif event.what == "evaluate":
            self.query.evaluate()
        return []

    def feed(self, events: Sequence[Event]) -> None:
        """Feed what happened so far again, from the positions of the query on."""
        fed = dict.fromkeys(STREAMS, 0)
        positions = self.query.positions
        for event in events:
            if event.what == "append":
                before = fed[event.stream]
                fed[event.stream] += len(event.rows)
                start = positions.get(event.stream, 0)
                self.let_happen(event, max(0, start - before))
            elif event.what == "punctuate" and fed[event.stream] >= positions.get(event.stream, 0):
                self.let_happen(event)

    def kill(self) -> None:
        """End it as the end of its process does."""
        if self.engine._records is not None:
            self.engine._records.close()
        self.engine._records = None
        self.engine._duck.close()


def restartable(random: Random) -> Case:
    """Return a random case that can keep a record; its rows come three times, each time later."""
    case = random_case(random)
    while case.cut.sort == "arrival" or len(case.streams) > 3:
        case = random_case(random)
    sorts = {"append"} if case.cut.is_ordinal else {"append", "punctuate"}
    events = [each for each in case.events if each.what in sorts]
    last = max((row.t for each in events for row in each.rows), default=0)
    events = [_later(each, time * last) for time in range(3) for each in events]
    for _ in range(len(events)):
        what = random.choice(["read", "evaluate"])
        events.insert(random.randrange(len(events) + 1), Event(what))
    return replace(case, close_after=None, answers_empty=False, events=(*events, Event("read")))


def _later(event: Event, seconds: int) -> Event:
    return event._replace(rows=tuple(row._replace(t=row.t + seconds) for row in event.rows))


def told(case: Case, result: Result) -> object:
    rows = [tuple(row.values()) for row in result.table.to_pylist()]
    if not case.shape.is_ordered:
        rows = sorted(rows, key=repr)
    return result.epoch, result.window_start, result.window_end, result.error, rows


def of_one_run(case: Case, way: Way) -> list[object]:
    run = Run(case.text, way, None)
    with run.engine:
        return [told(case, each) for event in case.events for each in run.let_happen(event)]


def difference(case: Case, way: Way, random: Random, directory: Path) -> str:
    """Return how the results of several runs differ from those of one, or ''."""
    found: dict[int, object] = {}
    place, run, restarts = 0, None, 0
    while place < len(case.events) or run is None:
        if random.random() < 0.3 and restarts < MOST_RESTARTS:
            KillingDisk.left = random.randint(1, 12)
        try:
            if run is None:
                restarts += 1
                run = Run(case.text, way, directory)
                run.feed(case.events[:place])
            for result in run.let_happen(case.events[place]):
                assert result.number is not None
                if found.setdefault(result.number, told(case, result)) != told(case, result):
                    return f"{result.number}: {told(case, result)}, before {found[result.number]}"
            if random.random() < 0.2 and restarts < MOST_RESTARTS:
                raise KilledError
        except KilledError:
            if run is not None:
                run.kill()
            run = None
            place += case.events[place].what != "read" and random.random() < 0.5
            continue
        place += 1
    KillingDisk.left = None
    assert run.query.statistics().is_balanced
    run.engine.close()
    expected = dict(enumerate(of_one_run(case, way)))
    if found != expected:
        lines = [
            f"{number}: {found.get(number)}\n   not {expected.get(number)}"
            for number in sorted(found.keys() | expected.keys())
            if found.get(number) != expected.get(number)
        ]
        return "\n".join(lines[:3])
    return ""


@pytest.fixture
def killing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_records, "Disk", KillingDisk)


@given(random=st.randoms(use_true_random=False), way=st.sampled_from(WAYS))
def test_results_of_several_runs_are_those_of_one(random: Random, way: Way) -> None:
    case = restartable(random)
    note(case)
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as directory:
        patch.setattr(query_records, "Disk", KillingDisk)
        assert not difference(case, way, random, Path(directory))


@pytest.mark.slow
@pytest.mark.timeout(60 + CASES)
@pytest.mark.parametrize("part", range(PARTS))
def test_results_of_many_random_runs_are_those_of_one(
    part: int, tmp_path: Path, killing: None
) -> None:
    found = {}
    for seed in range(part, CASES, PARTS):
        random = Random(seed)
        case = restartable(random)
        if why := difference(case, WAYS[seed % len(WAYS)], random, tmp_path / str(seed)):
            found[seed] = f"{case.text}\n{why}"
    assert not found, "\n".join(f"{seed}: {why}" for seed, why in found.items())


@pytest.mark.parametrize("kind", KINDS)
def test_a_join_of_new_pairs_that_ends_after_each_epoch_goes_on_with_the_same_pairs(
    kind: str, tmp_path: Path, killing: None
) -> None:
    epochs = "epochs({}, 10, keep => 3, pairing => 'window')"
    columns = "x.id" if kind.startswith(("SEMI", "ANTI")) else "x.id, y.id AS other"
    text = (
        f"SELECT {columns} FROM {epochs.format('one')} x {kind} {epochs.format('two')} y USING (k)"
    )
    random = Random(f"pairs of {kind}")
    events = [
        Event("append", stream, (Row(10 * chunk, random.choice("abcde"), 0, 2 * chunk + side),))
        for chunk in range(14)
        for side, stream in enumerate(("one", "two"))
    ]
    runs: list[list[object]] = []
    for is_killed in (False, True):
        found: list[object] = []
        run = Run(text, "increments", tmp_path / str(is_killed))
        for place, event in enumerate(events):
            if is_killed:
                run.kill()
                run = Run(text, "increments", tmp_path / str(is_killed))
                run.feed(events[:place])
            run.let_happen(event)
            for each in run.query.results():
                rows = sorted(repr([*row.values()]) for row in each.table.to_pylist())
                if (each.number, each.epoch, rows) not in found:
                    found.append((each.number, each.epoch, rows))
        run.engine.close()
        runs.append(found)
    assert runs[0] == runs[1]
    assert sum(bool(each[2]) for each in runs[0]) > 5  # type: ignore[index]  # its rows
