"""A commit and its record are one step: a disk that fails anywhere leaves both as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.queries.setting import append, make_streams, rows_of
from tests.queries.sinks import FailingDisk
from upstream import ContinuousQuery, Engine, ManualClock, RecordError, StreamFullError
from upstream.queries import query_records
from upstream.tables import engine_stream

SUMS = "SELECT epoch, sum(x) AS x FROM epochs(bids, 10, keep => 2) GROUP BY epoch"


class Disks:
    """Engines on one directory, with a disk that may fail."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.disk = FailingDisk()

    def engine(self) -> tuple[Engine, ContinuousQuery]:
        engine = Engine(clock=ManualClock(), directory=self.directory)
        make_streams(engine)
        return engine, engine.continuous_query(SUMS, name="sums")


@pytest.fixture
def disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disks:
    found = Disks(tmp_path)
    monkeypatch.setattr(query_records, "Disk", lambda: found.disk)
    return found


def test_a_record_is_written_and_survives_before_it_counts(disks: Disks) -> None:
    engine, query = disks.engine()
    with engine:
        steps = ["write", "sync", "rename", "sync_names"]
        assert disks.disk.steps == steps
        append(engine, "bids", (1, 1), (11, 2), (21, 4))
        assert len(query.results()) == 2
        assert disks.disk.steps == [*steps, *steps], "two epochs are one commit"
        query.evaluate()
        append(engine, "bids", (22, 1))
        query.evaluate()
        assert disks.disk.steps == [*steps, *steps], "without an answer nothing is written"
    assert disks.disk.steps == [*steps, *steps, *steps], "what was taken is written at the end"


@pytest.mark.parametrize("step", ["write", "sync", "rename", "sync_names"])
def test_a_disk_that_fails_leaves_everything_as_it_was(disks: Disks, step: str) -> None:
    engine, query = disks.engine()
    with engine:
        append(engine, "bids", (1, 1), (11, 2), (21, 4))
        disks.disk.fails.add(step)
        for _ in range(2):
            with pytest.raises(RecordError, match=f"'sums' could not be.*no space for {step}"):
                query.results()
            assert (query.committed, query.statistics().results_due) == (None, 0)
        with pytest.raises(RecordError):
            engine.run(1.0)
        disks.disk.fails.clear()
        append(engine, "bids", (31, 1))
        found = [(each.number, each.epoch, rows_of(each)) for each in query.results()]
        assert found == [
            (0, 0, [(0, 1)]),
            (1, 1, [(0, 1), (1, 2)]),
            (2, 2, [(1, 2), (2, 4)]),
        ]


@pytest.mark.parametrize("step", ["write", "sync", "rename", "sync_names"])
def test_a_process_that_ends_after_a_failure_goes_on_from_one_commit(
    disks: Disks, step: str
) -> None:
    engine, query = disks.engine()
    append(engine, "bids", (1, 1), (11, 2))
    query.evaluate()
    append(engine, "bids", (21, 4))
    disks.disk.fails.add(step)
    with pytest.raises(RecordError):
        query.evaluate()
    with pytest.raises(RecordError):  # nothing else is left open
        query.results()
    engine.close()  # nothing was taken, so nothing is written
    disks.disk.fails.clear()
    engine, query = disks.engine()
    with engine:
        is_sealed = step == "sync_names"
        assert query.committed == (1 if is_sealed else 0)
        rows = [(1, 1), (11, 2), (21, 4), (31, 0)]
        append(engine, "bids", *rows[query.positions["bids"] :])
        found = [(each.number, each.epoch, rows_of(each)) for each in query.results()]
        assert found == [
            (0, 0, [(0, 1)]),
            (1, 1, [(0, 1), (1, 2)]),
            (2, 2, [(1, 2), (2, 4)]),
        ]


def test_everything_is_closed_although_the_last_record_cannot_be_written(disks: Disks) -> None:
    engine, query = disks.engine()
    append(engine, "bids", (1, 1), (11, 2))
    assert len(query.results()) == 1
    disks.disk.fails.add("write")
    with pytest.raises(RecordError):
        engine.close()
    engine.close()
    assert query.is_closed
    disks.disk.fails.clear()
    engine, query = disks.engine()
    with engine:
        [again] = query.results()
        assert (again.number, query.consumed) == (0, 0)


def test_rows_are_accepted_while_a_record_fails_until_too_many_wait(
    disks: Disks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_stream, "_BACKLOG_ROWS", 1)
    monkeypatch.setattr(engine_stream, "_MOST_ROWS", 3)
    engine, query = disks.engine()
    with engine:
        disks.disk.fails.add("write")
        append(engine, "bids", (1, 1), (11, 2))
        with pytest.raises(RecordError):
            query.evaluate()
        append(engine, "bids", (12, 1), (13, 1), (14, 1), (15, 1))
        with pytest.raises(StreamFullError):
            append(engine, "bids", (16, 1))
        disks.disk.fails.clear()
        append(engine, "bids", (21, 1))
        assert [rows_of(each) for each in query.results()] == [[(0, 1)], [(0, 1), (1, 6)]]
