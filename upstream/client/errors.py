"""What can go wrong between a client and the service, each as an exception of its own.

All of them are children of :class:`ServiceError`. A refusal carries what the service said about it
(RFC 9457, `application/problem+json`): a title, a detail, and members with the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import msgspec

from upstream.errors import ClosedError, UpStreamError

from .answers import Answer


class ServiceError(UpStreamError):
    """The parent of every exception that a call to the service raises."""

    is_passing: ClassVar[bool] = False
    """Whether the same request may succeed later."""


class ClientClosedError(ClosedError):
    """A client or feed was used after it was closed, or closed while it was used."""

    def __init__(self, what: str) -> None:
        UpStreamError.__init__(self, f"this {what} is closed and sends nothing; make a new one")


class ServiceUnreachableError(ServiceError, ConnectionError):
    """The service could not be reached, or the connection broke, as often as it was tried."""

    is_passing = True

    def __init__(
        self, url: str, reason: str, attempts: int, *, may_have_arrived: bool = True
    ) -> None:
        self.url = url
        self.reason = reason
        self.attempts = attempts
        self.may_have_arrived = may_have_arrived
        """Whether the service may have carried the request out, though no answer came."""
        tried = "once" if attempts == 1 else f"{attempts} times"
        super().__init__(
            f"the service at {url} could not be reached ({reason}; tried {tried}); check the "
            "address and whether the service runs"
        )


class AnswerNotUnderstoodError(ServiceError):
    """What answered is not the service, or speaks another version of it."""

    is_passing = True

    def __init__(self, url: str, status: int, reason: str) -> None:
        self.url = url
        self.status = status
        self.reason = reason
        super().__init__(
            f"{url} answered {status} with something that this client does not understand "
            f"({reason}); check that the address is that of the service"
        )


class OutcomeUnknownError(ServiceError):
    """A batch was given up after so long that the service may not know any more if it had it."""

    def __init__(self, updates: int, seconds: float) -> None:
        self.updates = updates
        self.seconds = seconds
        super().__init__(
            f"{updates} updates were sent {seconds:.0f} seconds ago and no answer came since; they "
            "may or may not have been applied, and were given up, as the service may not remember "
            "them and would apply them twice"
        )


class RequestRefusedError(ServiceError):
    """The service refused a request; a child class says why, if it is a common reason."""

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
        """The type of the problem, a reference to what it means."""
        self.members = dict(members or {})
        """What else the service said about it, by name."""
        super().__init__(f"{title} ({status}): {detail}" if detail else f"{title} ({status})")


class NotFoundError(RequestRefusedError, LookupError):
    """There is no such stream, queue, or key."""


class ConflictError(RequestRefusedError):
    """The name is taken by something that was defined differently.

    Or a retry came for a request that was carried out, but whose answer is no longer kept.
    """


class TooLargeError(RequestRefusedError, ValueError):
    """The body is larger than the service takes; send smaller batches."""


class InvalidRequestError(RequestRefusedError, ValueError):
    """What was sent is not what it may be: a parameter, or the keys, values or times of updates."""


class ServiceFailedError(RequestRefusedError):
    """The service failed at the request, which says nothing about the request."""

    is_passing = True


class ServiceUnavailableError(ServiceFailedError):
    """The service, or what stands before it, asks to come back later (502, 503 or 504)."""

    @property
    def retry_after(self) -> float | None:
        """Return the seconds after which to try again, if the service said so."""
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
"""The exceptions of the statuses that have their own."""

_KNOWN_MEMBERS = {"type", "title", "status", "detail"}


def refusal(answer: Answer) -> RequestRefusedError:
    """Return the exception that an answer means, which need not come from the service itself."""
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
