"""`upstream reset`."""

from __future__ import annotations

from upstream.client import Client

from .console import REFUSED, invoke, json_of


def test_a_key_that_was_reset_takes_any_time(service_url: str, name: str, client: Client) -> None:
    json_of("create", "stream", name, "--any-time", "--json", url=service_url)
    client.put(name, "a", 1, time=9e12)
    result = invoke("reset", name, "a", url=service_url)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "Key a is reset.\n")
    assert client.put(name, "a", 2, time=1.0).late == 0
    client.put(name, -7, 1, time=9e12)
    assert json_of("reset", name, "-7", "--json-key", "--json", url=service_url) == {"reset": True}


def test_a_key_that_is_not_there_needs_no_reset(
    service_url: str, name: str, client: Client
) -> None:
    client.create_stream(name)
    result = invoke("reset", name, "a", url=service_url)
    assert (result.exit_code, "not known" in result.stderr) == (0, True)
    assert invoke("reset", f"{name}-none", "a", url=service_url).exit_code == REFUSED


def test_a_stream_may_be_told_how_far_ahead_times_may_be(
    service_url: str, name: str, client: Client
) -> None:
    view = json_of("create", "stream", name, "--most-ahead", "60", "--json", url=service_url)
    assert isinstance(view, dict)
    assert view["most_ahead"] == 60.0
    invoke("create", "stream", f"{name}-2", "--any-time", url=service_url)
    assert client.stream(f"{name}-2").most_ahead is None
