"""What users choose for a query is checked before anything is planned."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import timedelta
from typing import Any

import pytest

from upstream import ParameterError
from upstream.queries.evaluation.query_choices import Choices
from upstream.queries.results.emission import Emission


def test_times_are_in_seconds_once_they_are_checked() -> None:
    choices = Choices(allowed_lateness=timedelta(minutes=1), close_after=2).checked()
    assert (choices.allowed_lateness, choices.close_after) == (60.0, 2.0)
    assert Choices().checked() == Choices()
    assert Choices().emission == Emission()


@pytest.mark.parametrize(
    "choice",
    [
        {"semantics": "often"},
        {"way": "fast"},
        {"on_error": "ignore"},
        {"allowed_lateness": -1},
        {"close_after": timedelta(seconds=-1)},
        {"allowed_lateness": float("nan")},
        {"close_after": "soon"},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(choice: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Choices(**choice).checked()


def test_choices_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Choices().way = "whole"  # type: ignore[misc]  # that it fails is what is tested
