"""Each callback is called once."""

from __future__ import annotations

from api.wake_list import WakeList


def test_each_is_called_once_in_the_order_in_which_they_came() -> None:
    woken: list[str] = []

    def first() -> None:
        woken.append("first")

    def second() -> None:
        woken.append("second")

    wakes = WakeList()
    wakes.add(second)
    wakes.add(first)
    wakes.add(second)
    assert len(wakes) == 2
    wakes.wake_all()
    wakes.wake_all()
    assert woken == ["second", "first"]


def test_a_callback_may_add_itself_again_while_it_is_called() -> None:
    calls: list[int] = []
    wakes = WakeList()

    def again() -> None:
        calls.append(len(calls))
        wakes.add(again)

    wakes.add(again)
    wakes.wake_all()
    assert calls == [0]
    wakes.wake_all()
    assert calls == [0, 1]


def test_a_removed_callback_is_not_called() -> None:
    wakes = WakeList()

    def never() -> None:
        raise AssertionError

    wakes.add(never)
    wakes.remove(never)
    wakes.remove(never)
    wakes.wake_all()
