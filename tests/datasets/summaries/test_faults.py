"""The first row that is wrong, by its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasets.summaries.faults import first_fault
from datasets.summaries.runs import Assumed, find_runs

from .logged_runs import write_rows

GOOD = [(0, 1.0, "arrival", "k", 0), (1, 2.0, "dequeue", "k", 0)]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ((2, 3.0, "arival", "k", 0), "unknown kind 'arival'; kinds are arrival, old,"),
        ((2, 1.5, "delivery", "k", 0), "the time 1.5 is before that of the row before it, 2.0"),
        ((3, 3.0, "delivery", "k", 0), "found event 3 instead of 2: rows are missing"),
        ((1, 3.0, "delivery", "k", 0), "found event 1 instead of 2"),
        ((2, float("nan"), "delivery", "k", 0), "the time is not a finite number: "),
        ((2, None, "delivery", "k", 0), "the time is not a finite number: missing"),
        ((2, 3.0, "delivery", None, 0), "there is no key"),
        ((2, 3.0, "delivery", "k", None), "the number is not an integer: missing"),
        ((None, 3.0, "delivery", "k", 0), "the event is not an integer: missing"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_first_row_that_is_wrong_is_named(
    tmp_path: Path, suffix: str, row: tuple[object, ...], reason: str
) -> None:
    write_rows(tmp_path / f"events-0.{suffix}", GOOD)
    write_rows(tmp_path / f"events-1.{suffix}", [row, (9, 9.0, "?", "k", 0)])
    [run] = find_runs([tmp_path], Assumed())
    place = "events-1.csv, line 2: " if suffix == "csv" else "events-1.parquet: row 1: "
    assert place + reason in str(first_fault(run))


def test_a_row_of_text_that_is_cut_off_is_named(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("event,time,kind,key,number\n0,1.0,arrival,k,0\n1,2.0,deq")
    [run] = find_runs([tmp_path / "events.csv"], Assumed())
    assert "events.csv, line 3: the number is not an integer: missing" in str(first_fault(run))


def test_a_part_of_a_log_is_called_that(tmp_path: Path) -> None:
    write_rows(tmp_path / "events-5.parquet", [(5, 1.0, "arrival", "k", 0)])
    [run] = find_runs([tmp_path / "events-5.parquet"], Assumed())
    assert "row 1: found event 5 instead of 0: this is only part of a log" in str(first_fault(run))


def test_rows_that_are_all_right_by_themselves_are_said_to_be_out_of_order(tmp_path: Path) -> None:
    write_rows(tmp_path / "events-0.parquet", GOOD)
    [run] = find_runs([tmp_path], Assumed())
    assert "not numbered one after the other" in str(first_fault(run))
