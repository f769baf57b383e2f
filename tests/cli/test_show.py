"""`upstream ls`, `upstream get` and `upstream staleness`."""

from __future__ import annotations

import httpx2
import pytest

from upstream.cli import connection
from upstream.client import Client

from ..client.scripted_service import ScriptedService, answer
from .console import invoke, json_of, lines_of, output_of


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


def test_without_streams_the_list_says_how_to_create_one(monkeypatch: pytest.MonkeyPatch) -> None:
    service = ScriptedService(answer({"streams": []}), answer({"queues": []}))

    def client_of(url: str, timeout: float) -> Client:
        return Client(url, transport=httpx2.MockTransport(service.reply))

    monkeypatch.setattr(connection, "Client", client_of)
    result = invoke("ls")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "upstream create queue NAME" in result.stderr


@pytest.fixture
def stream(name: str, client: Client) -> str:
    """Return the name of a stream with some keys."""
    client.create_stream(name)
    client.put_many(name, [("a", {"x": [1, "é\x1b"]}, 1.0), (("b", 7), "text", 2.0)])
    return name


def test_the_newest_value_is_printed_as_json(service_url: str, stream: str) -> None:
    assert output_of("get", stream, "a", url=service_url) == '{"x":[1,"é\\u001b"]}\n'


def test_a_key_may_be_given_as_json_and_a_string_printed_raw(service_url: str, stream: str) -> None:
    key = ["get", stream, '["b", 7]', "-j"]
    assert output_of(*key, url=service_url) == '"text"\n'
    assert output_of(*key, "--raw", url=service_url) == "text\n"


def test_the_whole_update_may_be_printed(service_url: str, stream: str) -> None:
    assert json_of("get", stream, '["b", 7]', "-j", "--json", url=service_url) == {
        "key": ["b", 7],
        "value": "text",
        "time": 2.0,
    }


def test_without_a_key_all_keys_are_printed(service_url: str, stream: str) -> None:
    assert lines_of("get", stream, url=service_url) == [
        {"key": "a", "value": {"x": [1, "é\x1b"]}, "time": 1.0},
        {"key": ["b", 7], "value": "text", "time": 2.0},
    ]


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


def test_the_number_of_stalest_keys_can_be_chosen(service_url: str, queue: str) -> None:
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


def test_a_note_explains_a_queue_that_only_push_connections_use(
    service_url: str, queue: str, client: Client
) -> None:
    note = "stays empty until a consumer dequeues from it"
    assert note not in invoke("staleness", queue, url=service_url).stderr
    with client.watch(queue) as watch:
        next(iter(watch))
        assert note in invoke("staleness", queue, url=service_url).stderr
    client.dequeue(queue)
    assert note not in invoke("staleness", queue, url=service_url).stderr
