"""How the numbers of simulated updates become bytes, where a queue keeps its values in a page pool.

The library's codecs for numbers need an extra; the simulator needs none, and no other values.
"""

from __future__ import annotations

from typing import Final

from upstream import ValueNotEncodableError

NUMBER_BYTES: Final = 8
LARGEST: Final = 2 ** (8 * NUMBER_BYTES) - 1


class NumberCodec:
    r"""Store integers from 0 to 2^64 - 1 in 8 bytes each.

    >>> codec = NumberCodec()
    >>> codec.encode(258)
    b'\x02\x01\x00\x00\x00\x00\x00\x00'
    >>> codec.decode(codec.encode(258))
    258
    """

    __slots__ = ()

    def encode(self, value: object) -> bytes:
        """Return `value`, which must be such an integer and no boolean, as bytes."""
        if type(value) is not int or not 0 <= value <= LARGEST:
            raise ValueNotEncodableError(value, f"it is no integer from 0 to {LARGEST}")
        return value.to_bytes(NUMBER_BYTES, "little")

    def decode(self, data: bytes) -> int:
        """Return the integer that `data` was encoded from."""
        return int.from_bytes(data, "little")
