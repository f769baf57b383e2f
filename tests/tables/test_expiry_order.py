"""Groups in the order of their last arrival, against a dict of arrivals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.tables import expiry_order
from upstream.tables.expiry_order import ExpiryOrder


def array(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def renewed(order: ExpiryOrder, groups: list[int], arrival: float) -> None:
    order.make_room(max(groups, default=0) + 1)
    order.renewal(array(groups), np.full(len(groups), arrival))()


def test_a_group_is_due_so_long_after_its_last_arrival() -> None:
    order = ExpiryOrder(10)
    assert order.first_due() is None
    renewed(order, [0, 1, 0], 1.0)
    renewed(order, [2], 2.0)
    renewed(order, [0], 3.0)
    assert order.first_due() == 11.0
    assert order.due(10.5).tolist() == []
    assert order.due(12.0).tolist() == [1, 2]
    order.removal(array([1, 2]))()
    assert order.first_due() == 13.0


def test_nothing_changes_before_the_change_is_made() -> None:
    order = ExpiryOrder(10)
    renewed(order, [0, 1], 1.0)
    order.renewal(array([0]), np.array([5.0]))
    order.removal(array([1]))
    assert order.due(11.0).tolist() == [0, 1]
    order._check()


def test_an_arrival_does_not_go_back() -> None:
    order = ExpiryOrder(10)
    renewed(order, [0], 2.0)
    renewed(order, [1], 1.0)
    assert order.due(11.9).tolist() == []
    assert order.due(12.0).tolist() == [0, 1]


def test_its_memory_is_that_of_the_groups_that_wait() -> None:
    order = ExpiryOrder(10)
    for moment in range(5_000):
        renewed(order, [moment % 3], float(moment))
        order.due(float(moment))
    assert len(order._groups) < 5_000
    assert sorted(order.due(6_000.0).tolist()) == [0, 1, 2]


ACTIONS = st.lists(
    st.tuples(st.lists(st.integers(0, 6), max_size=5), st.integers(0, 3), st.booleans()),
    max_size=15,
)


@pytest.mark.parametrize("slack", [0, 1024])
@given(actions=ACTIONS)
def test_it_is_a_dict_of_the_last_arrivals(
    slack: int, actions: list[tuple[list[int], int, bool]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expiry_order, "_SLACK", slack)
        patch.setattr(expiry_order, "_AT_ONCE", 2)
        order, model, now = ExpiryOrder(4), dict[int, float](), 0.0
        for groups, wait, is_renumbered in actions:
            now += wait
            due = order.due(now).tolist()
            assert sorted(due) == sorted(g for g, at in model.items() if at + 4 <= now)
            order.removal(array(due))()
            model = {group: at for group, at in model.items() if group not in due}
            renewed(order, groups, now)
            model |= dict.fromkeys(groups, now)
            assert order.first_due() == min((at + 4 for at in model.values()), default=None)
            if is_renumbered:
                known = sorted(model)
                numbers = [len(known) - 1 - i for i in range(len(known))]
                order = order.renumbered(array(known), array(numbers), 7)
                model = {n: model[group] for group, n in zip(known, numbers, strict=True)}
            order._check()
