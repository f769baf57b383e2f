"""What can be chosen for a standing query, and what is refused."""

from __future__ import annotations

from datetime import timedelta

import pytest

from upstream import ParameterError
from upstream.queries.choices import (
    Emit,
    Way,
    check_name_of_choice,
    check_reader,
    checked_seconds,
    seconds_of,
)


def test_choices_are_known_by_their_names() -> None:
    check_name_of_choice("emit", "asked", Emit)
    with pytest.raises(ParameterError, match="'measured', 'increments', 'whole'"):
        check_name_of_choice("evaluation", "fast", Way)


@pytest.mark.parametrize(("value", "seconds"), [(0, 0), (1.5, 1.5), (timedelta(minutes=2), 120.0)])
def test_a_duration_is_a_number_or_a_timedelta(value: float | timedelta, seconds: float) -> None:
    assert seconds_of("seconds", value) == seconds
    assert checked_seconds("seconds", value) == seconds


@pytest.mark.parametrize(
    "value", [-1, float("nan"), float("inf"), True, "5", timedelta(seconds=-1)]
)
def test_what_is_no_duration_is_refused(value: float) -> None:
    with pytest.raises(ParameterError, match="seconds"):
        seconds_of("seconds", value)


def test_a_duration_may_be_left_out() -> None:
    assert checked_seconds("emit_every", None) is None


@pytest.mark.parametrize("keep", [0, -1, True, 1.5])
def test_a_reader_keeps_one_result_at_least(keep: int) -> None:
    with pytest.raises(ParameterError, match="keep"):
        check_reader(keep=keep, callback=None, weight=1)


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf"), True, "1"])
def test_a_weight_is_a_number_above_zero(weight: float) -> None:
    with pytest.raises(ParameterError, match="weight"):
        check_reader(keep=1, callback=None, weight=weight)


def test_a_callback_can_be_called() -> None:
    check_reader(keep=1, callback=print, weight=1)
    with pytest.raises(ParameterError, match="callback"):
        check_reader(keep=1, callback=3, weight=1)
