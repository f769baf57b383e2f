"""`upstream watch`, where there is no terminal; `test_terminal` has the other half."""

from __future__ import annotations

import pytest

from upstream.client import Client

from ..client.scripted_socket import Script, message, scripted_socket
from .console import REFUSED, invoke, lines_of, output_of


@pytest.fixture
def queue(name: str, client: Client) -> str:
    """Return the name of a queue in which two keys wait."""
    client.create_queue(name)
    client.put_many(name, [("a", {"x": 1}, 1.0), (("b", 7), "text", 2.0)])
    return name


def test_updates_are_lines_of_key_and_value(service_url: str, queue: str) -> None:
    lines = output_of("watch", queue, "-n", "2", url=service_url).splitlines()
    assert sorted(lines) == ['["b",7] "text"', 'a {"x":1}']


def test_updates_may_be_json(service_url: str, queue: str) -> None:
    lines = lines_of("watch", queue, "-n", "2", "--json", url=service_url)
    assert {"key": "a", "value": {"x": 1}, "time": 1.0} in lines


def test_a_deletion_is_told_from_a_value() -> None:
    deleted = {"key": "a", "value": None, "time": 2.0, "deleted": True}
    with scripted_socket(Script([message("a"), {"updates": [deleted]}])) as server:
        text = output_of("watch", "q", "-n", "2", url=server.url)
    assert text == "a 1\na deleted\n"


def test_it_is_said_how_many_updates_were_left_out() -> None:
    update = {"key": "a", "value": 1, "time": 2.0}
    with scripted_socket(Script([{"updates": [update], "superseded": 7}])) as server:
        result = invoke("watch", "q", "-n", "1", url=server.url)
    assert result.stdout == "a 1\n"
    assert "Left out 7 updates" in result.stderr


def test_a_queue_that_is_not_there_is_refused(service_url: str, name: str) -> None:
    assert invoke("watch", name, url=service_url).exit_code == REFUSED
