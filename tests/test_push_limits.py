"""What the service and its clients agree on about push is the same wherever it is said."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import pytest
from typer.models import OptionInfo

from api.push.selection import Selection, UnknownParameterError
from api.settings import Settings
from tests.api.serving import serving
from upstream.cli.watch import tail_queue, watch_queue
from upstream.client import AsyncClient, Client
from upstream.client.watching import WatchOptions
from upstream.push_limits import DEFAULT_WINDOW, MOST_APPENDED, MOST_WINDOW

ROUTES = ("events", "socket")
COMMANDS = (watch_queue, tail_queue)
CLIENTS = (Client, AsyncClient)
RESUMING = {"last_event_id"}
"""Parameters that the clients set themselves when they come back."""
LOCAL = {"reconnects", "on_lost", "self", "queue"}
"""What `watch` of a client takes that is not the service's affair."""


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """Return the described operation of each way to be pushed to."""
    with serving() as client:
        paths = client.get("/openapi.json").json()["paths"]
    return {route: paths[f"/v1/queues/{{queue}}/{route}"]["get"] for route in ROUTES}


def parameters_of(operation: Any) -> dict[str, Any]:
    """Return the described query parameters of an operation, by name."""
    return {each["name"]: each for each in operation["parameters"] if each["in"] == "query"}


def options_of(command: Any) -> dict[str, OptionInfo]:
    """Return the options of a command by name."""
    hints = get_type_hints(command, include_extras=True)
    return {
        name: each
        for name, hint in hints.items()
        for each in getattr(hint, "__metadata__", ())
        if isinstance(each, OptionInfo)
    }


def default_of(command: Any, option: str) -> object:
    """Return the default of a command's option."""
    return inspect.signature(command).parameters[option].default


def known() -> set[str]:
    """Return the parameters that the service understands."""
    with pytest.raises(UnknownParameterError) as error:
        Selection.parse(b"odd=1")
    return set(error.value.known)


def test_every_way_to_be_pushed_to_has_the_same_options(described: dict[str, Any]) -> None:
    for operation in described.values():
        assert parameters_of(operation).keys() == known()
    for client in CLIENTS:
        taken = inspect.signature(client.watch).parameters.keys()
        assert taken - LOCAL == known() - RESUMING
    for command in COMMANDS:
        assert known() - RESUMING <= options_of(command).keys()


def test_every_way_begins_with_the_newest_values_by_default(described: dict[str, Any]) -> None:
    for operation in described.values():
        assert parameters_of(operation)["snapshot"]["schema"]["default"] is True
    for command in COMMANDS:
        assert default_of(command, "snapshot") is True
    assert WatchOptions().snapshot is True
    assert WatchOptions().query("", snapshot=True) == ""


def test_the_window_has_the_same_bounds_and_default_everywhere(described: dict[str, Any]) -> None:
    assert Settings(demo=False).default_window == DEFAULT_WINDOW == Selection().window
    assert Selection.parse(b"window=%d" % MOST_WINDOW).window == MOST_WINDOW
    assert WatchOptions(window=MOST_WINDOW).window == MOST_WINDOW
    assert WatchOptions().window is None  # which is the service's
    for operation in described.values():
        schema = parameters_of(operation)["window"]["schema"]
        assert (schema["minimum"], schema["maximum"]) == (1, MOST_WINDOW)
        assert schema["default"] == DEFAULT_WINDOW
    for command in COMMANDS:
        option = options_of(command)["window"]
        assert (option.min, option.max) == (1, MOST_WINDOW)
        assert default_of(command, "window") is None
    bounds = map(str, Settings.model_fields["default_window"].metadata)
    assert set(bounds) == {"Ge(ge=1)", f"Le(le={MOST_WINDOW})"}


def test_every_description_of_rates_mentions_updates_and_messages(
    described: dict[str, Any],
) -> None:
    texts = [parameters_of(each)["max_rate"]["description"] for each in described.values()]
    texts += [options_of(command)["max_rate"].help or "" for command in COMMANDS]
    for text in texts:
        assert "Updates per second" in text
        assert "message" in text
    for client in CLIENTS:
        assert "not messages" in (client.watch.__doc__ or "")


def test_every_description_states_when_an_append_queue_is_conflated(
    described: dict[str, Any],
) -> None:
    texts = [operation["description"] for operation in described.values()]
    texts += [told.__doc__ or "" for told in (*COMMANDS, Client.watch, AsyncClient.watch)]
    for text in texts:
        assert f"{MOST_APPENDED:,}" in text
