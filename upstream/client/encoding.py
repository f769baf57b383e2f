"""Updates as JSON, and keys and names as parts of paths.

A batch is a JSON array of rows `[key, time, value]`. Python objects that JSON lacks are written as
msgspec does it: dates as ISO 8601, bytes as base64, dataclasses as objects, tuples as arrays. NaN
and infinities, which msgspec would write as `null`, are refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias
from urllib.parse import quote

import msgspec
import numpy as np

from upstream.errors import ParameterError, ValueNotEncodableError

from .answers import Key

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
ARROW: Final = "application/vnd.apache.arrow.stream"

Row: TypeAlias = tuple[Key, float | None, object]
"""An update to send: key, time (None means the time of arrival) and value."""


def encode_rows(rows: Sequence[Row]) -> bytes:
    """Return updates as a JSON body; ValueNotEncodableError names the row that cannot be sent."""
    try:
        if all(_is_finite(value) and (time is None or _is_finite(time)) for _, time, value in rows):
            return _encoder.encode(rows)
    except _REFUSALS:
        pass  # the search for the row is below
    raise _first_fault(rows)


def encode_row(key: Key, time: float | None, value: object) -> bytes:
    """Return an update as an element of a JSON body; ValueNotEncodableError if JSON cannot."""
    row = (key, time, value)
    try:
        if _is_finite(value) and (time is None or _is_finite(time)):
            return _encoder.encode(row)
    except _REFUSALS:
        pass
    raise ValueNotEncodableError(value, _fault(row) or "it cannot be written as JSON")


def encode_update(key: Key, value: object, time: float | None) -> bytes:
    """Return one update as a JSON body; ValueNotEncodableError if JSON cannot express it."""
    update = {"key": key, "value": value} | ({} if time is None else {"time": time})
    reason = _fault(update)
    if reason is not None:
        raise ValueNotEncodableError(value, reason)
    return _encoder.encode(update)


def encode_json(members: object) -> bytes:
    """Return a definition or a list as a JSON body; ParameterError if JSON cannot express it."""
    reason = _fault(members)
    if reason is not None:
        raise ParameterError(
            "the request", members, f"something that can be written as JSON ({reason})"
        )
    return _encoder.encode(members)


def path_of_name(name: str) -> str:
    """Return the name of a stream or queue as a part of a path.

    The service decides which names are allowed. A name that would change the path is refused here.
    """
    if not isinstance(name, str) or not name.strip(".") or "/" in name:
        raise ParameterError("name", name, "letters, digits and any of . _ -")
    return _quoted(name)


def path_of_key(key: Key) -> str:
    """Return the part of a path that names a key, with `?json=1` if it is written as JSON.

    >>> path_of_key("GM/A"), path_of_key(7), path_of_key(("NYSE", 7))
    ('GM%2FA', '7?json=1', '%5B%22NYSE%22%2C7%5D?json=1')
    """
    if isinstance(key, str) and key.strip("."):  # proxies resolve "." and ".."
        return _quoted(key)
    try:
        return quote(_encoder.encode(key).decode(), safe="") + "?json=1"
    except _REFUSALS as error:
        raise ParameterError("key", key, "a string, an integer, or a tuple of them") from error


def _quoted(text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError as error:
        raise ParameterError("key", text, "text that is valid Unicode") from error


_REFUSALS = (TypeError, ValueError, RecursionError)


def _from_numpy(value: object) -> object:
    """Return a NumPy number as a Python number; msgspec calls this for unknown types."""
    if isinstance(value, np.generic) and isinstance(item := value.item(), bool | int | str):
        return item
    if isinstance(value, np.floating) and math.isfinite(item := float(value)):
        return item
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


_encoder = msgspec.json.Encoder(enc_hook=_from_numpy)


def _is_finite(value: object) -> bool:
    kind = type(value)
    if kind is float:
        return math.isfinite(value)  # type: ignore[arg-type]
    if kind is str or kind is int or kind is bool or value is None:
        return True
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_finite, value))
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, msgspec.Raw):
        return True
    return _is_finite(msgspec.to_builtins(value, enc_hook=_from_numpy))  # dataclasses and such


def _first_fault(rows: Sequence[Row]) -> ValueNotEncodableError:
    for index, row in enumerate(rows):
        reason = _fault(row)
        if reason is not None:
            return ValueNotEncodableError(row[2], reason, index)
    raise AssertionError("all rows can be encoded one by one, but not together")


def _fault(value: object) -> str | None:
    """Return why `value` cannot be written as JSON; None if it can."""
    try:
        if not _is_finite(value):
            return "JSON has no NaN and no infinities; send null, or leave the value out"
        _encoder.encode(value)
    except _REFUSALS as error:
        return str(error)
    return None
