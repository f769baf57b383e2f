"""From exceptions to HTTP statuses: one table, and the answers made from it (RFC 9457).

An answer says what is wrong and what to do. It never repeats the input, except an unknown name
(`unknown_names`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import msgspec

from upstream import (
    ClosedError,
    NameTakenError,
    PagePoolFullError,
    ParameterError,
    UnknownKeyError,
    UnknownNameError,
    UpStreamError,
    ValueNotEncodableError,
    ValueTooLargeError,
)

from .bodies import (
    BodyError,
    InvalidKeyError,
    MalformedBodyError,
    NotAcceptableError,
    TooManyRowsError,
    UnsupportedContentTypeError,
)
from .definitions import PoolTooLargeError
from .idempotency import AnswerNotKeptError, IdempotencyKeyError, IdempotencyKeyReusedError
from .push.admission import ServiceStopsError, TooManyConnectionsError
from .push.selection import SelectionError, UnknownParameterError
from .service import DefinitionDiffersError, TooManyError

PROBLEM_TYPE: Final = "application/problem+json"


class RequestError(UpStreamError, ValueError):
    """A request that cannot be carried out, with the status of its answer."""

    def __init__(self, status: int, title: str, detail: str, **members: object) -> None:
        self.status = status
        self.title = title
        self.members = members
        super().__init__(detail)


@dataclass(frozen=True, slots=True)
class Problem:
    """The answer to a request that failed."""

    status: int
    title: str
    detail: str
    members: dict[str, object] = field(default_factory=dict)
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def body(self) -> bytes:
        """Return the problem as JSON."""
        return msgspec.json.encode(
            {
                "type": "about:blank",
                "title": self.title,
                "status": self.status,
                "detail": self.detail,
                **self.members,
            }
        )


STATUSES: Final[dict[type[Exception], tuple[int, str]]] = {
    UnknownNameError: (404, "Unknown name"),
    UnknownKeyError: (404, "Unknown key"),
    DefinitionDiffersError: (409, "Different definition"),
    NameTakenError: (409, "Name taken"),
    AnswerNotKeptError: (409, "Answer not kept"),
    IdempotencyKeyReusedError: (422, "Idempotency-Key reused"),
    IdempotencyKeyError: (400, "Bad Idempotency-Key"),
    TooManyError: (409, "Too many"),
    NotAcceptableError: (406, "Not acceptable"),
    UnsupportedContentTypeError: (415, "Unsupported content type"),
    TooManyRowsError: (413, "Too many updates"),
    MalformedBodyError: (400, "Malformed body"),
    InvalidKeyError: (422, "Bad key"),
    BodyError: (422, "Bad body"),
    ValueTooLargeError: (413, "Value too large"),
    ValueNotEncodableError: (422, "Bad value"),
    PagePoolFullError: (409, "Page pool full"),
    PoolTooLargeError: (422, "Page pool too large"),
    ParameterError: (422, "Bad parameter"),
    ClosedError: (404, "Gone"),
    SelectionError: (422, "Bad parameter"),
    UnknownParameterError: (422, "Unknown parameter"),
    TooManyConnectionsError: (503, "Too many connections"),
    ServiceStopsError: (503, "Not ready"),
}
"""The status and title of each exception; a subclass has those of its nearest parent."""


def problem_of(error: Exception) -> Problem | None:
    """Return the answer for an exception, or None if the exception is a bug of the service."""
    if isinstance(error, RequestError):
        return Problem(error.status, error.title, str(error), dict(error.members))
    for kind in type(error).__mro__:
        if kind in STATUSES:
            status, title = STATUSES[kind]
            return Problem(status, title, _detail(error))
    return None


def _detail(error: Exception) -> str:
    """Return the exception's message, or another one if that would repeat the input."""
    if isinstance(error, UnknownNameError):
        return f"no {error.kind} has this name; PUT /v1/{error.kind}s/NAME creates one"
    return str(error)
