"""Entries beside the rows are kept for as long as some reader has not passed them."""

from __future__ import annotations

from functools import partial

from upstream.tables.log import Punctuation
from upstream.tables.log_entries import LogEntries


def entry_at(row: int, number: int) -> Punctuation:
    return Punctuation(float(row), row, number, size=3)


def entries(*at: int) -> LogEntries[Punctuation]:
    """Return entries that came after these numbers of rows, for a reader at the first one."""
    found = LogEntries[Punctuation]()
    for row in at:
        found.add(partial(entry_at, row), [None, 0])
    return found


def numbers(found: LogEntries[Punctuation]) -> list[int]:
    return [each.number for each in found.stored]


def test_an_entry_is_numbered_also_if_it_is_not_stored() -> None:
    found = entries(1)
    found.add(lambda number: Punctuation(2.0, 2, number), [None])
    found.add(lambda number: Punctuation(3.0, 3, number), [2, None])
    assert (found.came, numbers(found)) == (3, [0, 2])


def test_entries_are_removed_when_every_position_has_passed_them() -> None:
    found = entries(1, 2, 3)
    found.trim([None, 2, 1])
    assert (found.first, numbers(found), found.size) == (1, [1, 2], 6)
    found.trim([None])
    assert (found.first, numbers(found), found.size) == (3, [], 0)


def test_a_position_is_followed_up_to_an_end() -> None:
    found = entries(1, 2, 3, 4)
    found.trim([2])
    assert [each.number for each in found.between(2, 3)] == [2]
    assert found.between(None, 4) == found.between(4, 4) == found.between(3, 1) == []


def test_the_first_entry_after_a_row_is_known_if_no_earlier_one_can_be_gone() -> None:
    found = entries(1, 2, 2, 4)
    assert [found.number_after(row) for row in (0, 1, 2, 3, 5)] == [0, 0, 1, 3, 4]
    found.trim([1])
    assert [found.number_after(row) for row in (2, 3)] == [None, 3]
