"""The state of a watch over all of its connections, without the I/O.

Credit: the service sends messages at most a window ahead of those that were consumed.

Resuming: a new connection names the last message. The service continues from there, or sends a
whole new picture and says so (`is_reset`). An update that was lost with a connection is sent again
in its newest form, so nothing is missed, and an update may arrive twice. A connection that broke
before its first message cannot be resumed, so the next one begins with a snapshot, even if the
caller did not want one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, Literal, TypeAlias, TypedDict
from urllib.parse import urlencode

import msgspec
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from upstream.errors import ParameterError
from upstream.push_limits import MOST_WINDOW

from .answers import Answer, ReceivedUpdate, WatchMessage
from .connection import Connection, web_socket_url, without_password
from .encoding import path_of_name
from .errors import (
    AnswerNotUnderstoodError,
    NotFoundError,
    RequestRefusedError,
    ServiceUnreachableError,
    refusal,
)
from .retries import WORTH_A_RETRY, retry_after_seconds

CREDIT: Final = '{"credit":1}'
"""Sent for each message that was consumed."""
CLOSE_SECONDS: Final = 2.0
"""How long closing a watch waits for the closing handshake."""
LOST: Final = (WebSocketException, OSError, TimeoutError)
"""What the websocket library raises if a connection cannot be opened, or breaks."""
QUEUE_DELETED: Final = (1001, "the queue was deleted")
"""How the service closes the watch of a queue that was deleted."""
FINAL_CLOSE_CODES: Final = frozenset({1002, 1003, 1007, 1008, 1010})
"""Close codes that would also end the next connection, as would 4000 to 4999."""

OnLost: TypeAlias = Callable[[Exception, float], None]
"""Called when a connection was lost, with the error and the seconds until the next attempt."""


class ConnectOptions(TypedDict):
    """How to open a connection: the parameters that both kinds of websocket take."""

    additional_headers: Mapping[str, str]
    compression: None
    open_timeout: float
    close_timeout: float
    max_size: None
    max_queue: int


_read_message = msgspec.json.Decoder(WatchMessage).decode


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Which updates to send, and how fast. The parameters are those of `Client.watch`."""

    window: int | None = None
    max_rate: float | None = None
    max_rate_per_key: Mapping[str, float] | float | None = None
    keys: Iterable[str] = ()
    snapshot: bool = True
    conflate: Literal["auto", "never"] = "auto"

    def __post_init__(self) -> None:
        if self.window is not None and not 1 <= self.window <= MOST_WINDOW:
            raise ParameterError("window", self.window, f"a whole number from 1 to {MOST_WINDOW}")
        if isinstance(self.keys, str):
            raise ParameterError("keys", self.keys, "a list of patterns, not one string")
        if self.conflate not in ("auto", "never"):
            raise ParameterError("conflate", self.conflate, "'auto' or 'never'")
        object.__setattr__(self, "keys", tuple(self.keys))

    def query(self, last_event_id: str, *, snapshot: bool) -> str:
        """Return the query string of a connection."""
        pairs: list[tuple[str, str]] = []
        if self.window is not None:
            pairs.append(("window", str(self.window)))
        if self.max_rate is not None:
            pairs.append(("max_rate", _number(self.max_rate)))
        if isinstance(self.max_rate_per_key, Mapping):
            rates = self.max_rate_per_key.items()
            pairs += [("max_rate_per_key", f"{key}:{_number(rate)}") for key, rate in rates]
        elif self.max_rate_per_key is not None:
            pairs.append(("max_rate_per_key", _number(self.max_rate_per_key)))
        pairs += [("keys", pattern) for pattern in self.keys]
        if not snapshot:
            pairs.append(("snapshot", "false"))
        if self.conflate == "never":
            pairs.append(("conflate", "never"))
        if last_event_id:
            pairs.append(("last_event_id", last_event_id))
        return urlencode(pairs)


