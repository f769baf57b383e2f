"""An Arrow IPC stream from an untrusted client, as a table that is safe to use.

pyarrow validates streams, but not how large they become. A compressed buffer may unpack to a
thousand times its size, and every dictionary that is sent as an addition (a delta) copies the whole
dictionary. pyarrow cannot be told to refuse either. So the metadata of the messages is read here
first: a FlatBuffers table `Message`, see Arrow's `Message.fbs`.
"""

from __future__ import annotations

from struct import Struct, error
from typing import Final

import pyarrow as pa

from ..errors import MalformedBodyError, TooManyRowsError, UnsupportedColumnError
from ..reasons import Limits
from .layout import Layout, layout_of

MOST_BATCHES: Final = 4_096
"""The most record batches and dictionaries of a stream, since each costs some time."""

_UINT16: Final = Struct("<H").unpack_from
_INT32: Final = Struct("<i").unpack_from
_UINT32: Final = Struct("<I").unpack_from
_INT64: Final = Struct("<q").unpack_from

# The places of fields in their tables.
_MESSAGE_HEADER: Final = 2
_BATCH_LENGTH: Final = 0
_BATCH_COMPRESSION: Final = 3
_DICTIONARY_DATA: Final = 1
_DICTIONARY_IS_DELTA: Final = 2
_REFUSALS = (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError)
"""What pyarrow raises for bytes that are not a stream."""
_NOT_ARROW = "the body is not an Arrow IPC stream"


def read_table(body: bytes, limits: Limits) -> tuple[Layout, pa.Table]:
    """Return the table, and which column is what; raises BodyError if it has no updates.

    O(bytes): offsets, codes and UTF-8 are all checked, since a bad stream could crash the process.
    """
    try:
        check_messages(body, limits)
        source = pa.BufferReader(body)
        options = pa.ipc.IpcReadOptions(use_threads=False)
        with pa.ipc.open_stream(source, options=options) as reader:
            schema = reader.schema
            layout = layout_of(schema, limits)
            batches = list(reader)
        if source.tell() != len(body):
            raise MalformedBodyError("bytes follow the end of the stream", source.tell())
        for batch in batches:
            batch.validate(full=True)
        table = pa.Table.from_batches(batches, schema)
        if len(batches) > 1:
            table = _in_one_piece(table)
    except _REFUSALS:
        raise MalformedBodyError(_NOT_ARROW) from None
    if table.num_rows > limits.rows:
        raise TooManyRowsError(limits.rows)
    return layout, table


def _in_one_piece(table: pa.Table) -> pa.Table:
    try:
        return table.unify_dictionaries().combine_chunks()
    except pa.ArrowInvalid:
        raise UnsupportedColumnError(
            None, "dictionaries that differ between batches must not contain null"
        ) from None


def check_messages(body: bytes, limits: Limits) -> None:
    """Raise BodyError unless the stream can be unpacked into memory of about its own size."""
    rows = 0
    for count, message in enumerate(_messages(body)):
        if count > MOST_BATCHES:
            raise MalformedBodyError(
                f"the stream has more than {MOST_BATCHES} record batches; make them larger"
            )
        kind = message.type
        if kind == "schema":
            continue
        try:
            header = _Table.of_message(bytes(message.metadata))
            if kind == "record batch":
                rows += abs(header.integer(_BATCH_LENGTH))
                batch = header
            elif kind == "dictionary":
                batch = header.table(_DICTIONARY_DATA)
                if header.place(_DICTIONARY_IS_DELTA) is not None:
                    raise MalformedBodyError("dictionary deltas are not taken; send it whole")
            else:
                raise MalformedBodyError("expected record batches, and nothing else")
            if batch.place(_BATCH_COMPRESSION) is not None:
                raise MalformedBodyError(
                    "compressed buffers are not supported; write the stream uncompressed"
                )
        except error:
            raise MalformedBodyError("the body is not an Arrow IPC stream") from None
    if rows > limits.rows:
        raise TooManyRowsError(limits.rows)


def _messages(body: bytes) -> pa.ipc.MessageReader:
    return pa.ipc.MessageReader.open_stream(pa.py_buffer(body))


class _Table:
    """A FlatBuffers table: a position in bytes, and where its fields are from there."""

    __slots__ = ("_data", "_fields", "_fields_end", "_start")

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._start = start
        self._fields = start - _INT32(data, start)[0]
        self._fields_end = self._fields + _UINT16(data, self._fields)[0]

    @classmethod
    def of_message(cls, metadata: bytes) -> _Table:
        """Return the header of a message."""
        message = cls(metadata, _UINT32(metadata, 0)[0])
        return message.table(_MESSAGE_HEADER)

    def place(self, field: int) -> int | None:
        """Return where a field is, None if it has its default."""
        entry = self._fields + 4 + 2 * field
        if entry + 2 > self._fields_end:
            return None
        offset: int = _UINT16(self._data, entry)[0]
        return self._start + offset if offset else None

    def table(self, field: int) -> _Table:
        """Return the table that a field refers to."""
        place = self.place(field)
        if place is None:
            raise error
        return _Table(self._data, place + _UINT32(self._data, place)[0])

    def integer(self, field: int) -> int:
        """Return a field that is an integer of 64 bits."""
        place = self.place(field)
        return 0 if place is None else int(_INT64(self._data, place)[0])
