"""Reading rows one by one, to tell the bad ones from the good ones.

Readers of bodies do so after reading all rows at once has failed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from upstream import Key

from . import reasons
from .batch import Batch, Now, Rejection, filled
from .errors import RefusedRowError
from .keys import has_nul
from .reasons import Limits
from .wire import REFUSALS, WireRow

Parse = Callable[[bytes], WireRow]
"""Decodes an update up to its value; raises a decoder's error or RefusedRowError."""
ReadValue = Callable[[msgspec.Raw], bytes]
"""Returns a value in its stored form, or raises RefusedRowError."""


_KEY_WITH_NUL: Final = f"key: {reasons.NUL}"


class RowReader:
    """Reads the rows of a body."""

    __slots__ = ("_limits", "_now", "_parse", "_read_value")

    def __init__(self, parse: Parse, read_value: ReadValue, limits: Limits, now: Now) -> None:
        self._parse = parse
        self._read_value = read_value
        self._limits = limits
        self._now = now

    def read(self, rows: Iterable[bytes], *, is_single: bool = False) -> Batch:
        """Return the good rows, and the reasons for which the others are rejected."""
        keys: list[Key] = []
        values: list[object] = []
        times: list[float | None] = []
        indices: list[int] = []
        rejections: list[Rejection] = []
        for index, row in enumerate(rows):
            try:
                key, time, raw = self._parse(row)
                if has_nul(key):
                    raise RefusedRowError(_KEY_WITH_NUL)
                if time is not None and not math.isfinite(time):
                    raise RefusedRowError(reasons.TIME)
                value = self._read_value(raw)
            except RefusedRowError as error:
                rejections.append(Rejection(index, error.reason))
            except REFUSALS as error:
                rejections.append(Rejection(index, reasons.of_error(error, self._limits)))
            else:
                keys.append(key)
                values.append(value)
                times.append(time)
                indices.append(index)
        return Batch(
            keys=keys,
            values=values,
            times=filled(times, self._now),
            rows=len(keys) + len(rejections),
            is_single=is_single,
            rejections=rejections,
            indices=indices if rejections else None,
        )
