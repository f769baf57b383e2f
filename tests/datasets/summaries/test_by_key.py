"""The table by key: counters, and what cannot be told."""

from __future__ import annotations

from pathlib import Path

from datasets.summaries.by_key import odd_event
from datasets.summaries.runs import Assumed, find_runs

from .conftest import Summarized
from .logged_runs import write_log


def test_counters_of_a_key_are_those_of_its_events(summarized: Summarized) -> None:
    row = summarized.key("by hand/returned", "k").asDict()
    counters = {
        name: row[name]
        for name in ("accepted", "late", "dequeued", "delivered", "returned", "superseded", "shed")
    }
    assert counters == {
        "accepted": 3,
        "late": 1,
        "dequeued": 4,
        "delivered": 2,
        "returned": 2,
        "superseded": 1,
        "shed": 0,
    }
    assert (row["first_arrival"], row["latency_mean"]) == (0.0, (6.0 + 3.0) / 2)


def test_counters_are_those_of_the_queues(summarized: Summarized) -> None:
    counted = 0
    for each in summarized.summary.runs:
        integrated = each.extent.integrated
        if integrated is None or not integrated.counters:
            continue
        assert each.superseded == integrated.counters["superseded"], each.run.folder
        for name in ("late", "rejected", "dequeued", "delivered", "returned", "shed"):
            if each.run.described.policy == "append" and name == "late":
                continue  # an append queue takes them in, as old ones
            assert each.figures.counters[name] == integrated.counters[name], each.run.folder
        counted += 1
    assert counted > 20


def test_staleness_that_cannot_be_recomputed_is_null(summarized: Summarized) -> None:
    row = summarized.key("by hand/expired", "k")
    assert row["queue_staleness"] is None
    assert row["application_staleness"] > 0


def test_a_key_whose_updates_were_all_rejected_has_no_staleness(summarized: Summarized) -> None:
    row = summarized.key("by hand/old", "other")
    assert (row["accepted"], row["rejected"]) == (0, 1)
    assert row["queue_staleness"] is row["application_staleness"] is None
    assert summarized.run("by hand/old").figures.keys == 1


def test_an_impossible_event_is_named_with_its_file_and_line(tmp_path: Path) -> None:
    rows = [(0.0, "arrival", "k", 5), (1.0, "delivery", "k", 6), (2.0, "arrival", "k", 4)]
    folder = write_log(tmp_path / "log", rows, file_format="csv", per_file=2)
    [run] = find_runs([folder], Assumed())
    unheard, again = str(odd_event(run, 1)), str(odd_event(run, 2))
    assert "events-000000.csv, line 3: delivery of update 6 of key 'k', which never" in unheard
    assert "events-000002.csv, line 2: arrival of update 4" in again
    assert "not above" in again
