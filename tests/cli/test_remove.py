"""`upstream rm` and `upstream reset`."""

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
    assert result.stderr == f"Removed stream {stream} and 2 queues.\n"
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
    assert (result.exit_code, result.stderr) == (0, f"Removed queue {stream}.\n")
    assert client.get(stream, "a").value == 1


def test_the_news_of_a_deleted_key_is_handed_out(
    service_url: str, stream: str, client: Client
) -> None:
    result = invoke("rm", "key", stream, "a", url=service_url)
    assert (result.exit_code, result.stderr) == (0, "Deleted key a.\n")
    [update] = client.dequeue(stream)
    assert (update.key, update.is_deleted) == ("a", True)


def test_a_key_that_is_not_there_is_refused(service_url: str, stream: str) -> None:
    result = invoke("rm", "key", stream, "7", "--json-key", "--json", url=service_url)
    assert (result.exit_code, result.stdout) == (REFUSED, "")


def test_a_key_that_was_reset_takes_any_time(service_url: str, name: str, client: Client) -> None:
    json_of("create", "stream", name, "--any-time", "--json", url=service_url)
    client.put(name, "a", 1, time=9e12)
    result = invoke("reset", name, "a", url=service_url)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "Reset key a.\n")
    assert client.put(name, "a", 2, time=1.0).late == 0
    client.put(name, -7, 1, time=9e12)
    assert json_of("reset", name, "-7", "--json-key", "--json", url=service_url) == {"reset": True}


def test_a_key_that_is_not_there_needs_no_reset(
    service_url: str, name: str, client: Client
) -> None:
    client.create_stream(name)
    result = invoke("reset", name, "a", url=service_url)
    assert (result.exit_code, "is unknown" in result.stderr) == (0, True)
    assert invoke("reset", f"{name}-none", "a", url=service_url).exit_code == REFUSED


def test_a_stream_may_be_told_how_far_ahead_times_may_be(
    service_url: str, name: str, client: Client
) -> None:
    view = json_of("create", "stream", name, "--most-ahead", "60", "--json", url=service_url)
    assert isinstance(view, dict)
    assert view["most_ahead"] == 60.0
    invoke("create", "stream", f"{name}-2", "--any-time", url=service_url)
    assert client.stream(f"{name}-2").most_ahead is None
