"""One watch of a queue over all of its connections, without the connecting.

Credit: the service sends at most a window of messages ahead of what was consumed. Resuming: a new
connection names the last message, so that the service goes on from there, or sends a whole new
picture and says so (`is_reset`). What was sent but not seen before a connection broke comes again
in its newest form; so nothing is missed, and something may come twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias
from urllib.parse import urlencode

import msgspec
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from upstream.errors import ParameterError

from .addresses import web_socket_url
from .answers import Answer, WatchMessage
from .encoding import path_of_name
from .errors import (
    AnswerNotUnderstoodError,
    RequestRefusedError,
    ServiceUnreachableError,
    refusal,
)
from .retries import WORTH_A_RETRY, RetryPolicy, retry_after_seconds

WINDOW: Final = 8
"""How many messages the service may be ahead unless told otherwise."""
CREDIT: Final = '{"credit":1}'
"""What is sent for each message that was consumed."""
CLOSE_SECONDS: Final = 2.0
"""How long leaving a watch waits for the service to say goodbye."""
LOST: Final = (WebSocketException, OSError, TimeoutError)
"""What a connection raises that cannot be made, or is no more."""
FINAL_CLOSE_CODES: Final = frozenset({1002, 1003, 1007, 1008, 1010})
"""Reasons for which the service would close the next connection, too; so are 4000 to 4999."""

OnLost: TypeAlias = Callable[[Exception, float], None]
"""Called when a connection was lost, with the error and the seconds until the next attempt."""

_read_message = msgspec.json.Decoder(WatchMessage).decode


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What to be sent, and how fast."""

    window: int = WINDOW
    max_rate: float | None = None
    """Updates per second, of all keys."""
    max_rate_per_key: Mapping[str, float] | float | None = None
    """Updates per second of each key: one number, or numbers by pattern such as `GO*`."""
    keys: Iterable[str] = ()
    """Patterns; only keys that fit one of them, if there are any."""
    snapshot: bool = True
    """Whether to begin with the newest values of all keys."""

    def __post_init__(self) -> None:
        if isinstance(self.keys, str):
            raise ParameterError("keys", self.keys, "a list of patterns, not one string")
        object.__setattr__(self, "keys", tuple(self.keys))

    def query(self, last_event_id: str) -> str:
        """Return the query of a connection."""
        pairs: list[tuple[str, str]] = [("window", str(self.window))]
        if self.max_rate is not None:
            pairs.append(("max_rate", repr(self.max_rate)))
        if isinstance(self.max_rate_per_key, Mapping):
            rates = self.max_rate_per_key.items()
            pairs += [("max_rate_per_key", f"{key}:{rate!r}") for key, rate in rates]
        elif self.max_rate_per_key is not None:
            pairs.append(("max_rate_per_key", repr(self.max_rate_per_key)))
        pairs += [("keys", pattern) for pattern in self.keys]
        pairs.append(("snapshot", "true" if self.snapshot else "false"))
        if last_event_id:
            pairs.append(("last_event_id", last_event_id))
        return urlencode(pairs)


class Watching:
    """What a watch knows of its past: the last message, and how often it has failed since.

    The first connection is tried as often as any request, and later ones `reconnects` times in a
    row, for ever if that is None. A message, or a connection that lasts, ends the row.
    """

    __slots__ = (
        "_connected_at",
        "_failures",
        "_has_connected",
        "_last_id",
        "_now",
        "_options",
        "_policy",
        "_queue",
        "_random",
        "_reconnects",
        "_url",
    )

    def __init__(
        self,
        url: str,
        queue: str,
        options: WatchOptions,
        *,
        policy: RetryPolicy,
        reconnects: int | None,
        random: Random,
        now: Callable[[], float],
    ) -> None:
        self._url = url
        self._queue = path_of_name(queue)
        self._options = options
        self._policy = policy
        self._reconnects = reconnects
        self._random = random
        self._now = now
        self._last_id = ""
        self._failures = 0
        self._has_connected = False
        self._connected_at: float | None = None

    @property
    def window(self) -> int:
        """Return how many messages may be on their way."""
        return self._options.window

    def address(self) -> str:
        """Return where to connect to, now."""
        query = self._options.query(self._last_id)
        return f"{web_socket_url(self._url)}/v1/queues/{self._queue}/socket?{query}"

    def connected(self) -> None:
        """Note that there is a connection."""
        self._has_connected = True
        self._connected_at = self._now()

    def received(self, data: str | bytes) -> WatchMessage:
        """Return what a message says, and remember how far it brought us."""
        try:
            message = _read_message(data)
        except msgspec.DecodeError as error:
            raise AnswerNotUnderstoodError(self._url, 101, str(error)) from error
        self._last_id = message.id or self._last_id
        self._failures = 0
        return message

    def after_loss(self, error: Exception) -> float:
        """Return the seconds to wait before connecting again; raise what makes that pointless."""
        asked_for = self._delay_asked_for(error)
        self._forget_old_failures()
        self._failures += 1
        most = self._reconnects if self._has_connected else self._policy.retries
        delay = self._policy.delay_asked_for(asked_for, self._failures, self._random)
        if delay is None or (most is not None and self._failures > most):
            raise ServiceUnreachableError(self._url, _reason(error), self._failures) from error
        return delay

    def _forget_old_failures(self) -> None:
        """Begin to count again after a connection that lasted, though it may have been silent."""
        connected_at, self._connected_at = self._connected_at, None
        if connected_at is not None and self._now() - connected_at >= self._policy.longest_delay:
            self._failures = 0

    def _delay_asked_for(self, error: Exception) -> float | None:
        """Return what the service asks for with a loss; raise what it refuses for good."""
        if isinstance(error, InvalidStatus):
            response = error.response
            after = retry_after_seconds(response.headers.get("Retry-After"), self._now())
            if response.status_code not in WORTH_A_RETRY:
                raise refusal(Answer(response.status_code, bytes(response.body), after)) from error
            return after
        if isinstance(error, ConnectionClosed) and error.rcvd is not None:
            code = error.rcvd.code
            if code in FINAL_CLOSE_CODES or 4000 <= code < 5000:
                raise RequestRefusedError(
                    code, "the watch was closed", error.rcvd.reason
                ) from error
        return None


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
