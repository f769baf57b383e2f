"""Values, keys and bodies to test with."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec
from hypothesis import strategies as st

JSON = "application/json"
NDJSON = "application/x-ndjson"
MESSAGEPACK = "application/msgpack"
ARROW = "application/vnd.apache.arrow.stream"
CONTENT_TYPES = (JSON, NDJSON, MESSAGEPACK, ARROW)

NOW = 9.0

encode_json = msgspec.json.Encoder().encode
encode_messagepack = msgspec.msgpack.Encoder().encode

texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
"""What JSON can say."""

key_parts = texts | st.integers(-(2**63), 2**63 - 1)
keys = key_parts | st.lists(key_parts, min_size=1, max_size=16).map(tuple)
times = st.floats(allow_nan=False, allow_infinity=False)

json_like = st.text('[]{}",:\\/ue0123456789dD+-.Ea \n\r\ttrufalsné', max_size=30).map(str.encode)
"""Text that is JSON now and then, and looks like it mostly."""


def nested(depth: int) -> bytes:
    """Return arrays within one another as JSON."""
    return b"[" * depth + b"]" * depth


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return `data` with a few bytes changed, lost, added or repeated."""
    damaged = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        place = rng.randrange(len(damaged) + 1)
        rng.choice(_DAMAGES)(damaged, place, rng)
    return bytes(damaged)


Damage = Callable[[bytearray, int, random.Random], None]


def _change(data: bytearray, place: int, rng: random.Random) -> None:
    data[place : place + 1] = rng.randbytes(1)


def _flip(data: bytearray, place: int, rng: random.Random) -> None:
    if place < len(data):
        data[place] ^= 1 << rng.randrange(8)


def _lose(data: bytearray, place: int, rng: random.Random) -> None:
    del data[place : place + rng.randrange(1, 9)]


def _add(data: bytearray, place: int, rng: random.Random) -> None:
    data[place:place] = rng.randbytes(rng.randrange(1, 9))


def _cut_off(data: bytearray, place: int, rng: random.Random) -> None:
    del data[place:]


def _repeat(data: bytearray, place: int, rng: random.Random) -> None:
    data += data[place:]


def _overwrite_word(data: bytearray, place: int, rng: random.Random) -> None:
    """Replace an aligned integer, which lengths and offsets are."""
    word = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, rng.randrange(2**32)))
    place &= ~3
    data[place : place + 4] = word.to_bytes(4, "little")


_DAMAGES: tuple[Damage, ...] = (
    _change,
    _change,
    _flip,
    _lose,
    _add,
    _cut_off,
    _repeat,
    _overwrite_word,
)
