"""Marks are numbers, and yet told apart; what they carry survives copying and pickling."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import TypeVar

import pytest

from upstream import Update
from upstream.windows import WindowEnd, WindowEnding, WindowMark, WindowResult, WindowTuple

Copied = TypeVar("Copied", WindowEnd, WindowTuple, WindowMark)


def pickled(protocol: int) -> Callable[[Copied], Copied]:
    return lambda value: pickle.loads(pickle.dumps(value, protocol))  # noqa: S301  # our own


# Protocols 0 and 1 are those of Python 2, which cannot pickle anything with slots.
WAYS = [copy.copy, copy.deepcopy, *map(pickled, range(2, pickle.HIGHEST_PROTOCOL + 1))]


def test_the_marks_are_the_numbers_of_table_1_and_two_more() -> None:
    numbers = {mark.name: int(mark) for mark in WindowMark}
    assert numbers == {"DISALLOW": 0, "INSIDE": -1, "CLOSE": -2, "ABORT": -3}


@pytest.mark.parametrize("way", WAYS)
def test_a_mark_stays_itself_when_it_is_copied(way: Callable[[WindowMark], WindowMark]) -> None:
    assert all(way(mark) is mark for mark in WindowMark)


def test_the_end_of_a_window_is_a_number() -> None:
    mark = WindowEnd(4.5, start=1, last=4)
    assert mark == 4.5
    assert hash(mark) == hash(4.5)
    assert 4.0 < mark < 5
    assert type(mark + 1) is float
    assert isinstance(mark, float)


def test_the_end_of_a_window_knows_its_start_and_its_last_tick() -> None:
    mark = WindowEnd(4, start=1, last=3)
    assert (mark.start, mark.last, mark.earlier) == (1.0, 3.0, ())
    assert type(mark.start) is type(mark.last) is float


def test_by_default_a_window_lasts_to_its_end_and_its_start_is_unknown() -> None:
    mark = WindowEnd(4)
    assert (mark.start, mark.last) == (float("-inf"), 4.0)
    assert WindowEnd(4, last=0).last == 0


def test_the_end_of_a_window_takes_no_other_attribute() -> None:
    with pytest.raises(AttributeError):
        WindowEnd(4).beginning = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("end", [-3.0, -1.0, 0.0, 4.5])
def test_the_end_of_a_window_keeps_what_it_knows(
    way: Callable[[WindowEnd], WindowEnd], end: float
) -> None:
    earlier = WindowEnd(end - 1, start=-8, last=end - 1.5)
    copied = way(WindowEnd(end, start=-7, last=end - 0.5, earlier=(earlier,)))
    assert type(copied) is WindowEnd
    assert (copied, copied.start, copied.last) == (end, -7, end - 0.5)
    assert type(copied.earlier[0]) is WindowEnd
    assert (copied.earlier, copied.earlier[0].last) == ((end - 1,), end - 1.5)


@pytest.mark.parametrize("mark", WindowMark)
def test_the_end_of_a_window_is_no_mark_even_where_it_is_the_same_number(mark: WindowMark) -> None:
    end = WindowEnd(mark)
    assert end == float(mark)
    assert hash(end) == hash(mark)
    assert not isinstance(end, WindowMark)
    assert not isinstance(mark, WindowEnd | float)
    # So a tuple tells which it has, although tuples with the one and the other are equal.
    assert isinstance(WindowTuple(Update("IBM", 24.0, -4.0), end).mark, WindowEnd)


def test_a_tuple_has_the_key_of_its_update() -> None:
    assert WindowTuple(Update("IBM", 24.0, 1.0), WindowMark.INSIDE).key == "IBM"
    assert WindowTuple(None, WindowMark.CLOSE).key is None


@pytest.mark.parametrize("mark", [WindowMark.CLOSE, WindowMark.ABORT])
def test_an_ending_equals_the_bare_mark_and_has_a_key(mark: WindowMark) -> None:
    ending, bare = WindowEnding.of("IBM", mark), WindowTuple(None, mark)
    assert ending == bare
    assert hash(ending) == hash(bare)
    assert tuple(ending) == (None, mark)
    assert isinstance(ending, WindowTuple)
    assert (ending.key, WindowEnding.of("MSFT", mark).key) == ("IBM", "MSFT")


@pytest.mark.parametrize("way", WAYS)
def test_an_ending_keeps_its_key(way: Callable[[WindowTuple], WindowTuple]) -> None:
    copied = way(WindowEnding.of(("IBM", 1), WindowMark.CLOSE))
    assert type(copied) is WindowEnding
    assert copied == WindowTuple(None, WindowMark.CLOSE)
    assert copied.mark is WindowMark.CLOSE
    assert copied.key == ("IBM", 1)


def test_a_result_says_which_window_it_is_of() -> None:
    result = WindowResult("IBM", 1.0, 4.0, 72)
    assert (result.key, result.start, result.end, result.value) == ("IBM", 1.0, 4.0, 72)
