"""Where a query is in a queue: what Spark writes into its checkpoint before a batch runs.

An offset is the end of one batch, and says all that is needed to repeat that batch and to deliver
it, whichever process does so.
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
    """What tells the query from all others; made when it starts for the first time."""
    batch: int = 0
    """The number of the batch, from 1 on."""
    answers: int = 0
    """How many answers of the service it is made of."""
    limit: int = 0
    """How many updates each of them was asked for."""
    leases: Mapping[str, int] = field(default_factory=dict)
    """The leases on its updates, as ranges."""

    @classmethod
    def of(cls, given: object) -> Offset:
        """Return what a checkpoint has; OffsetError if that is none of ours."""
        try:
            stored = msgspec.convert(given, _Stored)
        except msgspec.ValidationError as error:
            raise OffsetError(given) from error
        if stored.format != FORMAT:
            raise OffsetError(given)
        return cls(stored.query, stored.batch, stored.answers, stored.limit, stored.leases)

    def as_dict(self) -> dict[str, object]:
        """Return it as Spark stores it: the same offset is the same text."""
        return {
            "format": FORMAT,
            "query": self.query,
            "batch": self.batch,
            "answers": self.answers,
            "limit": self.limit,
            "leases": dict(self.leases),
        }

    def retry_key(self, answer: int) -> str:
        """Return the idempotency key under which one of its answers is asked for."""
        return f"spark-{self.query}-{self.batch}-{self.limit}-{answer}"


class _Stored(msgspec.Struct):
    format: int
    query: str
    batch: int
    answers: int
    limit: int
    leases: dict[str, int]
