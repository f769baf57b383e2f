"""Answers: updates as JSON, NDJSON, MessagePack or Arrow, as the client accepts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Final

import msgspec

from upstream import TOMBSTONE, Key, Update

from .formats import Format, choose_answer
from .stored import PackedValue, json_value, python_value

_to_json: Final = msgspec.json.Encoder()
_to_messagepack: Final = msgspec.msgpack.Encoder()


class _Line(msgspec.Struct, omit_defaults=True, gc=False):
    """An update in an answer; members with their default are left out."""

    key: Key
    time: float
    value: object
    lease: str | None = None
    deleted: bool = False


def json_fragment(update: Update) -> bytes:
    """Return an update as a JSON object in one line.

    >>> json_fragment(Update(("NYSE", "IBM"), b"24.10", 3.0))
    b'{"key":["NYSE","IBM"],"time":3.0,"value":24.10}'
    """
    return _to_json.encode(_json_line(update, None))


def write_update(update: Update, accept: str | None) -> tuple[str, bytes]:
    """Return a content type that `accept` allows, and a single update in it.

    It is an object in JSON and MessagePack, a line of NDJSON, or an Arrow stream of one row. Raises
    NotAcceptableError if `accept` allows none of these.
    """
    format_, content_type = choose_answer(accept)
    if format_ is Format.JSON:
        return content_type, json_fragment(update)
    if format_ is Format.MESSAGEPACK:
        (line,) = _packed_lines([(update, None)])
        return content_type, _to_messagepack.encode(line)
    return write_updates([update], content_type)


def write_updates(
    updates: Sequence[Update], accept: str | None, *, leases: Sequence[str] | None = None
) -> tuple[str, bytes]:
    """Return a content type that `accept` allows, and the updates in it.

    JSON and MessagePack are `{"updates": [...]}`, NDJSON is one update per line; see
    `arrow.answers` for Arrow. Raises NotAcceptableError if `accept` allows none of these.
    """
    format_, content_type = choose_answer(accept)
    if format_ is Format.ARROW:
        from .arrow.answers import write_arrow

        return content_type, write_arrow(updates, leases)
    pairs = zip(updates, repeat(None) if leases is None else leases, strict=False)
    if format_ is Format.MESSAGEPACK:
        return content_type, _to_messagepack.encode({"updates": list(_packed_lines(pairs))})
    lines = [_json_line(update, lease) for update, lease in pairs]
    if format_ is Format.NDJSON:
        return content_type, _to_json.encode_lines(lines)
    return content_type, _to_json.encode({"updates": lines})


def _json_line(update: Update, lease: str | None) -> _Line:
    key, stored, time = update
    return _Line(key, time, msgspec.Raw(json_value(stored)), lease, stored is TOMBSTONE)


def _packed_lines(pairs: Iterable[tuple[Update, str | None]]) -> Iterable[_Line]:
    for (key, stored, time), lease in pairs:
        if isinstance(stored, PackedValue):
            value: object = msgspec.Raw(stored)
        else:
            value = python_value(stored)
        yield _Line(key, time, value, lease, stored is TOMBSTONE)
