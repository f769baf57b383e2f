"""One watch of a queue over all of its connections, without the connecting.

Credit: the service sends at most a window of messages ahead of what was consumed. Resuming: a new
connection names the last message, so that the service goes on from there, or sends a whole new
picture and says so (`is_reset`). What was sent but not seen before a connection broke comes again
in its newest form; so nothing is missed, and something may come twice. A connection that broke
before its first message cannot be resumed, so the next one begins with a snapshot, even if none was
wanted at first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias
from urllib.parse import urlencode

import msgspec
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from upstream.errors import ParameterError
from upstream.push_limits import MOST_WINDOW

from .addresses import web_socket_url, without_password
from .answers import Answer, ReceivedUpdate, WatchMessage
from .encoding import path_of_name
from .errors import (
    AnswerNotUnderstoodError,
    NotFoundError,
    RequestRefusedError,
    ServiceUnreachableError,
    refusal,
)
from .retries import WORTH_A_RETRY, RetryPolicy, retry_after_seconds

CREDIT: Final = '{"credit":1}'
"""What is sent for each message that was consumed."""
CLOSE_SECONDS: Final = 2.0
"""How long leaving a watch waits for the service to say goodbye."""
LOST: Final = (WebSocketException, OSError, TimeoutError)
"""What a connection raises that cannot be made, or is no more."""
QUEUE_DELETED: Final = (1001, "the queue was deleted")
"""How the service closes a watch of a queue that is gone, and not only out of reach."""
FINAL_CLOSE_CODES: Final = frozenset({1002, 1003, 1007, 1008, 1010})
"""Reasons for which the service would close the next connection, too; so are 4000 to 4999."""

OnLost: TypeAlias = Callable[[Exception, float], None]
"""Called when a connection was lost, with the error and the seconds until the next attempt."""

_read_message = msgspec.json.Decoder(WatchMessage).decode


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What to be sent, and how fast."""

    window: int | None = None
    """How many messages the service may be ahead; as many as it thinks fit if None."""
    max_rate: float | None = None
    """Updates per second, of all keys; a message may hold many."""
    max_rate_per_key: Mapping[str, float] | float | None = None
    """Updates per second of each key: one number, or numbers by pattern such as `GO*`."""
    keys: Iterable[str] = ()
    """Patterns; only keys that fit one of them, if there are any."""
    snapshot: bool = True
    """Whether to begin with the newest values of all keys, if the stream retains any."""

    def __post_init__(self) -> None:
        if self.window is not None and not 1 <= self.window <= MOST_WINDOW:
            raise ParameterError("window", self.window, f"a whole number from 1 to {MOST_WINDOW}")
        if isinstance(self.keys, str):
            raise ParameterError("keys", self.keys, "a list of patterns, not one string")
        object.__setattr__(self, "keys", tuple(self.keys))

    def query(self, last_event_id: str, *, snapshot: bool) -> str:
        """Return the query of a connection."""
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
        if last_event_id:
            pairs.append(("last_event_id", last_event_id))
        return urlencode(pairs)


class Watching:
    """What a watch knows of its past: the last message, and how often it has failed since.

    The first connection is tried as often as any request, and later ones `reconnects` times in a
    row, for ever if that is None. A message, or a connection that lasts, ends the row. Once there
    was a connection, a queue that is not there counts as one that is not there yet, as its service
    may have been restarted just now.
    """

    __slots__ = (
        "_connected_at",
        "_failures",
        "_has_connected",
        "_last_id",
        "_now",
        "_options",
        "_owes_credit",
        "_pending",
        "_policy",
        "_queue",
        "_random",
        "_reconnects",
        "_url",
        "superseded",
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
        self._owes_credit = False
        self._pending: deque[ReceivedUpdate] = deque()
        self.superseded = 0
        """How many updates were left out in all."""

    def address(self) -> str:
        """Return where to connect to, now."""
        query = self._options.query(self._last_id, snapshot=self._wants_snapshot())
        return f"{web_socket_url(self._url)}/v1/queues/{self._queue}/socket?{query}"

    def connected(self) -> None:
        """Note that there is a connection."""
        self._has_connected = True
        self._connected_at = self._now()
        self._owes_credit = False

    def received(self, data: str | bytes) -> WatchMessage:
        """Return what a message says, and remember how far it brought us."""
        try:
            message = _read_message(data)
        except msgspec.DecodeError as error:
            raise AnswerNotUnderstoodError(self._url, 101, str(error)) from error
        self._last_id = message.id or self._last_id
        self._failures = 0
        self._owes_credit = True
        self.superseded += message.superseded
        return message

    def takes_credit(self) -> bool:
        """Tell, once for each message, that it was consumed."""
        owed, self._owes_credit = self._owes_credit, False
        return owed

    def keep(self, message: WatchMessage) -> None:
        """Keep the updates of a message until they are asked for."""
        self._pending.extend(message.updates)

    def next_update(self) -> ReceivedUpdate | None:
        """Return the next update that was kept; None if there is none."""
        return self._pending.popleft() if self._pending else None

    def rest(self) -> WatchMessage | None:
        """Return the updates that were kept, and keep them no longer; None if there are none."""
        if not self._pending:
            return None
        rest = WatchMessage(list(self._pending), self._last_id)
        self._pending.clear()
        return rest

    def after_loss(self, error: Exception) -> float:
        """Return the seconds to wait before connecting again, or raise what makes it pointless."""
        asked_for = self._delay_asked_for(error)
        self._forget_old_failures()
        self._failures += 1
        most = self._reconnects if self._has_connected else self._policy.retries
        delay = self._policy.delay_asked_for(asked_for, self._failures, self._random)
        if delay is None or (most is not None and self._failures > most):
            meaning = self.meaning(error)
            if isinstance(meaning, NotFoundError):
                raise meaning from error
            url = str(without_password(self._url))
            raise ServiceUnreachableError(url, _reason(error), self._failures) from error
        return delay

    def meaning(self, error: Exception) -> Exception:
        """Return a loss as it is told: what the service said, if it was the one that answered."""
        if not isinstance(error, InvalidStatus):
            return error
        response = error.response
        after = retry_after_seconds(response.headers.get("Retry-After"), self._now())
        return refusal(Answer(response.status_code, bytes(response.body or b""), after))

    def _wants_snapshot(self) -> bool:
        """Tell whether to begin with the newest values, as what was missed cannot be told apart."""
        is_unknown_where = self._has_connected and not self._last_id
        return self._options.snapshot or is_unknown_where

    def _forget_old_failures(self) -> None:
        """Begin to count again after a connection that lasted, though it may have been silent."""
        connected_at, self._connected_at = self._connected_at, None
        if connected_at is not None and self._now() - connected_at >= self._policy.longest_delay:
            self._failures = 0

    def _delay_asked_for(self, error: Exception) -> float | None:
        """Return what the service asks for with a loss; raise what it refuses for good."""
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
