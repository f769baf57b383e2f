"""Ids of messages."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.push.position import TICKS_PER_SECOND, arrival_of, id_of, sequence_before

NOW = 1e6
ARRIVALS = st.floats(min_value=1.0, max_value=NOW)


@given(ARRIVALS)
def test_a_sequence_is_before_the_arrival_however_it_is_rounded(arrival: float) -> None:
    sequence = sequence_before(arrival)
    assert sequence / TICKS_PER_SECOND < arrival < sequence / TICKS_PER_SECOND + 3e-6


@given(ARRIVALS)
def test_an_id_tells_where_to_go_on(arrival: float) -> None:
    told = arrival_of(id_of("5eb6", sequence_before(arrival)), run="5eb6", now=NOW)
    assert told is not None
    assert told < arrival


def test_before_the_beginning_is_the_beginning() -> None:
    assert sequence_before(0.0) == sequence_before(-5.0) == 0


@pytest.mark.parametrize(
    "message_id",
    [
        *("", "-", "5eb6", "5eb6-", "5eb6-x", "5eb6--1", "-5", "cafe-5", "5eb6-1-5"),
        *("5eb6-٣", "5eb6-1.5", "5eb6-" + "9" * 500),
    ],
)
def test_what_is_no_id_of_this_run_tells_nothing(message_id: str) -> None:
    assert arrival_of(message_id, run="5eb6", now=math.inf) is None


def test_an_id_of_the_future_tells_nothing() -> None:
    message_id = id_of("5eb6", sequence_before(10.0))
    assert arrival_of(message_id, run="5eb6", now=9.0) is None
    assert arrival_of(message_id, run="5eb6", now=10.0) is not None


def test_a_run_may_have_dashes() -> None:
    assert arrival_of("a-b-1000000", run="a-b", now=2.0) == 1.0
