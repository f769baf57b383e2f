"""The position of a query in a queue, which Spark writes to the checkpoint before a batch runs.

An offset is the end of one batch. It has everything that any process needs to repeat the batch, and
to deliver it.

A batch may have thousands of leases. The service numbers them as it grants them, so the leases of
one answer are a prefix with consecutive numbers, and an offset stores ranges. This form is correct
for other names too, only longer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from .errors import OffsetError

FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Offset:
    """The end of a batch.

    >>> Offset.of(Offset("q", 7, answers=2, limit=100).as_dict()).retry_key(1)
    'spark-q-7-100-1'
    """

    query: str
    """Identifies the query; created when the query first starts."""
    batch: int = 0
    """The number of the batch, from 1."""
    answers: int = 0
    """How many answers of the service the batch consists of."""
    limit: int = 0
    """How many updates were requested in each answer."""
    leases: Mapping[str, int] = field(default_factory=dict)
    """The leases of its updates, as ranges."""

    @classmethod
    def of(cls, given: object) -> Offset:
        """Parse an offset from a checkpoint; OffsetError if another data source wrote it."""
        try:
            stored = msgspec.convert(given, _Stored)
        except msgspec.ValidationError as error:
            raise OffsetError(given) from error
        if stored.format != FORMAT:
            raise OffsetError(given)
        return cls(stored.query, stored.batch, stored.answers, stored.limit, stored.leases)

    def as_dict(self) -> dict[str, object]:
        """Return the offset as Spark stores it; equal offsets have equal texts."""
        return {
            "format": FORMAT,
            "query": self.query,
            "batch": self.batch,
            "answers": self.answers,
            "limit": self.limit,
            "leases": dict(self.leases),
        }

    def retry_key(self, answer: int) -> str:
        """Return the idempotency key for requesting one of its answers."""
        return f"spark-{self.query}-{self.batch}-{self.limit}-{answer}"


class _Stored(msgspec.Struct):
    format: int
    query: str
    batch: int
    answers: int
    limit: int
    leases: dict[str, int]


# Ranges of leases

_NUMBERED = re.compile(r"(.*\D)(0|[1-9]\d{0,17})", re.DOTALL)


def to_ranges(leases: Iterable[str]) -> dict[str, int]:
    """Return the first name of each consecutive run, and the length of the run.

    >>> to_ranges(["5f1c-8", "5f1c-9", "5f1c-10", "other"])
    {'5f1c-8': 3, 'other': 1}
    """
    ranges: dict[str, int] = {}
    first, prefix, following = "", "", -1
    for lease in leases:
        if following >= 0 and lease == f"{prefix}{following}":
            ranges[first] += 1
            following += 1
        else:
            first = lease
            ranges[first] = 1
            prefix, number = _parts(lease)
            following = number + 1 if number >= 0 else -1
    return ranges


def from_ranges(ranges: Mapping[str, int]) -> Iterator[str]:
    """Yield the leases in the ranges.

    >>> list(from_ranges({"5f1c-8": 3, "other": 1}))
    ['5f1c-8', '5f1c-9', '5f1c-10', 'other']
    """
    for first, count in ranges.items():
        yield first
        prefix, number = _parts(first)
        assert count == 1 or number >= 0, "a name without a number begins no run"
        yield from (f"{prefix}{following}" for following in range(number + 1, number + count))


def _parts(lease: str) -> tuple[str, int]:
    """Return the prefix of a name and its number; the number is -1 if there is none."""
    found = _NUMBERED.fullmatch(lease)
    return ("", -1) if found is None else (found[1], int(found[2]))
