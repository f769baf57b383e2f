"""`upstream ls`."""

from __future__ import annotations

import httpx2
import pytest

from upstream.cli import connection
from upstream.client import Client

from ..client.scripted_service import ScriptedService, answer
from .console import invoke, json_of, output_of


def test_streams_and_their_queues_are_listed(service_url: str, name: str, client: Client) -> None:
    client.create_queue(name)
    client.create_queue(f"{name}-2", stream=name, kind="append")
    client.put_many(name, [("a", 1), ("a", 2), ("b", 3)])
    lines = [line.split() for line in output_of("ls", url=service_url).splitlines()]
    assert [name, "2", "3", "0", "0", "0", f"{name},", f"{name}-2"] in lines
    assert [name, name, "update", "index", "2", "0", "0"] in lines
    assert [f"{name}-2", name, "append", "-", "3", "0", "0"] in lines


def test_the_list_may_be_json(service_url: str, name: str, client: Client) -> None:
    client.create_queue(name, capacity=5)
    listed = json_of("ls", "--json", url=service_url)
    assert isinstance(listed, dict)
    assert name in {stream["name"] for stream in listed["streams"]}
    [queue] = [queue for queue in listed["queues"] if queue["name"] == name]
    assert queue["capacity"] == 5


def test_where_there_is_nothing_it_says_how_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    service = ScriptedService(answer({"streams": []}), answer({"queues": []}))

    def client_of(url: str, timeout: float) -> Client:
        return Client(url, transport=httpx2.MockTransport(service.reply))

    monkeypatch.setattr(connection, "Client", client_of)
    result = invoke("ls")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "upstream create queue NAME" in result.stderr
