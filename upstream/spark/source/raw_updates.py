"""Updates from the answers of the service, with their values still as JSON text.

The type of a value in Spark depends on the schema, so values are parsed later, once.
"""

from __future__ import annotations

import msgspec

from upstream.client import Key


class RawUpdate(msgspec.Struct, frozen=True, gc=False):
    """An update with its value as JSON text.

    >>> raw_updates(b'{"updates": [{"key": "IBM", "time": 1, "value": {"price": 24.10}}]}')[0].text
    '{"price": 24.10}'
    """

    key: Key
    time: float
    value: msgspec.Raw = msgspec.Raw(b"null")
    is_deleted: bool = msgspec.field(default=False, name="deleted")

    @property
    def text(self) -> str:
        """The value as JSON."""
        return bytes(self.value).decode()


class _Leased(msgspec.Struct, gc=False):
    lease: str | None = None


class _RawAnswer(msgspec.Struct):
    updates: list[RawUpdate]


class _LeasedAnswer(msgspec.Struct):
    updates: list[_Leased]


_read_updates = msgspec.json.Decoder(_RawAnswer).decode
_read_leases = msgspec.json.Decoder(_LeasedAnswer).decode


def raw_updates(body: bytes) -> list[RawUpdate]:
    """Return the updates in the answer to a dequeue or a snapshot."""
    return _read_updates(body).updates


def leases_of(body: bytes) -> list[str | None]:
    """Return the lease of each update in the answer to a dequeue."""
    return [update.lease for update in _read_leases(body).updates]
