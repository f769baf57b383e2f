"""What the simulator refuses: the errors say what and why, also in another process."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from simulator.errors import OptionError, TraceError
from upstream import UpStreamError

ERRORS = [
    OptionError("theta", -1, "a number from 0 to 10"),
    TraceError(Path("trades.csv"), "there is no time", row=17, line=18),
    TraceError(Path("trades.csv"), "there are no rows"),
]


def test_an_option_error_names_the_option_its_value_and_what_fits() -> None:
    error = OptionError("theta", -1, "a number from 0 to 10")
    assert str(error) == "theta -1: expected a number from 0 to 10"
    assert (error.option, error.value, error.expected) == ("theta", -1, "a number from 0 to 10")


def test_a_trace_error_names_the_file_and_where_it_can_the_row_and_the_line() -> None:
    path = Path("trades.csv")
    assert str(TraceError(path, "bad")) == "trades.csv: bad"
    assert str(TraceError(path, "bad", row=3)) == "trades.csv, row 3: bad"
    error = TraceError(path, "bad", row=3, line=4)
    assert str(error) == "trades.csv, row 3 (line 4): bad"
    assert (error.path, error.reason, error.row, error.line) == (path, "bad", 3, 4)


def test_a_trace_error_is_a_value_error() -> None:
    assert isinstance(ERRORS[1], ValueError)


@pytest.mark.parametrize("error", ERRORS)
def test_errors_are_of_upstream_and_survive_the_way_to_another_process(
    error: UpStreamError,
) -> None:
    assert isinstance(error, UpStreamError)
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)
