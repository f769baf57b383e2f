"""`upstream top`, where there is no terminal; `test_terminal` has the other half."""

from __future__ import annotations

from upstream import ManualClock
from upstream.cli.top import looks, table_of
from upstream.client import Client

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
