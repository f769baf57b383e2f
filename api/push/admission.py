"""Who gets a connection: whoever asks for something that can be had, while there is room."""

from __future__ import annotations

from upstream import UpStreamError

from .asgi import Scope, header
from .feed import Feeds
from .selection import Selection
from .subscription import Subscription, Transport


class TooManyConnectionsError(UpStreamError, RuntimeError):
    """There are as many push connections as the settings allow, or the service stops."""

    def __init__(self, most: int) -> None:
        self.most = most
        super().__init__(f"there are {most} push connections, which is the most; try again later")


class ServiceStopsError(UpStreamError, RuntimeError):
    """The service is about to stop, and takes no more connections."""

    def __init__(self) -> None:
        super().__init__("the service stops; connect again in a few seconds")


def subscribe(feeds: Feeds, name: str, scope: Scope, transport: Transport) -> Subscription:
    """Return the subscription that a request asks for, or raise what speaks against it.

    That is UnknownNameError, SelectionError, UnknownParameterError, TooManyConnectionsError or
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
