"""`upstream tail`."""

from __future__ import annotations

import pytest

from upstream.client import Client

from ..client.scripted_socket import Script, message, scripted_socket
from .console import REFUSED, invoke, lines_of


@pytest.fixture
def queue(name: str, client: Client) -> str:
    """Return the name of a queue in which three keys wait."""
    client.create_queue(name)
    client.put_many(name, [("a1", 1, 1.0), ("a2", 2, 2.0), ("b", 3, 3.0)])
    return name


def test_updates_are_printed_as_they_are_pushed(
    service_url: str, queue: str, client: Client
) -> None:
    lines = lines_of("tail", queue, "--count", "3", url=service_url)
    assert sorted(map(str, lines)) == [
        "{'key': 'a1', 'value': 1, 'time': 1.0}",
        "{'key': 'a2', 'value': 2, 'time': 2.0}",
        "{'key': 'b', 'value': 3, 'time': 3.0}",
    ]
    assert len(client.dequeue(queue, limit=10)) == 3


def test_only_some_keys_are_printed(service_url: str, queue: str) -> None:
    lines = lines_of("tail", queue, "--keys", "b", "-n", "1", url=service_url)
    assert lines == [{"key": "b", "value": 3, "time": 3.0}]


def test_whole_messages_may_be_printed(service_url: str, queue: str) -> None:
    messages = lines_of("tail", queue, "--messages", "-n", "3", url=service_url)
    found = [message for message in messages if isinstance(message, dict)]
    assert all(message["id"] for message in found)
    assert sum(len(message["updates"]) for message in found) == 3


LEFT_OUT = {"updates": [{"key": "a", "value": 1, "time": 2.0}], "superseded": 1_200}


@pytest.mark.parametrize("options", [[], ["--messages"]])
def test_it_is_said_how_many_updates_were_left_out(options: list[str]) -> None:
    with scripted_socket(Script([LEFT_OUT, message("b")])) as server:
        result = invoke("tail", "q", "-n", "2", *options, url=server.url)
    assert result.exit_code == 0
    assert "Left out 1,200 updates" in result.stderr
    assert ('"superseded":1200' in result.stdout) == bool(options)


def test_a_queue_that_is_not_there_is_refused(service_url: str, name: str) -> None:
    result = invoke("tail", name, url=service_url)
    assert result.exit_code == REFUSED
    assert "404" in result.stderr
