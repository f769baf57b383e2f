"""Lines of waiting keys: what comes out in which order, and what the store has to do for it."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from upstream.spark.conflation.block_store import DictBlockStore
from upstream.spark.conflation.waiting_lines import SEGMENT, Entry, WaitingLines, class_of


def entry(place: int, *, key: object = None, since: int = 0, interval: float = 1.0) -> Entry:
    return Entry(place, 0, f"key{place}" if key is None else str(key), since, interval)


def saved_and_restored(store: DictBlockStore, lines: WaitingLines) -> WaitingLines:
    lines.save()
    again = WaitingLines(store)
    again.restore(lines.state())
    return again


@given(st.lists(st.tuples(st.integers(0, 3 * SEGMENT), st.integers(0, 3 * SEGMENT)), max_size=6))
def test_a_line_is_a_queue_also_over_saving_and_restoring(turns: list[tuple[int, int]]) -> None:
    store = DictBlockStore()
    lines = WaitingLines(store)
    expected: deque[int] = deque()
    number = 0
    for added, taken in turns:
        for _ in range(added):
            lines.append(None, entry(number))
            expected.append(number)
            number += 1
        for _ in range(min(taken, len(expected))):
            assert lines.take(0).place == expected.popleft()
        assert len(lines) == len(expected)
        lines = saved_and_restored(store, lines)
    if not expected:
        assert store.blocks == {}


def test_only_the_ends_of_a_line_are_read_and_written() -> None:
    store = DictBlockStore()
    lines = WaitingLines(store)
    for number in range(20 * SEGMENT):
        lines.append(None, entry(number))
    lines = saved_and_restored(store, lines)
    store.calls = 0
    lines.append(None, entry(20 * SEGMENT))
    assert lines.take(0).place == 0
    lines.save()
    assert store.calls <= 3


def test_the_least_updated_key_of_equal_waits_is_first() -> None:
    lines = WaitingLines(DictBlockStore())
    for key, rate in (("busy", 8.0), ("quiet", 0.1), ("usual", 1.0)):
        name, interval = class_of(rate)
        lines.append(name, entry(0, key=key, since=0, interval=interval))
    assert [lines.take(10_000).key for _ in range(3)] == ["quiet", "usual", "busy"]


def test_a_key_that_waited_long_enough_is_served_before_a_quieter_one() -> None:
    lines = WaitingLines(DictBlockStore())
    lines.append(3, entry(0, key="busy", since=0, interval=0.2))
    lines.append(0, entry(1, key="quiet", since=9_900, interval=1.0))
    assert lines.take(10_000).key == "busy"


def test_sweeping_leaves_the_last_entry_of_each_key_in_order() -> None:
    lines = WaitingLines(DictBlockStore())
    for place, key in enumerate("abacbd"):
        lines.append(None, entry(place, key=key))
    lines.sweep()
    assert [lines.take(0).place for _ in range(len(lines))] == [2, 3, 4, 5]


def test_keys_with_no_known_rate_are_a_class_of_their_own() -> None:
    assert class_of(None)[0] is None
    assert class_of(0.0)[0] is None
    assert class_of(1.0)[0] == class_of(1.9)[0] != class_of(2.0)[0]
