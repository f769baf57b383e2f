"""Several streams read in the order of arrival: late rows, and how far time has passed."""

from __future__ import annotations

from math import inf, nextafter

import pyarrow as pa
import pytest

from upstream.queries.chunks.ordered_reading import OrderedInput, OrderedReading
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables.log import Log

SCHEMA = pa.schema([("time", pa.int64()), ("n", pa.int64())])
DEFINITION = StreamDefinition("s", SCHEMA, (), "time")


class Streams:
    """Logs with an input each."""

    def __init__(
        self, count: int = 2, *, lateness: int = 0, close_after: float | None = None
    ) -> None:
        self.logs = [Log() for _ in range(count)]
        self.inputs = [
            OrderedInput(
                DEFINITION, log.reader(), lateness=lateness, close_after=close_after, since=1.0
            )
            for log in self.logs
        ]
        self.reading = OrderedReading(self.inputs)

    def add(self, number: int, arrival: float, *times: int) -> None:
        rows = pa.table({"time": times, "n": range(len(times))}, schema=SCHEMA)
        self.logs[number].add(rows, arrival)

    def take(self) -> list[list[int]]:
        """Read everything, and return the times of the rows in time, by input."""
        while self.reading.read(1) is not None:
            pass
        found = [
            [time for piece in each.waiting for time in piece.times.tolist()]
            for each in self.inputs
        ]
        for each in self.inputs:
            each.waiting.clear()
        return found


def test_rows_behind_the_newest_of_their_own_stream_are_late() -> None:
    streams = Streams()
    streams.add(0, 1.0, 5, 4, 5, 7, 6)
    streams.add(1, 1.0, 3)
    assert streams.take() == [[5, 5, 7], [3]]
    streams.add(0, 2.0, 6, 7)
    assert streams.take() == [[7], []]
    assert [each.late for each in streams.inputs] == [3, 0]
    assert [each.complete for each in streams.inputs] == [7, 3]


def test_rows_within_the_allowed_lateness_are_in_time_and_move_nothing_back() -> None:
    streams = Streams(lateness=2)
    streams.add(0, 1.0, 5, 3, 2, 4)
    assert streams.take()[0] == [5, 3, 4]
    assert (streams.inputs[0].reached, streams.inputs[0].complete) == (5, 3)


def test_batches_are_read_in_the_order_of_arrival_and_then_of_inputs() -> None:
    streams = Streams()
    for number, arrival in ((1, 1.0), (0, 2.0), (1, 2.0), (0, 2.0), (0, 3.0)):
        streams.add(number, arrival, 1)
    order = []
    while (moment := streams.reading.read(1)) is not None:
        order.append((moment, [len(each.waiting) for each in streams.inputs]))
    assert order == [(1.0, [0, 1]), (2.0, [1, 1]), (2.0, [2, 1]), (2.0, [2, 2]), (3.0, [3, 2])]


def test_about_as_many_rows_are_read_as_are_wanted() -> None:
    streams = Streams(1)
    for arrival in range(5):
        streams.add(0, arrival, 1, 1, 1)
    for _ in range(2):
        assert streams.reading.read(7) is not None
        assert sum(piece.rows.num_rows for piece in streams.inputs[0].waiting) == 6
        streams.inputs[0].waiting.clear()
    assert streams.reading.read(1) == 4.0
    assert streams.reading.read(1) is None


def test_what_waits_is_used_in_portions() -> None:
    streams = Streams(1)
    for arrival in (1.0, 2.0, 3.0):
        streams.add(0, arrival, 1, 2, 3)
        while streams.reading.read(1) is not None:
            pass
    [each] = streams.inputs
    portions = []
    while each.waiting:
        piece, each.waiting = each.portion(4)
        assert piece.rows["time"].to_pylist() == piece.times.tolist()
        portions.append((piece.arrival, piece.times.tolist()))
    assert portions == [(1.0, [1, 2, 3, 3]), (3.0, [3])]


def test_without_close_after_no_time_passes_in_silence() -> None:
    streams = Streams()
    streams.add(0, 1.0, 5)
    streams.take()
    streams.reading.advance(1e9)
    assert [each.reached for each in streams.inputs] == [5, None]
    assert streams.inputs[1].complete is None
    assert streams.reading.completes_at(1, 3) is None
    assert not streams.reading.passes_by_clock


def test_a_silent_stream_goes_on_by_the_clock() -> None:
    streams = Streams(1, close_after=3)
    streams.add(0, 2.0, 10)
    streams.take()
    streams.reading.advance(4.9)
    assert streams.inputs[0].reached == 10
    assert streams.reading.completes_at(0, 12) == 5.0
    assert streams.reading.completes_at(0, 20) == 12.0
    streams.reading.advance(5.0)
    assert streams.inputs[0].reached == 13
    streams.add(0, 6.0, 13, 14)
    assert streams.take() == [[14]]


def test_a_silent_stream_follows_the_others_as_they_were_before_the_moment() -> None:
    streams = Streams(close_after=3)
    streams.add(0, 2.0, 10)
    streams.add(1, 4.0, 100)
    streams.add(1, 5.0, 200)
    streams.take()
    assert streams.reading.completes_at(0, 150) == nextafter(5.0, inf)
    streams.reading.advance(5.0)
    assert streams.inputs[0].reached == 100
    streams.reading.advance(nextafter(5.0, inf))
    assert streams.inputs[0].reached == 200
    streams.add(0, 6.0, 150, 201)
    assert streams.take()[0] == [201]


def test_a_stream_without_a_row_follows_the_others_once_it_was_silent() -> None:
    streams = Streams(close_after=3)
    streams.add(1, 2.0, 100)
    streams.take()
    streams.reading.advance(3.9)
    assert streams.inputs[0].reached is None
    assert streams.reading.completes_at(0, 100) == 4.0
    streams.reading.advance(4.0)
    assert streams.inputs[0].reached == 100
    streams.add(0, 4.5, 99, 100, 101)
    assert streams.take()[0] == [100, 101]


def test_streams_that_are_all_without_a_row_go_nowhere() -> None:
    streams = Streams(close_after=3)
    streams.reading.advance(100.0)
    assert [each.reached for each in streams.inputs] == [None, None]
    assert streams.reading.completes_at(0, 1) is None


def test_late_rows_do_not_end_a_silence() -> None:
    streams = Streams(close_after=3)
    streams.add(0, 2.0, 10)
    streams.take()
    streams.add(0, 6.0, 1, 2)
    assert streams.take()[0] == []
    streams.reading.advance(7.0)
    assert streams.inputs[0].reached == 15
    assert streams.inputs[0].late == 2


@pytest.mark.parametrize("reads_early", [False, True])
def test_rows_of_one_moment_are_judged_alike_whenever_they_are_read(reads_early: bool) -> None:
    streams = Streams(close_after=0)
    streams.add(0, 2.0, 10)
    streams.add(1, 2.0, 10)
    found = []
    for number, time in ((1, 300), (0, 200), (1, 250)):
        streams.add(number, 3.0, time)
        if reads_early:
            found += streams.take()
            streams.reading.advance(3.0)
    found += streams.take()
    assert sorted(time for times in found for time in times) == [10, 10, 200, 300]
    assert [each.late for each in streams.inputs] == [0, 1]
