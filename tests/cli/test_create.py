"""`upstream create stream` and `upstream create queue`."""

from __future__ import annotations

import pytest

from upstream.client import Client

from .console import REFUSED, USAGE_ERROR, invoke, json_of


def created(url: str, name: str, *options: str) -> dict[str, object]:
    view = json_of("create", "queue", name, *options, "--json", url=url)
    assert isinstance(view, dict)
    return view


def test_a_queue_is_created_with_its_stream(service_url: str, name: str, client: Client) -> None:
    result = invoke("create", "queue", name, url=service_url)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"kind update, stream {name}, scheduler index" in result.stderr
    assert name in {stream.name for stream in client.streams()}


def test_every_option_of_an_update_queue_reaches_the_service(service_url: str, name: str) -> None:
    view = created(
        service_url,
        name,
        *("--stream", f"{name}-source", "--kind", "update", "--scheduler", "index"),
        *("--weight", "GO*=3", "--weight", "a=b=0.5", "--longest-wait", "9"),
        *("--processing-cost", "0.001", "--capacity", "100", "--time-to-live", "60"),
        *("--lease", "30", "--snapshot"),
    )
    expected = {
        "stream": f"{name}-source",
        "kind": "update",
        "scheduler": "index",
        "weights": {"GO*": 3.0, "a=b": 0.5},
        "longest_wait": 9.0,
        "processing_cost": 0.001,
        "capacity": 100,
        "time_to_live": 60.0,
        "lease_seconds": 30.0,
        "snapshot": True,
    }
    assert {key: view[key] for key in expected} == expected


def test_a_processing_cost_of_zero_is_sent(service_url: str, name: str) -> None:
    assert created(service_url, name, "--processing-cost", "0")["processing_cost"] == 0.0


def test_an_append_queue_may_shed(service_url: str, name: str) -> None:
    view = created(service_url, name, "--kind", "append", "--capacity", "10", "--shedding")
    assert (view["kind"], view["capacity"], view["shedding"]) == ("append", 10, True)


def test_window_options_create_a_window_queue(service_url: str, name: str) -> None:
    view = created(
        service_url,
        name,
        *("--window-size", "10", "--window-slide", "5", "--window-tick", "1"),
        *("--window-buffer", "eager", "--aggregate", "max", "--of", "bid"),
    )
    assert view["kind"] == "window"
    assert view["window"] == {
        "size": 10.0,
        "slide": 5.0,
        "tick": 1.0,
        "buffer": "eager",
        "aggregate": "max",
        "of": "bid",
    }


@pytest.mark.parametrize(
    "options",
    [
        ["--kind", "window"],
        ["--kind", "append", "--window-size", "10"],
        ["--scheduler", "fifo", "--weight", "a=2"],
        ["--shedding"],
    ],
)
def test_contradictory_options_are_refused_by_the_service(
    service_url: str, name: str, options: list[str]
) -> None:
    result = invoke("create", "queue", name, *options, url=service_url)
    assert result.exit_code == REFUSED
    assert "422" in result.stderr


@pytest.mark.parametrize(
    ("kind", "first", "other"),
    [("queue", "--scheduler=index", "--scheduler=fifo"), ("stream", "--retain", "--no-retain")],
)
def test_the_same_definition_again_is_fine_and_another_is_refused(
    service_url: str, name: str, kind: str, first: str, other: str
) -> None:
    for _ in range(2):
        assert invoke("create", kind, name, first, url=service_url).exit_code == 0
    refused = invoke("create", kind, name, other, url=service_url)
    assert refused.exit_code == REFUSED
    assert "409" in refused.stderr


def test_a_stream_is_created_with_the_defaults_of_the_service(service_url: str, name: str) -> None:
    result = invoke("create", "stream", name, url=service_url)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"Stream {name} is defined.\n"


def test_options_define_a_stream(service_url: str, name: str, client: Client) -> None:
    options = ["--no-retain", "--forget-after", "60", "--pool-bytes", "65536"]
    view = json_of("create", "stream", name, *options, "--json", url=service_url)
    assert isinstance(view, dict)
    assert (view["retain"], view["forget_after"], view["pool_bytes"]) == (False, 60.0, 65_536)
    assert name in {stream.name for stream in client.streams()}


def test_any_time_and_most_ahead_exclude_each_other(
    service_url: str, name: str, client: Client
) -> None:
    result = invoke("create", "stream", name, "--any-time", "--most-ahead", "5", url=service_url)
    assert result.exit_code == USAGE_ERROR
    assert "--any-time and --most-ahead exclude each other" in result.stderr
    assert name not in {stream.name for stream in client.streams()}


def test_the_times_of_a_stream_may_be_bounded_or_not(
    service_url: str, name: str, client: Client
) -> None:
    view = json_of("create", "stream", name, "--most-ahead", "60", "--json", url=service_url)
    assert isinstance(view, dict)
    assert view["most_ahead"] == 60.0
    invoke("create", "stream", f"{name}-2", "--any-time", url=service_url)
    assert client.stream(f"{name}-2").most_ahead is None
