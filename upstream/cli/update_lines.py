"""Updates as lines of JSON, read without touching their values.

A line is an object with `key`, `value` and perhaps `time`, or a row `[key, time, value]` whose time
may be null; empty lines are skipped. Values go on as the very bytes that came.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from upstream.client import Key
from upstream.errors import UpStreamError

LineOfUpdate: TypeAlias = tuple[Key, object, float | None]
"""Key, value and time of one update."""


class LineError(UpStreamError, ValueError):
    """A line is not an update; `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        self.reason = reason
        super().__init__(
            f"line {line} is not an update ({reason}); expected "
            '{"key": "IBM", "value": 24.5} or ["IBM", null, 24.5]'
        )


class _Object(msgspec.Struct, forbid_unknown_fields=True):
    key: Key
    value: msgspec.Raw
    time: float | None = None


_decode = msgspec.json.Decoder(_Object | tuple[Key, float | None, msgspec.Raw]).decode


class UpdateLines:
    """Iterate over the updates in lines of text, and remember in which line each was."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines
        self._skipped: list[int] = []  # how many updates there were before each empty line

    def __iter__(self) -> Iterator[LineOfUpdate]:
        updates = 0
        for number, line in enumerate(self._lines, start=1):
            if not line.strip():
                self._skipped.append(updates)
                continue
            updates += 1
            try:
                decoded = _decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise LineError(number, str(error)) from error
            if isinstance(decoded, tuple):
                key, time, value = decoded
                yield key, value, time
            else:
                yield decoded.key, decoded.value, decoded.time

    def line_of(self, index: int) -> int:
        """Return the line, from 1, of the update with this index, from 0. O(log n)."""
        return index + 1 + bisect_left(self._skipped, index + 1)
