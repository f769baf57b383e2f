"""Decides which chunks of several inputs meet, each pair once, and when a pair leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..chunks.windows import Schedule, Span


class Pairing:
    """Rows in one window meet: all rows of one input meet all rows of the others.

    A pair is kept under a key, the least of the keys of its chunks, and leaves with the first of
    its chunks that leaves. If all windows are alike, this is the older chunk, and its number is the
    key. Otherwise the key is the end of the first window without it.
    """

    __slots__ = ("_inputs", "_schedule")

    def __init__(self, schedule: Schedule, inputs: Sequence[int]) -> None:
        self._schedule = schedule
        self._inputs = inputs

    def partners(self, number: int, spans: Sequence[Span]) -> Mapping[int, Span]:
        """Return the chunks of the other inputs that new rows of one input meet: their windows."""
        return {other: spans[other] for other in self._inputs if other != number}

    def key(self, number: int, chunk: int) -> int:
        """Return when a chunk leaves, as a number that is comparable over all inputs."""
        if self._schedule.is_even:
            return chunk
        return self._schedule.windows[number].leaving(chunk)

    def kept_from(self, spans: Sequence[Span]) -> int:
        """Return the least key of a pair that is in a window."""
        if self._schedule.is_even:
            return spans[0].first
        return max(span.end for span in spans) + 1
