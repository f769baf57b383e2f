"""The first look at logs: their extent, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from datasets.errors import BadFileError
from datasets.summaries.event_files import KINDS
from datasets.summaries.look import _by_run, _chunks, look_over
from datasets.summaries.runs import Assumed, find_runs

from . import hand_written as by_hand
from .conftest import Summarized
from .logged_runs import write_log, write_rows

GOOD = [(0.0, "arrival", "k", 0), (1.0, "dequeue", "k", 0)]


@pytest.mark.parametrize(
    ("events", "is_bad"),
    [
        pytest.param([(0, 1.0, 0), (1, 1.0, 4), (2, 2.0, 5), (3, 2.0, 5)], False, id="good"),
        pytest.param([(1, 1.0, 0), (2, 1.0, 4)], True, id="from-1"),
        pytest.param([(0, 1.0, 0), (2, 1.0, 4), (3, 2.0, 5)], True, id="gap-between-chunks"),
        pytest.param([(0, 1.0, 0), (1, 1.0, 0), (3, 2.0, 5)], True, id="gap-at-an-end"),
        pytest.param([(0, 1.0, 0), (1, 1.0, 0), (1, 1.0, 0)], True, id="twice"),
        pytest.param([(0, 1.0, 0), (1, 0.5, 4)], True, id="backwards"),
        pytest.param([(0, 1.0, 0), (1, 1.0, 4), (2, 0.5, 5)], True, id="backwards-between-chunks"),
        pytest.param([(0, 1.0, 0), (1, 1.0, -1)], True, id="bad-event"),
    ],
)
def test_events_that_do_not_follow_one_another_are_bad(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    events: list[tuple[int, float, int]],
    is_bad: bool,
) -> None:
    monkeypatch.setattr("datasets.summaries.look._CHUNK_BITS", 1)
    columns = "run int, event long, time double, code int"
    frame = spark.createDataFrame([(0, *event) for event in reversed(events)], columns)
    [row] = _by_run(_chunks(frame)).collect()
    assert row["is_bad"] is is_bad
    if not is_bad:
        assert (row["start"], row["end"]) == (events[0][1], events[-1][1])


def test_the_extent_of_a_run_is_that_of_its_events_or_of_its_description(
    summarized: Summarized,
) -> None:
    extent = summarized.run("by hand/returned").extent
    assert (extent.events, extent.start, extent.end) == (12, 0.0, 12.0)
    counted = {kind: count for kind, count in extent.counts.items() if count}
    assert counted == {"arrival": 3, "late": 1, "dequeue": 4, "delivery": 2, "return": 2}
    assert tuple(extent.counts) == KINDS
    later = summarized.run("by hand/later").extent
    assert (later.start, later.end) == (by_hand.SINCE_1970, by_hand.SINCE_1970 + 12.0)
    assert summarized.run("by hand/shed").extent.end == 8.0


def test_queue_staleness_cannot_be_recomputed_if_updates_expired(
    summarized: Summarized,
) -> None:
    assert summarized.run("by hand/returned").extent.why_not("queue") == ()
    assert summarized.run("by hand/expired").extent.why_not("queue") == ("3 updates expired",)


@pytest.mark.parametrize(
    ("rows", "described", "reason"),
    [
        ([*GOOD, (0.5, "delivery", "k", 0)], {}, "row 1: the time 0.5 is before"),
        ([*GOOD, (2.0, "arival", "k", 0)], {}, "row 1: unknown kind 'arival'"),
        ([(1.0, "late", "k", 0)], {}, "nothing arrived"),
        (GOOD, {"events": 3, "end": 2.0}, "it has 2 events, but its run.json says 3"),
        (GOOD, {"end": 0.5}, "the last event, at 1.0, is after its end"),
        (GOOD, {"start": 0.5}, "the first event, at 0.0, is before its `start`"),
    ],
)
def test_a_log_that_cannot_be_summarised_is_refused(
    spark: SparkSession,
    tmp_path: Path,
    rows: list[tuple[float, str, str, int]],
    described: dict[str, object],
    reason: str,
) -> None:
    folder = write_log(tmp_path / "log", rows, per_file=2, described=described)
    with pytest.raises(BadFileError) as error:
        look_over(spark, find_runs([folder], Assumed()))
    assert reason in str(error.value)


def test_a_log_without_events_or_with_some_twice_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    write_rows(tmp_path / "empty" / "events-0.parquet", [])
    twice = write_log(tmp_path / "twice", GOOD)
    (twice / "events-9.parquet").write_bytes((twice / "events-000000.parquet").read_bytes())
    for name, reason in (("empty", "there are no events"), ("twice", "found event 0 instead of 2")):
        with pytest.raises(BadFileError, match=reason):
            look_over(spark, find_runs([tmp_path / name], Assumed()))
