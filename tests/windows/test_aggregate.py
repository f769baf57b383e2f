"""The operator does what Table 1 says, and what is said beyond it, for each mark by itself."""

from __future__ import annotations

import gc
import math
import statistics
import weakref
from collections.abc import Callable
from decimal import Decimal
from typing import ClassVar

import pytest

from upstream import Update
from upstream.errors import ParameterError
from upstream.updates import Key
from upstream.windows import (
    Aggregate,
    WindowEnd,
    WindowEnding,
    WindowMark,
    WindowResult,
    WindowTuple,
)

INSIDE, DISALLOW = WindowMark.INSIDE, WindowMark.DISALLOW
CLOSE, ABORT = WindowMark.CLOSE, WindowMark.ABORT


def at(time: float, mark: float = INSIDE, value: object = 1, key: Key = "IBM") -> WindowTuple:
    return WindowTuple(Update(key, value, time), mark)


def processed(aggregate: Aggregate, *tuples: WindowTuple) -> list[tuple[float, float, object]]:
    """Return start, end and value of the results."""
    results = [aggregate.process(window_tuple) for window_tuple in tuples]
    aggregate._check()
    return [(each.start, each.end, each.value) for each in results if each is not None]


def contents() -> Aggregate:
    """Return an operator whose results are the lists of the windows' values."""
    return Aggregate(list)


# Table 1, row by row


@pytest.fixture
def aggregate() -> Aggregate:
    return contents()


def test_a_number_above_zero_opens_a_window_from_the_tuple_to_that_number() -> None:
    # time    1---2---3---4
    # window  [           )
    aggregate = contents()
    aggregate.process(at(1, 4, "a"))
    assert aggregate.open_windows == 1
    assert processed(aggregate, at(2, value="b"), at(3, value="c")) == []
    assert aggregate.process(at(4)) == WindowResult("IBM", 1.0, 4.0, ["a", "b", "c"])
    assert aggregate.open_windows == 0


@pytest.mark.parametrize("mark", [DISALLOW, 0, 0.0, INSIDE, -1, -1.0])
def test_disallow_and_inside_update_what_is_open_and_open_nothing(mark: float) -> None:
    aggregate = contents()
    assert processed(aggregate, at(0, mark, "a")) == []
    assert aggregate.open_windows == aggregate.steps == 0
    assert processed(aggregate, at(1, 3, "b"), at(2, mark, "c"), at(3, mark, "d")) == [
        (1, 3, ["b", "c"])
    ]
    assert aggregate.open_windows == 0
    assert aggregate.steps == 2


@pytest.mark.parametrize("mark", [DISALLOW, INSIDE, 0, -1, 9.0, WindowEnd(9)])
def test_a_tuple_at_the_end_completes_the_window_whatever_its_mark_is(mark: float) -> None:
    aggregate = contents()
    assert processed(aggregate, at(1, 3, "a"), at(3, mark, "b")) == [(1, 3, ["a"])]
    assert aggregate.open_windows == (mark > 0)


def test_a_tuple_beyond_the_end_completes_the_window_too() -> None:
    assert processed(contents(), at(1, 3, "a"), at(7.5)) == [(1, 3, ["a"])]


def test_a_tuple_can_complete_one_window_and_open_the_next(aggregate: Aggregate) -> None:
    # time    0---1---2---3---4
    # windows [       )[      )
    tuples = [at(time, time + 2 if time % 2 == 0 else INSIDE, time) for time in (0, 1, 2, 3, 4)]
    assert processed(aggregate, *tuples) == [(0, 2, [0, 1]), (2, 4, [2, 3])]
    assert aggregate.open_windows == 1


# What a WindowEnd says beyond Table 1


def test_a_window_starts_where_its_mark_says(aggregate: Aggregate) -> None:
    assert processed(aggregate, at(1.5, WindowEnd(3, start=1)), at(3)) == [(1, 3, [1])]
    assert processed(aggregate, at(4.5, WindowEnd(6)), at(6)) == [(4.5, 6, [1])]


def test_the_tuple_in_the_last_tick_completes_the_window_and_is_in_it(aggregate: Aggregate) -> None:
    mark = WindowEnd(4, start=1, last=3)
    tuples = at(1, mark, "a"), at(2, value="b"), at(3, value="c"), at(4, value="d")
    assert processed(aggregate, *tuples) == [(1, 4, ["a", "b", "c"])]
    assert aggregate.steps == 3


