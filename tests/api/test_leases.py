"""A dequeued update waits again, unless it is delivered before its lease runs out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.leases import Leases
from upstream import Update

IBM, GM = Update("IBM", b"1", 0.0), Update("GM", b"2", 0.0)


class Returned:
    def __init__(self) -> None:
        self.updates: list[Update] = []
        self.leases = Leases(10.0, give_back=self.updates.append, most=1_000)


@pytest.fixture
def returned() -> Returned:
    return Returned()


def test_a_lease_that_is_ended_does_not_run_out(returned: Returned) -> None:
    leases = returned.leases
    first, second = leases.grant([IBM, GM], now=0.0)
    assert leases.end(first) is IBM
    assert leases.end(first) is None
    assert leases.expire(100.0) == 1
    assert returned.updates == [GM]
    assert leases.end(second) is None
    leases._check()


def test_leases_run_out_at_their_time_and_not_before(returned: Returned) -> None:
    leases = returned.leases
    leases.grant([IBM], now=0.0)
    leases.grant([GM], now=5.0)
    assert leases.next_due() == 10.0
    assert leases.expire(9.999) == 0
    assert leases.expire(10.0) == 1
    assert leases.next_due() == 15.0
    assert len(leases) == 1


def test_no_two_leases_have_the_same_name_whichever_queue_they_are_of(returned: Returned) -> None:
    names = returned.leases.grant([IBM] * 100, now=0.0)
    others = Returned().leases.grant([IBM] * 100, now=0.0)
    assert len({*names, *others}) == 200


def test_the_leases_of_a_key_are_found(returned: Returned) -> None:
    leases = returned.leases
    first, _, second = leases.grant([IBM, GM, IBM], now=0.0)
    assert leases.of_key("IBM") == [first, second]
    leases.end(first)
    assert leases.of_key("IBM") == [second]
    assert leases.of_key("MSFT") == []


def test_a_lease_that_did_not_run_out_does_so_when_it_may(returned: Returned) -> None:
    leases = returned.leases
    names = leases.grant([IBM, GM], now=0.0, expires=False)
    assert leases.next_due() == math.inf
    assert leases.expire(1e9) == 0
    leases.end(names[0])
    leases.let_expire(names, now=4.0)
    assert leases.next_due() == 10.0
    assert leases.expire(9.0) == 0
    assert leases.expire(10.0) == 1
    assert returned.updates == [GM]


def test_one_that_may_run_out_late_is_given_back_at_once(returned: Returned) -> None:
    names = returned.leases.grant([IBM], now=0.0, expires=False)
    returned.leases.let_expire(names, now=30.0)
    assert returned.leases.expire(30.0) == 1


def test_the_oldest_leases_end_beyond_the_most(returned: Returned) -> None:
    leases = Leases(10.0, give_back=returned.updates.append, most=2)
    names = leases.grant([IBM, GM, IBM], now=0.0)
    assert [lease.name for lease in leases] == names[1:]
    assert returned.updates == []


def test_the_entries_of_ended_leases_are_bounded(returned: Returned) -> None:
    leases = returned.leases
    leases.grant([GM], now=0.0)
    for second in range(1_000):
        (name,) = leases.grant([IBM], now=float(second) / 1e3)
        leases.end(name)
        leases._check()


def test_cleared_leases_never_run_out(returned: Returned) -> None:
    returned.leases.grant([IBM], now=0.0)
    returned.leases.clear()
    assert returned.leases.expire(1e9) == 0
    returned.leases._check()


@given(st.lists(st.sampled_from(["grant", "keep", "end", "expire", "release"]), max_size=60))
def test_every_update_is_ended_or_given_back_once(actions: list[str]) -> None:
    returned = Returned()
    leases = returned.leases
    ended, granted, now = [], 0, 0.0
    held: list[str] = []
    for action in actions:
        now += 3.0
        match action:
            case "grant" | "keep":
                update = Update(granted % 3, b"", float(granted))
                held += leases.grant([update], now=now, expires=action == "grant")
                granted += 1
            case "end" if held:
                update_or_none = leases.end(held.pop(0))
                ended += [] if update_or_none is None else [update_or_none]
            case "release" if held:
                leases.let_expire([held.pop()], now)
            case _:
                leases.expire(now)
        leases._check()
    leases.let_expire([lease.name for lease in leases], now)
    leases.expire(now + 1e6)
    times = sorted(update.time for update in [*ended, *returned.updates])
    assert times == [float(number) for number in range(granted)]
