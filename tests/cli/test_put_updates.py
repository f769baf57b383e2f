"""`upstream put`."""

from __future__ import annotations

import pytest

from upstream.client import Client

from .console import REFUSED, USAGE_ERROR, invoke, json_of, output_of


@pytest.fixture
def stream(name: str, client: Client) -> str:
    """Return the name of a stream with a queue of the same name."""
    client.create_queue(name)
    return name


def test_put_sends_a_key_and_a_value(service_url: str, stream: str, client: Client) -> None:
    assert output_of("put", stream, "IBM", "24.5", url=service_url) == "1 waiting, 0 superseded\n"
    assert output_of("put", stream, "IBM", "25", url=service_url) == "0 waiting, 1 superseded\n"
    assert client.get(stream, "IBM").value == 25


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["k", '{"bid": [1, null]}'], {"bid": [1, None]}),
        (["k", "not json"], "not json"),
        (["k", "24.5", "--raw"], "24.5"),
        (["--", "k", "-3"], -3),
        (["k", "-3.5"], -3.5),
    ],
)
def test_a_value_is_json_or_else_a_string(
    service_url: str, stream: str, client: Client, arguments: list[str], value: object
) -> None:
    output_of("put", stream, *arguments, url=service_url)
    assert client.get(stream, "k").value == value


def test_a_key_may_be_given_as_json(service_url: str, stream: str, client: Client) -> None:
    output_of("put", stream, '["NYSE", 7]', "1", "--json-key", url=service_url)
    assert client.get(stream, ("NYSE", 7)).value == 1


def test_dequeued_updates_can_be_put_into_another_stream(
    service_url: str, stream: str, client: Client
) -> None:
    client.create_queue(f"{stream}-from", lease_seconds=60.0)
    for arguments in ([], ["--json"]):
        client.put_many(f"{stream}-from", [("a", len(arguments)), ("b", 2)])
        said = output_of("dequeue", f"{stream}-from", *arguments, url=service_url)
        output_of("put", stream, url=service_url, said=said)
        assert {each.key: each.value for each in client.snapshot(stream)} == {
            "a": len(arguments),
            "b": 2,
        }


def test_a_deletion_is_applied_between_the_updates_around_it(
    service_url: str, stream: str, client: Client
) -> None:
    client.put(stream, "a", 0)
    deletion = '{"key":"%s","value":null,"time":1.0,"deleted":true}'
    said = "\n".join(['["b",null,1]', deletion % "a", deletion % "b", '["c",null,1]'])
    output_of("put", stream, url=service_url, said=said + "\n" + deletion % "unknown")
    assert [each.key for each in client.snapshot(stream)] == ["c"]


def test_a_deletion_creates_no_stream(service_url: str, name: str) -> None:
    said = '{"key":"a","value":null,"deleted":true}'
    result = invoke("put", name, url=service_url, said=said)
    assert result.exit_code == REFUSED
    assert "404" in result.stderr


def test_a_time_makes_an_update_late(service_url: str, stream: str) -> None:
    output_of("put", stream, "k", "1", "--time", "100", url=service_url)
    text = output_of("put", stream, "k", "2", "--time", "99.5", url=service_url)
    assert text == "0 waiting, 0 superseded, 1 late\n"


def test_lines_are_updates(service_url: str, stream: str, client: Client) -> None:
    said = '{"key":"a","value":1}\n\n["b",null,[1.50]]\n{"key":"a","value":2}'
    counts = json_of("put", stream, "--json", url=service_url, said=said)
    assert counts == {
        "waiting": 2,
        "superseded": 1,
        "late": 0,
        "rejected": 0,
        "outside": 0,
        "rejections": [],
    }
    assert {each.key: each.value for each in client.snapshot(stream)} == {"a": 2, "b": [1.5]}


def test_many_lines_go_in_batches(service_url: str, stream: str, client: Client) -> None:
    said = "".join(f'["k{number % 100}", {number}, {number}]\n' for number in range(2_500))
    text = output_of("put", stream, "-", "--batch", "1000", url=service_url, said=said)
    assert text == "100 waiting, 2,400 superseded\n"
    assert client.get(stream, "k99").value == 2_499


def test_no_lines_send_no_updates(service_url: str, stream: str) -> None:
    assert output_of("put", stream, url=service_url) == "0 waiting, 0 superseded\n"


def test_an_invalid_line_ends_the_command_after_the_lines_before_it(
    service_url: str, stream: str, client: Client
) -> None:
    said = '["a", null, 1]\nnonsense\n["b", null, 2]\n'
    result = invoke("put", stream, url=service_url, said=said)
    assert (result.exit_code, result.stdout) == (REFUSED, "1 waiting, 0 superseded\n")
    assert "line 2 is not an update" in result.stderr
    assert [each.key for each in client.snapshot(stream)] == ["a"]


def test_a_value_that_is_not_unicode_is_rejected_with_its_line(
    service_url: str, stream: str
) -> None:
    result = invoke("put", stream, url=service_url, said=b'["a", null, "\xff"]\n')
    assert result.exit_code == REFUSED
    assert "line 1" in result.stderr


def test_rejected_lines_are_listed_and_the_others_are_applied(
    service_url: str, stream: str, client: Client
) -> None:
    long_key = "k" * 5_000
    said = f'\n["{long_key}", null, 1]\n["a", null, 1]\n\n["{long_key}", null, 2]\n'
    result = invoke("put", stream, url=service_url, said=said)
    assert result.exit_code == REFUSED
    assert result.stdout == "1 waiting, 0 superseded, 2 rejected\n"
    assert "rejected: line 2: key" in result.stderr
    assert "rejected: line 5: key" in result.stderr
    assert long_key not in result.output
    assert [each.key for each in client.snapshot(stream)] == ["a"]


def test_the_list_of_rejections_is_bounded(service_url: str, stream: str) -> None:
    said = "".join(f'["{"k" * 5_000}", null, {number}]\n' for number in range(150))
    result = invoke("put", stream, "--batch", "40", url=service_url, said=said)
    assert result.exit_code == REFUSED
    assert result.stderr.count("rejected: line") == 100
    assert "50 more rejections" in result.stderr


def test_a_single_update_that_is_refused_is_an_error(service_url: str, stream: str) -> None:
    result = invoke("put", stream, "k" * 5_000, "1", url=service_url)
    assert result.exit_code == REFUSED
    assert "422" in result.stderr


def test_options_of_a_single_update_are_refused_for_lines(service_url: str, stream: str) -> None:
    assert invoke("put", stream, "-", "--raw", url=service_url).exit_code == USAGE_ERROR
