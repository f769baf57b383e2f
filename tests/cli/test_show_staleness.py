"""`upstream staleness`."""

from __future__ import annotations

import pytest

from upstream.client import Client

from .console import REFUSED, invoke, json_of, output_of


@pytest.fixture
def queue(name: str, client: Client) -> str:
    """Return the name of a queue in which three keys wait."""
    client.create_queue(name, processing_cost=0.001)
    client.put_many(name, [("a", 1), (("b", 7), 2), ("[c]", 3)])
    return name


def test_means_percentiles_and_the_stalest_keys_are_shown(service_url: str, queue: str) -> None:
    lines = output_of("staleness", queue, url=service_url).splitlines()
    assert lines[0] == "3 keys, 0 updates/s, 1.0 ms for an update"
    assert [line.split()[0] for line in lines[2:5]] == ["staleness", "queue", "application"]
    assert len(lines[3].split()) == len(lines[4].split()) >= 9
    assert lines[6].split()[:2] == ["stalest", "keys"]
    assert {line.split()[0] for line in lines[7:]} == {"a", '["b",7]', '"[c]"'}


def test_so_many_of_the_stalest_are_shown(service_url: str, queue: str) -> None:
    report = json_of("staleness", queue, "--stalest", "2", "--json", url=service_url)
    assert isinstance(report, dict)
    assert len(report["stalest_keys"]) == 2
    assert report["cost"] == 0.001
    assert set(report["percentiles"]) == {"50", "90", "99", "100"}
    assert "stalest keys" not in output_of("staleness", queue, "-n", "0", url=service_url)


def test_a_queue_without_keys_has_nothing_to_show(
    service_url: str, name: str, client: Client
) -> None:
    client.create_queue(name)
    lines = output_of("staleness", name, url=service_url).splitlines()
    assert lines[0] == "0 keys, 0 updates/s, - for an update"
    assert len(lines) == 5


def test_a_queue_that_only_connections_use_is_said_to_stay_empty(
    service_url: str, queue: str, client: Client
) -> None:
    note = "stays empty until something is dequeued from it"
    assert note not in invoke("staleness", queue, url=service_url).stderr
    with client.watch(queue) as watch:
        next(iter(watch))
        assert note in invoke("staleness", queue, url=service_url).stderr
    client.dequeue(queue)
    assert note not in invoke("staleness", queue, url=service_url).stderr


def test_a_queue_that_is_not_there_is_refused(service_url: str, name: str) -> None:
    assert invoke("staleness", name, url=service_url).exit_code == REFUSED
