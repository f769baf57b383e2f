"""Updates as lines of JSON."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.cli.update_lines import LineError, UpdateLines


def read(*lines: bytes) -> list[tuple[object, bytes, float | None]]:
    found: list[tuple[object, bytes, float | None]] = []
    for update in UpdateLines(lines):
        assert isinstance(update.value, msgspec.Raw)
        assert not update.is_deleted
        found.append((update.key, bytes(update.value), update.time))
    return found


def test_objects_and_rows_are_updates() -> None:
    assert read(
        b'{"key": "a", "value": 1.50, "time": 3}\n',
        b'{"value": {"x": null}, "key": ["a", 1]}\r\n',
        b'[7, null, "x"]\n',
        b' ["b", 2.5, [1, 2]] ',
    ) == [
        ("a", b"1.50", 3.0),
        (("a", 1), b'{"x": null}', None),
        (7, b'"x"', None),
        ("b", b"[1, 2]", 2.5),
    ]


def test_the_output_of_dequeue_and_tail_is_accepted() -> None:
    assert read(
        b'{"key":"a","value":1,"time":2.0,"lease":"r-1"}\n',
        b'{"updates":[{"key":"b","value":2,"time":3.0},{"key":"c","value":3}],"id":"r-2"}\n',
        b'{"updates":[],"id":"r-3","reset":true}\n',
    ) == [("a", b"1", 2.0), ("b", b"2", 3.0), ("c", b"3", None)]


def test_a_deletion_differs_from_an_update() -> None:
    [update] = UpdateLines([b'{"key":"a","value":null,"time":2.0,"deleted":true}'])
    assert (update.key, update.is_deleted) == ("a", True)


def test_a_byte_order_mark_is_skipped() -> None:
    assert read(b'\xef\xbb\xbf["a",null,1]\n') == [("a", b"1", None)]


def test_updates_are_found_in_their_lines() -> None:
    update, deletion = b'["a",null,1]', b'{"key":"a","value":null,"deleted":true}'
    three = b'{"updates":[%s]}' % b",".join([b'{"key":"a","value":1}'] * 3)
    lines = UpdateLines([update, b"", three, deletion, update, b'{"updates":[]}', update, update])
    assert sum(not each.is_deleted for each in lines) == 7
    assert [lines.line_of(index) for index in range(7)] == [1, 3, 3, 3, 5, 7, 8]


@pytest.mark.parametrize(
    "line",
    [
        *(b"x", b"1", b'"a"', b"{}", b"[]", b'["a", 1]', b'["a", "t", 1]', b'["a", null, NaN]'),
        *(b'{"key": "a"}', b'{"value": 1}', b'{"key": 1.5, "value": 1}', b'{"key": "a", "value":'),
        *(b'{"key": "a", "value": 1, "tme": 2}', b'{"key": "\xff", "value": 1}'),
        b'{"key": "a", "value": 1} {"key": "b", "value": 2}',
    ],
)
def test_an_invalid_line_is_reported_with_its_number(line: bytes) -> None:
    with pytest.raises(LineError, match=r"line 3 is not an update") as caught:
        read(b'["a", null, 1]', b"", line, b'["b", null, 2]')
    assert caught.value.line == 3


@given(st.lists(st.booleans(), max_size=30))
def test_the_line_of_an_update_is_known_however_many_are_empty(are_updates: list[bool]) -> None:
    lines = [b'["k", null, 1]\n' if is_update else b" \n" for is_update in are_updates]
    updates = UpdateLines(lines)
    count = len(list(updates))
    expected = [number for number, is_update in enumerate(are_updates, 1) if is_update]
    assert [updates.line_of(index) for index in range(count)] == expected
