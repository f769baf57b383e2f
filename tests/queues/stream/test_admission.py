"""What is given for a key is asked for once, when it is new, and noted only if it comes in.

A scheduler notes the priority of each key that it admits. Keys that are refused, for whatever
reason, are as many as a producer pleases, so nothing may be left of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest

from upstream import (
    AlreadyAttachedError,
    Key,
    ManualClock,
    OnDemandMemory,
    PagePool,
    PagePoolFullError,
    StalenessIndexScheduler,
    Stream,
    UpdateQueue,
    UpStreamError,
    WeightError,
)
from upstream.columns import Column

every_column = pytest.mark.parametrize("column", [list, np.array, pa.array])
MakeColumn = Callable[[Sequence[object]], Column]


class Weights:
    """A function of keys that notes when it is asked; text has no weight that makes sense."""

    def __init__(self, *, refuses_text: bool = False) -> None:
        self.refuses_text = refuses_text
        self.asked: list[Key] = []

    def __call__(self, key: Key) -> float:
        self.asked.append(key)
        return -1.0 if self.refuses_text and isinstance(key, str) else 2.0


class Weighed:
    """An index queue, the weights that it asks for, and the keys of which something is noted."""

    def __init__(
        self,
        *,
        refuses_text: bool = False,
        capacity: int | None = None,
        memory: OnDemandMemory | None = None,
    ) -> None:
        self.weights = Weights(refuses_text=refuses_text)
        self.scheduler = StalenessIndexScheduler(weight=self.weights)
        self.queue = UpdateQueue(
            self.scheduler, clock=ManualClock(), capacity=capacity, memory=memory
        )

    @property
    def noted(self) -> set[Key]:
        """The keys that are remembered after all closed cells were removed."""
        table = self.queue.stream._feed.keys
        assert not self.queue.stream._intake._admission._asked
        table.sweep()
        return set(table.cells)


def small_memory() -> OnDemandMemory:
    """Return a memory with room for two values of eight bytes."""
    return OnDemandMemory(PagePool(16, page_bytes=8, location_bytes=8))


def two_on_one_stream() -> tuple[Stream, Weighed, Weighed]:
    """Return a stream with two queues, of which the second refuses keys that are text."""
    stream = Stream(clock=ManualClock())
    first, second = Weighed(), Weighed(refuses_text=True)
    stream.attach(first.queue)
    stream.attach(second.queue)
    return stream, first, second


# How often it is asked.


def test_each_queue_asks_once_for_a_key_however_often_it_updates() -> None:
    stream, first, second = two_on_one_stream()
    for _ in range(3):
        stream.enqueue(1, "one")
        stream.enqueue_many([1, 2, 2], ["one", "two", "two"])
        first.queue.dequeue_many(9)
    assert first.weights.asked == second.weights.asked == [1, 2]
    assert first.noted == second.noted == {1, 2}


@pytest.mark.parametrize("snapshot", [False, True])
def test_a_queue_that_is_attached_later_asks_once_for_each_known_key(snapshot: bool) -> None:
    stream = Stream(clock=ManualClock())
    stream.enqueue_many([1, 2, 3], ["a", "b", "c"])
    late = Weighed()
    stream.attach(late.queue, snapshot=snapshot)
    stream.enqueue(1, "d")
    assert late.weights.asked == [1, 2, 3]


def test_a_queue_that_is_attached_later_uses_the_weights_of_known_keys() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    stream.enqueue_many(["A", "B"], [1, 2])
    queue = UpdateQueue(StalenessIndexScheduler(weight={"A": 1.0, "B": 9.0}))
    stream.attach(queue, snapshot=True)
    clock.advance(1.0)
    assert [update.key for update in queue.dequeue_many(2)] == ["B", "A"]


def test_a_forgotten_key_is_asked_for_again_when_it_comes_again() -> None:
    weighed = Weighed()
    weighed.queue.enqueue(1, "one")
    weighed.queue.forget(1)
    assert weighed.noted == set()
    weighed.queue.enqueue(1, "one")
    assert weighed.weights.asked == [1, 1]


# What is left of keys that do not come in.


def test_nothing_is_left_of_keys_for_which_a_queue_is_full() -> None:
    weighed = Weighed(capacity=1)
    for key in range(50):
        weighed.queue.enqueue(key, key)
    weighed.queue.enqueue_many(list(range(50, 99)), list(range(50, 99)))
    assert weighed.queue.statistics().rejected == 98
    assert weighed.noted == {0}


def test_nothing_is_left_of_keys_for_which_the_pool_is_full() -> None:
    weighed = Weighed(memory=small_memory())
    weighed.queue.enqueue_many([0, 1], [b"0", b"1"])
    for key in range(2, 50):
        with pytest.raises(PagePoolFullError):
            weighed.queue.enqueue(key, b"x")
    weighed.queue.enqueue_many(list(range(50, 99)), [b"x"] * 49)
    assert weighed.queue.statistics().rejected == 97
    assert weighed.noted == {0, 1}


def test_a_full_queue_notes_the_keys_of_a_retaining_stream(stream: Stream) -> None:
    weighed = Weighed(capacity=1)
    stream.attach(weighed.queue)
    stream.enqueue_many([1, 2], ["one", "two"])
    assert weighed.noted == {1, 2}
    stream.forget(2)
    assert weighed.noted == {1}


@pytest.mark.parametrize(
    ("value", "time"), [(b"x" * 99, 0.0), (5, 0.0), (b"x", float("nan")), (b"x", "now")]
)
def test_nothing_is_left_of_a_key_whose_value_or_time_is_bad(value: object, time: float) -> None:
    weighed = Weighed(memory=small_memory())
    with pytest.raises(UpStreamError):
        weighed.queue.enqueue(1, value, time)
    with pytest.raises(UpStreamError):
        weighed.queue.enqueue_many([1, 2], [b"x", value], [0.0, time])
    assert weighed.noted == set()


@every_column
def test_nothing_is_left_of_a_batch_whose_values_are_no_column_that_can_be_read(
    column: MakeColumn,
) -> None:
    weighed = Weighed()
    values = pa.array([2**62, 2**62], type=pa.timestamp("us"))  # in the year 146,000
    with pytest.raises(UpStreamError):
        weighed.queue.enqueue_many(column([1, 2]), values)
    assert len(weighed.queue.stream) == 0
    assert weighed.noted == set()


@every_column
def test_nothing_is_kept_about_a_batch_with_a_refused_key(column: MakeColumn) -> None:
    weighed = Weighed(refuses_text=True)
    weighed.queue.enqueue(b"known", 0)
    keys = column(["A", "B"])
    with pytest.raises(WeightError):
        weighed.queue.enqueue_many(keys, [1, 2])
    assert weighed.noted == {b"known"}


def test_nothing_is_left_in_one_queue_of_a_key_that_the_next_refuses() -> None:
    stream, first, second = two_on_one_stream()
    for number in range(5):
        with pytest.raises(WeightError):
            stream.enqueue(f"key {number}", number)
    assert len(stream) == 0
    assert first.noted == second.noted == set()


@every_column
def test_nothing_is_left_in_one_queue_of_a_batch_that_the_next_refuses(column: MakeColumn) -> None:
    stream, first, second = two_on_one_stream()
    with pytest.raises(WeightError):
        stream.enqueue_many(column(["A", "B"]), [1, 2])
    with pytest.raises(WeightError):
        stream.enqueue_many([1, 2, "A"], [1, 2, 3])
    assert len(stream) == 0
    assert first.noted == second.noted == set()


# What is left of a stream.


def test_nothing_is_left_of_a_stream_that_a_queue_could_not_be_attached_to() -> None:
    other = Stream(clock=ManualClock())
    other.enqueue_many([1, 2, "A"], [1, 2, 3])
    refusing = Weighed(refuses_text=True)
    with pytest.raises(WeightError):
        other.attach(refusing.queue)
    assert refusing.noted == set()
    used = Weighed()
    used.queue.enqueue(7, "seven")
    with pytest.raises(AlreadyAttachedError):
        other.attach(used.queue)
    assert used.noted == {7}


def test_nothing_is_left_of_the_keys_of_a_queue_that_is_closed() -> None:
    weighed = Weighed()
    weighed.queue.enqueue_many([1, 2], ["one", "two"])
    weighed.queue.dequeue()
    weighed.queue.close()
    assert weighed.noted == set()