@dataclass(slots=True)
class Watching:
    """The last message, the updates not consumed yet, and the failures since the last success.

    The first connection is attempted as often as any request. Later ones are attempted `reconnects`
    times in a row, without limit if that is None. A message, or a connection that lasted, starts
    the count again. After the first connection, a queue that is not found is waited for, because
    the service may have been restarted.
    """

    connection: Connection
    queue: str
    options: WatchOptions
    _: KW_ONLY
    reconnects: int | None = None
    on_lost: OnLost | None = None
    superseded: int = field(init=False, default=0)
    """How many updates newer ones replaced before they were sent, in all."""
    _path: str = field(init=False)
    _last_id: str = field(init=False, default="")
    _failures: int = field(init=False, default=0)
    _has_connected: bool = field(init=False, default=False)
    _connected_at: float | None = field(init=False, default=None)
    _owes_credit: bool = field(init=False, default=False)
    _pending: deque[ReceivedUpdate] = field(init=False, default_factory=deque)

    def __post_init__(self) -> None:
        self._path = f"/v1/queues/{path_of_name(self.queue)}/socket"

    def address(self) -> str:
        """Return the address of the next connection."""
        query = self.options.query(self._last_id, snapshot=self._wants_snapshot())
        return f"{web_socket_url(self.connection.url)}{self._path}?{query}"

    def connect_options(self) -> ConnectOptions:
        """Return how to open the next connection."""
        return ConnectOptions(
            additional_headers=self.connection.headers,
            compression=None,  # it would cost the service more memory than everything else
            open_timeout=self.connection.timeout,
            close_timeout=CLOSE_SECONDS,
            max_size=None,
            max_queue=MOST_WINDOW + 1,
        )

    def connected(self) -> None:
        """Note that a connection is open."""
        self._has_connected = True
        self._connected_at = self.connection.clock.now()
        self._owes_credit = False

    def received(self, data: str | bytes) -> WatchMessage:
        """Parse a message, and remember its position."""
        try:
            message = _read_message(data)
        except msgspec.DecodeError as error:
            raise AnswerNotUnderstoodError(self.connection.url, 101, str(error)) from error
        self._last_id = message.id or self._last_id
        self._failures = 0
        self._owes_credit = True
        self.superseded += message.superseded
        return message

    def takes_credit(self) -> bool:
        """Return, once per message, whether to send credit for it."""
        owed, self._owes_credit = self._owes_credit, False
        return owed

    def keep(self, message: WatchMessage) -> None:
        """Keep the updates of a message for `next_update`."""
        self._pending.extend(message.updates)

    def next_update(self) -> ReceivedUpdate | None:
        """Remove and return the next kept update; None if there is none."""
        return self._pending.popleft() if self._pending else None

    def rest(self) -> WatchMessage | None:
        """Remove the kept updates and return them as a message; None if there are none."""
        if not self._pending:
            return None
        rest = WatchMessage(list(self._pending), self._last_id)
        self._pending.clear()
        return rest

    def after_loss(self, error: Exception) -> float:
        """Return the seconds to wait before the next connection; raise an error that is final."""
        asked_for = self._delay_asked_for(error)
        self._forget_old_failures()
        self._failures += 1
        most = self.reconnects if self._has_connected else self.connection.retries.retries
        delay = self.connection.retries.delay_asked_for(
            asked_for, self._failures, self.connection.random
        )
        if delay is None or (most is not None and self._failures > most):
            meaning = self.meaning(error)
            if isinstance(meaning, NotFoundError):
                raise meaning from error
            url = str(without_password(self.connection.url))
            raise ServiceUnreachableError(url, _reason(error), self._failures) from error
        if self.on_lost is not None:
            self.on_lost(self.meaning(error), delay)
        return delay

    def meaning(self, error: Exception) -> Exception:
        """Return the error to show: the refusal if the service answered, else the error itself."""
        if not isinstance(error, InvalidStatus):
            return error
        response = error.response
        after = retry_after_seconds(
            response.headers.get("Retry-After"), self.connection.clock.now()
        )
        return refusal(Answer(response.status_code, bytes(response.body or b""), after))

    def _wants_snapshot(self) -> bool:
        """Tell whether to begin with a snapshot, because it is wanted or nothing can be resumed."""
        cannot_resume = self._has_connected and not self._last_id
        return self.options.snapshot or cannot_resume

    def _forget_old_failures(self) -> None:
        """Start the count again after a connection that lasted, even without a message."""
        connected_at, self._connected_at = self._connected_at, None
        if (
            connected_at is not None
            and self.connection.clock.now() - connected_at >= self.connection.retries.longest_delay
        ):
            self._failures = 0

    def _delay_asked_for(self, error: Exception) -> float | None:
        """Return the delay that the service asks for; raise an error that is final."""
        meaning = self.meaning(error)
        if isinstance(meaning, RequestRefusedError):
            is_passing = meaning.status in WORTH_A_RETRY or (
                meaning.status == 404 and self._has_connected
            )
            if not is_passing:
                raise meaning from error
            seconds = meaning.members.get("retry_after")
            return seconds if isinstance(seconds, float) else None
        if isinstance(error, ConnectionClosed) and error.rcvd is not None:
            code = error.rcvd.code
            if (code, error.rcvd.reason) == QUEUE_DELETED:
                raise NotFoundError(404, "the watch was closed", error.rcvd.reason) from error
            if code in FINAL_CLOSE_CODES or 4000 <= code < 5000:
                raise RequestRefusedError(
                    code, "the watch was closed", error.rcvd.reason
                ) from error
        return None


def _number(rate: float) -> str:
    return repr(float(rate))


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
