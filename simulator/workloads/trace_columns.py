"""The columns of a recorded trace, collected batch by batch: times as seconds, keys as codes.

The times of a trace are of one kind and its keys of one type in all of its files. So 1 and "1" are
not taken for two keys, and 1 and True are not taken for one.
"""

from __future__ import annotations

import math
from reprlib import repr as shorten
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from upstream import Key

from .trace_times import BadRowError, Floats, TimeKind, as_seconds, as_shown, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

Integers = NDArray[np.int64]

ROW_ABOVE = "the one above it"
"""The name of the time before a row's own time, if it is in the same file."""


class TraceColumns:
    """The rows of a trace so far.

    >>> import pyarrow as pa
    >>> columns = TraceColumns()
    >>> columns.add(pa.array([0.0, 1.5, 1.5]), pa.array(["IBM", "SAP", "IBM"]))
    >>> columns.times(), columns.codes(), columns.keys()
    (array([0. , 1.5, 1.5]), array([0, 1, 0]), ('IBM', 'SAP'))
    """

    __slots__ = ("_code_of", "_codes", "_key_type", "_kind", "_last_shown", "_last_time", "_times")

    def __init__(self) -> None:
        self._times: list[Floats] = []
        self._codes: list[Integers] = []
        self._code_of: dict[Key, int] = {}
        self._kind: TimeKind | None = None
        self._key_type: type[object] | None = None
        self._last_time = -math.inf
        self._last_shown = ""

    def add(self, times: pa.Array, keys: pa.Array, *, above: str = ROW_ABOVE) -> None:
        """Append a batch; BadRowError at a row that cannot be read or is before the one `above`."""
        if len(times) == 0:
            return
        times = _plain(times)
        _check_none_missing(times, "time")
        kind = kind_of(times, self._kind)
        seconds = as_seconds(times, kind)
        self._check_order(seconds, times, above)
        codes = self._encode(_plain(keys))
        self._kind = kind
        self._last_time = float(seconds[-1])
        self._last_shown = as_shown(times, len(times) - 1, seconds)
        self._times.append(seconds)
        self._codes.append(codes)

    @property
    def kind(self) -> TimeKind | None:
        """The kind of the times; None while there are no rows."""
        return self._kind

    def times(self) -> Floats:
        """Return the time of each row, in seconds."""
        return np.concatenate(self._times) if self._times else np.empty(0)

    def codes(self) -> Integers:
        """Return the index of each row's key in `keys()`."""
        return np.concatenate(self._codes) if self._codes else np.empty(0, dtype=np.int64)

    def keys(self) -> tuple[Key, ...]:
        """Return the distinct keys, in order of first appearance."""
        return tuple(self._code_of)

    def _check_order(self, seconds: Floats, times: pa.Array, above: str) -> None:
        is_before = seconds < np.concatenate(([self._last_time], seconds[:-1]))
        if not is_before.any():
            return
        row = int(np.argmax(is_before))
        last = self._last_shown
        if row > 0:
            above, last = ROW_ABOVE, as_shown(times, row - 1, seconds)
        time = as_shown(times, row, seconds)
        raise BadRowError(row, f"time {time} is before {above}, {last}; sort the rows by time")

    def _encode(self, column: pa.Array) -> Integers:
        """Return the codes of keys, and remember those that are new.

        Arrow finds the distinct keys of a batch, and Python which of them are equal to a known
        one: Arrow has two keys for 0.0 and -0.0.
        """
        import pyarrow as pa

        _check_none_missing(column, "key")
        has_own_type = isinstance(column, pa.ExtensionArray)  # such as a UUID
        try:
            encoded = (column.storage if has_own_type else column).dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise BadRowError(0, f"values of type {column.type} cannot be keys") from None
        distinct = encoded.dictionary
        if has_own_type:
            distinct = pa.ExtensionArray.from_storage(column.type, distinct)
        codes: Integers = encoded.indices.to_numpy().astype(np.int64)
        try:
            keys = self._checked(distinct.to_pylist())
        except _BadKeyError as error:
            raise BadRowError(int(np.argmax(codes == error.code)), error.reason) from None
        except (ValueError, OverflowError):
            code, reason = _first_inconvertible(distinct)
            raise BadRowError(int(np.argmax(codes == code)), reason) from None
        code_of = self._code_of
        known = [code_of.setdefault(key, len(code_of)) for key in keys]
        return np.array(known, dtype=np.int64)[codes]

    def _checked(self, keys: list[Key]) -> list[Key]:
        """Return the keys, if each can be distinguished from all others."""
        for code, key in enumerate(keys):
            if key != key:  # noqa: PLR0124 - this is how a NaN is found
                raise _BadKeyError(code, f"key {key} does not equal itself, so it cannot be a key")
        found = type(keys[0])
        expected = self._key_type or found
        if found is not expected:
            what = f"{shorten(keys[0])} of type {found.__name__}"
            raise _BadKeyError(0, f"key {what} comes after keys of type {expected.__name__}")
        self._key_type = found
        return keys


class _BadKeyError(Exception):
    def __init__(self, code: int, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(code, reason)


def _first_inconvertible(keys: pa.Array) -> tuple[int, str]:
    """Return which key Python has no value for, and why."""
    for code, key in enumerate(keys):
        try:
            key.as_py()
        except UnicodeDecodeError as error:
            return code, f"key {shorten(error.object)} is not text in UTF-8"
        except (ValueError, OverflowError) as error:
            return code, f"key of type {key.type}: {error}"
    raise AssertionError("each key can be converted, and all of them cannot")


def _plain(column: pa.Array) -> pa.Array:
    """Return a column with each row's own value, rather than codes."""
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _check_none_missing(column: pa.Array, what: str) -> None:
    if column.null_count:
        import pyarrow.compute as pc

        raise BadRowError(pc.index(column.is_null(), True).as_py(), f"there is no {what}")
