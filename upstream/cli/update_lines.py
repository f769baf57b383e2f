"""Updates as lines of JSON.

A line is an object with `key`, `value` and optionally `time`, or a row `[key, time, value]` whose
time may be null. Empty lines are skipped. Values are sent on as the same bytes. The lines that
`dequeue` and `tail` print are accepted as well: leases are ignored, and `{"updates": [...]}` is
several updates.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from upstream.client import Key
from upstream.errors import UpStreamError

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class LineOfUpdate:
    """One update, or the deletion of its key."""

    key: Key
    value: object
    time: float | None = None
    is_deleted: bool = False


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
    lease: str | None = None
    deleted: bool = False


class _Message(msgspec.Struct):
    updates: list[_Object]


_Row = tuple[Key, float | None, msgspec.Raw]

_decode = msgspec.json.Decoder(_Object | _Row).decode
_decode_message = msgspec.json.Decoder(_Message).decode


class UpdateLines:
    """An iterator over the updates in lines of text, which knows the line of each update."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines
        # (first update, its line, whether the updates that follow are all in that line)
        self._marks: list[tuple[int, int, bool]] = [(0, 1, False)]

    def __iter__(self) -> Iterator[LineOfUpdate]:
        updates = 0
        for number, line in enumerate(self._lines, start=1):
            found = _updates_in(line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line, number)
            kept = sum(not each.is_deleted for each in found)
            if kept != 1:
                self._marks += [(updates, number, True), (updates + kept, number + 1, False)]
            updates += kept
            yield from found

    def line_of(self, index: int) -> int:
        """Return the line of an update, from 1; deletions have no index. O(log n)."""
        at = bisect_right(self._marks, index, key=lambda mark: mark[0]) - 1
        first, line, is_one_line = self._marks[at]
        return line if is_one_line else line + index - first


def _updates_in(line: bytes, number: int) -> list[LineOfUpdate]:
    if not line.strip():
        return []
    try:
        return list(map(_update, _decoded(line)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LineError(number, str(error)) from error


def _decoded(line: bytes) -> list[_Object | _Row]:
    try:
        return [_decode(line)]
    except msgspec.ValidationError:
        try:
            return [*_decode_message(line).updates]
        except msgspec.ValidationError:
            pass
        raise


def _update(decoded: _Object | _Row) -> LineOfUpdate:
    if isinstance(decoded, tuple):
        key, time, value = decoded
        return LineOfUpdate(key, value, time)
    return LineOfUpdate(decoded.key, decoded.value, decoded.time, decoded.deleted)
