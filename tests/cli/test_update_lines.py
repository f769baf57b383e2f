"""Updates as lines of JSON."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.cli.update_lines import LineError, UpdateLines


def read(*lines: bytes) -> list[tuple[object, bytes, float | None]]:
    found: list[tuple[object, bytes, float | None]] = []
    for key, value, time in UpdateLines(lines):
        assert isinstance(value, msgspec.Raw)
        found.append((key, bytes(value), time))
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


@pytest.mark.parametrize(
    "line",
    [
        *(b"x", b"1", b'"a"', b"{}", b"[]", b'["a", 1]', b'["a", "t", 1]', b'["a", null, NaN]'),
        *(b'{"key": "a"}', b'{"value": 1}', b'{"key": 1.5, "value": 1}', b'{"key": "a", "value":'),
        *(b'{"key": "a", "value": 1, "tme": 2}', b'{"key": "\xff", "value": 1}'),
        b'{"key": "a", "value": 1} {"key": "b", "value": 2}',
    ],
)
def test_a_line_that_is_no_update_is_named(line: bytes) -> None:
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
