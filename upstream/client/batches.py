"""Updates cut into bodies: a few rows at once, and few enough bytes for the service to take."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

from upstream.errors import ParameterError

from .encoding import Row, encode_row, encode_rows

BATCH_SIZE: Final = 1_000
"""How many updates go at once unless told otherwise; JSON gains little beyond."""
BODY_BYTES: Final = 8_000_000
"""How long a body becomes, unless one update is longer: half of what services take by default."""

T = TypeVar("T")


def bodies(rows: Iterable[Row], batch_size: int) -> Iterator[tuple[int, bytes]]:
    """Yield how many rows each body has, and the body.

    A row that cannot be sent raises ValueNotEncodableError before any row of its batch is out.
    """
    for batch in in_batches(rows, batch_size):
        body = encode_rows(batch)
        if len(body) <= BODY_BYTES:
            yield len(batch), body
            continue
        encoded = deque(encode_row(*row) for row in batch)
        while encoded:
            yield next_body(encoded, batch_size)


def next_body(rows: deque[bytes], most_rows: int) -> tuple[int, bytes]:
    """Take rows from the left, as many as may go at once; return how many, and their body."""
    taken: list[bytes] = []
    size = len(b"[]")
    while rows and len(taken) < most_rows:
        size += len(rows[0]) + len(b",")
        if taken and size > BODY_BYTES:
            break
        taken.append(rows.popleft())
    return len(taken), b"[" + b",".join(taken) + b"]"


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield `items` in lists of `size`; the last one may be shorter."""
    check_batch_size(size)
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def check_batch_size(size: object) -> None:
    """Raise ParameterError unless `size` is a whole number from 1 on."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ParameterError("batch_size", size, "a whole number from 1 on")