def test_a_window_of_one_tick_is_complete_with_the_tuple_that_opens_it() -> None:
    aggregate = contents()
    assert processed(aggregate, at(1, WindowEnd(2, start=1, last=1), "a")) == [(1, 2, ["a"])]
    assert aggregate.open_windows == 0


def test_a_tuple_after_the_last_tick_is_in_the_window_if_it_is_before_the_end() -> None:
    aggregate = contents()
    mark = WindowEnd(4, start=1, last=3)
    assert processed(aggregate, at(1, mark, "a"), at(3.5, value="b")) == [(1, 4, ["a", "b"])]


def test_a_last_tick_after_the_end_is_the_end(aggregate: Aggregate) -> None:
    assert processed(aggregate, at(1, WindowEnd(4, last=9)), at(3)) == []
    assert processed(aggregate, at(4)) == [(1, 4, [1, 1])]


def test_ends_of_0_and_minus_1_open_windows_of_negative_times(aggregate: Aggregate) -> None:
    # time   -3---2---1---0
    # first   [       )
    # second      [       )
    tuples = (
        at(-3, WindowEnd(-1, start=-3), "a"),
        at(-2, WindowEnd(0, start=-2), "b"),
        at(-1, INSIDE, "c"),
        at(0, INSIDE, "d"),
    )
    assert processed(aggregate, *tuples[:2]) == []
    assert aggregate.open_windows == 2
    assert processed(aggregate, *tuples[2:]) == [(-3, -1, ["a", "b"]), (-2, 0, ["b", "c"])]


def test_one_tuple_opens_several_windows_the_earlier_ones_first(aggregate: Aggregate) -> None:
    earlier = WindowEnd(3, start=0), WindowEnd(4, start=1)
    assert processed(aggregate, at(2, WindowEnd(5, start=2, earlier=earlier), "a")) == []
    assert aggregate.open_windows == aggregate.steps == 3
    tuples = at(3, value="b"), at(4, value="c"), at(5, value="d")
    expected = [(0, 3, ["a"]), (1, 4, ["a", "b"]), (2, 5, ["a", "b", "c"])]
    assert processed(aggregate, *tuples) == expected


@pytest.mark.parametrize(
    "mark",
    [
        *(1, 0.5, float("nan"), WindowEnd(1), WindowEnd(0), WindowEnd(9, start=2)),
        WindowEnd(9, start=0, earlier=(WindowEnd(1, start=0),)),
    ],
)
def test_a_window_that_does_not_hold_its_tuple_is_an_error(mark: float) -> None:
    aggregate = contents()
    aggregate.process(at(0, 3, "a"))
    with pytest.raises(ParameterError):
        aggregate.process(at(1, mark, "b"))
    assert processed(aggregate, at(3)) == [(0, 3, ["a"])]


# Windows that end without a tuple


def test_close_completes_the_oldest_open_window_of_its_key(aggregate: Aggregate) -> None:
    processed(aggregate, at(0, WindowEnd(3), "a"), at(1, WindowEnd(4), "b"))
    close = WindowEnding.of("IBM", CLOSE)
    assert processed(aggregate, close) == [(0, 3, ["a", "b"])]
    assert processed(aggregate, at(2, value="c"), close) == [(1, 4, ["b", "c"])]
    assert aggregate.process(close) is None


def test_abort_ends_the_oldest_open_window_of_its_key_without_a_result() -> None:
    aggregate = contents()
    processed(aggregate, at(0, WindowEnd(3), "a"), at(1, WindowEnd(4), "b"))
    abort = WindowEnding.of("IBM", ABORT)
    assert aggregate.process(abort) is None
    assert processed(aggregate, at(4)) == [(1, 4, ["b"])]
    assert aggregate.process(abort) is None
    assert aggregate.open_windows == 0


def test_an_ending_is_about_its_own_key(aggregate: Aggregate) -> None:
    processed(aggregate, at(0, 3, "a", "IBM"), at(0, 3, "b", "MSFT"))
    result = aggregate.process(WindowEnding.of("IBM", CLOSE))
    assert result == WindowResult("IBM", 0.0, 3.0, ["a"])
    assert aggregate.process(WindowEnding.of("ORCL", CLOSE)) is None
    assert aggregate.process(WindowEnding.of("IBM", ABORT)) is None
    assert aggregate.open_windows == 1


