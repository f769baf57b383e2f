"""Admission of push connections: what a request may ask for, and how many there may be."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Protocol

from upstream import UpStreamError

from ..request_meter import RequestMeter
from ..settings import Settings
from .asgi import Scope, header
from .feed import QueueFeed, StreamFeed
from .selection import Selection
from .subscription import Subscription, Transport
from .turns import Turns


class Feeds(Protocol):
    """What push needs of the service, whose own class stands above push (`service`)."""

    settings: Settings
    meter: RequestMeter
    turns: Turns
    closing: asyncio.Event
    """Set when the service is about to stop."""

    @property
    def streams(self) -> Mapping[str, StreamFeed]:
        """All streams by name."""
        ...

    def queue(self, name: str) -> QueueFeed:
        """Return the queue of this name; raises UnknownNameError if it does not exist."""
        ...


class TooManyConnectionsError(UpStreamError, RuntimeError):
    """The settings allow no further push connection."""

    def __init__(self, most: int) -> None:
        self.most = most
        super().__init__(f"the limit of {most} push connections is reached; try again later")


class ServiceStopsError(UpStreamError, RuntimeError):
    """The service is stopping and accepts no more connections."""

    def __init__(self) -> None:
        super().__init__("the service is stopping; connect again in a few seconds")


def subscribe(feeds: Feeds, name: str, scope: Scope, transport: Transport) -> Subscription:
    """Return the subscription that a request asks for.

    Raises UnknownNameError, SelectionError, UnknownParameterError, TooManyConnectionsError or
    ServiceStopsError.
    """
    feed = feeds.queue(name)
    selection = Selection.parse(
        scope["query_string"],
        window=feeds.settings.default_window,
        last_event_id=header(scope, b"last-event-id"),
    )
    if feeds.closing.is_set():
        raise ServiceStopsError
    most = feeds.settings.max_connections
    if sum(len(stream.subscribers) for stream in feeds.streams.values()) >= most:
        raise TooManyConnectionsError(most)
    return Subscription(feed, selection, transport)
