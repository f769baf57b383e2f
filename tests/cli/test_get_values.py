"""`upstream get`."""

from __future__ import annotations

import pytest

from upstream.client import Client

from .console import REFUSED, invoke, json_of, lines_of, output_of


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


def test_all_of_the_update_may_be_printed(service_url: str, stream: str) -> None:
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


def test_a_key_or_a_stream_that_is_not_there_is_refused(service_url: str, stream: str) -> None:
    for arguments in ([stream, "c"], [stream, "7", "-j"], [f"{stream}-2"], [f"{stream}-2", "a"]):
        result = invoke("get", *arguments, url=service_url)
        assert result.exit_code == REFUSED
        assert result.stdout == ""
        assert "404" in result.stderr
