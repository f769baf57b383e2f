"""`upstream dequeue` and `upstream deliver`."""

from __future__ import annotations

from upstream.client import Client

from .console import invoke, json_of, lines_of, output_of


def test_updates_are_taken_and_printed_line_by_line(
    service_url: str, name: str, client: Client
) -> None:
    client.create_queue(name)
    client.put_many(name, [("a", 1, 1.0), ("b", 2, 2.0), ("c", 3, 3.0)])
    assert lines_of("dequeue", name, "--limit", "2", url=service_url) == [
        {"key": "a", "value": 1, "time": 1.0},
        {"key": "b", "value": 2, "time": 2.0},
    ]
    assert json_of("dequeue", name, "--json", url=service_url) == {
        "updates": [{"key": "c", "value": 3, "time": 3.0}]
    }
    assert output_of("dequeue", name, "--wait", "0.01", url=service_url) == ""


def test_printed_updates_are_delivered(service_url: str, name: str, client: Client) -> None:
    client.create_queue(name, lease_seconds=60.0)
    client.put_many(name, [("a", 1), ("b", 2)])
    assert len(lines_of("dequeue", name, "-n", "1", url=service_url)) == 1
    counters = client.statistics(name)
    assert (counters.delivered, counters.in_process) == (1, 0)


def test_an_update_may_be_delivered_later_by_its_lease(
    service_url: str, name: str, client: Client
) -> None:
    client.create_queue(name, lease_seconds=60.0)
    client.put(name, "a", 1)
    [line] = lines_of("dequeue", name, "--no-deliver", url=service_url)
    assert isinstance(line, dict)
    assert client.statistics(name).in_process == 1
    assert client.deliver(name, leases=[line["lease"]]).delivered == 1


def test_leases_are_delivered(service_url: str, name: str, client: Client) -> None:
    client.create_queue(name, lease_seconds=60.0)
    client.put_many(name, [("a", 1), ("b", 2), ("c", 3)])
    lines = lines_of("dequeue", name, "--no-deliver", url=service_url)
    leases = [line["lease"] for line in lines if isinstance(line, dict)]
    result = invoke("deliver", name, *leases[:2], url=service_url)
    assert result.stderr == "2 delivered, 0 unknown.\n"
    assert json_of("deliver", name, *leases, "--json", url=service_url) == {
        "delivered": 1,
        "unknown": 2,
    }
    assert client.statistics(name).delivered == 3
