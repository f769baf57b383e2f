"""The problem that a client gets for each exception."""

from __future__ import annotations

import json

import pytest

from api.bodies import BodyError
from api.errors import STATUSES, Problem, RequestError, problem_of
from api.service import TooManyError
from upstream import PagePoolFullError, UnknownNameError, WeightError


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownNameError("queue", "secret-name"), 404),
        (PagePoolFullError(100), 409),
        (WeightError("weight", -1, "a number"), 422),
        (BodyError("bad"), 422),
        (TooManyError("queue", 3), 409),
        (RequestError(408, "Too slow", "it took too long"), 408),
    ],
)
def test_an_exception_has_the_status_of_its_nearest_parent(error: Exception, status: int) -> None:
    problem = problem_of(error)
    assert problem is not None
    assert problem.status == status
    assert "secret" not in problem.detail


def test_a_bug_is_not_a_problem_of_the_client() -> None:
    assert problem_of(AssertionError("a bug")) is None
    assert problem_of(KeyError("a bug")) is None


def test_a_problem_is_written_as_rfc_9457_says() -> None:
    error = RequestError(422, "Bad updates", "none was taken in", rejected=3)
    problem = problem_of(error)
    assert problem is not None
    assert json.loads(problem.body()) == {
        "type": "about:blank",
        "title": "Bad updates",
        "status": 422,
        "detail": "none was taken in",
        "rejected": 3,
    }


def test_every_status_is_one_of_an_error() -> None:
    assert all(400 <= status < 600 for status, _ in STATUSES.values())
    assert Problem(404, "t", "d").members == {}
