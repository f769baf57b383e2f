"""Which updates are pushed, and how fast, as options say."""

from __future__ import annotations

import pytest
import typer

from upstream.cli.push_options import at_most, rates_by_pattern
from upstream.client import ReceivedUpdate, WatchMessage

from ..client.scripted_socket import Script, message, scripted_socket
from .console import lines_of


def test_rates_apply_to_all_keys_or_to_patterns_and_may_be_fractions() -> None:
    assert rates_by_pattern(["GOOG:1", "a:b*:0.5", "GM:1/4", "2"]) == {
        "GOOG": 1.0,
        "a:b*": 0.5,
        "GM": 0.25,
        "*": 2.0,
    }


@pytest.mark.parametrize("option", ["", "x", "a:", "a:0", "a:-1", "a:inf", "a:nan", "1/0", "1/x"])
def test_an_invalid_rate_is_a_usage_error(option: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a rate"):
        rates_by_pattern([option])


def messages(*sizes: int) -> list[WatchMessage]:
    update = ReceivedUpdate("a", 1, 0.0)
    return [WatchMessage([update] * size, f"r-{size}") for size in sizes]


def test_messages_end_after_the_given_number_of_updates() -> None:
    found = list(at_most(iter(messages(2, 0, 3, 4)), 4))
    assert [len(each.updates) for each in found] == [2, 0, 2]


def test_a_shortened_message_keeps_its_other_members() -> None:
    update = ReceivedUpdate("a", 1, 0.0)
    whole = WatchMessage([update] * 3, "r-1", is_reset=True, superseded=5)
    [cut] = at_most(iter([whole]), 2)
    assert cut == WatchMessage([update] * 2, "r-1", is_reset=True, superseded=5)


def test_no_message_is_awaited_after_the_last_update() -> None:
    assert len(list(at_most(iter(messages(2, 3)), 2))) == 1


def test_without_a_number_messages_do_not_end() -> None:
    found = messages(2, 3)
    assert list(at_most(iter(found), None)) == found


def test_all_options_reach_the_service() -> None:
    words = ["--keys", "G*", "--max-rate", "5", "--max-rate-per-key", "1", "--window", "2"]
    with scripted_socket(Script([message("a")])) as server:
        words += ["--no-snapshot", "--conflate", "never", "-n", "1"]
        assert len(lines_of("tail", "q", *words, url=server.url)) == 1
    assert server.paths[0].endswith(
        "?window=2&max_rate=5.0&max_rate_per_key=%2A%3A1.0&keys=G%2A&snapshot=false&conflate=never"
    )
