"""The position of a query in a queue, which Spark writes to the checkpoint before a batch runs.

An offset is the end of one batch. It has everything that any process needs to repeat the batch, and
to deliver it.
"""

from __future__ import annotations

from collections.abc import Mapping
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
