"""Updates as the decoders return them: keys and times are decoded, values are still text.

`RowReader` reads updates one by one, to tell the bad ones from the good ones. Readers of bodies use
it after reading all updates at once has failed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, Protocol, TypeAlias, cast

import msgspec

from upstream import Key

from . import reasons
from .batch import Batch, Now, Rejection, filled
from .errors import RefusedRowError
from .keys import has_nul, key_type
from .reasons import Limits

REFUSALS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoders raise for bytes that they cannot decode."""

_POSITION: Final = re.compile(r"\(byte ([0-9]+)\)")


def position_of(error: msgspec.DecodeError, body: bytes) -> int:
    """Return the byte of `body` where a decoder failed; its end if the body is cut off."""
    found = _POSITION.search(str(error))
    return int(found[1]) if found else len(body)


class WireUpdate(Protocol):
    """An update that was sent as an object."""

    key: Key
    value: msgspec.Raw
    time: float | None


WireRow: TypeAlias = tuple[Key, float | None, msgspec.Raw]
"""An update that was sent as a row."""


@lru_cache(maxsize=16)
def update_type(limits: Limits) -> type[WireUpdate]:
    """Return the type of updates that are objects.

    Their objects cannot be part of a cycle, so the garbage collector can ignore them.
    """
    return cast(
        type[WireUpdate],
        msgspec.defstruct(
            "Update",
            [
                ("key", key_type(limits)),
                ("value", msgspec.Raw),
                ("time", float | None, None),
            ],
            forbid_unknown_fields=True,
            gc=False,
        ),
    )


@lru_cache(maxsize=16)
def row_type(limits: Limits) -> type[WireRow]:
    """Return the type of updates that are rows."""
    row = tuple[key_type(limits), float | None, msgspec.Raw]  # type: ignore[misc,valid-type]
    return cast(type[WireRow], row)


Columns: TypeAlias = tuple[list[Key], list[float | None], list[msgspec.Raw]]
"""The keys, times and values of updates."""


def columns_of_objects(updates: list[WireUpdate]) -> Columns:
    """Return the columns of updates that are objects."""
    return (
        [update.key for update in updates],
        [update.time for update in updates],
        [update.value for update in updates],
    )


def columns_of_rows(rows: list[WireRow]) -> Columns:
    """Return the columns of updates that are rows."""
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


Parse = Callable[[bytes], WireRow]
"""Decodes an update up to its value; raises a decoder's error or RefusedRowError."""
ReadValue = Callable[[msgspec.Raw], bytes]
"""Returns a value in its stored form, or raises RefusedRowError."""


class RowReader:
    """Reads the rows of a body."""

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
                    raise RefusedRowError(f"key: {reasons.NUL}")
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