def test_a_bare_ending_is_about_the_key_of_the_last_tuple(aggregate: Aggregate) -> None:
    bare = WindowTuple(None, CLOSE)
    assert aggregate.process(bare) is None
    processed(aggregate, at(0, 3, "a", "IBM"), at(0, 3, "b", "MSFT"))
    for last in (at(1, INSIDE, "c", "IBM"), at(0, 3, "d", "IBM")):
        aggregate.process(last)
    assert aggregate.process(bare) == WindowResult("IBM", 0.0, 3.0, ["a", "c", "d"])
    aggregate.process(at(1, INSIDE, "e", "ORCL"))
    assert aggregate.process(bare) is None
    aggregate.process(at(1, INSIDE, "f", "MSFT"))
    assert aggregate.process(bare) == WindowResult("MSFT", 0.0, 3.0, ["b", "f"])


def test_the_number_of_a_mark_ends_a_window_as_well(aggregate: Aggregate) -> None:
    processed(aggregate, at(0, 3))
    assert processed(aggregate, WindowTuple(None, -2)) == [(0, 3, [1])]


@pytest.mark.parametrize("mark", [INSIDE, DISALLOW, 4.0, WindowEnd(4), WindowEnd(-2), -4])
def test_an_ending_with_the_mark_of_a_tuple_is_an_error(mark: float) -> None:
    with pytest.raises(ParameterError, match="CLOSE or ABORT"):
        contents().process(WindowTuple(None, mark))


@pytest.mark.parametrize("mark", [CLOSE, ABORT, -2, -0.5])
def test_a_tuple_with_the_mark_of_an_ending_is_an_error(mark: float) -> None:
    with pytest.raises(ParameterError, match="INSIDE"):
        contents().process(at(1, mark))


# Several windows, several keys


def test_if_several_windows_end_at_once_the_following_tuples_emit_the_others() -> None:
    aggregate = contents()
    processed(aggregate, at(0, WindowEnd(3), "a"), at(1, WindowEnd(4), "b"))
    assert processed(aggregate, at(7, 9, "c")) == [(0, 3, ["a", "b"])]
    assert processed(aggregate, at(8, value="d")) == [(1, 4, ["b"])]
    assert processed(aggregate, at(9, value="e")) == [(7, 9, ["c", "d"])]


def test_a_window_is_updated_by_the_tuples_of_its_time_only(aggregate: Aggregate) -> None:
    processed(aggregate, at(2, 5, "a"), at(1, value="too early"), at(2, value="b"))
    processed(aggregate, at(3, WindowEnd(9), "c"), at(2.5, value="d"))
    assert processed(aggregate, at(5)) == [(2, 5, ["a", "b", "c", "d"])]
    assert processed(aggregate, at(9)) == [(3, 9, ["c", 1])]
    assert aggregate.steps == 6


def test_times_in_results_are_floats(aggregate: Aggregate) -> None:
    for mark in (3, WindowEnd(3), WindowEnd(3, start=0)):
        aggregate.process(at(0, mark))
        result = aggregate.process(at(3))
        assert result is not None
        assert type(result.start) is type(result.end) is float


def test_under_update_semantics_a_tuple_costs_one_step() -> None:
    aggregate = Aggregate("count")
    tuples = [at(0, WindowEnd(3)), at(1, DISALLOW), at(2, DISALLOW), at(3, WindowEnd(6)), at(4)]
    assert processed(aggregate, *tuples) == [(0, 3, 3)]
    assert aggregate.steps == 5
    assert aggregate.open_windows == 1


def test_many_keys_are_aggregated_each_by_itself() -> None:
    aggregate = Aggregate("sum")
    results = []
    for time in range(10):
        for key in range(100):
            mark = WindowEnd(time + 3, start=time, last=time + 2) if time % 3 == 0 else INSIDE
            results.append(aggregate.process(at(time, mark, key * time, key)))
    found = [each for each in results if each is not None]
    assert found == [
        WindowResult(key, start, start + 3, key * 3 * (start + 1))
        for start in (0, 3, 6)
        for key in range(100)
    ]
    assert aggregate.open_windows == 100


