"""Bodies of one content type each, with a small fault among good updates.

Some must be refused. Others are odd and may be taken in. The service is right if everything can be
read afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import msgspec
import pyarrow as pa

from tests.api.bodies.arrow_streams import body_of, stream_of
from tests.api.bodies.examples import ARROW, JSON, MESSAGEPACK, NDJSON, damaged, nested

LONG = 10 << 20
SECRET = b"s3cr3t"
"""In many bodies, so that an answer that repeats what came is found out."""


class Poison(NamedTuple):
    """A body, what it claims to be, and a name to find it by."""

    name: str
    content_type: str
    body: bytes


NUMBERS = (
    *(b"NaN", b"Infinity", b"-Infinity", b"nan", b"1e999", b"-1e999", b"1e-400", b"-0.0", b"-0"),
    *(b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808"),
    *(b"18446744073709551615", b"18446744073709551616", b"-9223372036854775809"),
    *(b"1" * 400, b"1" * 5_000, b"-" + b"9" * 400, b"0." + b"3" * 5_000, b"1e308", b"-1.7e308"),
    *(b"5e-324", b"01", b"1.", b".5", b"+1", b"0x1", b"1_000", b"1e", b"- 1", b"--1"),
)
STRINGS = (
    *(rb'"\ud800"', rb'"\udc00\ud800"', rb'"\ud83d\ude00"', rb'"\u0000"', rb'"a\u0000b"'),
    *(rb'"\u2028\u2029"', rb'"\ufeff"', rb'"\u202e\u2066"', rb'"\uffff"', rb'"\x"', rb'"\u12"'),
    *(b'"\xe2\x80\xa8"', b'"\xef\xbb\xbf"', b'"\xe2\x80\xae"', '"👩\u200d👩\u200d👧"'.encode()),
    *('"e\u0301\u0301\u0301"'.encode(), b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf5"'),
    *(b'"\x00"', b'"\n"', b'"\x7f"', b'"\x1b[31m"', b'"unended', b"'single'", b'""', b'"\t"'),
    *(rb'"\\\"</script><script>"', rb'"\r\ndata: 1\r\n\r\nid: 7"', b'"' + SECRET * 20 + b'"'),
)
STRUCTURES = (
    *(b"[]", b"{}", b'{"":1}', b'{"a":1,"a":2}', b'{"__proto__":{"x":1}}', b'{"a\\u0000":1}'),
    *(b'{"\\ud800":1}', b"[1,]", b"[,]", b'{"a"}', b'{"a":1,}', b"{1:2}", b"[1 2]", b"{]", b"[}"),
    *(b"true", b"True", b"null", b"undefined", b"", b" ", b"/**/1", b"[\n1\r\n,\t2]"),
    *(nested(63), nested(64), nested(65), nested(5_000), b"[" * 3_000, b'{"a":' * 100 + b"1"),
    *(b'{"a":' * 64 + b"1" + b"}" * 64, b'{"a":\n[]}'),
    b"[" + b"0," * 100_000 + b"0]",
    b"[" + b",".join(b'{"%d":[]}' % i for i in range(2_000)) + b"]",
)
KEYS = (
    *(b'""', b'"../.."', b'"a/b"', b'"%2F"', b'"%00"', b'"."', b'"__proto__"', b'"constructor"'),
    *(b'"a\\nb"', b'"\\r\\n\\r\\n"', b'"a?b#c&d=e+f"', b'"*"', b'"["', b'" "', b'"\\t"', b'"true"'),
    *(b'"' + b"x" * 1_024 + b'"', b'"' + b"x" * 1_025 + b'"', b'"' + "😀".encode() * 1_024 + b'"'),
    *(b'"1"', b"1", b'["1"]', b"[1]", b"-1", b"0", b"1.0", b"1e5"),
    *(b"[" + b"1," * 15 + b"1]", b"[" + b"1," * 16 + b"1]", b'["a",1,"b"]', b"[[]]", b'[""]'),
    *(b"[]", b'["a",null]', b'["a",1.5]', b'["\\u0000"]', b"[9223372036854775808]", b'["a",["b"]]'),
)
TIMES = (
    *(b"NaN", b"1e999", b"-1e999", b"1.7e308", b"-1.7e308", b"5e-324", b"-0.0", b"0", b"null"),
    *(b'"1"', b'""', b"true", b"[]", b"{}", b"1180591620717411303424", b"9" * 400),
    b"-9007199254740993",
)
WHOLES = (
    *(b"", b" ", b"\n\n", b"null", b"0", b'"x"', b"true", b"[[]]", b"[{}]", b"{}", b"[]"),
    *(b"\xef\xbb\xbf[]", b"\xff\xfe[\x00]\x00", b"\x00", b"[" * 100_000, b'{"key":' * 5_000),
    *(b'{"key":"a"}', b'{"value":1}', b'{"key":"a","value":1,"s3cr3t":2}', b"[null]"),
    *(b'["a",1]', b'["a",1,2,3]'),
    *(b'[["a",1]]', b'[["a",1,2,3]]', b'{"key":"a","key":"b","value":1,"value":2}'),
    *(b'{"Key":"a","Value":1}', b'[{"key":"a","value":1}', b'[{"key":"a","value":1}]]', b"[" * 2),
    b'[["a",1,2],' * 40 + b"[" + b"]" * 41,
    b"," * 100_000,
)


def json_poisons() -> Iterator[Poison]:
    """Yield poison as JSON: each odd value, key and time in an object, and in a row."""
    for place, odd in enumerate((*NUMBERS, *STRINGS, *STRUCTURES)):
        yield Poison(f"value {place}", JSON, b'{"key":"odd-%d","value":%b}' % (place, odd))
        yield Poison(f"value of row {place}", JSON, b'[["odd-%d",null,%b]]' % (place, odd))
    for place, odd in enumerate((*KEYS, *STRINGS, *NUMBERS, b"null", b"true", b"{}", nested(99))):
        yield Poison(f"key {place}", JSON, b'{"key":%b,"value":{"of":%d}}' % (odd, place))
        yield Poison(f"key of row {place}", JSON, b"[[%b,null,%d]]" % (odd, place))
    for place, odd in enumerate(TIMES):
        body = b'{"key":"time-%d","time":%b,"value":1}' % (place, odd)
        yield Poison(f"time {place}", JSON, body)
        yield Poison(f"time of row {place}", JSON, b'[["odd-time",%b,%d]]' % (odd, place))
    for place, odd in enumerate(WHOLES):
        yield Poison(f"whole {place}", JSON, odd)
    yield Poison("a long key", JSON, b'{"key":"%b","value":1}' % (b"x" * LONG))
    yield Poison("a long value", JSON, b'[["a",null,"%b"]]' % (b"x" * LONG))
    for place, odd in enumerate((*NUMBERS, *TIMES)):
        rows = (b'["window-%d",%d,%b]' % (place, time, odd) for time in (0, 0, 1, 9, 19))
        yield Poison(f"window of {place}", JSON, b"[%b]" % b",".join(rows))


def ndjson_poisons() -> Iterator[Poison]:
    """Yield the poison of JSON as lines, between good ones."""
    for name, _, body in json_poisons():
        if len(body) < 1_000_000:
            lines = b'["line",null,1]\n%b\n{"key":"line","value":2}\n' % body
            yield Poison(f"lines, {name}", NDJSON, lines)
    for place, ends in enumerate((b"\r\n", b"\r", b"\x0b", b"\x85", b"\xe2\x80\xa8", b"\n\n\n")):
        yield Poison(f"line end {place}", NDJSON, ends.join([b'["end",null,1]'] * 3))


PACKED = (
    *(b"\xc0", b"\xc1", b"\xc4\x01a", b"\xc7\x01\x05a", b"\xd4\x05a", b"\xd6\xff\x00\x00\x00\x00"),
    *(b"\xca\x7f\xc0" + bytes(2), b"\xca\x7f\x80" + bytes(2), b"\xcb\x7f\xf8" + bytes(6)),
    *(b"\xcb\xff\xf0" + bytes(6), b"\xcb\xff\xf0"),
    *(b"\xcf" + b"\xff" * 8, b"\xd3\x80" + bytes(7), b"\xcb\x80" + bytes(7), b"\xa1\xff", b"\xa0"),
    *(b"\x81\x01\x02", b"\x81\xc0\xc0", b"\x81\x90\x01", b"\x82\xa1a\x01\xa1a\x02", b"\xa1\x00"),
    *(b"\x91" * 64 + b"\xc0", b"\x91" * 65 + b"\xc0", b"\x91" * 5_000 + b"\xc0", b"\x81\xa0\xc0"),
    *(b"\xdd" + b"\xff" * 4, b"\xdf" + b"\xff" * 4, b"\xdb" + b"\xff" * 4, b"\xa3\xed\xa0\x80"),
    *(b"\xc6\xff\xff\xff\xff", b"\xd9\xff", b"\xff", b"\xe0", b"\xcc\xff", b"\xca\x00\x00\x00\x01"),
    b"\xa6" + SECRET,
)


def messagepack_poisons() -> Iterator[Poison]:
    """Yield poison as MessagePack: each odd thing as value, key, time, row and body."""
    key, value, time = b"\xa3key", b"\xa5value", b"\xa4time"
    for place, odd in enumerate(PACKED):
        for name, body in (
            ("value", b"\x82" + key + b"\xa2mp" + value + odd),
            ("value of row", b"\x92\x93\xa2ok\xc0\x01\x93\xa2mp\xc0" + odd),
            ("key", b"\x82" + key + odd + value + b"\x01"),
            ("key of row", b"\x91\x93" + odd + b"\xc0\x01"),
            ("key in a key", b"\x91\x93\x91" + odd + b"\xc0\x01"),
            ("time", b"\x83" + key + b"\xa2mp" + value + b"\x01" + time + odd),
            ("body", odd),
            ("row", b"\x91" + odd),
        ):
            yield Poison(f"packed {name} {place}", MESSAGEPACK, body)
    text = b"\xdb" + LONG.to_bytes(4, "big") + b"x" * LONG
    yield Poison("a long packed key", MESSAGEPACK, b"\x91\x93" + text + b"\xc0\x01")
    yield Poison("a long packed value", MESSAGEPACK, b"\x91\x93\xa1a\xc0" + text)


def arrow_columns() -> Iterator[dict[str, pa.Array | list[object]]]:
    """Yield columns as they should be, and as they should not."""
    key: list[object] = ["arrow-a", "arrow-b"]
    yield {"key": key, "time": [1.0, None], "value": [1.5, None]}
    for odd in (
        [float("nan"), float("inf")],
        [None, None],
        ["\0", "\u2028\ufeff"],
        [b"\xff\xfe", b""],
        [[1, 2], None],
        [{"": 1, "a\nb": None}, None],
        [2**63 - 1, -(2**63)],
        pa.array([2**64 - 1, 0], pa.uint64()),
        pa.array([1, None], pa.timestamp("ns", "UTC")),
        pa.array([1, None], pa.duration("s")),
        pa.array([1, 2], pa.date32()),
        pa.array([1, 2]).cast(pa.decimal128(38, 2)),
        pa.array([1.0, -0.0], pa.float32()),
        pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        pa.array([[float("nan")], []], pa.list_(pa.float64())),
        pa.array(["a", "a"]).dictionary_encode(),
        pa.array([[1], [2]], pa.large_list(pa.int8())),
        pa.array(["x" * (2 << 20), "y"], pa.large_string()),
        pa.nulls(2),
        pa.array([True, None]),
        pa.UnionArray.from_sparse(
            pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]
        ),
        pa.StructArray.from_arrays([pa.array([1, 2]), pa.array(["a", None])], ["a", "a"]),
    ):
        yield {"key": key, "value": odd}
        yield {"key": odd, "value": [1, 2]}
        yield {"key": key, "time": odd, "value": [1, 2]}
        yield {"key": key, "time": [1, 2], "value": [1, 2], "more": odd}
    yield {"key": key}
    yield {"value": key}
    yield {"key": [], "value": []}


def arrow_poisons() -> Iterator[Poison]:
    """Yield poison as Arrow: odd columns, and good streams that were damaged."""
    for place, columns in enumerate(arrow_columns()):
        yield Poison(f"columns {place}", ARROW, body_of(**columns))
    dictionary = pa.DictionaryArray.from_arrays(
        pa.array([0, 7, -1], pa.int8()), pa.array(["a", None]), safe=False
    )
    yield Poison("codes", ARROW, body_of(key=dictionary, value=[1, 2, 3]))
    offsets = pa.py_buffer(b"\x00\x00\x00\x00\x00\x01\x00\x00\x02\x00\x00\x00")
    text = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"\xff\xfe")])
    yield Poison("offsets", ARROW, body_of(key=text, value=[1, 2]))
    batch = pa.record_batch({"key": ["d", "e"] * 20, "time": [1.0] * 40, "x": [[1]] * 40})
    good = stream_of(batch, batch)
    compressed = stream_of(batch, compression="zstd")
    for seed in range(60):
        harmed = damaged(compressed if seed % 3 == 0 else good, random.Random(seed))
        yield Poison(f"damage {seed}", ARROW, harmed)
    for place in range(0, len(good), max(1, len(good) // 12)):
        yield Poison(f"cut at {place}", ARROW, good[:place])


def mislabelled() -> Iterator[Poison]:
    """Yield bodies of each type as another one."""
    update = {"key": "other", "value": [SECRET.decode()]}
    bodies = {
        JSON: msgspec.json.encode([update]),
        NDJSON: msgspec.json.encode(update) + b"\n",
        MESSAGEPACK: msgspec.msgpack.encode([update]),
        ARROW: body_of(key=["other"], value=[SECRET.decode()]),
    }
    for is_really, body in bodies.items():
        for said in (*bodies, "text/plain", "application/json; charset=utf-16", "", "*/*"):
            yield Poison(f"{is_really} as {said}", said, body)


def all_poisons() -> Iterator[Poison]:
    """Yield all there is."""
    for make in (json_poisons, ndjson_poisons, messagepack_poisons, arrow_poisons, mislabelled):
        yield from make()


@cache
def short_poisons() -> list[Poison]:
    """Return those of which one can send many."""
    return [poison for poison in all_poisons() if len(poison.body) < 100_000]
