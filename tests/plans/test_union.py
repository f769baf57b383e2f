"""A union is in order for each key, and never waits for an input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import TOMBSTONE, ParameterError
from upstream.plans import Arc, PlanQuery, Source, Union

from .setting import Streams, operator_of, rows_of, values_of


def union_of(streams: Streams, input: str = "pull") -> PlanQuery:  # noqa: A002 - the report's word
    plan = Union(Arc(Source(streams.left), "append"), Arc(Source(streams.right), "append"))
    return PlanQuery(Arc(plan, "append"), input=input, clock=streams.clock)


def test_it_delivers_its_newest_update_and_drops_older_ones(streams: Streams) -> None:
    query = union_of(streams)
    streams.left.enqueue("IBM", 24, 9.00)
    streams.right.enqueue("IBM", 25, 9.01)
    streams.left.enqueue("GM", 7, 9.00)
    assert rows_of(query.results()) == [("IBM", 25, 9.01), ("GM", 7, 9.00)]
    counted = operator_of(query, "union")
    assert (counted.taken, counted.delivered, counted.dropped) == (3, 2, 1)


def test_a_later_arrival_that_is_older_is_dropped(streams: Streams) -> None:
    query = union_of(streams, input="push")
    streams.left.enqueue("IBM", 25, 9.01)
    streams.right.enqueue("IBM", 24, 9.00)
    streams.right.enqueue("GM", 7, 9.00)
    assert rows_of(query.results()) == [("IBM", 25, 9.01), ("GM", 7, 9.00)]
    assert operator_of(query, "union").dropped == 1


def test_the_input_ranked_higher_wins_between_equal_times(streams: Streams) -> None:
    query = union_of(streams)
    streams.right.enqueue("IBM", "right", 9.00)
    streams.left.enqueue("IBM", "left", 9.00)
    assert values_of(query.results()) == ["left"]
    streams.right.enqueue("IBM", "right again", 9.00)
    assert query.results() == []
    assert operator_of(query, "union").dropped == 2


def test_the_trusted_input_corrects_an_earlier_answer_of_the_same_time(streams: Streams) -> None:
    query = union_of(streams, input="push")
    streams.right.enqueue("IBM", "right", 9.00)
    streams.left.enqueue("IBM", "left", 9.00)
    assert values_of(query.results()) == ["right", "left"]


def test_the_later_arrival_wins_between_equal_times_of_one_input(streams: Streams) -> None:
    query = union_of(streams, input="push")
    streams.left.enqueue("IBM", 1, 9.00)
    streams.left.enqueue("IBM", 2, 9.00)
    assert values_of(query.results()) == [1, 2]


def test_a_silent_input_delays_nothing(streams: Streams) -> None:
    query = union_of(streams)
    streams.right.enqueue("IBM", 24)
    assert values_of(query.results()) == [24]


def test_a_deleted_key_starts_again(streams: Streams) -> None:
    query = union_of(streams, input="push")
    streams.left.enqueue("IBM", 1, 5)
    streams.left.enqueue("IBM", TOMBSTONE, 6)
    streams.right.enqueue("IBM", 2, 4)
    assert values_of(query.results()) == [1, TOMBSTONE, 2]


def test_there_are_two_inputs_at_least() -> None:
    with pytest.raises(ParameterError, match="two inputs"):
        Union(Source(Streams().left))


@given(
    arrivals=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from("ab"), st.integers(0, 5), st.booleans())
    ),
    input=st.sampled_from(["push", "pull"]),
)
def test_in_the_end_the_answer_is_the_same_whichever_input_was_faster(
    arrivals: list[tuple[int, str, int, bool]],
    input: str,  # noqa: A002 - the report's word
) -> None:
    streams = Streams()
    query = union_of(streams, input=input)
    known: dict[object, object] = {}
    best: dict[str, tuple[int, int, int]] = {}
    for number, (rank, key, time, asks) in enumerate(arrivals):
        (streams.right if rank else streams.left).enqueue(key, number, time)
        best[key] = max(best.get(key, (-1, 0, 0)), (time, -rank, number))
        if asks:
            known |= {update.key: update.value for update in query.results()}
    known |= {update.key: update.value for update in query.results()}
    assert known == {key: number for key, (_, _, number) in best.items()}
    query._check()
