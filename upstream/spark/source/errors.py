"""The errors of the data source, each of which names the option, column or key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from reprlib import repr as shorten

from upstream.client.connection import without_password
from upstream.errors import UpStreamError


class OptionError(UpStreamError, ValueError):
    """An option is missing, unknown, or has an invalid value.

    >>> print(OptionError("partitions", "is 0: expected a whole number from 1 on"))
    option `partitions` is 0: expected a whole number from 1 on
    """

    def __init__(self, option: str, fault: str) -> None:
        self.option = option
        super().__init__(f"option `{option}` {fault}")


class ColumnError(UpStreamError, TypeError):
    """A column cannot be part of an update; the message says what is possible."""

    def __init__(self, column: str, fault: str) -> None:
        self.column = column
        super().__init__(f"column `{column}` {fault}")


class ValueMisfitError(UpStreamError, ValueError):
    """A value does not fit its column in the schema.

    >>> print(ValueMisfitError("IBM", "price", "high", "double"))
    column `price` of key 'IBM': 'high' does not fit double; give another schema: a column of \
strings takes any value, and one column `value` takes values as a whole
    """

    def __init__(self, key: object, column: str, value: object, expected: str) -> None:
        self.key = key
        self.column = column
        super().__init__(
            f"column `{column}` of key {shorten(key)}: {shorten(value)} does not fit {expected}; "
            "give another schema: a column of strings takes any value, and one column `value` "
            "takes values as a whole"
        )


class QueueUnfitError(UpStreamError, ValueError):
    """A queue of the service cannot be read as a stream."""


class BatchLostError(UpStreamError, RuntimeError):
    """A batch cannot be repeated, because the service did not keep its answers."""

    def __init__(self, url: str, queue: str, batch: int) -> None:
        self.batch = batch
        super().__init__(
            f"batch {batch} of queue {queue!r} at {without_password(url)} cannot be repeated: the "
            "service did not keep its answers, which were too large. Its updates wait again "
            "when the service has forgotten them (after 600 seconds by default). Start the query "
            "again then, with a smaller option `max_updates`, or a service with more "
            "UPSTREAM_IDEMPOTENCY_BYTES"
        )


class OffsetError(UpStreamError, ValueError):
    """The checkpoint is from another data source, or from a later version of this one."""

    def __init__(self, offset: object) -> None:
        super().__init__(
            f"the checkpoint has an offset that is not of format upstream: {shorten(offset)}; use "
            "another checkpointLocation for this query"
        )


class RowsRejectedError(UpStreamError, ValueError):
    """The service rejected some of the rows; all others were applied."""

    def __init__(self, stream: str, sent: int, rejected: int, reasons: Sequence[str]) -> None:
        self.sent = sent
        self.rejected = rejected
        self.reasons = tuple(reasons)
        said = rejection_text(stream, sent, rejected, reasons)
        super().__init__(f"{said}. Correct these rows, or set option `on_rejected` to `warn`")


def rejection_text(stream: str, sent: int, rejected: int, reasons: Iterable[str]) -> str:
    """Say how many rows were rejected, and why."""
    why = "; ".join(reasons)
    return f"stream {stream!r} rejected {rejected} of {sent} rows ({why}); the others were applied"


class StreamMissingError(UpStreamError, LookupError):
    """The stream does not exist."""

    def __init__(self, url: str, stream: str) -> None:
        self.stream = stream
        super().__init__(
            f"there is no stream {stream!r} at {without_password(url)}; create it, such as with "
            f"Client(url).create_stream({stream!r})"
        )
