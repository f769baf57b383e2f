"""`upstream create stream`."""

from __future__ import annotations

from upstream.client import Client

from .console import REFUSED, USAGE_ERROR, invoke, json_of


def test_a_stream_is_made_with_the_services_defaults(service_url: str, name: str) -> None:
    result = invoke("create", "stream", name, url=service_url)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"Stream {name} is there.\n"


def test_options_define_it(service_url: str, name: str, client: Client) -> None:
    options = ["--no-retain", "--forget-after", "60", "--pool-bytes", "65536"]
    view = json_of("create", "stream", name, *options, "--json", url=service_url)
    assert isinstance(view, dict)
    assert (view["retain"], view["forget_after"], view["pool_bytes"]) == (False, 60.0, 65_536)
    assert name in {stream.name for stream in client.streams()}


def test_the_same_again_is_fine_and_another_is_refused(service_url: str, name: str) -> None:
    for _ in range(2):
        assert invoke("create", "stream", name, "--retain", url=service_url).exit_code == 0
    other = invoke("create", "stream", name, "--no-retain", url=service_url)
    assert other.exit_code == REFUSED
    assert "409" in other.stderr


def test_a_bound_on_times_and_none_at_all_contradict_each_other(
    service_url: str, name: str, client: Client
) -> None:
    result = invoke("create", "stream", name, "--any-time", "--most-ahead", "5", url=service_url)
    assert result.exit_code == USAGE_ERROR
    assert "--any-time and --most-ahead contradict each other" in result.stderr
    assert name not in {stream.name for stream in client.streams()}
