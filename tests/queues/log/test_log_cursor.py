"""A cursor hands each update of a stream's log to its queue once, when the queue is looked at."""

from __future__ import annotations

import pytest

from upstream import ManualClock, Stream
from upstream.queues.log.log_cursor import LogCursor
from upstream.queues.log.shared_log import LogEntry


class Taken:
    """A queue that keeps what it takes."""

    def __init__(self, failures: int = 0) -> None:
        self.entries: list[LogEntry] = []
        self.moments: list[float] = []
        self.failures = failures

    def take(self, entry: LogEntry, now: float) -> None:
        self.entries.append(entry)
        self.moments.append(now)

    def ask(self, entry: LogEntry, _now: float) -> None:
        """Fail, as often as it was told to, about the value 2."""
        if entry.value == 2 and self.failures:
            self.failures -= 1
            raise ArithmeticError

    def values(self) -> list[object]:
        return [entry.value for entry in self.entries]


def test_a_cursor_reads_the_enqueued_updates_when_it_settles() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    taken = Taken()
    cursor = LogCursor(taken.take, read_ahead=None)
    cursor.settle()
    cursor.open(stream._feed)
    stream.enqueue("A", 1)
    clock.advance(2.0)
    stream.enqueue("A", 2, time=-1.0)
    assert taken.entries == []
    cursor.settle()
    cursor.settle()
    assert [(entry.value, entry.arrival, entry.version) for entry in taken.entries] == [
        (1, 0.0, 1),
        (2, 2.0, 0),
    ]


def test_a_cursor_that_is_closed_takes_nothing_over(stream: Stream) -> None:
    taken = Taken()
    cursor = LogCursor(taken.take, read_ahead=None)
    cursor.open(stream._feed)
    stream.enqueue("A", 1)
    cursor.close(stream._feed)
    stream.enqueue("A", 2)
    cursor.settle()
    assert taken.entries == []


def test_a_cursor_with_a_bound_settles_by_itself(stream: Stream) -> None:
    taken = Taken()
    LogCursor(taken.take, read_ahead=2).open(stream._feed)
    stream.enqueue("A", 1)
    assert len(taken.entries) == 0
    stream.enqueue("A", 2)
    assert len(taken.entries) == 2


@pytest.mark.parametrize(("forget_after", "read"), [(None, 0), (3.0, 1)])
def test_a_cursor_reads_at_once_if_its_stream_forgets_keys_by_age(
    forget_after: float | None, read: int
) -> None:
    stream = Stream(clock=ManualClock(), forget_after=forget_after)
    taken = Taken()
    LogCursor(taken.take, read_ahead=None).open(stream._feed, at_once=True)
    stream.enqueue("A", 1)
    assert len(taken.entries) == read


def test_an_entry_about_which_something_fails_is_read_later_and_so_are_those_behind_it() -> None:
    stream = Stream(clock=ManualClock())
    taken = Taken(failures=2)
    cursor = LogCursor(taken.take, read_ahead=None, ask=taken.ask)
    cursor.open(stream._feed)
    stream.enqueue_many(["A", "A", "A"], [1, 2, 3])
    with pytest.raises(ArithmeticError):
        cursor.settle()
    assert taken.values() == [1]
    assert not cursor.try_settle()
    assert taken.values() == [1]
    assert cursor.try_settle()
    assert taken.values() == [1, 2, 3]


def test_other_cursors_read_an_update_on_which_one_cursor_fails(stream: Stream) -> None:
    failing, taken = Taken(failures=1), Taken()
    LogCursor(failing.take, read_ahead=1, ask=failing.ask).open(stream._feed)
    LogCursor(taken.take, read_ahead=1).open(stream._feed)
    with pytest.raises(ArithmeticError):
        stream.enqueue_many(["A", "A", "A"], [1, 2, 3])
    assert taken.values() == [1, 2, 3]
    assert stream.statistics().arrived == 3
    stream._check()


def test_a_cursor_reads_its_first_entries_as_of_its_opening(stream: Stream) -> None:
    stream.enqueue("A", 1)
    taken = Taken()
    cursor = LogCursor(taken.take, read_ahead=None)
    cursor.open(
        stream._feed,
        first=[stream._feed.entry_of(cell) for cell in stream._feed.newest_cells()],
        now=5.0,
    )
    stream.enqueue("A", 2)
    cursor.settle()
    assert taken.values() == [1, 2]
    assert taken.moments == [5.0, 0.0]