# Functions


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("count", 3), ("sum", 9), ("min", 1), ("max", 6)),
        *(("mean", 3), ("variance", 7), ("first", 2), ("last", 6)),
    ],
)
def test_a_function_goes_by_its_name(name: str, expected: object) -> None:
    aggregate = Aggregate(name)
    tuples = at(0, 3, 2), at(1, INSIDE, 1), at(2, INSIDE, 6), at(3)
    assert processed(aggregate, *tuples) == [(0, 3, expected)]
    assert aggregate.name == name


def test_builtins_and_other_callables_are_functions() -> None:
    tuples = at(0, 3, 2), at(1, INSIDE, 1), at(2, INSIDE, 6), at(3)
    sums, counts, medians = Aggregate(sum), Aggregate(len), Aggregate(statistics.median)
    assert processed(sums, *tuples) == [(0, 3, 9)]
    assert processed(counts, *tuples) == [(0, 3, 3)]
    assert processed(medians, *tuples) == [(0, 3, 2)]
    assert processed(Aggregate(min), *tuples) + processed(Aggregate(max), *tuples) == [
        (0, 3, 1),
        (0, 3, 6),
    ]
    assert (sums.name, counts.name, medians.name) == ("sum", "count", "median")


class Ordered:
    """Are the values in order? A state of constant size, and a result of another type."""

    def initial(self) -> tuple[bool, float]:
        return True, -math.inf

    def add(self, state: tuple[bool, float], value: float) -> tuple[bool, float]:
        return state[0] and state[1] <= value, value

    def finish(self, state: tuple[bool, float]) -> str:
        return "ordered" if state[0] else "mixed"


def test_a_function_of_the_users_is_computed_incrementally() -> None:
    aggregate = Aggregate(Ordered())
    tuples = at(0, 2, 5), at(1, INSIDE, 6), at(2, 4, 3), at(3, INSIDE, 2), at(4)
    assert processed(aggregate, *tuples) == [(0, 2, "ordered"), (2, 4, "mixed")]
    assert aggregate.name == "Ordered"


def test_of_is_called_once_for_each_aggregated_tuple() -> None:
    asked = []

    def price(trade: dict[str, Decimal]) -> Decimal:
        asked.append(trade)
        return trade["price"]

    # time     0---1---2---3---4
    # earlier  [       )
    # later        [           )
    trades = [{"price": Decimal(number)} for number in (9, 5, 4, 6, 9)]
    aggregate = Aggregate("max", of=price)
    tuples = [at(time, value=trade) for time, trade in enumerate(trades)]
    tuples[1] = at(1, WindowEnd(4, start=1, earlier=(WindowEnd(2, start=0),)), trades[1])
    assert processed(aggregate, *tuples) == [(0, 2, Decimal(5)), (1, 4, Decimal(6))]
    assert asked == trades[1:4]


@pytest.mark.parametrize("wrong", ["average", None, 7])
def test_an_object_that_is_not_a_function_is_an_error(wrong: str) -> None:
    with pytest.raises(ParameterError, match="'variance'"):
        Aggregate(wrong)


def test_of_must_be_callable() -> None:
    with pytest.raises(ParameterError, match="of must be"):
        Aggregate("sum", of="price")  # type: ignore[arg-type]  # the mistake to be found


# Exceptions


def test_a_value_that_cannot_be_added_changes_nothing() -> None:
    aggregate = Aggregate("sum")
    aggregate.process(at(0, 3, 1))
    for mark in (INSIDE, 5, WindowEnd(5)):
        with pytest.raises(TypeError):
            aggregate.process(at(1, mark, "two"))
        aggregate._check()
        assert (aggregate.open_windows, aggregate.steps) == (1, 1)
    assert processed(aggregate, at(2, INSIDE, 4), at(3)) == [(0, 3, 5)]


class AtMostTwo:
    """Fails for a window that has two values, and changes no state."""

    def initial(self) -> tuple[object, ...]:
        return ()

    def add(self, state: tuple[object, ...], value: object) -> tuple[object, ...]:
        if len(state) == 2:
            raise ValueError("too many")
        return (*state, value)

    def finish(self, state: tuple[object, ...]) -> object:
        return state


