"""Bodies of NDJSON: an update a line, each an object or a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from .batch import Batch
from .errors import TooManyRowsError
from .json_updates import JSON_SPACE, JsonUpdates
from .limits import Limits
from .times import Now
from .wire import REFUSALS, WireRow, WireUpdate, row_type, update_type

if TYPE_CHECKING:
    UpdateDecoder = msgspec.json.Decoder[WireUpdate]
    RowDecoder = msgspec.json.Decoder[WireRow]


class NdjsonBodies:
    """Reads bodies of NDJSON, of which a bad line is a rejected row; blank lines are none."""

    __slots__ = ("_limits", "_object", "_row", "_updates")

    def __init__(self, limits: Limits, now: Now) -> None:
        self._limits = limits
        self._updates = JsonUpdates(limits, now)
        self._object: UpdateDecoder = msgspec.json.Decoder(update_type(limits))
        self._row: RowDecoder = msgspec.json.Decoder(row_type(limits))

    def read(self, body: bytes) -> Batch:
        """Return what a body holds."""
        lines = body.count(b"\n") + (not body.endswith(b"\n"))
        if lines > self._limits.rows:
            raise TooManyRowsError(self._limits.rows)
        batch = self._read_at_once(body, lines)
        if batch is not None:
            return batch
        texts = (line.strip(JSON_SPACE) for line in body.split(b"\n"))
        return self._updates.one_by_one.read(text for text in texts if text)

    def _read_at_once(self, body: bytes, lines: int) -> Batch | None:
        """Return what `lines` lines of one kind hold; None if one of them may be bad."""
        try:
            if body.startswith(b"{"):
                objects = self._object.decode_lines(body)
                # The decoder takes no notice of where lines end.
                return self._updates.from_objects(objects, body) if len(objects) == lines else None
            if body.startswith(b"["):
                rows = self._row.decode_lines(body)
                return self._updates.from_rows(rows, body) if len(rows) == lines else None
        except REFUSALS:
            pass
        return None
