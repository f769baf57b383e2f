"""The exceptions that calls to the service raise.

All of them are children of :class:`ServiceError`, except `ClientClosedError`. A refusal carries the
problem that the service sent (RFC 9457, `application/problem+json`): a title, a detail, and members
with data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import msgspec

from upstream.errors import ClosedError, UpStreamError

from .answers import Answer


class ServiceError(UpStreamError):
    """The parent of the exceptions that calls to the service raise."""

    is_passing: ClassVar[bool] = False
    """Whether the same request may succeed if it is sent again later."""


class ClientClosedError(ClosedError):
    """A client or feed was used after it was closed, or was closed during a call."""

    def __init__(self, what: str) -> None:
        UpStreamError.__init__(self, f"this {what} is closed; create a new one")


class ServiceUnreachableError(ServiceError, ConnectionError):
    """The service could not be reached, or the connection broke, at every attempt.

    `may_have_arrived` is true if the service may have acted on the request, although it did not
    answer.
    """

    is_passing = True

    def __init__(
        self, url: str, reason: str, attempts: int, *, may_have_arrived: bool = True
    ) -> None:
        self.url = url
        self.reason = reason
        self.attempts = attempts
        self.may_have_arrived = may_have_arrived
        tried = "once" if attempts == 1 else f"{attempts} times"
        super().__init__(
            f"the service at {url} could not be reached ({reason}; tried {tried}); check the "
            "address and that the service is running"
        )


class AnswerNotUnderstoodError(ServiceError):
    """The answer cannot be parsed: it is not from the service, or from another version of it."""

    is_passing = True

    def __init__(self, url: str, status: int, reason: str) -> None:
        self.url = url
        self.status = status
        self.reason = reason
        super().__init__(
            f"{url} answered {status} with a body that cannot be parsed ({reason}); check that "
            "this is the address of the service"
        )


class OutcomeUnknownError(ServiceError):
    """A batch failed for so long that the service may not recognise another retry of it."""

    def __init__(self, updates: int, seconds: float) -> None:
        self.updates = updates
        self.seconds = seconds
        super().__init__(
            f"{updates} updates were sent {seconds:.0f} seconds ago and were never answered; they "
            "may or may not have been applied. They are not sent again, because the service may no "
            "longer recognise them and would apply them twice"
        )


class RequestRefusedError(ServiceError):
    """The service refused a request; common reasons have child classes.

    `status`, `title` and `detail` say why, `problem` is the type of the problem (a URI reference),
    and `members` holds the other data that the service sent.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str = "",
        problem: str = "about:blank",
        members: Mapping[str, object] | None = None,
    ) -> None:
        self.status = status
        self.title = title
        self.detail = detail
        self.problem = problem
        self.members = dict(members or {})
        super().__init__(f"{title} ({status}): {detail}" if detail else f"{title} ({status})")


class NotFoundError(RequestRefusedError, LookupError):
    """The stream, queue or key does not exist."""


class ConflictError(RequestRefusedError):
    """The name is in use with another definition.

    It is also raised if a request was carried out, but its answer is no longer kept for a retry.
    """


class TooLargeError(RequestRefusedError, ValueError):
    """The body is larger than the service accepts; send smaller batches."""


class InvalidRequestError(RequestRefusedError, ValueError):
    """A parameter is invalid, or a key, value or time of an update."""


class ServiceFailedError(RequestRefusedError):
    """The service failed, which says nothing about the request."""

    is_passing = True


class ServiceUnavailableError(ServiceFailedError):
    """The service, or a proxy before it, is unavailable for now (502, 503 or 504)."""

    @property
    def retry_after(self) -> float | None:
        """Seconds after which the service asks the client to try again; None if it does not say."""
        seconds = self.members.get("retry_after")
        return seconds if isinstance(seconds, float) else None


REFUSALS: Final[dict[int, type[RequestRefusedError]]] = {
    404: NotFoundError,
    409: ConflictError,
    413: TooLargeError,
    422: InvalidRequestError,
    502: ServiceUnavailableError,
    503: ServiceUnavailableError,
    504: ServiceUnavailableError,
}
"""The exceptions for particular statuses."""

_KNOWN_MEMBERS = {"type", "title", "status", "detail"}


def refusal(answer: Answer) -> RequestRefusedError:
    """Return the exception for an answer, which may come from a proxy instead of the service."""
    problem = _problem(answer.body)
    members = {name: value for name, value in problem.items() if name not in _KNOWN_MEMBERS}
    if answer.retry_after is not None:
        members["retry_after"] = answer.retry_after
    other = ServiceFailedError if answer.status >= 500 else RequestRefusedError
    return REFUSALS.get(answer.status, other)(
        answer.status,
        _text(problem.get("title")) or "the request was refused",
        _text(problem.get("detail")),
        _text(problem.get("type")) or "about:blank",
        members,
    )


def _problem(body: bytes) -> Mapping[str, object]:
    try:
        return msgspec.json.decode(body, type=dict[str, object])
    except msgspec.DecodeError:
        return {}


def _text(member: object) -> str:
    return member if isinstance(member, str) else ""
