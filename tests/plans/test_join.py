"""A join delivers the most recent match of each key within its window."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import TOMBSTONE, ParameterError, Update
from upstream.plans import Arc, Join, PlanQuery, Source
from upstream.plans.join import Combination, PairPredicate

from .setting import Streams, number_of, operator_of, rows_of, values_of


def join_of(
    streams: Streams,
    *,
    window: float = 5,
    predicate: PairPredicate | None = None,
    combine: Combination | None = None,
    keep: int = 1_000,
) -> PlanQuery:
    plan = Join(
        Arc(Source(streams.left), "append"),
        Arc(Source(streams.right), "append"),
        window=window,
        predicate=predicate,
        combine=combine,
        keep=keep,
    )
    return PlanQuery(Arc(plan, "append"), input="push", clock=streams.clock)


def fail(left: Update, right: Update) -> object:
    raise ZeroDivisionError


def test_updates_of_one_key_match_within_the_window(streams: Streams) -> None:
    query = join_of(streams)
    streams.left.enqueue("IBM", "bid", 0)
    streams.right.enqueue("GM", "other key", 0)
    streams.right.enqueue("IBM", "too late", 6)
    assert query.results() == []
    streams.left.enqueue("IBM", "new bid", 1)
    assert rows_of(query.results()) == [("IBM", ("new bid", "too late"), 6.0)]
    counted = operator_of(query, "join")
    assert (counted.taken, counted.delivered, counted.filtered) == (4, 1, 3)


def test_times_that_are_just_the_window_apart_match(streams: Streams) -> None:
    query = join_of(streams, window=5)
    streams.left.enqueue("IBM", "bid", 0)
    streams.right.enqueue("IBM", "ask", 5)
    assert values_of(query.results()) == [("bid", "ask")]


def test_the_most_recent_of_several_matches_is_delivered(streams: Streams) -> None:
    query = join_of(streams)
    for time in range(4):
        streams.left.enqueue("IBM", time, time)
    streams.right.enqueue("IBM", "ask", 2)
    assert rows_of(query.results()) == [("IBM", (3, "ask"), 3.0)]


def test_the_predicate_is_asked_about_pairs_the_most_recent_first(streams: Streams) -> None:
    query = join_of(streams, predicate=lambda left, right: number_of(left) < number_of(right))
    for time, price in enumerate([10, 14, 11, 15]):
        streams.left.enqueue("IBM", price, time)
    streams.right.enqueue("IBM", 12, 3)
    assert values_of(query.results()) == [(11, 12)]


def test_a_match_older_than_the_one_delivered_is_dropped(streams: Streams) -> None:
    query = join_of(streams)
    streams.left.enqueue("IBM", "bid", 4)
    streams.right.enqueue("IBM", "ask", 4)
    streams.right.enqueue("IBM", "late ask", 3)
    assert values_of(query.results()) == [("bid", "ask")]
    assert operator_of(query, "join").dropped == 1


def test_the_value_of_a_match_may_be_combined(streams: Streams) -> None:
    query = join_of(streams, combine=lambda bid, ask: number_of(ask) - number_of(bid))
    streams.left.enqueue("IBM", 10, 0)
    streams.right.enqueue("IBM", 12, 0)
    assert values_of(query.results()) == [2]


def test_a_pair_for_which_the_predicate_fails_does_not_hide_an_older_one(streams: Streams) -> None:
    query = join_of(streams, predicate=lambda left, right: number_of(left) < number_of(right))
    streams.left.enqueue("IBM", 10, 0)
    streams.left.enqueue("IBM", None, 1)
    streams.right.enqueue("IBM", 12, 1)
    assert values_of(query.results()) == [(10, 12)]
    assert isinstance(query.error, TypeError)
    assert operator_of(query, "join").failed == 0


def test_a_row_without_a_match_because_a_function_fails_counts_as_failed(streams: Streams) -> None:
    fails_in_predicate = join_of(streams, predicate=fail)
    fails_in_combination = join_of(streams, combine=fail)
    streams.left.enqueue("IBM", 10, 0)
    streams.right.enqueue("IBM", 12, 0)
    for query in (fails_in_predicate, fails_in_combination):
        assert query.results() == []
        counted = operator_of(query, "join")
        assert (counted.taken, counted.filtered, counted.failed) == (2, 1, 1)
        assert isinstance(counted.error, ZeroDivisionError)


def test_an_update_is_kept_until_the_other_input_has_passed_it(streams: Streams) -> None:
    query = join_of(streams)
    for time in range(0, 100, 10):
        streams.left.enqueue("IBM", time, time)
    streams.right.enqueue("IBM", "slow feed", 11)
    assert values_of(query.results()) == [(10, "slow feed")]
    streams.right.enqueue("IBM", "slow feed", 41)
    streams.right.enqueue("IBM", "late", 31)
    assert values_of(query.results()) == [(40, "slow feed")]


def test_a_backlog_of_both_inputs_is_joined_in_the_order_of_source_time(streams: Streams) -> None:
    plan = Join(Arc(Source(streams.left), "append"), Arc(Source(streams.right), "append"), window=0)
    query = PlanQuery(Arc(plan, "append"), clock=streams.clock)
    for stream in (streams.left, streams.right):
        for time in range(3):
            stream.enqueue("IBM", time, time)
    plan = Join(Arc(Source(streams.left), "append"), Arc(Source(streams.right), "append"), window=1)
    wider = PlanQuery(Arc(plan, "append"), clock=streams.clock)
    for stream in (streams.left, streams.right):
        for time in range(3, 6):
            stream.enqueue("IBM", time, time)
    assert values_of(query.results()) == [(time, time) for time in range(6)]
    assert values_of(wider.results()) == [(3, 3), (4, 3), (4, 4), (5, 4), (5, 5)]


def test_updates_that_the_other_input_has_passed_are_not_kept(streams: Streams) -> None:
    in_step, behind = join_of(streams, window=2, keep=4), join_of(streams, window=2, keep=4)
    for time in range(50):
        streams.left.enqueue("IBM", time, time)
        streams.right.enqueue("IBM", time, time)
    assert operator_of(in_step, "join").evicted == 0
    streams.left.enqueue("GM", "far ahead", 1_000)
    for time in range(50):
        streams.right.enqueue("GM", time, time)
    assert operator_of(behind, "join").evicted == 0


def test_no_more_of_one_key_is_kept_than_was_said(streams: Streams) -> None:
    query = join_of(streams, keep=2)
    for time in range(4):
        streams.left.enqueue("IBM", time, time)
    assert operator_of(query, "join").evicted == 2
    streams.right.enqueue("IBM", "ask", 1)
    assert values_of(query.results()) == [(3, "ask")]


def test_an_update_with_a_known_time_replaces_the_one_before(streams: Streams) -> None:
    query = join_of(streams, keep=1)
    streams.left.enqueue("IBM", "wrong", 1)
    streams.left.enqueue("IBM", "right", 1)
    streams.right.enqueue("IBM", "ask", 1)
    assert values_of(query.results()) == [("right", "ask")]
    assert operator_of(query, "join").evicted == 0


def test_a_deletion_deletes_the_match_once(streams: Streams) -> None:
    query = join_of(streams)
    streams.left.enqueue("IBM", "bid", 0)
    streams.right.enqueue("IBM", "ask", 0)
    streams.left.enqueue("IBM", TOMBSTONE, 1)
    streams.right.enqueue("IBM", "new ask", 1)
    assert values_of(query.results()) == [("bid", "ask"), TOMBSTONE]
    streams.left.enqueue("IBM", "new bid", 2)
    assert values_of(query.results()) == [("new bid", "new ask")]
    streams.right.enqueue("GM", TOMBSTONE, 3)
    assert query.results() == []
    query._check()


@pytest.mark.parametrize(
    "wrong", [{"window": -1}, {"window": math.inf}, {"keep": 0}, {"predicate": 1}, {"combine": 1}]
)
def test_parameters_make_sense(wrong: dict[str, object]) -> None:
    source = Source(Streams().left)
    given = {"window": 5} | wrong
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Join(source, source, **given)  # type: ignore[arg-type]  # wrong on purpose


def most_recent(pairs: list[tuple[Update, Update]]) -> tuple[object, object]:
    """Return the values of the pair with the latest update, then with the latest other one."""
    left, right = max(
        pairs,
        key=lambda pair: (
            max(pair[0].time, pair[1].time),
            min(pair[0].time, pair[1].time),
            pair[0].time,
        ),
    )
    return left.value, right.value


@given(
    steps=st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab"), st.integers(1, 4))),
    window=st.integers(0, 6),
    modulus=st.integers(1, 3),
)
def test_in_the_end_the_answer_is_the_most_recent_of_all_pairs(
    steps: list[tuple[int, str, int]], window: int, modulus: int
) -> None:
    streams = Streams()
    query = join_of(
        streams,
        window=window,
        predicate=lambda left, right: (number_of(left) + number_of(right)) % modulus == 0,
    )
    sides: tuple[list[Update], list[Update]] = ([], [])
    times = [0, 0]
    for number, (side, key, seconds) in enumerate(steps):
        times[side] += seconds
        (streams.right if side else streams.left).enqueue(key, number, times[side])
        sides[side].append(Update(key, number, times[side]))
    expected = {}
    for key in "ab":
        pairs = [
            (left, right)
            for left in sides[0]
            for right in sides[1]
            if left.key == right.key == key
            and abs(left.time - right.time) <= window
            and (number_of(left) + number_of(right)) % modulus == 0
        ]
        if pairs:
            expected[key] = most_recent(pairs)
    assert {update.key: update.value for update in query.results()} == expected
    query._check()
