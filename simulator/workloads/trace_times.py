"""Times as traces have them, turned into seconds: numbers, timestamps, times of day, or text.

A column is converted as a whole, and looked at row by row only to say which row is bad. Its times
are of one kind, since numbers and timestamps cannot be compared; text is of the kind of the first.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from upstream import TimeNotFiniteError
from upstream.columns import read_times

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]

TEXT_SHOWN: Final = 40
"""How many characters an error shows of a text that is not a time; every time is shorter."""


class BadRowError(Exception):
    """A row of a batch cannot be read; rows of a batch count from 0."""

    def __init__(self, row: int, reason: str) -> None:
        self.row = row
        self.reason = reason
        super().__init__(f"row {row} of the batch: {reason}")


class TimeKind(Enum):
    """What the times of a trace are; only times of one kind can be compared."""

    NUMBERS = "numbers"
    TIMESTAMPS = "timestamps without a zone"
    ZONED_TIMESTAMPS = "timestamps with a zone"
    TIMES_OF_DAY = "times of day"
    DURATIONS = "durations"


def kind_of(times: pa.Array, before: TimeKind | None = None) -> TimeKind:
    """Return the kind of the times; BadRowError if it differs from the kind `before`.

    The type decides it, or for text the first row.
    """
    if _is_text(times):
        kind = before or _kind_of_text(times[:1])
        if kind is None:
            raise _not_a_time(times, 0)
        return kind
    kind = _kind_of_type(times.type)
    if kind is None:
        raise BadRowError(0, f"times of type {times.type} are neither numbers nor timestamps")
    if before not in (kind, None):
        raise BadRowError(
            0, f"these times are {kind.value}, but the times before them are {before.value}"
        )
    return kind


def as_seconds(times: pa.Array, kind: TimeKind) -> Floats:
    """Return times as finite seconds."""
    if _is_text(times):
        parsed = _parsed(times, kind)
        if parsed is None:
            raise _not_a_time(times, _first_unreadable(times, kind), kind)
    else:
        parsed = _as_numbers_or_timestamps(times)
    try:
        return read_times(parsed)
    except TimeNotFiniteError as error:
        assert error.row is not None  # noqa: PT017 - this is no test
        raise BadRowError(error.row, f"time {error.time} is not a finite number") from None


def as_shown(times: pa.Array, row: int, seconds: Floats) -> str:
    """Return a time as it was written, or else in seconds."""
    try:
        return str(times[row].as_py())
    except (
        ValueError,
        OverflowError,
        LookupError,
    ):  # out of range for datetime, or an unknown zone
        return str(float(seconds[row]))


def _kind_of_type(of: pa.DataType) -> TimeKind | None:
    from pyarrow import types

    if types.is_timestamp(of) and of.tz is not None:
        return TimeKind.ZONED_TIMESTAMPS
    if types.is_timestamp(of) or types.is_date(of):
        return TimeKind.TIMESTAMPS
    if types.is_integer(of) or types.is_floating(of) or types.is_decimal(of):
        return TimeKind.NUMBERS
    if types.is_duration(of):
        return TimeKind.DURATIONS
    return TimeKind.TIMES_OF_DAY if types.is_time(of) else None


def _as_numbers_or_timestamps(times: pa.Array) -> pa.Array:
    """Return a column of times as one of the types that queues take."""
    import pyarrow as pa

    if pa.types.is_decimal(times.type):  # by way of text, since Arrow's own cast rounds off
        return times.cast(pa.string()).cast(pa.float64())
    if pa.types.is_date(times.type):
        return times.cast(pa.timestamp("ms"))
    if pa.types.is_time(times.type):
        return times.cast(pa.time64("ns")).view(pa.timestamp("ns"))
    if pa.types.is_duration(times.type):
        return times.view(pa.timestamp(times.type.unit))
    return times


def _is_text(column: pa.Array) -> bool:
    from pyarrow import types

    of = column.type
    return bool(types.is_string(of) or types.is_large_string(of) or types.is_string_view(of))


def _kind_of_text(first: pa.Array) -> TimeKind | None:
    return next((kind for kind in TimeKind if _parsed(first, kind) is not None), None)


def _parsed(texts: pa.Array, kind: TimeKind) -> pa.Array | None:
    """Return texts as numbers or timestamps, or None if one of them is not of this kind."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind is TimeKind.TIMES_OF_DAY:
        with_zero = pc.replace_substring_regex(texts, "^([0-9]:)", r"0\1")
        texts = pc.binary_join_element_wise("1970-01-01", with_zero, "T")
    if kind is TimeKind.NUMBERS:
        types = [pa.float64()]
    else:  # nanoseconds reach from 1677 to 2262 only
        zone = "UTC" if kind is TimeKind.ZONED_TIMESTAMPS else None
        types = [pa.timestamp("ns", zone), pa.timestamp("us", zone)]
    for wanted in types:
        try:
            return texts.cast(wanted)
        except pa.ArrowInvalid:
            continue
    return None


def _first_unreadable(texts: pa.Array, kind: TimeKind) -> int:
    """Return the first row that makes the rows up to it unreadable."""
    good, bad = 0, len(texts)
    while bad - good > 1:
        middle = (good + bad) // 2
        if _parsed(texts[:middle], kind) is None:
            bad = middle
        else:
            good = middle
    return bad - 1


def _not_a_time(times: pa.Array, row: int, kind: TimeKind | None = None) -> BadRowError:
    import pyarrow as pa

    text = times[row].cast(pa.binary()).as_py().decode(errors="replace")
    if len(text) > TEXT_SHOWN:
        text = f"{text[:TEXT_SHOWN]}…"
    if kind is None or _kind_of_text(times[row : row + 1]) is None:
        reason = f"time {text!r} is neither a number nor an ISO 8601 timestamp"
    else:
        reason = f"time {text!r} is of another kind than the {kind.value} before it"
    return BadRowError(row, reason)
