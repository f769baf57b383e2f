"""The newest value of every key, and how it looks."""

from __future__ import annotations

from rich.console import Console

from upstream.cli.picture import Picture
from upstream.client import Key, ReceivedUpdate, WatchMessage


def message(*updates: tuple[Key, object], is_reset: bool = False) -> WatchMessage:
    return WatchMessage([ReceivedUpdate(key, value, 0.0) for key, value in updates], "", is_reset)


def shown(picture: Picture, *, rows: int = 10, width: int = 100, now: float = 10.0) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(picture.table("q", rows=rows, width=width, now=now))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_values_are_cut_short_where_there_is_no_room_and_then_numbers_left_out() -> None:
    picture = Picture()
    picture.apply(message(("instrument-1", "x" * 100)), now=9.0)
    assert shown(picture, width=50)[2] == 'instrument-1  "xxxxxxxxxxxxxxxxx\u2026        1  1.00 s'
    assert shown(picture, width=32)[1:] == [
        "key           value     updates",
        'instrument-1  "xxxxxx\u2026        1',
    ]
    assert shown(picture, width=22)[2] == 'instrument-1  "xxxxxx\u2026'


def test_the_title_tells_how_many_updates_were_left_out() -> None:
    picture = Picture()
    picture.apply(WatchMessage([ReceivedUpdate("a", 1, 0.0)], superseded=1_000), now=5.0)
    picture.apply(WatchMessage([ReceivedUpdate("a", 2, 0.0)], superseded=234), now=6.0)
    assert " ".join(shown(picture)).startswith("q: 1 key, 2 updates, 1,234 left out")


def test_the_keys_that_changed_last_are_first() -> None:
    picture = Picture()
    picture.apply(message(("a", 1), ("b", 2), ("c", 3)), now=5.0)
    picture.apply(message(("a", 10)), now=9.0)
    assert shown(picture) == [
        "q: 3 keys, 4 updates",
        "key  value  updates     for",
        "a    10           2  1.00 s",
        "c    3            1  5.00 s",
        "b    2            1  5.00 s",
    ]


def test_no_more_is_shown_than_fits() -> None:
    picture = Picture()
    picture.apply(message(*((f"k{number}", number) for number in range(100))), now=0.0)
    lines = shown(picture, rows=2)
    assert lines[0] == "q: 100 keys, 100 updates"
    assert [line.split()[0] for line in lines[2:]] == ["k99", "k98"]


def test_what_was_deleted_is_gone() -> None:
    picture = Picture()
    picture.apply(message(("a", 1), ("b", 2)), now=0.0)
    picture.apply(WatchMessage([ReceivedUpdate("a", None, 0.0, is_deleted=True)]), now=0.0)
    assert [line.split()[0] for line in shown(picture)[2:]] == ["b"]


def test_a_new_picture_replaces_all_of_the_old_one() -> None:
    picture = Picture()
    picture.apply(message(("a", 1), ("b", 2)), now=0.0)
    picture.apply(message(("b", 3), is_reset=True), now=0.0)
    assert shown(picture)[2:] == ["b    3            1  10.0 s"]


def test_keys_and_values_are_shown_as_they_are() -> None:
    picture = Picture()
    picture.apply(message(("[red]x", "[/] \x1b[31m")), now=0.0)
    assert '"[red]x"  "[/] \\u001b[31m"' in shown(picture)[2]
