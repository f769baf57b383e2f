"""Updates in JSON, as objects and as rows, in bodies of JSON and of NDJSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from upstream import Key

from . import reasons
from .batch import Batch, Now, filled
from .errors import RefusedRowError, TooManyRowsError
from .json_values import JsonValues
from .reasons import Limits
from .row_reader import RowReader
from .wire import WireRow, WireUpdate, row_type, update_type

if TYPE_CHECKING:
    UpdateDecoder = msgspec.json.Decoder[WireUpdate]
    RowDecoder = msgspec.json.Decoder[WireRow]

JSON_SPACE: Final = b" \t\r\n"


class JsonUpdates:
    """Reads updates: many at once if all are good, otherwise one by one."""

    __slots__ = ("_limits", "_now", "_row", "_update", "_values", "one_by_one")

    def __init__(self, limits: Limits, now: Now) -> None:
        self._limits = limits
        self._now = now
        self._update: UpdateDecoder = msgspec.json.Decoder(update_type(limits))
        self._row: RowDecoder = msgspec.json.Decoder(row_type(limits))
        self._values = JsonValues(limits)
        self.one_by_one = RowReader(self._parse, self._values.read, limits, now)

    def from_object(self, text: bytes) -> Batch:
        """Return one update; raises an error if it is bad, or may be."""
        update = self._update.decode(text)
        if b"\\u0000" in text:
            raise RefusedRowError(reasons.NUL)
        return Batch(
            keys=[update.key],
            values=[self._values.read(update.value)],
            times=None if update.time is None else [update.time],
            rows=1,
            is_single=True,
        )

    def from_objects(self, updates: Sequence[WireUpdate], body: bytes) -> Batch | None:
        """Return updates that were decoded from `body`; None if one of them may be bad."""
        return self._all_or_none(
            keys=[update.key for update in updates],
            times=[update.time for update in updates],
            raws=[update.value for update in updates],
            body=body,
        )

    def from_rows(self, rows: Sequence[WireRow], body: bytes) -> Batch | None:
        """Return updates that were decoded from `body`; None if one of them may be bad."""
        return self._all_or_none(
            keys=[row[0] for row in rows],
            times=[row[1] for row in rows],
            raws=[row[2] for row in rows],
            body=body,
        )

    def _all_or_none(
        self,
        *,
        keys: list[Key],
        times: list[float | None],
        raws: list[msgspec.Raw],
        body: bytes,
    ) -> Batch | None:
        if len(keys) > self._limits.rows:
            raise TooManyRowsError(self._limits.rows)
        if b"\\" in body and b"\\u0000" in body:
            return None
        values = self._values.read_all(raws)
        if values is None:
            return None
        return Batch(keys=keys, values=values, times=filled(times, self._now), rows=len(keys))

    def _parse(self, text: bytes) -> WireRow:
        opening = text.lstrip(JSON_SPACE)[:1]
        if opening == b"{":
            update = self._update.decode(text)
            return update.key, update.time, update.value
        if opening == b"[":
            return self._row.decode(text)
        raise RefusedRowError(reasons.NOT_AN_UPDATE)