def test_if_one_of_several_windows_fails_none_is_changed() -> None:
    aggregate = Aggregate(AtMostTwo())
    processed(aggregate, at(2, WindowEnd(9, start=0), "a"), at(2, WindowEnd(8, start=1), "b"))
    # The older window is full, the newer one is not; a further one would be opened.
    with pytest.raises(ValueError, match="too many"):
        aggregate.process(at(2, WindowEnd(9, start=2), "c"))
    assert (aggregate.open_windows, aggregate.steps) == (2, 3)
    close = WindowEnding.of("IBM", CLOSE)
    assert processed(aggregate, close, close) == [(0, 9, ("a", "b")), (1, 8, ("b",))]


def test_if_the_last_of_several_windows_fails_none_is_changed() -> None:
    aggregate = Aggregate(AtMostTwo())
    # The window from 2 on is opened later, and is fuller than the one that is opened first.
    processed(aggregate, at(4, WindowEnd(9, start=4), "a"), at(2, WindowEnd(9, start=2), "b"))
    processed(aggregate, at(3, INSIDE, "c"))
    with pytest.raises(ValueError, match="too many"):
        aggregate.process(at(4, INSIDE, "d"))
    close = WindowEnding.of("IBM", CLOSE)
    assert processed(aggregate, close, close) == [(4, 9, ("a",)), (2, 9, ("b", "c"))]


def test_a_tuple_that_fails_does_not_complete_a_window_either() -> None:
    aggregate = Aggregate("sum", of=float.fromhex)
    aggregate.process(at(0, 3, "1"))
    with pytest.raises(ValueError, match="hexadecimal"):
        aggregate.process(at(3, 6, "g"))
    assert aggregate.open_windows == 1
    assert processed(aggregate, at(4, 6, "2"), at(6)) == [(0, 3, 1.0), (4, 6, 2.0)]


def test_a_window_whose_result_cannot_be_made_is_gone_and_the_tuple_is_processed() -> None:
    aggregate = Aggregate(statistics.stdev)
    aggregate.process(at(0, 3, 1.0))
    with pytest.raises(statistics.StatisticsError):
        aggregate.process(at(3, 6, 2.0))
    assert (aggregate.open_windows, aggregate.steps) == (1, 2)
    assert processed(aggregate, at(4, INSIDE, 2.0), at(6)) == [(3, 6, 0.0)]
    aggregate.process(at(7, 9, 1.0))
    with pytest.raises(statistics.StatisticsError):
        aggregate.process(WindowEnding.of("IBM", CLOSE))
    assert aggregate.open_windows == 0


# Memory


class Watched:
    """A key or value that tells how many of its kind are alive."""

    alive: ClassVar[weakref.WeakSet[Watched]] = weakref.WeakSet()

    def __init__(self) -> None:
        self.alive.add(self)


@pytest.mark.parametrize("ending", [CLOSE, ABORT, 2.0, 3.0])
def test_nothing_is_kept_of_a_key_without_an_open_window(ending: float) -> None:
    aggregate = Aggregate("last")

    def open_and_end_a_window() -> None:
        key = Watched()
        aggregate.process(at(0, WindowEnd(3, last=2), Watched(), key))
        assert aggregate.open_windows == 1
        if isinstance(ending, WindowMark):
            aggregate.process(WindowEnding.of(key, ending))
        else:
            aggregate.process(at(ending, INSIDE, Watched(), key))

    assert kept_after(open_and_end_a_window, aggregate) == 0


@pytest.mark.parametrize("mark", [INSIDE, DISALLOW, 0, -1])
def test_nothing_is_kept_of_a_key_that_never_opened_a_window(mark: float) -> None:
    aggregate = Aggregate("last")

    def come_without_a_window() -> None:
        key = Watched()
        aggregate.process(at(0, mark, Watched(), key))
        aggregate.process(WindowEnding.of(key, CLOSE))

    assert kept_after(come_without_a_window, aggregate) == 0


def kept_after(action: Callable[[], None], aggregate: Aggregate) -> int:
    """Return how many watched objects live after many actions, and a tuple of another key."""
    for _ in range(50):
        action()
    aggregate.process(at(0, INSIDE, None, "the key of the last tuple is remembered"))
    gc.collect()
    aggregate._check()
    assert aggregate.open_windows == 0
    return len(Watched.alive)


def test_only_the_state_of_an_open_window_is_kept() -> None:
    aggregate = Aggregate("last")
    aggregate.process(at(0, 1000, Watched()))
    for time in range(1, 100):
        aggregate.process(at(time, INSIDE, Watched()))
    gc.collect()
    assert len(Watched.alive) == 1
