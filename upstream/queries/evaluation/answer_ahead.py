"""The result of the open epoch, computed before it has ended.

The end of an epoch is seen with the first row of the next one. If no row came in between, the
result is there at once. Whether an epoch is nearly over is judged by the rows of the one before it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ...database.failure import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from ..chunks.windows import Spans

_ATTEMPTS: Final = 8
"""An epoch is computed ahead at most this often, since it may be longer than the one before it."""


class AnswerAhead:
    """Keeps one result, with the rows that it was made from: how many had been read."""

    __slots__ = ("_attempts", "_known", "_spans")

    def __init__(self) -> None:
        self._spans: Spans | None = None
        self._attempts = 0
        self._known: tuple[Spans, int, pa.Table] | None = None

    def compute(self, spans: Spans, rows: int, run: Callable[[], pa.Table]) -> None:
        """Compute the result of an epoch, unless it is known for these rows, or would fail."""
        if self.result(spans, rows) is not None:
            return
        attempts = self._attempts + 1 if spans == self._spans else 1
        if attempts > _ATTEMPTS:
            return
        self._spans, self._attempts = spans, attempts
        with suppress(DatabaseError):  # it fails again when the epoch has ended, and is told then
            self._known = spans, rows, run()

    def result(self, spans: Spans, rows: int) -> pa.Table | None:
        """Return the result of an epoch if it is known for exactly these rows."""
        known = self._known
        return known[2] if known is not None and known[:2] == (spans, rows) else None
