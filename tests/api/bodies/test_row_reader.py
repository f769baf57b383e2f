"""Rows are read one by one, and each bad one is told of by its place."""

from __future__ import annotations

import math

import msgspec

from api.bodies import reasons
from api.bodies.batch import Batch, Rejection
from api.bodies.errors import RefusedRowError
from api.bodies.reasons import Limits
from api.bodies.row_reader import RowReader
from api.bodies.wire import WireRow

from .examples import NOW

LIMITS = Limits()

ROWS: dict[bytes, WireRow | Exception] = {
    b"good": ("a", 1.0, msgspec.Raw(b"1")),
    b"timeless": ("b", None, msgspec.Raw(b"2")),
    b"worthless": ("c", 1.0, msgspec.Raw(b"")),
    b"nul": ("\0", 1.0, msgspec.Raw(b"1")),
    b"nul within": (("a", "\0"), 1.0, msgspec.Raw(b"1")),
    b"nan": ("a", math.nan, msgspec.Raw(b"1")),
    b"infinite": ("a", -math.inf, msgspec.Raw(b"1")),
    b"deep": RecursionError(),
    b"broken": msgspec.DecodeError("at byte 3"),
    b"encoded otherwise": UnicodeDecodeError("utf-8", b"\xff", 0, 1, "why"),
    b"refused": RefusedRowError("because"),
}


def parse(row: bytes) -> WireRow:
    parsed = ROWS[row]
    if isinstance(parsed, Exception):
        raise parsed
    return parsed


def read_value(raw: msgspec.Raw) -> bytes:
    if not bytes(raw):
        raise RefusedRowError("no value")
    return bytes(raw)


def read(*rows: bytes, is_single: bool = False) -> Batch:
    return RowReader(parse, read_value, LIMITS, lambda: NOW).read(rows, is_single=is_single)


def test_good_rows_are_columns() -> None:
    batch = read(b"good", b"good")
    assert batch.columns() == (["a", "a"], [b"1", b"1"], [1.0, 1.0])
    assert (batch.rows, batch.rejections, batch.indices) == (2, [], None)


def test_a_missing_time_is_the_servers() -> None:
    assert read(b"good", b"timeless").times == [1.0, NOW]
    assert read(b"timeless").times is None


def test_every_bad_row_is_rejected_by_its_place() -> None:
    rows = [row for row in ROWS if row != b"timeless"]
    batch = read(*rows, b"good")
    assert batch.keys == ["a", "a"]
    assert batch.indices == [0, len(rows)]
    assert batch.rows == len(rows) + 1
    assert {rows[rejection.index]: rejection.reason for rejection in batch.rejections} == {
        b"worthless": "no value",
        b"nul": f"key: {reasons.NUL}",
        b"nul within": f"key: {reasons.NUL}",
        b"nan": reasons.TIME,
        b"infinite": reasons.TIME,
        b"deep": reasons.too_deep(LIMITS),
        b"broken": reasons.SYNTAX,
        b"encoded otherwise": reasons.NOT_UTF8,
        b"refused": "because",
    }
    assert [rejection.index for rejection in batch.rejections] == list(range(1, len(rows)))


def test_one_update_is_told_from_a_list_with_one() -> None:
    assert read(b"good", is_single=True).is_single
    assert not read(b"good").is_single
    assert read(b"refused", is_single=True).rejections == [Rejection(0, "because")]
