"""Columns of events: what was noted reads back from CSV and from Arrow."""

from __future__ import annotations

import csv
import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.events import COLUMNS, Event, EventColumns, EventKind, event_of

from .test_key_texts import keys

events = st.builds(
    Event,
    time=st.floats(allow_nan=False),
    kind=st.sampled_from(EventKind),
    key=keys,
    number=st.integers(0, 2**63 - 1),
)


def noted(*given: Event) -> EventColumns:
    columns = EventColumns()
    for event in given:
        columns.note(*event)
    return columns


@given(st.lists(events, max_size=10))
def test_events_read_back_from_csv(given: list[Event]) -> None:
    rows = list(csv.DictReader(io.StringIO(noted(*given).to_csv(), newline="")))
    assert [event_of(row) for row in rows] == given
    assert [int(row["event"]) for row in rows] == list(range(len(given)))


@given(st.lists(events, max_size=10))
def test_events_read_back_from_arrow(given: list[Event]) -> None:
    table = noted(*given).to_arrow()
    assert {field.name: str(field.type) for field in table.schema} == COLUMNS
    assert [event_of(row) for row in table.to_pylist()] == given
    assert table["event"].to_pylist() == list(range(len(given)))


@pytest.mark.parametrize("time", [0.1 + 0.2, 5e-324, 1e22, -0.0, 1_700_000_000.123456])
def test_a_time_reads_back_exactly(time: float) -> None:
    [row] = csv.DictReader(io.StringIO(noted(Event(time, EventKind.LATE, "a", 0)).to_csv()))
    found = event_of(row).time
    assert (found, math.copysign(1, found)) == (time, math.copysign(1, time))


def test_the_next_file_goes_on_where_the_last_one_ended() -> None:
    first, second = (Event(float(number), EventKind.ARRIVAL, "a", number) for number in range(2))
    columns = noted(first)
    assert columns.file_name("csv") == "events-000000000000.csv"
    columns.set_written()
    assert (len(columns), columns.written) == (0, 1)
    columns.note(*second)
    assert columns.file_name("parquet") == "events-000000000001.parquet"
    assert columns.to_csv().splitlines()[1:] == ["1,1.0,arrival,a,1"]


def test_events_that_cannot_be_written_are_dropped_and_not_counted() -> None:
    columns = noted(Event(0.0, EventKind.SHED, "a", 0))
    columns.drop()
    assert (len(columns), columns.written) == (0, 0)
    assert columns.to_csv() == "event,time,kind,key,number\n"
