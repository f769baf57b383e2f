"""What `Engine.append` returns: the number of rows, and how far their stream is ahead of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Lead(NamedTuple):
    """How far a stream is ahead of the streams that it is joined with."""

    rows: int = 0
    """How many of its rows wait for them."""
    epochs: int = 0
    """By how many epochs its newest row is ahead of the epoch that is open."""


class Appended(int):
    """How many rows were appended. The stream's lead is looked up when it is asked for.

    >>> count = Appended(3, lambda: Lead(2, 1))
    >>> count, count.rows_ahead, count.epochs_ahead
    (3, 2, 1)
    """

    _lead: Callable[[], Lead]

    def __new__(cls, rows: int, lead: Callable[[], Lead]) -> Appended:
        """Return a number of rows; `lead` says how far their stream is ahead."""
        appended = super().__new__(cls, rows)
        appended._lead = lead
        return appended

    @property
    def rows_ahead(self) -> int:
        """How many rows of the stream wait for slower streams that it is joined with.

        It is the most of all queries over epochs or intervals, as of their last evaluation. A
        source that may not skip rows should wait if this grows.
        """
        return self._lead().rows

    @property
    def epochs_ahead(self) -> int:
        """By how many epochs the stream is ahead of slower streams that it is joined with."""
        return self._lead().epochs
