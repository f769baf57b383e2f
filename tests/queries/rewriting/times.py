"""Times of every type that a time column can have, close together and around a change of clocks."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

TIME_TYPES: Final[dict[str, pa.DataType]] = {
    "s": pa.timestamp("s"),
    "ms": pa.timestamp("ms"),
    "us": pa.timestamp("us"),
    "ns": pa.timestamp("ns"),
    "zoned": pa.timestamp("us", "UTC"),
    "date": pa.date32(),
    "integer": pa.int64(),
    "double": pa.float64(),
    "float": pa.float32(),
}
_LENGTHS: Final = (
    *("INTERVAL '0 s'", "INTERVAL '5 seconds'", "INTERVAL '-1500 ms'", "INTERVAL '1 us'"),
    *("INTERVAL '1 day'", "INTERVAL '36 hours'", "INTERVAL '1 month'", "INTERVAL '-1 month'"),
    *("INTERVAL '1 month 3 days'", "INTERVAL '1 year'", "to_hours(23)", "INTERVAL '-25 hours'"),
)
_NUMBERS: Final = ("0", "3", "-2", "2.5", "0.1", "86400", "100 * 3")
INTERVALS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("s", "ms", "us", "ns", "zoned"), _LENGTHS),
    "date": (*_LENGTHS, *_NUMBERS),
    "integer": _NUMBERS,
    **dict.fromkeys(("double", "float"), (*_NUMBERS, "1e-6")),
}
"""Constants that may be added to times, or be compared with their differences."""

_SECONDS: Final = np.unique(
    np.concatenate(
        [
            np.arange(0, 9),
            86_400 * np.array([1, 2, 27, 28, 29, 30, 31, 59, 60, 365, 366]),
            86_400 * np.array([1, 2, 30, 31]) + 5,
            3_600 * np.array([1, 2, 22, 23, 24, 25, 26, 36, 47, 49]),
        ]
    )
)
_STARTS: Final = (1_706_659_200, 1_711_753_200, 1_325_152_800)
"""31 January 2024; a day before a change of clocks in Europe; before the day that Samoa lacks."""
_ALL: Final = np.concatenate([start + _SECONDS for start in _STARTS])


def _moments(per_second: int, kind: pa.DataType) -> pa.Array:
    fractions = np.arange(len(_ALL)) % 7 * per_second // 10
    return pa.array(_ALL * per_second + fractions, pa.int64()).cast(kind)


INSTANTS: Final[dict[str, pa.Array]] = {
    "s": _moments(1, TIME_TYPES["s"]),
    "ms": _moments(1_000, TIME_TYPES["ms"]),
    "us": _moments(1_000_000, TIME_TYPES["us"]),
    "ns": _moments(1_000_000_000, TIME_TYPES["ns"]),
    "zoned": _moments(1_000_000, TIME_TYPES["zoned"]),
    "date": pa.array((_ALL // 86_400).astype(np.int32), pa.int32()).cast(pa.date32()),
    "integer": pa.array(np.concatenate([_SECONDS, -_SECONDS, (1 << 60) + _SECONDS])),
    "double": pa.array(np.concatenate([_SECONDS / 10, _ALL + 0.1, 1e12 + _SECONDS / 10])),
    "float": pa.array(np.concatenate([_SECONDS / 10, -_SECONDS]).astype(np.float32)),
}
"""Times of each type."""
