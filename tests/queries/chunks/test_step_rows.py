"""Rows of steps are fed once, and held for no longer than they can be asked for."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from upstream.queries.chunks.step_rows import StepRows

SCHEMA = pa.schema([("x", pa.int64())])


def rows(*numbers: int) -> pa.Table:
    return pa.table({"x": numbers}, SCHEMA)


def fed(held: StepRows, end: int) -> list[tuple[int, list[int]]]:
    return [(step, table["x"].to_pylist()) for step, table in held.feed(end)]


def test_rows_are_fed_once_by_step_and_in_the_order_in_which_they_came() -> None:
    held = StepRows(SCHEMA, keeps=False)
    held.add(2, rows(1, 2))
    held.add(1, rows(3))
    held.add(2, rows(4))
    held.add(5, rows(5))
    assert fed(held, 3) == [(1, [3]), (2, [1, 2, 4])]
    assert fed(held, 3) == []
    assert fed(held, 6) == [(5, [5])]


def test_what_is_fed_is_let_go_at_once() -> None:
    held = StepRows(SCHEMA, keeps=False)
    held.add(1, rows(1, 2))
    held.add(2, rows(3))
    fed(held, 2)
    assert held.rows == 1
    assert held.between(0, 9)["x"].to_pylist() == [3]


def test_what_is_kept_is_there_also_when_it_was_fed() -> None:
    held = StepRows(SCHEMA, keeps=True)
    held.add(2, rows(3))
    held.add(1, rows(1, 2))
    assert fed(held, 9) == [(1, [1, 2]), (2, [3])]
    assert held.between(1, 3)["x"].to_pylist() == [1, 2, 3]
    assert held.count_between(1, 2) == 2
    held.add(1, rows(4))
    assert held.unfed_rows(1) == 1
    assert fed(held, 9) == [(1, [4])]


def test_what_was_kept_is_let_go_when_it_need_not_be_but_for_what_is_not_fed() -> None:
    held = StepRows(SCHEMA, keeps=True)
    held.add(1, rows(1, 2))
    fed(held, 9)
    held.add(1, rows(3))
    held.add(2, rows(4))
    held.let_go()
    assert held.rows == 2
    assert fed(held, 9) == [(1, [3]), (2, [4])]
    assert held.rows == 0


@pytest.mark.parametrize("keeps", [True, False])
def test_steps_that_are_forgotten_are_not_fed_either(keeps: bool) -> None:
    held = StepRows(SCHEMA, keeps=keeps)
    held.add(1, rows(1))
    held.add(3, rows(2))
    held.forget(3)
    assert held.rows == 1
    assert fed(held, 9) == [(3, [2])]


def test_no_rows_have_the_schema_all_the_same() -> None:
    assert StepRows(SCHEMA, keeps=True).between(0, 9).schema == SCHEMA


class StepRowsMachine(RuleBasedStateMachine):
    """Step rows beside a plain list of (step, row, whether it was fed)."""

    def __init__(self) -> None:
        super().__init__()
        self.held = StepRows(SCHEMA, keeps=True)
        self.keeps = True
        self.model: list[tuple[int, int, bool]] = []
        self.count = 0

    @rule(step=st.integers(-3, 6), count=st.integers(1, 3))
    def add(self, step: int, count: int) -> None:
        numbers = range(self.count, self.count + count)
        self.count += count
        self.held.add(step, rows(*numbers))
        self.model += [(step, number, False) for number in numbers]

    @rule(end=st.integers(-4, 8))
    def feed(self, end: int) -> None:
        due = [(step, number) for step, number, is_fed in self.model if step < end and not is_fed]
        found = [(step, number) for step, numbers in fed(self.held, end) for number in numbers]
        assert found == sorted(due)
        self.model = [
            (step, number, is_fed or step < end)
            for step, number, is_fed in self.model
            if self.keeps or not (step < end)
        ]

    @rule(before=st.integers(-4, 4))
    def forget(self, before: int) -> None:
        self.held.forget(before)
        self.model = [each for each in self.model if each[0] >= before]

    @rule()
    def let_go(self) -> None:
        self.held.let_go()
        self.keeps = False
        self.model = [each for each in self.model if not each[2]]

    @invariant()
    def what_is_held_is_what_can_be_asked_for(self) -> None:
        assert self.held.rows == len(self.model)
        expected = sorted((step, number) for step, number, _ in self.model if 0 <= step < 3)
        assert self.held.between(0, 3)["x"].to_pylist() == [number for _, number in expected]
        assert self.held.count_between(0, 3) == len(expected)
        unfed = sum(step == 1 and not is_fed for step, _, is_fed in self.model)
        assert self.held.unfed_rows(1) == unfed


TestStepRows = StepRowsMachine.TestCase
