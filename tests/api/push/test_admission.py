"""Which requests get a connection."""

from __future__ import annotations

import pytest

from api.entries import QueueEntry
from api.push.admission import ServiceStopsError, TooManyConnectionsError, subscribe
from api.push.selection import SelectionError
from api.service import Service
from tests.api.push.setting import define, make_service, scope_of
from upstream import UnknownNameError


def test_a_request_gets_what_it_asks_for() -> None:
    service = make_service(default_window=5)
    feed = define(service)
    scope = scope_of("http", "keys=IBM", [(b"last-event-id", b"run-1")])
    subscription = subscribe(service, "q", scope, "sse")
    assert feed.stream.subscribers == {subscription}
    assert subscription.selection.window == 5
    assert subscription.selection.key_patterns == ("IBM",)
    assert subscription.selection.last_event_id == "run-1"
    assert subscription.transport == "sse"


def test_an_unknown_queue_is_refused(service: Service) -> None:
    with pytest.raises(UnknownNameError):
        subscribe(service, "none", scope_of("websocket"), "websocket")


def test_nothing_is_left_of_a_connection_with_a_bad_parameter(
    service: Service, feed: QueueEntry
) -> None:
    with pytest.raises(SelectionError):
        subscribe(service, "q", scope_of("websocket", "window=0"), "websocket")
    assert not feed.stream.subscribers
    assert feed.stream.stream.statistics().queues == 1


def test_there_are_no_more_connections_than_the_settings_allow() -> None:
    service = make_service(max_connections=2)
    define(service, "a")
    define(service, "b")
    first = subscribe(service, "a", scope_of("websocket"), "websocket")
    subscribe(service, "b", scope_of("http"), "sse")
    with pytest.raises(TooManyConnectionsError) as error:
        subscribe(service, "a", scope_of("websocket"), "websocket")
    assert error.value.most == 2
    first.close()
    subscribe(service, "a", scope_of("websocket"), "websocket")


def test_a_service_that_is_stopping_accepts_no_connection(service: Service) -> None:
    service.begin_shutdown()
    with pytest.raises(ServiceStopsError):
        subscribe(service, "q", scope_of("websocket"), "websocket")
