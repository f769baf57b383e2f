"""Errors of bodies, keys and `Accept` headers.

A bad row of a batch raises nothing: it is a `Rejection` beside the good rows. No message repeats
the input.
"""

from __future__ import annotations

from collections.abc import Sequence


class BodyError(Exception):
    """The parent of all errors about what a client sent."""


class UnsupportedContentTypeError(BodyError):
    """The service cannot read the body's content type."""

    def __init__(self, supported: Sequence[str]) -> None:
        self.supported = tuple(supported)
        super().__init__(f"send updates as {' or '.join(supported)}, with text in UTF-8")


class MalformedBodyError(BodyError):
    """The body does not match its content type; `position` is the first wrong byte."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        self.reason = reason
        self.position = position
        super().__init__(reason if position is None else f"{reason}, at byte {position}")


class TooManyRowsError(BodyError):
    """The body has more updates than one request may have."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"the body has more than {limit} updates; send them in several requests")


class UnsupportedColumnError(BodyError):
    """A column of an Arrow body has a type that cannot be read.

    `column` is its place in the schema, or None if a column is missing.
    """

    def __init__(self, column: int | None, reason: str) -> None:
        self.column = column
        self.reason = reason
        super().__init__(reason if column is None else f"column {column}: {reason}")


class RefusedRowError(BodyError):
    """An update is not valid; in a batch it becomes a `Rejection`."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class InvalidKeyError(RefusedRowError):
    """A value is not a valid key."""


class NotAcceptableError(BodyError):
    """The client accepts none of the content types that an answer can have."""

    def __init__(self, available: Sequence[str]) -> None:
        self.available = tuple(available)
        super().__init__(f"the service can answer with {' or '.join(available)}")
