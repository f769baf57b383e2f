"""Which updates are pushed, and how fast, as options say."""

from __future__ import annotations

import pytest
import typer

from upstream.cli.push_options import at_most, rates_by_pattern, watch
from upstream.client import Client, ReceivedUpdate, WatchMessage

from ..client.scripted_socket import Script, message, scripted_socket


def test_rates_may_be_of_all_keys_or_some_and_fractions() -> None:
    assert rates_by_pattern(["GOOG:1", "a:b*:0.5", "GM:1/4", "2"]) == {
        "GOOG": 1.0,
        "a:b*": 0.5,
        "GM": 0.25,
        "*": 2.0,
    }


@pytest.mark.parametrize("option", ["", "x", "a:", "a:0", "a:-1", "a:inf", "a:nan", "1/0", "1/x"])
def test_what_is_no_rate_is_a_usage_error(option: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a rate"):
        rates_by_pattern([option])


def messages(*sizes: int) -> list[WatchMessage]:
    update = ReceivedUpdate("a", 1, 0.0)
    return [WatchMessage([update] * size, f"r-{size}") for size in sizes]


def test_it_stops_after_so_many_updates() -> None:
    found = list(at_most(iter(messages(2, 0, 3, 4)), 4))
    assert [len(each.updates) for each in found] == [2, 0, 2]


def test_a_message_that_is_cut_keeps_the_rest_of_what_it_tells() -> None:
    update = ReceivedUpdate("a", 1, 0.0)
    whole = WatchMessage([update] * 3, "r-1", is_reset=True, superseded=5)
    [cut] = at_most(iter([whole]), 2)
    assert cut == WatchMessage([update] * 2, "r-1", is_reset=True, superseded=5)


def test_it_does_not_wait_for_more_than_it_needs() -> None:
    assert len(list(at_most(iter(messages(2, 3)), 2))) == 1


def test_without_a_number_it_goes_on() -> None:
    found = messages(2, 3)
    assert list(at_most(iter(found), None)) == found


def test_the_options_reach_the_service() -> None:
    with (
        scripted_socket(Script([message("a")])) as server,
        Client(server.url) as client,
        watch(
            client,
            "q",
            keys=["G*"],
            max_rate=5.0,
            max_rate_per_key=["1"],
            window=2,
            snapshot=False,
            conflate="never",
        ) as watched,
    ):
        assert next(iter(watched)).key == "a"
    assert server.paths[0].endswith(
        "?window=2&max_rate=5.0&max_rate_per_key=%2A%3A1.0&keys=G%2A&snapshot=false&conflate=never"
    )
