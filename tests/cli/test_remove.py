"""`upstream rm`."""

from __future__ import annotations

import pytest

from upstream.client import Client

from .console import REFUSED, invoke, json_of


@pytest.fixture
def stream(name: str, client: Client) -> str:
    """Return the name of a stream with two queues and a key."""
    client.create_queue(name)
    client.create_queue(f"{name}-2", stream=name)
    client.put(name, "a", 1)
    return name


def test_a_stream_goes_with_its_queues(service_url: str, stream: str, client: Client) -> None:
    result = invoke("rm", "stream", stream, url=service_url)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"Stream {stream} is gone, and 2 queues with it.\n"
    assert stream not in {each.name for each in client.streams()}
    assert invoke("rm", "stream", stream, url=service_url).exit_code == REFUSED


def test_the_final_counters_may_be_printed(service_url: str, stream: str) -> None:
    queue = json_of("rm", "queue", f"{stream}-2", "--json", url=service_url)
    assert isinstance(queue, dict)
    assert queue["statistics"]["arrived"] == 1
    dropped = json_of("rm", "stream", stream, "--yes", "--json", url=service_url)
    assert isinstance(dropped, dict)
    assert list(dropped["queues"]) == [stream]


def test_a_queue_goes_and_its_stream_stays(service_url: str, stream: str, client: Client) -> None:
    result = invoke("rm", "queue", stream, url=service_url)
    assert (result.exit_code, result.stderr) == (0, f"Queue {stream} is gone.\n")
    assert client.get(stream, "a").value == 1


def test_the_news_of_a_deleted_key_is_handed_out(
    service_url: str, stream: str, client: Client
) -> None:
    result = invoke("rm", "key", stream, "a", url=service_url)
    assert (result.exit_code, result.stderr) == (0, "Key a is deleted.\n")
    [update] = client.dequeue(stream)
    assert (update.key, update.is_deleted) == ("a", True)


def test_a_key_that_is_not_there_is_refused(service_url: str, stream: str) -> None:
    result = invoke("rm", "key", stream, "7", "--json-key", "--json", url=service_url)
    assert (result.exit_code, result.stdout) == (REFUSED, "")
