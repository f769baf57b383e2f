"""Reading the updates of a request in any content type."""

from __future__ import annotations

from .batch import Batch, Now
from .formats import Format, format_of
from .json_bodies import JsonBodies
from .messagepack_bodies import MessagePackBodies
from .reasons import Limits


class UpdateReader:
    """Reads bodies of updates; `now` is the time of updates without one, if others have a time.

    >>> reader = UpdateReader(Limits(), now=lambda: 9.0)
    >>> batch = reader.read("application/json", b'[{"key": "IBM", "value": 24.10, "time": 3}]')
    >>> batch.columns()
    (['IBM'], [b'24.10'], [3.0])
    """

    def __init__(self, limits: Limits, now: Now) -> None:
        self._limits = limits
        self._now = now
        json = JsonBodies(limits, now)
        self._readers = {
            Format.JSON: json.read,
            Format.NDJSON: json.read_lines,
            Format.MESSAGEPACK: MessagePackBodies(limits, now).read,
            Format.ARROW: self._read_arrow,
        }

    def read(self, content_type: str | None, body: bytes) -> Batch:
        """Return the updates of a body, with rejections for bad rows, or raise BodyError.

        That is UnsupportedContentTypeError, MalformedBodyError, TooManyRowsError or, for Arrow,
        UnsupportedColumnError.
        """
        return self._readers[format_of(content_type)](body)

    def _read_arrow(self, body: bytes) -> Batch:
        from .arrow.updates import read_arrow

        return read_arrow(body, self._limits, self._now)
