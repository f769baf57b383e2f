"""`upstream deliver`."""

from __future__ import annotations

from upstream.client import Client

from .console import REFUSED, invoke, json_of, lines_of


def test_leases_are_delivered(service_url: str, name: str, client: Client) -> None:
    client.create_queue(name, lease_seconds=60.0)
    client.put_many(name, [("a", 1), ("b", 2), ("c", 3)])
    lines = lines_of("dequeue", name, "--no-deliver", url=service_url)
    leases = [line["lease"] for line in lines if isinstance(line, dict)]
    result = invoke("deliver", name, *leases[:2], url=service_url)
    assert result.stderr == "2 delivered, 0 not known.\n"
    assert json_of("deliver", name, *leases, "--json", url=service_url) == {
        "delivered": 1,
        "unknown": 2,
    }
    assert client.statistics(name).delivered == 3


def test_a_queue_that_is_not_there_is_refused(service_url: str, name: str) -> None:
    assert invoke("deliver", name, "r-1", url=service_url).exit_code == REFUSED
