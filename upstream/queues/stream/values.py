"""Where the newest values of a stream are: in the key cells, or encoded in the page pool.

A value is kept while its key waits in some queue. A stream that retains newest values keeps it
until the key is forgotten. A tombstone is not a value and needs no room in the pool.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import ParameterError, ValueNotEncodableError
from ...keys import KeyCell
from ...memory import BytesCodec, Codec, Location, Memory
from ...updates import TOMBSTONE, Update


class NewestValues:
    """Store and load the value of a key cell."""

    __slots__ = ("_codec", "_is_coded", "are_references", "memory", "retain")

    def __init__(self, memory: Memory | None, codec: Codec | None, *, retain: bool) -> None:
        if memory is None and codec is not None:
            raise ParameterError("codec", codec, "given together with memory")
        if memory is not None:
            memory.claim()
        self.memory = memory
        self._codec: Codec = BytesCodec() if codec is None else codec
        self.retain = retain
        self._is_coded = type(self._codec) is not BytesCodec
        self.are_references = memory is None
        """Whether the cells hold the values themselves and not locations in a pool."""

    def encode(self, value: object, row: int | None = None) -> object:
        """Return `value` in the form in which it is stored; raise if that is impossible."""
        if self.memory is None or value is TOMBSTONE:
            return value
        try:
            data = self._codec.encode(value)
        except ValueNotEncodableError as error:
            if row is None:
                raise
            raise error.at(row) from error
        if len(data) > self.memory.location_bytes:
            self.memory.check_length(len(data))
        return data

    def has(self, cell: KeyCell) -> bool:
        """Tell whether the key has a value that is kept and is not a deletion."""
        return (self.retain or cell.waiting > 0) and cell.value is not TOMBSTONE

    def store_again(self, cell: KeyCell, value: object, now: float) -> None:
        """Store a value that was given back, if it was released; may raise PagePoolFullError."""
        if not self.retain:
            self.put(cell, self.encode(value), now)

    def has_room_for(self, values: Iterable[object]) -> bool:
        """Tell whether all of `values` could be stored now as new values. O(values).

        Raises ValueTooLargeError or ValueNotEncodableError if one of them can never be stored.
        """
        memory = self.memory
        if memory is None:
            return True
        stored = (self.encode(value) for value in values)
        return memory.has_room_for(len(data) for data in stored if isinstance(data, bytes))

    def put(self, cell: KeyCell, stored: object, now: float) -> None:
        """Make `stored`, which `encode` returned, the cell's value.

        Raises PagePoolFullError without room; then the old value is unchanged.
        """
        memory = self.memory
        held = cell.value
        if memory is None:
            cell.value = stored
        elif isinstance(stored, bytes):
            if isinstance(held, Location):
                cell.value = memory.overwrite(held, stored, now)
            else:
                cell.value = memory.allocate(stored, now)
        else:
            self.release(cell, now)
            cell.value = stored

    def replace(self, cell: KeyCell, value: object, now: float) -> None:
        """Encode a value and replace the key's value by it; like `encode` and `put`, but faster."""
        memory = self.memory
        held = cell.value
        if memory is None:
            cell.value = value
        elif type(held) is Location and value is not TOMBSTONE:
            if self._is_coded or type(value) is not bytes:
                value = self._codec.encode(value)
            cell.value = memory.overwrite(held, value, now)
        else:
            self.put(cell, self.encode(value), now)

    def load(self, cell: KeyCell) -> object:
        """Return the cell's value."""
        value = cell.value
        if isinstance(value, Location):
            assert self.memory is not None, "there is a location without a memory"
            return self._codec.decode(self.memory.read(value))
        return value

    def update_of(self, cell: KeyCell) -> Update:
        """Return the newest update of the key."""
        value = cell.value if self.memory is None else self.load(cell)
        # Not Update(...): its generated constructor takes three times as long.
        return tuple.__new__(Update, (cell.key, value, cell.time))

    def release_unneeded(self, cell: KeyCell, now: float) -> None:
        """Release the value of a key that waits in no queue, unless values are retained."""
        if self.retain or cell.value is TOMBSTONE:
            return
        if self.memory is None:
            cell.value = None
        elif isinstance(cell.value, Location):
            cell.value = self.memory.release(cell.value, now)

    def release(self, cell: KeyCell, now: float) -> None:
        """Release the value, because the key is forgotten or deleted."""
        if isinstance(cell.value, Location):
            assert self.memory is not None, "there is a location without a memory"
            self.memory.forget(cell.value, now)
        cell.value = None
