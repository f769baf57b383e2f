"""What whatever buffers the tuples of a key must do; each kind's test is a subclass of this suite.

Tuples are drawn as digits, their times: `dequeue buffer / enqueue buffer`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import pytest

from upstream.windows.buffered_tuples import BufferedTuples, Row

VALUE_BYTES = 10


def row(time: int) -> Row:
    """Return the tuple of this time; every other value is longer."""
    return "IBM", b"%d" % time * (VALUE_BYTES if time % 2 else 1), float(time)


def some(*times: int) -> list[Row]:
    return [row(time) for time in times]


def append(tuples: BufferedTuples, *times: int) -> None:
    for time in times:
        tuples.append(row(time))


def take_all(tuples: BufferedTuples) -> list[Row]:
    return [tuples.take() for _ in range(tuples.committed_count())]


def counts(tuples: BufferedTuples) -> tuple[int, int]:
    """Return how many are in the dequeue buffer, and how many in the enqueue buffer."""
    return tuples.committed_count(), tuples.enqueued_count()


class TuplesContract(ABC):
    @pytest.fixture
    @abstractmethod
    def tuples(self) -> BufferedTuples:
        """Return what holds the tuples of the key "IBM", with values that are bytes."""

    def test_there_is_nothing_at_first(self, tuples: BufferedTuples) -> None:
        assert counts(tuples) == (0, 0)
        assert tuples.enqueued() == []
        with pytest.raises(IndexError):
            tuples.take()

    def test_tuples_accumulate_in_the_enqueue_buffer(self, tuples: BufferedTuples) -> None:
        append(tuples, 1, 2, 3)
        # nothing / 123
        assert tuples.enqueued() == some(1, 2, 3)
        assert counts(tuples) == (0, 3)
        with pytest.raises(IndexError):
            tuples.take()

    def test_looking_at_tuples_changes_nothing(self, tuples: BufferedTuples) -> None:
        append(tuples, 1, 2)
        tuples.enqueued().clear()
        assert tuples.enqueued() == some(1, 2)

    def test_a_committed_window_leaves_in_order(self, tuples: BufferedTuples) -> None:
        append(tuples, 3, 4, 5, 6)
        tuples.commit(3, dropping=3)
        # 345 / 6
        assert tuples.take() == row(3)
        assert counts(tuples) == (2, 1)
        assert take_all(tuples) == some(4, 5)
        with pytest.raises(IndexError):
            tuples.take()
        assert tuples.enqueued() == some(6)

    @pytest.mark.parametrize("dropping", range(7))
    def test_overlapping_windows_share_tuples(self, tuples: BufferedTuples, dropping: int) -> None:
        append(tuples, 1, 2, 3, 4, 5, 6)
        tuples.commit(4, dropping=dropping)
        kept = some(1, 2, 3, 4, 5, 6)[dropping:]
        assert tuples.enqueued() == kept
        assert counts(tuples) == (4, 6 - dropping)
        assert take_all(tuples) == some(1, 2, 3, 4)
        assert tuples.enqueued() == kept

    def test_a_tuple_can_leave_with_several_windows(self, tuples: BufferedTuples) -> None:
        append(tuples, 3, 4)
        tuples.commit(2, dropping=0)
        # 34 / 34
        assert take_all(tuples) == some(3, 4)
        tuples.commit(1, dropping=1)
        # 3 / 4
        assert take_all(tuples) == some(3)
        tuples.commit(1, dropping=1)
        assert take_all(tuples) == some(4)
        assert counts(tuples) == (0, 0)

    def test_windows_follow_each_other(self, tuples: BufferedTuples) -> None:
        for time in range(1, 30, 3):
            append(tuples, time, time + 1, time + 2, time + 3)
            tuples.commit(3, dropping=4)
            assert take_all(tuples) == some(time, time + 1, time + 2)
            assert counts(tuples) == (0, 0)

    def test_the_oldest_are_dropped(self, tuples: BufferedTuples) -> None:
        append(tuples, 1, 2, 3, 4)
        tuples.drop(0)
        assert tuples.enqueued() == some(1, 2, 3, 4)
        tuples.drop(3)
        assert (tuples.enqueued(), counts(tuples)) == (some(4), (0, 1))
        tuples.drop(1)
        assert tuples.enqueued() == []
        append(tuples, 5)
        assert tuples.enqueued() == some(5)

    def test_the_newest_are_truncated(self, tuples: BufferedTuples) -> None:
        append(tuples, 1, 2, 3, 4)
        tuples.truncate(0)
        assert tuples.enqueued() == some(1, 2, 3, 4)
        tuples.truncate(3)
        assert (tuples.enqueued(), counts(tuples)) == (some(1), (0, 1))
        append(tuples, 5)
        assert tuples.enqueued() == some(1, 5)
        tuples.truncate(2)
        assert tuples.enqueued() == []

    def test_dropping_and_truncating_leave_the_committed_window_whole(
        self, tuples: BufferedTuples
    ) -> None:
        append(tuples, 1, 2, 3, 4, 5)
        tuples.commit(3, dropping=1)
        # 123 / 2345
        tuples.truncate(1)
        tuples.drop(1)
        # 123 / 34
        assert tuples.enqueued() == some(3, 4)
        tuples.drop(2)
        assert take_all(tuples) == some(1, 2, 3)

    def test_a_committed_window_grows(self, tuples: BufferedTuples) -> None:
        append(tuples, 1, 2)
        tuples.commit(1, dropping=2)
        tuples.append_committed(row(3))
        # 13 / nothing
        assert counts(tuples) == (2, 0)
        assert take_all(tuples) == some(1, 3)
        tuples.append_committed(row(4))
        assert take_all(tuples) == some(4)

    def test_a_committed_window_and_the_next_grow_together(self, tuples: BufferedTuples) -> None:
        append(tuples, 1)
        tuples.commit(1, dropping=1)
        for time in (2, 3):
            tuples.append_to_both(row(time))
        # 123 / 23
        assert counts(tuples) == (3, 2)
        assert take_all(tuples) == some(1, 2, 3)
        tuples.append_to_both(row(4))
        append(tuples, 5)
        # 4 / 2345
        assert take_all(tuples) == some(4)
        assert tuples.enqueued() == some(2, 3, 4, 5)
        tuples.commit(4, dropping=4)
        assert take_all(tuples) == some(2, 3, 4, 5)

    def test_a_window_is_not_committed_to_before_the_last_one_has_left(
        self, tuples: BufferedTuples
    ) -> None:
        append(tuples, 1, 2)
        tuples.commit(1, dropping=1)
        with pytest.raises(AssertionError):
            tuples.commit(1, dropping=1)
        assert take_all(tuples) == some(1)
        tuples.commit(1, dropping=1)
        assert take_all(tuples) == some(2)

    def test_drop_committed_empties_the_dequeue_buffer_only(self, tuples: BufferedTuples) -> None:
        append(tuples, 1, 2, 3)
        tuples.commit(2, dropping=1)
        tuples.drop_committed()
        # nothing / 23
        assert counts(tuples) == (0, 2)
        assert tuples.enqueued() == some(2, 3)
        tuples.drop_committed()
        assert tuples.enqueued() == some(2, 3)

    def test_clearing_empties_both_and_all_can_begin_again(self, tuples: BufferedTuples) -> None:
        append(tuples, 1, 2, 3)
        tuples.commit(2, dropping=1)
        tuples.clear()
        assert (counts(tuples), tuples.enqueued()) == ((0, 0), [])
        append(tuples, 4)
        tuples.commit(1, dropping=1)
        assert take_all(tuples) == some(4)

    def test_the_ways_in_and_out_can_be_kept_and_called_later(self, tuples: BufferedTuples) -> None:
        append_kept, take_kept, count_kept = tuples.append, tuples.take, tuples.enqueued_count
        for _ in range(2):
            append_kept(row(1))
            assert count_kept() == 1
            tuples.commit(1, dropping=1)
            assert take_kept() == row(1)
            tuples.clear()
