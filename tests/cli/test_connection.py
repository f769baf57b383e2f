"""What the shell is told when something goes wrong."""

from __future__ import annotations

import pytest
import typer

from upstream import ParameterError
from upstream.cli.connection import exit_codes
from upstream.client import (
    AnswerNotUnderstoodError,
    InvalidRequestError,
    NotFoundError,
    ServiceFailedError,
    ServiceUnavailableError,
    ServiceUnreachableError,
)

from .console import REFUSED, UNREACHABLE


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFoundError(404, "Unknown name", "there is none"), REFUSED),
        (InvalidRequestError(422, "Bad update"), REFUSED),
        (ServiceFailedError(500, "Failed"), REFUSED),
        (OSError("no space left"), REFUSED),
        (ServiceUnreachableError("http://a", "refused", 1), UNREACHABLE),
        (ServiceUnavailableError(503, "Busy"), UNREACHABLE),
        (AnswerNotUnderstoodError("http://a", 200, "no JSON"), UNREACHABLE),
    ],
)
def test_errors_are_a_line_and_an_exit_code(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as caught, exit_codes():
        raise error
    assert caught.value.exit_code == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"Error: {error}\n"


def test_an_invalid_parameter_is_a_usage_error() -> None:
    with pytest.raises(typer.BadParameter, match="limit must be"), exit_codes():
        raise ParameterError("limit", -1, "above zero")


def test_a_closed_pipe_is_not_an_error_of_the_service() -> None:
    with pytest.raises(BrokenPipeError), exit_codes():
        raise BrokenPipeError


def test_failed_assertions_are_not_hidden() -> None:
    with pytest.raises(AssertionError), exit_codes():
        raise AssertionError
