"""The options of a standing query, and the values that are refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import timedelta

import pytest

from upstream import ParameterError
from upstream.queries.choices import Choices, checked_seconds, seconds_of


@pytest.mark.parametrize("name", ["semantics", "evaluation", "emit", "on_error"])
def test_a_choice_is_one_of_its_names(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}.*one of '"):
        Choices(**{name: "fast"})  # type: ignore[arg-type]  # that it fails is what is tested


def test_choices_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Choices().evaluation = "whole"  # type: ignore[misc]  # that it fails is what is tested


@pytest.mark.parametrize(("value", "seconds"), [(0, 0), (1.5, 1.5), (timedelta(minutes=2), 120.0)])
def test_a_duration_is_a_number_or_a_timedelta(value: float | timedelta, seconds: float) -> None:
    assert seconds_of("seconds", value) == seconds
    assert checked_seconds("seconds", value) == seconds


@pytest.mark.parametrize(
    "value", [-1, float("nan"), float("inf"), True, "5", timedelta(seconds=-1)]
)
def test_a_value_that_is_not_a_duration_is_refused(value: float) -> None:
    with pytest.raises(ParameterError, match="seconds"):
        seconds_of("seconds", value)


def test_a_duration_may_be_left_out() -> None:
    assert checked_seconds("emit_every", None) is None


@pytest.mark.parametrize("keep", [0, -1, True, 1.5])
def test_a_reader_keeps_one_result_at_least(keep: int) -> None:
    with pytest.raises(ParameterError, match="keep"):
        Choices(keep=keep)


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf"), True, "1"])
def test_a_weight_is_a_number_above_zero(weight: float) -> None:
    with pytest.raises(ParameterError, match="weight"):
        Choices(weight=weight)
