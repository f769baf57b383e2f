"""The client of the service: put updates in, take them out, and watch them.

    with Client("http://127.0.0.1:8000") as client:
        client.create_queue("prices")
        client.put_many("prices", [("IBM", 24.0), ("MSFT", 50.0)])
        for update in client.dequeue("prices"):
            print(update.key, update.value)

`AsyncClient` is the same for asyncio. This package needs the extra `client`, and `import upstream`
does not import it.
"""

from upstream.extras import missing_extra

try:
    from .answers import (
        ArrivalRates,
        Counters,
        Counts,
        Delivered,
        DroppedQueue,
        DroppedStream,
        Key,
        KeyStaleness,
        QueueView,
        RankStaleness,
        ReceivedUpdate,
        Rejection,
        Staleness,
        StreamView,
        WatchMessage,
    )
    from .async_client import AsyncClient
    from .client import Client
    from .errors import (
        AnswerNotUnderstoodError,
        ClientClosedError,
        ConflictError,
        InvalidRequestError,
        NotFoundError,
        OutcomeUnknownError,
        RequestRefusedError,
        ServiceError,
        ServiceFailedError,
        ServiceUnavailableError,
        ServiceUnreachableError,
        TooLargeError,
    )
    from .feed import AsyncFeed, Feed
    from .requests import QueueOptions, StreamOptions
    from .retries import RetryPolicy
    from .watch import AsyncWatch, Watch
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] == "upstream":
        raise
    raise ImportError(
        missing_extra("upstream.client", error.name, "client"), name=error.name
    ) from error

__all__ = [
    "AnswerNotUnderstoodError",
    "ArrivalRates",
    "AsyncClient",
    "AsyncFeed",
    "AsyncWatch",
    "Client",
    "ClientClosedError",
    "ConflictError",
    "Counters",
    "Counts",
    "Delivered",
    "DroppedQueue",
    "DroppedStream",
    "Feed",
    "InvalidRequestError",
    "Key",
    "KeyStaleness",
    "NotFoundError",
    "OutcomeUnknownError",
    "QueueOptions",
    "QueueView",
    "RankStaleness",
    "ReceivedUpdate",
    "Rejection",
    "RequestRefusedError",
    "RetryPolicy",
    "ServiceError",
    "ServiceFailedError",
    "ServiceUnavailableError",
    "ServiceUnreachableError",
    "Staleness",
    "StreamOptions",
    "StreamView",
    "TooLargeError",
    "Watch",
    "WatchMessage",
]
