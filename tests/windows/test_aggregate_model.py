"""The operator against a plain model, and in append style against lists of what is in windows."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from upstream import Update
from upstream.updates import Key
from upstream.windows import (
    Aggregate,
    WindowEnd,
    WindowEnding,
    WindowMark,
    WindowResult,
    WindowSpecification,
    WindowTuple,
)

INSIDE, DISALLOW = WindowMark.INSIDE, WindowMark.DISALLOW
CLOSE, ABORT = WindowMark.CLOSE, WindowMark.ABORT


def at(time: float, mark: float, value: object, key: Key) -> WindowTuple:
    return WindowTuple(Update(key, value, time), mark)


# Any sequence of tuples and endings


@dataclass
class ModelWindow:
    start: float
    end: float
    last: float
    values: list[object] = field(default_factory=list)


class Model:
    """The rules of `process` as they are told, with lists, and nothing optimised."""

    def __init__(self) -> None:
        self.windows: defaultdict[Key, list[ModelWindow]] = defaultdict(list)
        self.newest_key: Key = None
        self.steps = 0

    def process(self, window_tuple: WindowTuple) -> WindowResult | None:
        update, mark = window_tuple
        if update is None:
            bare = type(window_tuple) is WindowTuple
            key = self.newest_key if bare else window_tuple.key
            windows = self.windows[key]
            oldest = windows.pop(0) if windows else None
            return self.result(key, oldest) if mark == CLOSE else None
        self.newest_key = update.key
        windows, time = self.windows[update.key], update.time
        complete = windows.pop(0) if windows and windows[0].end <= time else None
        if isinstance(mark, WindowEnd):
            for end in (*mark.earlier, mark):
                start = time if end.start == -math.inf else end.start
                windows.append(ModelWindow(start, float(end), end.last))
        elif mark > 0:
            windows.append(ModelWindow(time, mark, mark))
        for window in windows:
            if window.start <= time < window.end:
                window.values.append(update.value)
                self.steps += 1
        if complete is None and windows and windows[0].last <= time:
            complete = windows.pop(0)
        return self.result(update.key, complete)

    def result(self, key: Key, window: ModelWindow | None) -> WindowResult | None:
        if window is None:
            return None
        return WindowResult(key, window.start, window.end, window.values)


KEYS = st.sampled_from(["IBM", "MSFT", None])


@st.composite
def marks(draw: st.DrawFn, time: int) -> float:
    """Draw any mark that a tuple at `time` can have."""
    kind = draw(st.sampled_from(["inside", "end", "number"]))
    if kind == "end":
        ends = sorted(draw(st.lists(st.integers(time + 1, time + 6), min_size=1, max_size=3)))
        starts = st.integers(time - 3, time) | st.just(-math.inf)
        tick = draw(st.integers(0, 2))
        made = [WindowEnd(end, start=draw(starts), last=end - tick) for end in ends]
        newest = made.pop()
        return WindowEnd(newest, start=newest.start, last=newest.last, earlier=tuple(made))
    if kind == "number" and time >= 0:
        return time + draw(st.integers(1, 6) | st.sampled_from([0.5, 1.0, 2.0]))
    return draw(st.sampled_from([INSIDE, DISALLOW, -1, 0]))


@st.composite
def sequences(draw: st.DrawFn) -> list[WindowTuple]:
    """Draw tuples of times that mostly grow, from below zero, and endings among them."""
    tuples, time = [], -6
    for value in range(draw(st.integers(1, 30))):
        time += draw(st.sampled_from([0, 1, 1, 1, 2, 5, -1]))
        if draw(st.integers(0, 4)):
            tuples.append(at(time, draw(marks(time)), value, draw(KEYS)))
            continue
        mark = draw(st.sampled_from([CLOSE, ABORT]))
        bare = WindowTuple(None, mark)
        tuples.append(draw(st.just(bare) | st.builds(WindowEnding.of, KEYS, st.just(mark))))
    return tuples


@given(sequences())
def test_random_sequences_are_processed_as_a_plain_model_does(tuples: list[WindowTuple]) -> None:
    aggregate, total, model = Aggregate(list), Aggregate("sum"), Model()
    for window_tuple in tuples:
        expected = model.process(window_tuple)
        assert aggregate.process(window_tuple) == expected
        summed = total.process(window_tuple)
        if expected is None:
            assert summed is None
        else:
            assert isinstance(expected.value, list)
            assert summed == expected._replace(value=sum(expected.value))
        aggregate._check()
        assert aggregate.open_windows == sum(map(len, model.windows.values()))
        assert aggregate.steps == total.steps == model.steps


# Append style: every window is processed


def in_append_style(
    windows: WindowSpecification, times: list[tuple[Key, float]]
) -> tuple[list[WindowTuple], dict[tuple[Key, int], list[object]]]:
    """Return the tuples of all windows, closed in time, and what is in each of these windows."""
    lists: dict[tuple[Key, int], list[object]] = {}
    still_open: defaultdict[Key, list[int]] = defaultdict(list)
    tuples: list[WindowTuple] = []
    for value, (key, time) in enumerate(times):
        indices = still_open[key]
        while indices and windows.end(indices[0]) <= time:
            indices.pop(0)
            tuples.append(WindowEnding.of(key, CLOSE))
        fresh = [index for index in windows.holding(time) if index not in indices]
        indices += fresh
        tuples.append(at(time, mark_of(windows, fresh), value, key))
        for index in indices:
            lists.setdefault((key, index), []).append(value)
    tuples += [WindowEnding.of(key, CLOSE) for key in still_open for _ in still_open[key]]
    return tuples, lists


def mark_of(windows: WindowSpecification, indices: list[int]) -> float:
    if not indices:
        return INSIDE
    ends = [WindowEnd(windows.end(index), start=windows.start(index)) for index in indices]
    return WindowEnd(ends[-1], start=ends[-1].start, earlier=tuple(ends[:-1]))


@given(
    size=st.integers(1, 6),
    slide=st.integers(1, 6),
    steps=st.lists(
        st.tuples(st.sampled_from(["IBM", "MSFT"]), st.sampled_from([0, 0.5, 1, 1, 2, 9]))
    ),
)
def test_in_append_style_each_window_has_the_values_of_its_time(
    size: int, slide: int, steps: list[tuple[Key, float]]
) -> None:
    windows = WindowSpecification(size=size, slide=slide)
    time, times = -4.0, []
    for key, step in steps:
        time += step
        times.append((key, time))
    tuples, lists = in_append_style(windows, times)
    aggregate = Aggregate(list)
    results = [aggregate.process(window_tuple) for window_tuple in tuples]
    found = {(each.key, each.start, each.end): each.value for each in results if each is not None}
    expected = {
        (key, windows.start(index), windows.end(index)): values
        for (key, index), values in lists.items()
    }
    assert found == expected
    for (_, start, end), values in found.items():
        assert isinstance(values, list)
        assert all(start <= times[value][1] < end for value in values)
    assert aggregate.steps == sum(map(len, lists.values()))
    assert aggregate.open_windows == 0


def test_in_append_style_a_tuple_costs_a_step_for_each_window_it_is_in() -> None:
    # time    0---1---2---3---4---5
    # first   [           )
    # second      [           )
    # third           [           )
    # open    1   2   3   3   3   3
    windows = WindowSpecification(size=3, slide=1)
    aggregate = Aggregate("count")
    costs = []
    for time in range(6):
        if time >= 3:
            aggregate.process(WindowEnding.of("IBM", CLOSE))
        before = aggregate.steps
        aggregate.process(at(time, WindowEnd(windows.end(time), start=time), 1, "IBM"))
        costs.append(aggregate.steps - before)
    assert costs == [1, 2, 3, 3, 3, 3]
