"""`upstream watch` and `upstream tail`."""

from __future__ import annotations

import pytest
from rich.console import Console

from upstream.cli.watch import Picture
from upstream.client import Client, Key, ReceivedUpdate, WatchMessage

from ..client.scripted_socket import Script, message, scripted_socket
from .console import invoke, lines_of, output_of


@pytest.fixture
def queue(name: str, client: Client) -> str:
    """Return the name of a queue in which three keys wait."""
    client.create_queue(name)
    client.put_many(name, [("a", {"x": 1}, 1.0), (("b", 7), "text", 2.0), ("c", 3, 3.0)])
    return name


def test_updates_are_lines_of_key_and_value(service_url: str, queue: str) -> None:
    lines = output_of("watch", queue, "-n", "3", url=service_url).splitlines()
    assert sorted(lines) == ['["b",7] "text"', 'a {"x":1}', "c 3"]


def test_updates_may_be_json(service_url: str, queue: str) -> None:
    lines = lines_of("watch", queue, "-n", "3", "--json", url=service_url)
    assert {"key": "a", "value": {"x": 1}, "time": 1.0} in lines


def test_a_deletion_is_shown_as_a_deletion() -> None:
    deleted = {"key": "a", "value": None, "time": 2.0, "deleted": True}
    with scripted_socket(Script([message("a"), {"updates": [deleted]}])) as server:
        text = output_of("watch", "q", "-n", "2", url=server.url)
    assert text == "a 1\na deleted\n"


def test_updates_are_printed_as_they_are_pushed(
    service_url: str, queue: str, client: Client
) -> None:
    lines = lines_of("tail", queue, "--count", "3", url=service_url)
    assert sorted(map(str, lines)) == [
        "{'key': 'a', 'value': {'x': 1}, 'time': 1.0}",
        "{'key': 'c', 'value': 3, 'time': 3.0}",
        "{'key': ['b', 7], 'value': 'text', 'time': 2.0}",
    ]
    assert len(client.dequeue(queue, limit=10)) == 3


def test_only_some_keys_are_printed(service_url: str, queue: str) -> None:
    lines = lines_of("tail", queue, "--keys", "c", "-n", "1", url=service_url)
    assert lines == [{"key": "c", "value": 3, "time": 3.0}]


def test_whole_messages_may_be_printed(service_url: str, queue: str) -> None:
    messages = lines_of("tail", queue, "--messages", "-n", "3", url=service_url)
    found = [message for message in messages if isinstance(message, dict)]
    assert all(message["id"] for message in found)
    assert sum(len(message["updates"]) for message in found) == 3


LEFT_OUT = {"updates": [{"key": "a", "value": 1, "time": 2.0}], "superseded": 1_200}


@pytest.mark.parametrize("command", ["watch", "tail", "tail --messages"])
def test_the_number_of_updates_left_out_is_reported(command: str) -> None:
    words = command.split()
    with scripted_socket(Script([LEFT_OUT, message("b")])) as server:
        result = invoke(*words[:1], "q", "-n", "2", *words[1:], url=server.url)
    assert result.exit_code == 0
    assert "Left out 1,200 updates" in result.stderr
    assert ('"superseded":1200' in result.stdout) == ("--messages" in words)


def news(*updates: tuple[Key, object], is_reset: bool = False) -> WatchMessage:
    return WatchMessage([ReceivedUpdate(key, value, 0.0) for key, value in updates], "", is_reset)


def shown(picture: Picture, *, rows: int = 10, width: int = 100, now: float = 10.0) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(picture.table("q", rows=rows, width=width, now=now))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_narrow_table_first_shortens_values_and_then_omits_columns() -> None:
    picture = Picture()
    picture.apply(news(("instrument-1", "x" * 100)), now=9.0)
    assert shown(picture, width=50)[2] == 'instrument-1  "xxxxxxxxxxxxxxxxx\u2026        1  1.00 s'
    assert shown(picture, width=32)[1:] == [
        "key           value     updates",
        'instrument-1  "xxxxxx\u2026        1',
    ]
    assert shown(picture, width=22)[2] == 'instrument-1  "xxxxxx\u2026'


def test_the_title_shows_how_many_updates_were_left_out() -> None:
    picture = Picture()
    picture.apply(WatchMessage([ReceivedUpdate("a", 1, 0.0)], superseded=1_000), now=5.0)
    picture.apply(WatchMessage([ReceivedUpdate("a", 2, 0.0)], superseded=234), now=6.0)
    assert " ".join(shown(picture)).startswith("q: 1 key, 2 updates, 1,234 left out")


def test_the_keys_that_changed_last_are_first() -> None:
    picture = Picture()
    picture.apply(news(("a", 1), ("b", 2), ("c", 3)), now=5.0)
    picture.apply(news(("a", 10)), now=9.0)
    assert shown(picture) == [
        "q: 3 keys, 4 updates",
        "key  value  updates     for",
        "a    10           2  1.00 s",
        "c    3            1  5.00 s",
        "b    2            1  5.00 s",
    ]


def test_only_the_rows_that_fit_are_shown() -> None:
    picture = Picture()
    picture.apply(news(*((f"k{number}", number) for number in range(100))), now=0.0)
    lines = shown(picture, rows=2)
    assert lines[0] == "q: 100 keys, 100 updates"
    assert [line.split()[0] for line in lines[2:]] == ["k99", "k98"]


def test_a_deleted_key_is_not_shown() -> None:
    picture = Picture()
    picture.apply(news(("a", 1), ("b", 2)), now=0.0)
    picture.apply(WatchMessage([ReceivedUpdate("a", None, 0.0, is_deleted=True)]), now=0.0)
    assert [line.split()[0] for line in shown(picture)[2:]] == ["b"]


def test_a_new_picture_replaces_all_of_the_old_one() -> None:
    picture = Picture()
    picture.apply(news(("a", 1), ("b", 2)), now=0.0)
    picture.apply(news(("b", 3), is_reset=True), now=0.0)
    assert shown(picture)[2:] == ["b    3            1  10.0 s"]


def test_keys_and_values_are_shown_as_they_are() -> None:
    picture = Picture()
    picture.apply(news(("[red]x", "[/] \x1b[31m")), now=0.0)
    assert '"[red]x"  "[/] \\u001b[31m"' in shown(picture)[2]
