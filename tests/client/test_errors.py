"""From answers to exceptions, and what these say."""

from __future__ import annotations

import pickle

import pytest

from upstream import UpStreamError
from upstream.client import (
    AnswerNotUnderstoodError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    RequestRefusedError,
    ServiceError,
    ServiceFailedError,
    ServiceUnavailableError,
    ServiceUnreachableError,
    TooLargeError,
)
from upstream.client.answers import Answer
from upstream.client.errors import refusal

PROBLEM = (
    b'{"type":"/problems/x","title":"Unknown name","status":404,"detail":"there is none","a":[1]}'
)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, RequestRefusedError),
        (404, NotFoundError),
        (409, ConflictError),
        (413, TooLargeError),
        (415, RequestRefusedError),
        (422, InvalidRequestError),
        (500, ServiceFailedError),
        (502, ServiceUnavailableError),
        (503, ServiceUnavailableError),
        (504, ServiceUnavailableError),
        (507, ServiceFailedError),
        (302, RequestRefusedError),
    ],
)
def test_an_exception_is_named_after_the_status(
    status: int, kind: type[RequestRefusedError]
) -> None:
    error = refusal(Answer(status, b""))
    assert type(error) is kind
    assert error.status == status
    assert isinstance(error, ServiceError)
    assert isinstance(error, UpStreamError)


def test_an_exception_has_the_members_of_the_problem() -> None:
    error = refusal(Answer(404, PROBLEM))
    assert (error.title, error.detail, error.problem) == (
        "Unknown name",
        "there is none",
        "/problems/x",
    )
    assert error.members == {"a": [1]}
    assert str(error) == "Unknown name (404): there is none"


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"title": 3}', b"\xff", b"null"])
def test_a_refusal_without_a_problem_is_an_exception_too(body: bytes) -> None:
    error = refusal(Answer(404, body))
    assert isinstance(error, NotFoundError)
    assert str(error) == "the request was refused (404)"


def test_the_exception_of_an_unavailable_service_states_when_to_retry() -> None:
    error = refusal(Answer(503, b"", retry_after=7.0))
    assert isinstance(error, ServiceUnavailableError)
    assert error.retry_after == 7.0
    never = refusal(Answer(503, b""))
    assert isinstance(never, ServiceUnavailableError)
    assert never.retry_after is None


def test_exceptions_inherit_from_fitting_exceptions_of_python() -> None:
    assert issubclass(ServiceUnreachableError, ConnectionError)
    assert issubclass(NotFoundError, LookupError)
    assert issubclass(InvalidRequestError, ValueError)


def test_an_unreachable_service_is_named_with_the_reason() -> None:
    error = ServiceUnreachableError("http://a:1", "refused", 3)
    assert str(error).startswith("the service at http://a:1 could not be reached (refused; ")
    assert "tried 3 times" in str(error)
    assert "tried once" in str(ServiceUnreachableError("http://a:1", "refused", 1))


@pytest.mark.parametrize(
    "error",
    [
        ServiceUnreachableError("http://a:1", "refused", 3),
        AnswerNotUnderstoodError("http://a:1", 200, "no JSON"),
        refusal(Answer(404, PROBLEM)),
        refusal(Answer(503, b"", 7.0)),
    ],
)
def test_an_exception_survives_pickling(error: ServiceError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made just now
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))
