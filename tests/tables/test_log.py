"""A batch is stored once for all readers, and dropped when the last of them has passed it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from upstream import PositionNotKeptError
from upstream.tables.log import Deletion, Log, LogReader, Moment, Punctuation


def rows(*numbers: int) -> pa.Table:
    return pa.table({"x": pa.array(numbers, pa.int64())})


def waiting(reader: LogReader) -> list[int]:
    """Return what a reader would take, row by row."""
    return [x for batch in reader.peek() for x in batch.rows["x"].to_pylist()]


def test_batches_are_numbered_also_those_that_are_not_stored() -> None:
    log = Log()
    log.add(rows(1, 2), 1.0)
    reader = log.reader()
    log.add(rows(), 2.0)
    log.add(rows(3), 3.0)
    log.add(rows(4, 5), 4.0)
    assert [(batch.number, batch.first) for batch in reader.peek()] == [(1, 2), (2, 3)]
    reader.take(2)
    assert [(batch.number, batch.first) for batch in reader.peek()] == [(2, 4)]
    assert reader.waiting_batches == 1


def test_a_reader_begins_at_a_position_that_was_saved() -> None:
    log = Log()
    reader = log.reader()
    log.add(rows(1, 2), 1.0)
    log.add(rows(3), 2.0)
    reader.take(1)
    again = log.reader(reader.position)
    assert waiting(again) == waiting(reader) == [2, 3]
    assert waiting(log.reader(3)) == []


def test_a_reader_leaves_out_rows_before_a_position_that_have_not_arrived_yet() -> None:
    log = Log()
    reader, other = log.reader(), log.reader()
    reader.skip_to(3)
    assert (reader.waiting, reader.waiting_rows, reader.waiting_batches) == (0, 0, 0)
    log.add(rows(1, 2), 1.0)
    assert (reader.waiting, reader.waiting_rows, reader.waiting_batches) == (0, 0, 0)
    assert (waiting(reader), reader.first_waiting(), waiting(other)) == ([], None, [1, 2])
    log.add(rows(3, 4, 5), 2.0)
    assert (waiting(reader), reader.waiting, reader.first_waiting()) == ([4, 5], 2, 2.0)
    other.close()
    reader.take(2)
    assert (reader.position - reader.origin, log.stored_rows) == (2, 0)


def test_a_reader_begins_at_a_deletion_that_was_saved() -> None:
    log = Log()
    reader = log.reader(follows_deletions=True)
    log.add(rows(1, 2), 1.0)
    for number in range(3):
        log.delete(rows(number), 2.0)
    again = log.reader(1, deletions=1)
    assert [type(each).__name__ for each in again.peek_all()] == ["Batch", "Deletion", "Deletion"]
    again.close()
    reader.take(2, 2)
    assert log.reader(2, deletions=2).waiting == 1
    for deletions in (1, 4):
        with pytest.raises(PositionNotKeptError):
            log.reader(2, deletions=deletions)


@pytest.mark.parametrize("position", [-1, 1, 5])
def test_a_position_that_is_not_kept_is_an_error_that_names_what_is(position: int) -> None:
    log = Log()
    reader = log.reader()
    log.add(rows(1, 2), 1.0)
    log.add(rows(3, 4), 2.0)
    reader.take(3)
    with pytest.raises(PositionNotKeptError, match="rows 2 to 4 are kept") as caught:
        log.reader(position)
    assert (caught.value.position, caught.value.first, caught.value.end) == (position, 2, 4)
    reader.close()
    with pytest.raises(PositionNotKeptError, match="rows 4 to 4 are kept"):
        log.reader(2)


def test_arrivals_never_go_back() -> None:
    """A thread that read the clock first may add its batch last."""
    log = Log()
    reader = log.reader()
    log.add(rows(1), 5.0)
    log.add(rows(2), 4.0)
    assert [batch.arrival for batch in reader.peek()] == [5.0, 5.0]


def test_a_reader_that_does_not_follow_deletions_knows_nothing_of_them() -> None:
    log = Log()
    reader = log.reader()
    log.delete(rows(1), 1.0)
    assert log.deletions == []
    follower = log.reader(follows_deletions=True)
    log.delete(rows(1), 2.0)
    assert (reader.waiting, reader.first_waiting(), reader.peek_all()) == (0, None, [])
    assert (follower.waiting, follower.first_waiting()) == (1, 2.0)
    log.add(rows(2), 1.5)
    assert reader.first_waiting() == 2.0
    follower.take(1, 1)
    assert [follower.waiting, len(log.deletions)] == [0, 0]


def test_a_punctuation_is_read_at_its_place_among_the_rows() -> None:
    log = Log()
    reader = log.reader(follows_punctuations=True)
    log.punctuate(1.0)
    log.add(rows(1, 2), 2.0)
    log.punctuate(3.0)
    log.punctuate(4.0)
    log.add(rows(3), 5.0)
    kinds = [type(each).__name__ for each in reader.peek_punctuated()]
    assert kinds == ["Punctuation", "Batch", "Punctuation", "Punctuation", "Batch"]
    assert (reader.waiting, reader.waiting_rows, reader.waiting_batches) == (6, 3, 5)
    assert (reader.first_waiting(), log.stored_rows, log.stored_pieces) == (1.0, 6, 5)
    reader.take(1, punctuations=1)
    [batch, punctuation, *_] = reader.peek_punctuated()
    assert isinstance(punctuation, Punctuation)
    assert (batch.number, punctuation.at, punctuation.number) == (0, 2, 1)
    reader.take(2, punctuations=2)
    assert (reader.waiting, reader.first_waiting(), log.stored_rows) == (0, None, 0)


def test_a_reader_that_does_not_follow_punctuations_knows_nothing_of_them() -> None:
    log = Log()
    reader, deletions = log.reader(), log.reader(follows_deletions=True)
    log.punctuate(1.0)
    assert (log.punctuations, log.stored_pieces) == ([], 0)
    follower = log.reader(follows_punctuations=True)
    log.delete(rows(1), 2.0)
    log.punctuate(3.0)
    assert [each.waiting for each in (reader, deletions, follower)] == [0, 1, 1]
    assert (reader.first_waiting(), deletions.first_waiting()) == (None, 2.0)
    assert (reader.peek_punctuated(), deletions.peek_punctuated()) == ([], [])
    assert [each.number for each in follower.peek_punctuated()] == [1]
    follower.close()
    assert log.punctuations == []


def test_another_reader_has_its_own_place_among_the_punctuations() -> None:
    log = Log()
    reader = log.reader(follows_punctuations=True)
    for _ in range(3):
        log.punctuate(1.0)
    reader.take(0, punctuations=1)
    other = reader.fork()
    reader.take(0, punctuations=2)
    assert [each.number for each in other.peek_punctuated()] == [1, 2]
    other.take(0, punctuations=1)
    assert (reader.waiting, other.waiting, len(log.punctuations)) == (0, 1, 1)


def test_a_reader_takes_no_more_punctuations_than_there_are() -> None:
    log = Log()
    reader = log.reader(follows_punctuations=True)
    log.punctuate(1.0)
    with pytest.raises(AssertionError):
        reader.take(0, punctuations=2)


def test_while_a_log_is_held_its_readers_see_no_new_punctuation() -> None:
    log = Log()
    reader = log.reader(follows_punctuations=True)
    log.punctuate(1.0)
    moment = Moment()
    log.hold(moment)
    log.punctuate(2.0)
    late = log.reader(follows_punctuations=True)
    log.punctuate(3.0)
    log.punctuate(4.0)
    assert (reader.waiting, reader.waiting_batches, reader.first_waiting()) == (1, 1, 1.0)
    assert [each.arrival for each in reader.peek_punctuated()] == [1.0]
    reader.close()
    assert (late.peek_punctuated(), late.first_waiting()) == ([], None)
    del moment
    assert (late.waiting, late.first_waiting()) == (2, 3.0)


def test_while_a_log_is_held_its_readers_see_nothing_new() -> None:
    log = Log()
    reader, follower = log.reader(), log.reader(follows_deletions=True)
    log.add(pa.table({"x": [1, 2]}), 1.0)
    log.delete(pa.table({"k": [1]}), 2.0)
    moment = Moment()
    log.hold(moment)
    log.add(pa.table({"x": [3]}), 3.0)
    log.delete(pa.table({"k": [2]}), 4.0)
    assert (reader.waiting, follower.waiting, follower.waiting_batches) == (2, 3, 2)
    assert [each.arrival for each in reader.peek()] == [1.0]
    assert [each.arrival for each in follower.peek_all()] == [1.0, 2.0]
    reader.take(2)
    follower.take(2, 1)
    assert reader.waiting == follower.waiting == 0
    assert reader.first_waiting() is follower.first_waiting() is None
    assert reader.peek() == follower.peek_all() == []
    del moment
    assert [each.arrival for each in reader.peek()] == [3.0]
    assert [each.arrival for each in follower.peek_all()] == [3.0, 4.0]
    assert (reader.first_waiting(), follower.waiting) == (3.0, 2)
    moment = Moment()
    log.hold(moment)
    log.add(pa.table({"x": [4]}), 5.0)
    assert reader.waiting == 1
    log.release()
    assert reader.waiting == 2


def test_threads_add_while_each_reader_takes_what_comes() -> None:
    log, count = Log(), 3_000
    readers = [log.reader() for _ in range(2)]
    read: list[list[int]] = [[], []]

    def adding() -> None:
        for number in range(count):
            log.add(rows(number, number), 0.0)

    def reading(reader: LogReader, taken: list[int]) -> None:
        while len(taken) < 4 * count:
            found = waiting(reader)
            reader.take(len(found))
            if found:
                taken += found
                log.reader(reader.position).close()

    with ThreadPoolExecutor(4) as pool:
        actions = [pool.submit(adding) for _ in range(2)]
        actions += [pool.submit(reading, readers[i], read[i]) for i in range(2)]
        for done in actions:
            done.result()
    assert read[0] == read[1]
    assert sorted(read[0]) == sorted([*range(count)] * 4)
    assert log.stored_rows == 0


def test_other_readers_do_not_look_at_what_a_slow_reader_has_still_to_read() -> None:
    log = Log()
    _slow, fast = log.reader(), log.reader()
    seen = CountingRows(rows(1))
    for _ in range(1_000):
        log.add(seen.table, 1.0)
        fast.take(1)
    log.add(rows(2), 2.0)
    assert log.stored_rows == 1_001
    seen.count = 0
    assert waiting(fast) == [2]
    assert seen.count <= 2 * 10  # bisection over 1,001 batches


class CountingRows:
    """Counts how often the number of its rows is read."""

    def __init__(self, table: pa.Table) -> None:
        self.count = 0
        self.table = self
        self._table = table

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        self.count += 1
        return int(self._table.num_rows)


class LogMachine(RuleBasedStateMachine):
    """A log, beside a list of all rows and the place of each reader in it."""

    def __init__(self) -> None:
        super().__init__()
        self.log = Log()
        self.all_rows: list[int] = []
        self.arrivals: list[float] = []
        self.places: dict[LogReader, int] = {}
        self.events: list[tuple[str, int]] = []
        self.followers: dict[LogReader, int] = {}
        """Readers that follow deletions."""
        self.punctuated: list[tuple[str, int]] = []
        """The rows and punctuations."""
        self.epochs: dict[LogReader, int] = {}
        """Readers that follow punctuations."""

    @rule(count=st.integers(0, 4))
    def add(self, count: int) -> None:
        numbers = range(len(self.all_rows), len(self.all_rows) + count)
        self.all_rows.extend(numbers)
        arrival = float(len(self.arrivals))
        self.arrivals.extend(arrival for _ in numbers)
        self.log.add(rows(*numbers), arrival)
        self.events.extend(("r", number) for number in numbers)
        self.punctuated.extend(("r", number) for number in numbers)

    @rule()
    def punctuate(self) -> None:
        self.punctuated.append(("p", self.log.punctuated))
        self.log.punctuate(float(len(self.arrivals)))

    @rule()
    def follow_epochs(self) -> None:
        self.epochs[self.log.reader(follows_punctuations=True)] = len(self.punctuated)

    @precondition(lambda self: self.epochs)
    @rule(data=st.data())
    def fork_epochs(self, data: st.DataObject) -> None:
        reader = data.draw(st.sampled_from(list(self.epochs)))
        self.epochs[reader.fork()] = self.epochs[reader]

    @precondition(lambda self: self.epochs)
    @rule(data=st.data())
    def follow_epochs_on(self, data: st.DataObject) -> None:
        reader = data.draw(st.sampled_from(list(self.epochs)))
        place = self.epochs[reader]
        count = data.draw(st.integers(0, len(self.punctuated) - place))
        taken = [kind for kind, _ in self.punctuated[place : place + count]]
        reader.take(taken.count("r"), punctuations=taken.count("p"))
        self.epochs[reader] = place + count

    @precondition(lambda self: self.epochs)
    @rule(data=st.data())
    def stop_following_epochs(self, data: st.DataObject) -> None:
        reader = data.draw(st.sampled_from(list(self.epochs)))
        reader.close()
        del self.epochs[reader]

    @rule()
    def delete(self) -> None:
        self.events.append(("d", self.log.deleted))
        self.log.delete(rows(1), float(len(self.arrivals)))

    @rule()
    def follow(self) -> None:
        self.followers[self.log.reader(follows_deletions=True)] = len(self.events)

    @precondition(lambda self: self.followers)
    @rule(data=st.data())
    def fork(self, data: st.DataObject) -> None:
        reader = data.draw(st.sampled_from(list(self.followers)))
        self.followers[reader.fork()] = self.followers[reader]

    @precondition(lambda self: self.followers)
    @rule(data=st.data())
    def follow_on(self, data: st.DataObject) -> None:
        reader = data.draw(st.sampled_from(list(self.followers)))
        place = self.followers[reader]
        count = data.draw(st.integers(0, len(self.events) - place))
        taken = [kind for kind, _ in self.events[place : place + count]]
        reader.take(taken.count("r"), taken.count("d"))
        self.followers[reader] = place + count

    @precondition(lambda self: self.followers)
    @rule(data=st.data())
    def stop_following(self, data: st.DataObject) -> None:
        reader = data.draw(st.sampled_from(list(self.followers)))
        reader.close()
        del self.followers[reader]

    @rule()
    def open(self) -> None:
        self.places[self.log.reader()] = len(self.all_rows)

    @precondition(lambda self: self.places)
    @rule(data=st.data())
    def take(self, data: st.DataObject) -> None:
        reader = self.chosen(data)
        count = data.draw(st.integers(0, reader.waiting))
        reader.take(count)
        self.places[reader] += count

    @precondition(lambda self: self.places)
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        reader = self.chosen(data)
        reader.close()
        del self.places[reader]

    def chosen(self, data: st.DataObject) -> LogReader:
        return data.draw(st.sampled_from(list(self.places)))

    @invariant()
    def every_follower_finds_the_deletions_between_the_rows(self) -> None:
        for reader, place in self.followers.items():
            found = [
                ("d", each.number)
                if isinstance(each, Deletion)
                else ("r", *each.rows["x"].to_pylist())
                for each in reader.peek_all()
            ]
            flat = [(kind, number) for kind, *numbers in found for number in numbers]
            assert flat == self.events[place:]
            assert reader.waiting == len(flat)
            assert reader.waiting_rows == sum(kind == "r" for kind, _ in flat)
        if not self.followers:
            assert self.log.deletions == []

    @invariant()
    def every_reader_finds_the_punctuations_between_the_rows(self) -> None:
        for reader, place in self.epochs.items():
            found = [
                ("p", each.number)
                if isinstance(each, Punctuation)
                else ("r", *each.rows["x"].to_pylist())
                for each in reader.peek_punctuated()
            ]
            flat = [(kind, number) for kind, *numbers in found for number in numbers]
            assert flat == self.punctuated[place:]
            assert reader.waiting == len(flat)
            assert (reader.first_waiting() is None) == (not flat)
        if not self.epochs:
            assert self.log.punctuations == []

    @invariant()
    def every_reader_finds_what_it_has_not_taken(self) -> None:
        for reader, place in self.places.items():
            assert waiting(reader) == self.all_rows[place:]
            assert reader.waiting == len(self.all_rows) - place
            first = self.arrivals[place] if place < len(self.arrivals) else None
            assert reader.first_waiting() == first
            for batch in reader.peek():
                assert batch.first == batch.rows["x"][0].as_py()
                assert batch.end == batch.first + batch.rows.num_rows
                assert batch.arrival == self.arrivals[batch.first]

    @invariant()
    def no_more_is_stored_than_the_batch_of_the_slowest_reader_and_what_came_after(self) -> None:
        of_followers = [reader.position for reader in (*self.followers, *self.epochs)]
        slowest = min([*self.places.values(), *of_followers], default=len(self.all_rows))
        of_its_batch = self.arrivals[slowest:]
        whole = sum(arrival >= of_its_batch[0] for arrival in self.arrivals) if of_its_batch else 0
        keys = sum(each.keys.num_rows for each in self.log.deletions)
        slowest_epoch = min(self.epochs.values(), default=len(self.punctuated))
        punctuations = sum(kind == "p" for kind, _ in self.punctuated[slowest_epoch:])
        assert len(self.log.punctuations) == punctuations
        assert self.log.stored_rows <= whole + keys + punctuations
        assert self.log.rows == len(self.all_rows)


TestLog = LogMachine.TestCase
