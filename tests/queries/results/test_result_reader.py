"""Each reader of results takes every result once, and counts what it missed."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.results.test_backlog import EMPTY, answer
from upstream import ManualClock, Result
from upstream.queries.choices import Choices
from upstream.queries.results.answer import Answer
from upstream.queries.results.backlog import Backlog, Made, QueryStatistics
from upstream.queries.results.emission import Emitter
from upstream.queries.results.result_reader import ResultReader

ROWS = pa.table({"a": [1]})
NO_COUNTS = QueryStatistics(
    **{
        **{name: getattr(EMPTY, name) for name in EMPTY.__slots__},
        **{f"results_{name}": 0 for name in ("due", "taken", "skipped", "dropped", "unchanged")},
        "results_waiting": 0,
    }
)


def filled(*numbers: int, keep: int = 10) -> tuple[Backlog, ResultReader]:
    """Return a backlog with results for these windows, and a reader that took none of them."""
    backlog = Backlog(keep)
    reader = ResultReader(backlog, "reader")
    for number in numbers:
        backlog.add(answer(number))
    return backlog, reader


def starts(*results: Result | None) -> list[tuple[object, int]]:
    """Return where the window of each result starts, and how many were missed before it."""
    return [(each.window_start, each.missed) for each in results if each is not None]


def counted(reader: ResultReader) -> tuple[int, int, int, int]:
    """Return how many results were taken, skipped and dropped, and wait."""
    counts = reader.counted(NO_COUNTS)
    numbers = counts.results_taken, counts.results_skipped, counts.results_dropped
    return (*numbers, counts.results_waiting)


def test_results_are_taken_oldest_first() -> None:
    _, reader = filled(0, 1, 2)
    assert starts(*reader.take_all(0.0)) == [(0, 0), (1, 0), (2, 0)]
    assert counted(reader) == (3, 0, 0, 0)
    assert reader.take(0.0) is None
    assert reader.take_newest(0.0) is None


def test_the_oldest_result_is_dropped_when_there_are_too_many_and_the_next_counts_it() -> None:
    _, reader = filled(*range(5), keep=2)
    assert counted(reader) == (0, 0, 3, 2)
    assert starts(*reader.take_all(0.0)) == [(3, 3), (4, 0)]
    assert counted(reader) == (2, 0, 3, 0)


def test_results_that_were_never_made_are_missed_by_the_next() -> None:
    backlog, reader = filled(keep=1)
    backlog.miss(2)
    backlog.add(answer(2))
    backlog.miss(1)
    backlog.add(answer(4))
    assert starts(*reader.take_all(0.0)) == [(4, 4)]
    backlog.add(answer(5))
    assert starts(*reader.take_all(0.0)) == [(5, 0)]


def test_the_newest_is_taken_and_says_what_was_skipped() -> None:
    _, reader = filled(*range(4))
    assert starts(reader.take_newest(0.0)) == [(3, 3)]
    assert reader.take_newest(0.0) is None
    assert counted(reader) == (1, 3, 0, 0)


def test_the_newest_is_that_of_the_newest_window_whenever_it_was_added() -> None:
    backlog, reader = filled(1, 3, 2)  # 2 is answered again
    assert starts(reader.take_newest(0.0)) == [(3, 1)]
    assert reader.take(0.0) is None
    backlog.add(answer(4))
    assert starts(*reader.take_all(0.0)) == [(4, 1)]
    assert counted(reader) == (2, 2, 0, 0)


def test_results_have_the_numbers_in_which_they_were_made_whatever_is_taken() -> None:
    backlog, reader = filled(*range(5), keep=3)
    assert (reader.committed, reader.consumed, reader.next_waiting) == (4, None, 2)
    first = reader.take(0.0)
    assert first is not None
    assert (first.number, first.missed, reader.consumed) == (2, 2, 2)
    assert [each.number for each in reader.take_all(0.0)] == [3, 4]
    assert (reader.consumed, reader.next_waiting) == (4, None)
    backlog.miss(7)  # what is never made has no number
    backlog.add(answer(12))
    [last] = reader.take_all(0.0)
    assert (last.number, last.missed) == (5, 7)
    assert (reader.committed, reader.consumed) == (5, 5)


def test_the_newest_window_is_consumed_and_not_what_was_skipped_after_it() -> None:
    _, reader = filled(1, 3, 2)  # 2 is answered again
    newest = reader.take_newest(0.0)
    assert newest is not None
    assert (newest.window_start, newest.number) == (3, 1)
    assert (reader.consumed, reader.committed) == (1, 2)


def test_numbers_go_on_after_those_of_an_earlier_run() -> None:
    backlog = Backlog(keep=2, first=7)
    reader = ResultReader(backlog, "reader")
    assert (reader.committed, reader.consumed, reader.waiting) == (6, 6, 0)
    for number in range(3):
        backlog.add(answer(number))
    assert [each.number for each in reader.take_all(0.0)] == [8, 9]
    assert counted(reader) == (2, 0, 1, 0)


def test_a_reader_that_leaves_keeps_the_numbers() -> None:
    _, reader = filled(0, 1)
    reader.take(0.0)
    reader.leave()
    assert (reader.committed, reader.consumed) == (1, 0)
    last = reader.take(0.0)
    assert last is not None
    assert last.number == 1


def test_staleness_is_measured_when_a_result_is_taken() -> None:
    backlog, reader = filled()
    backlog.add(answer(0, due=5.0))
    backlog.add(answer(1, due=8.0))
    first, second = reader.take(9.0), reader.take(12.0)
    assert first is not None
    assert second is not None
    assert (first.staleness, second.staleness) == (4.0, 4.0)
    assert reader.counted(NO_COUNTS).staleness_seconds_mean == 4.0


def test_the_next_result_to_be_taken_can_be_looked_at() -> None:
    backlog, reader = filled()
    assert reader.oldest() is None
    other = ResultReader(backlog, "other")
    for number in (7, 8):
        backlog.add(answer(number))
    other.take(0.0)
    oldest = [each.oldest() for each in (reader, other)]
    assert [each and each.start for each in oldest] == [7, 8]
    assert (reader.waiting, other.waiting) == (2, 1)


def test_each_reader_loses_only_what_it_did_not_take_in_time() -> None:
    backlog = Backlog(keep=2)
    fast, slow = ResultReader(backlog, "fast"), ResultReader(backlog, "slow")
    found = []
    for number in range(5):
        backlog.add(answer(number))
        found += fast.take_all(0.0)
    assert starts(*found) == [(number, 0) for number in range(5)]
    assert starts(*slow.take_all(0.0)) == [(3, 3), (4, 0)]
    assert (counted(fast), counted(slow)) == ((5, 0, 0, 0), (2, 0, 3, 0))


def test_a_later_reader_takes_later_results() -> None:
    backlog, first = filled(0)
    backlog.miss(3)
    second = ResultReader(backlog, "second")
    backlog.add(answer(4))
    assert starts(*second.take_all(0.0)) == [(4, 0)]
    assert starts(*first.take_all(0.0)) == [(0, 0), (4, 3)]


def test_a_reader_that_leaves_keeps_what_waits_for_it_and_no_more() -> None:
    backlog, stays = filled()
    leaves = ResultReader(backlog, "leaves", callback=print)
    for number in range(3):
        backlog.add(answer(number))
    leaves.take(0.0)
    leaves.leave()
    backlog.add(answer(3))
    leaves.hand_out(ManualClock())  # without a callback
    assert starts(*leaves.take_all(0.0)) == [(1, 0), (2, 0)]
    assert counted(leaves) == (3, 0, 0, 0)
    assert stays.waiting == 4


def test_what_is_called_at_delivery_is_called_by_the_reader_that_takes_the_answer() -> None:
    delivered: list[int] = []
    backlog, reader = filled()
    backlog.add(Answer(0, 1, 0.0, 0, ROWS, delivered=lambda: delivered.append(reader.position)))
    assert delivered == []
    reader.take(0.0)
    assert delivered == [1]


def test_results_are_handed_out_whatever_the_callback_raises() -> None:
    seen: list[object] = []

    def fail(result: Result) -> None:
        seen.append(result.window_start)
        raise LookupError(len(seen))

    backlog, _ = filled()
    reader = ResultReader(backlog, "reader", callback=fail)
    for number in range(2):
        backlog.add(answer(number))
    reader.hand_out(ManualClock())
    assert seen == [0, 1]
    assert (reader.callback_failures, reader.callback_error) == (2, "LookupError(2)")


def took(step: str, reader: ResultReader) -> list[Result]:
    """Take results in one of three ways."""
    if step == "all":
        return reader.take_all(0.0)
    result = reader.take(0.0) if step == "take" else reader.take_newest(0.0)
    return [] if result is None else [result]


@given(
    keep=st.integers(1, 4),
    steps=st.lists(
        st.tuples(st.sampled_from(["add", "miss", "take", "newest", "all"]), st.integers(0, 2)),
        max_size=40,
    ),
)
def test_readers_do_not_notice_one_another(keep: int, steps: list[tuple[str, int]]) -> None:
    shared = Backlog(keep)
    readers = [ResultReader(shared, str(number)) for number in range(3)]
    own = [Backlog(keep) for _ in readers]
    alone = [ResultReader(each, str(number)) for number, each in enumerate(own)]
    made = 0
    for step, which in steps:
        if step in ("add", "miss"):
            made += step == "add"
            for backlog in (shared, *own):
                backlog.add(answer(made)) if step == "add" else backlog.miss(which)
            continue
        one, other = (took(step, each[which]) for each in (readers, alone))
        assert starts(*one) == starts(*other)
        assert [each.number for each in one] == [each.number for each in other]
    for reader, other_reader in zip(readers, alone, strict=True):
        assert reader.counted(NO_COUNTS) == other_reader.counted(NO_COUNTS)
        assert sum(counted(reader)) == made
        assert len(shared.stored) <= keep


@given(
    keep=st.integers(1, 4),
    first=st.integers(0, 3),
    steps=st.lists(
        st.sampled_from(["add", "add", "add", "take", "newest", "all"]), min_size=1, max_size=40
    ),
)
def test_a_gap_in_the_numbers_is_what_was_missed(keep: int, first: int, steps: list[str]) -> None:
    backlog = Backlog(keep, first)
    reader = ResultReader(backlog, "reader")
    made = first
    taken: list[int] = []
    for step in steps:
        if step == "add":
            backlog.add(answer(made))
            made += 1
        else:
            for result in took(step, reader):
                expected = taken[-1] + 1 if taken else first
                assert result.number == result.window_start == expected + result.missed
                taken.append(result.number)
        assert reader.committed == (made - 1 if made else None)
        assert reader.consumed == (taken[-1] if taken else first - 1 if first else None)


def test_results_of_an_earlier_process_wait_for_a_reader() -> None:
    emitter = Emitter(Choices(), first=7, given_epoch=None)
    waiting = [Made(5, 9, answer(0)), Made(6, 10, answer(1))]
    emitter.restore(waiting, 12)
    reader = ResultReader(emitter.backlog, "q")
    assert (reader.waiting, emitter.due) == (0, 2)
    reader.restore(waiting, expected=8, consumed=3)
    assert (reader.waiting, reader.next_waiting, reader.consumed, reader.committed) == (2, 5, 3, 6)
    assert [made.number for made in reader.untaken()] == [5, 6]
    emitter.prepared([answer(2)], 0, 0.0).give()
    assert [(each.number, each.missed) for each in reader.take_all(0.0)] == [(5, 1), (6, 0), (7, 1)]
    assert reader.consumed == 7
