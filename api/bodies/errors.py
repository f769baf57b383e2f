"""What is wrong with a body as a whole, with a key or with what is accepted as an answer.

A row of a batch that is wrong is no exception: it is a `Rejection` beside the good rows. No message
repeats any of the input.
"""

from __future__ import annotations

from collections.abc import Sequence


class BodyError(Exception):
    """The parent of everything that can be wrong with what was sent."""


class UnsupportedContentTypeError(BodyError):
    """The body is of a content type that cannot be read."""

    def __init__(self, supported: Sequence[str]) -> None:
        self.supported = tuple(supported)
        super().__init__(f"send updates as one of {', '.join(supported)}, text in UTF-8")


class MalformedBodyError(BodyError):
    """The body is not what its content type says; `position` is the byte where that shows."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        self.reason = reason
        self.position = position
        super().__init__(reason if position is None else f"{reason}, at byte {position}")


class TooManyRowsError(BodyError):
    """The body has more updates than are taken at once."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"the body has more than {limit} updates; send them in several requests")


class UnsupportedColumnError(BodyError):
    """A column of an Arrow body cannot be read as what it has to be.

    `column` is its place in the schema, None where one is missing.
    """

    def __init__(self, column: int | None, reason: str) -> None:
        self.column = column
        self.reason = reason
        super().__init__(reason if column is None else f"column {column}: {reason}")


class RefusedRowError(BodyError):
    """An update cannot be accepted; in a batch it becomes a `Rejection`."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class InvalidKeyError(RefusedRowError):
    """What was given as a key is none."""


class NotAcceptableError(BodyError):
    """None of the content types that answers can have is accepted."""

    def __init__(self, available: Sequence[str]) -> None:
        self.available = tuple(available)
        super().__init__(f"answers can be had as {', '.join(available)}")
