"""What goes to the front and what to the back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from upstream.queries.partials.kernels import GREATEST_INTEGER
from upstream.queries.partials.live_rows import LiveRows
from upstream.queries.partials.stacked_state import StackedState
from upstream.queries.partials.two_stacks import StackedPart, TwoStacks


class OneGroup:
    """The greatest of one group in a window of steps, with the number of rebuilds."""

    def __init__(self) -> None:
        self.rebuilds = 0
        self.live = LiveRows()
        self._state = StackedState(GREATEST_INTEGER, [pa.int64()])
        self.stacks = TwoStacks([self._state])
        self.steps: list[tuple[int, list[StackedPart]]] = []

    def part(self, value: int) -> StackedPart:
        return StackedPart(np.array([0]), [self._state.read([pa.array([value])])])

    def enter(self, step: int, value: int) -> None:
        part = self.part(value)
        rows = self.live.enter(part.places)
        self.stacks.enter(part, rows, self.live)
        for held, parts in self.steps:
            if held == step:
                parts.append(part)
                return
        self.steps.append((step, [part]))
        self.steps.sort(key=lambda held: held[0])

    def leave(self) -> None:
        _, parts = self.steps.pop(0)
        for part in parts:
            self.stacks.leave(part, self.live.leave(part.places))

    def greatest(self) -> int:
        if self.stacks.is_broken:
            self.rebuilds += 1
            newest_first = [part for _, parts in reversed(self.steps) for part in reversed(parts)]
            self.stacks.rebuild(newest_first, self.live)
        [column] = self.stacks.columns(self.live)
        value: int = column[0].as_py()
        return value


def test_the_stacks_are_rebuilt_once_a_window() -> None:
    group = OneGroup()
    values = np.random.default_rng(5).integers(0, 100, 1_000).tolist()
    for step, value in enumerate(values):
        group.enter(step, value)
        if step >= 64:
            group.leave()
        assert group.greatest() == max(values[max(0, step - 63) : step + 1])
    assert group.rebuilds <= 1_000 / 64 + 1


def test_what_leaves_the_front_uncovers_what_came_after_it() -> None:
    group = OneGroup()
    for step in range(9):
        group.enter(step, 10 - step)
    seen = []
    for _ in range(8):
        group.leave()
        seen.append(group.greatest())
    assert seen == [9, 8, 7, 6, 5, 4, 3, 2]
    assert group.rebuilds == 1


def test_a_late_value_costs_a_rebuild_only_when_it_leaves() -> None:
    group = OneGroup()
    for step in range(9):
        group.enter(step, step)
    group.leave()
    assert (group.greatest(), group.rebuilds) == (8, 1)
    group.enter(3, 70)
    for _ in range(2):
        assert group.greatest() == 70
        group.leave()
    assert (group.greatest(), group.rebuilds) == (70, 1)
    group.leave()
    assert (group.greatest(), group.rebuilds) == (8, 2)


def test_parts_that_are_joined_leave_as_one() -> None:
    group = OneGroup()
    for step in (0, 1, 1, 2, 3, 4):
        group.enter(step, 10 - step)
    group.leave()
    assert group.greatest() == 9
    joined = group.part(9)
    _, parts = group.steps[0]
    group.stacks.join(parts, joined)
    group.live.leave(joined.places)
    parts[:] = [joined]
    assert group.greatest() == 9
    group.leave()
    assert group.greatest() == 8


def test_values_that_do_not_fit_are_counted_while_they_are_in_the_window() -> None:
    group = OneGroup()
    group.enter(0, 1)
    group.steps[0][1][0].is_exact = False
    large = group.part(2)
    large.is_exact = False
    group.stacks.enter(large, group.live.enter(large.places), group.live)
    assert not group.stacks.is_exact
    group.stacks.leave(large, group.live.leave(large.places))
    assert group.stacks.is_exact
