"""`upstream top`."""

from __future__ import annotations

from upstream import ManualClock
from upstream.cli.top import Look, looks, rates_between, table_of
from upstream.client import Client, Counters, Staleness

from ..client.scripted_service import ScriptedService, answer, problem
from .console import lines_of, output_of


def test_a_table_is_printed_for_each_look(service_url: str, name: str, client: Client) -> None:
    client.create_queue(name)
    client.put(name, "a", 1)
    lines = output_of("top", "--count", "2", "--interval", "0.01", url=service_url).splitlines()
    assert sum(line.startswith("queue ") for line in lines) == 2
    rows = [line.split() for line in lines if line.startswith(f"{name} ")]
    assert [row[1:4] for row in rows] == [["1", "0", "0"]] * 2


def test_looks_may_be_json(service_url: str, name: str, client: Client) -> None:
    client.create_queue(name)
    [look] = lines_of("top", "-n", "1", "-i", "0.01", "--json", url=service_url)
    assert isinstance(look, dict)
    [queue] = [each for each in look["queues"] if each["queue"] == name]
    assert queue["in_per_second"] == 0.0


def test_the_stalest_queue_is_first(service_url: str, name: str, client: Client) -> None:
    client.create_queue(f"{name}-fresh", stream=name)
    client.create_queue(f"{name}-stale", stream=name)
    client.put(name, "a", 1)
    client.dequeue(f"{name}-fresh")
    [look] = lines_of("top", "-n", "1", "-i", "0.01", "--json", url=service_url)
    assert isinstance(look, dict)
    names = [each["queue"] for each in look["queues"]]
    assert names.index(f"{name}-stale") < names.index(f"{name}-fresh")
    staleness = [each["present_staleness"] for each in look["queues"]]
    assert staleness == sorted(staleness, reverse=True)


def test_rates_are_those_between_two_looks() -> None:
    queues = answer({"queues": [{"name": "q", "stream": "s"}, {"name": "gone", "stream": "s"}]})
    gone = problem(404, "Unknown name")
    service = ScriptedService(
        *(queues, answer({"arrived": 10, "waiting": 3}), answer({"ratio": 1.5}), gone),
        *(queues, answer({"arrived": 30, "waiting": 4}), answer({"ratio": 1.5}), gone),
    )
    clock = ManualClock()
    with service.client() as client:
        found = looks(client, clock, 2.0, sleep=clock.advance)
        [first], [second] = next(found), next(found)
    assert (first.queue, first.in_per_second) == ("q", None)
    assert (second.waiting, second.in_per_second, second.times_the_bound) == (4, 10.0, 1.5)
    assert table_of([first, second]).row_count == 2


STALE = Staleness(queue_staleness=0.5, present_queue_staleness=0.7, lower_bound=0.4, ratio=1.25)


def test_rates_are_differences_by_time() -> None:
    before = Counters(arrived=10, dequeued=4, superseded=3, late=1, waiting=2)
    now = Counters(arrived=30, dequeued=10, superseded=13, late=2, shed=1, rejected=2, waiting=6)
    rates = rates_between("q", Look(5.0, before, Staleness()), Look(7.0, now, STALE))
    assert (rates.in_per_second, rates.out_per_second) == (10.0, 3.0)
    assert (rates.superseded_per_second, rates.dropped_per_second) == (5.0, 2.0)
    assert (rates.queue, rates.waiting) == ("q", 6)
    assert (rates.staleness, rates.present_staleness) == (0.5, 0.7)
    assert (rates.lower_bound, rates.times_the_bound) == (0.4, 1.25)


def test_rates_are_unknown_before_the_second_look() -> None:
    look = Look(5.0, Counters(arrived=10, waiting=3), STALE)
    for rates in (rates_between("q", None, look), rates_between("q", look, look)):
        assert rates.in_per_second is None
        assert rates.dropped_per_second is None
        assert rates.waiting == 3


def test_the_rates_of_a_queue_that_was_created_again_are_unknown() -> None:
    before = Look(0.0, Counters(arrived=10, dequeued=5), STALE)
    now = Look(2.0, Counters(arrived=20, dequeued=1, waiting=19), STALE)
    rates = rates_between("q", before, now)
    assert (rates.in_per_second, rates.out_per_second, rates.waiting) == (None, None, 19)
    assert rates.superseded_per_second is None


def test_a_window_queue_counts_windows_and_arrived_updates() -> None:
    before = Counters(windows={"committed": 1, "held": 1}, tuples={"arrived": 10})
    windows = {"committed": 4, "superseded": 2, "shed": 1, "rejected": 1, "held": 5}
    now = Counters(windows=windows, tuples={"arrived": 50})
    rates = rates_between("q", Look(0.0, before, STALE), Look(2.0, now, STALE))
    assert (rates.waiting, rates.in_per_second, rates.out_per_second) == (5, 20.0, 1.5)
    assert (rates.superseded_per_second, rates.dropped_per_second) == (1.0, 1.0)
