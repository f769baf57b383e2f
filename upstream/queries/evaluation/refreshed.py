"""What is read beside the streams of a query, and brought up to date before it is evaluated."""

from __future__ import annotations

from typing import Protocol


class Waiting(Protocol):
    """Something for which rows wait, such as the reader of a stream."""

    @property
    def waiting(self) -> int:
        """How much waits; 0 if nothing has come."""

    def first_waiting(self) -> float | None:
        """Return the arrival of the first row that waits, or None."""


class Reading(Waiting, Protocol):
    """What reads the rows of one stream for a query."""

    @property
    def origin(self) -> int:
        """How many rows the stream had when it began to read."""

    @property
    def position(self) -> int:
        """Up to which row it has read."""

    @property
    def deletions(self) -> int | None:
        """Up to which deletion it has read; None if it follows none."""

    @property
    def waiting_rows(self) -> int:
        """How many rows wait; deletions do not count."""

    def close(self) -> None:
        """Stop reading."""


class Refreshed(Protocol):
    """Newest rows or a view: what is read as a table, or followed."""

    version: int
    """How often it has changed."""

    @property
    def reader(self) -> Waiting:
        """What tells whether anything waits."""

    def refresh(self, now: float) -> None:
        """Read what waits, and let expire what is due."""

    def due_at(self) -> float | None:
        """Return when the clock alone will change it, or None."""

    def close(self) -> None:
        """Stop reading."""
