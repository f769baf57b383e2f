"""One connection's state: what it was sent, what it has answered, and its position.

It knows nothing of sockets. The code that has the connection asks it for messages, passes it the
answers, and closes it. It is called back (`on_end`) when the service closes the subscription.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final, Literal, NamedTuple

from upstream import Update
from upstream.push_limits import MOST_APPENDED

from ..bodies import json_fragment
from ..rationed import Rationed
from .feed import QueueFeed, StreamFeed
from .pacing import MeasuredPace, RateAllowance
from .resume import beginning_of, id_of, sequence_before
from .selected_queue import SelectedQueue
from .selection import Selection, SelectionError

Transport = Literal["websocket", "sse"]

MOST_UPDATES: Final = 128
"""The most updates of a message, since making it blocks the event loop."""
SHORT_UPDATES: Final = 32
STALENESS_SHARE: Final = 1e-4
"""The largest share of the time for computing one connection's staleness."""


class Ending(Enum):
    """Why a connection ends."""

    CLIENT = "the client disconnected"
    DELETED = "the queue was deleted"
    SHUTDOWN = "the service is stopping"
    FELL_BEHIND = (
        f"conflate=never: more than {MOST_APPENDED:,} updates waited, so some were left out; "
        "connect again for newest values"
    )


class PushMessage(NamedTuple):
    """A message as it is sent."""

    data: bytes
    message_id: str
    updates: int
    is_last: bool
    """Whether nothing else waits that could be sent now."""


class Subscription:
    """A connection to a queue. Raises SelectionError if the queue cannot do what it asks for."""

    __slots__ = (
        "_allowance",
        "_beginning",
        "_deletions",
        "_delivered",
        "_feed",
        "_is_reset",
        "_pace",
        "_queue",
        "_sent",
        "_staleness",
        "_started",
        "_superseded",
        "_unanswered",
        "ending",
        "message_bytes",
        "now",
        "on_end",
        "selection",
        "stream",
        "subscription_id",
        "transport",
    )

    def __init__(self, feed: QueueFeed, selection: Selection, transport: Transport) -> None:
        if not selection.may_conflate and feed.definition.kind != "append":
            raise SelectionError("conflate", "auto, except for an append queue")
        self._feed = feed
        self.selection = selection
        self.transport: Transport = transport
        self.subscription_id = secrets.token_hex(4)
        self.ending: Ending | None = None
        self.on_end: Callable[[], None] | None = None
        self.message_bytes = 0
        """The present size of messages, as the sending code has chosen it."""
        self.stream: StreamFeed = feed.stream
        self.now: Callable[[], float] = feed.stream.stream.now
        """The time on the stream's scale of arrivals."""
        self._started = time.time()
        now = self.now()
        beginning = beginning_of(selection, feed)
        self._queue = SelectedQueue(feed, selection, beginning)
        self._is_reset = beginning.is_reset
        self._deletions = deque(beginning.deletions)
        self._beginning = sequence_before(now if beginning.since is None else beginning.since)
        rate = selection.max_rate
        self._allowance = None if rate is None else RateAllowance(rate, now=now)
        self._pace = MeasuredPace(now=now)
        self._sent = self._delivered = self._superseded = 0
        self._unanswered: deque[list[Update]] = deque()
        self._staleness = Rationed(self._queue.queue_staleness, share=STALENESS_SHARE)
        self.stream.subscribers.add(self)
        feed.serve_push()

    @property
    def queue(self) -> str:
        """The name of the queue."""
        return self._feed.name

    def is_open(self) -> bool:
        """Tell whether the connection goes on.

        With `conflate=never` it ends here once an update was left out. No message was made since
        then, so the client has every update up to the last message.
        """
        if self.ending is None and not self.selection.may_conflate and self._queue.superseded():
            self.close(Ending.FELL_BEHIND)
        return self.ending is None

    def take(self, most_bytes: int, *, is_short: bool = False) -> PushMessage | None:
        """Return the next message, of at most about `most_bytes`; None if there is none now.

        `is_short` asks for a short message, since other connections wait.
        """
        assert self.ending is None, "a message of a connection that has ended"
        if not self.is_open():
            return None
        now = self.now()
        room = SHORT_UPDATES if is_short else MOST_UPDATES
        if self._allowance is not None:
            room = min(room, self._allowance.at(now))
        parts: list[bytes] = []
        while self._deletions and len(parts) < room:
            parts.append(json_fragment(self._deletions.popleft()))
        updates: list[Update] = []
        is_last = False
        if not self._deletions:
            size = sum(map(len, parts))
            is_last = self._take_updates(parts, updates, room - len(parts), most_bytes - size)
        if not parts and not self._is_reset:
            return None
        self._unanswered.append(updates)
        if self._allowance is not None:
            self._allowance.spend(len(parts))
        self._sent += len(parts)
        self._pace.note(len(parts), now)
        return self._message(parts, is_last=is_last)

    def _take_updates(
        self, parts: list[bytes], updates: list[Update], room: int, most_bytes: int
    ) -> bool:
        """Take up to `room` updates of about `most_bytes`; return whether nothing else waits."""
        take = self._queue.take
        for _ in range(room):
            if most_bytes <= 0:
                return False
            update = take()
            if update is None:
                return not self._queue.has_more
            updates.append(update)
            part = json_fragment(update)
            parts.append(part)
            most_bytes -= len(part)
        return False

    def _message(self, parts: list[bytes], *, is_last: bool) -> PushMessage:
        sequence = self._beginning if self._deletions else self._queue.sequence()
        message_id = id_of(self.stream.run, sequence)
        superseded = self._queue.superseded()
        end = b'],"id":"%b"' % message_id.encode()
        if superseded > self._superseded:
            end += b',"superseded":%d' % (superseded - self._superseded)
            self._superseded = superseded
        if self._is_reset:
            end += b',"reset":true'
            self._is_reset = False
        data = b'{"updates":[' + b",".join(parts) + end + b"}"
        return PushMessage(data, message_id, len(parts), is_last)

    @property
    def has_more(self) -> bool:
        """Whether `take`, after it returned None, should be called again once others had a turn."""
        if self.ending is not None:
            return False
        if self._allowance is not None and self._allowance.at(self.now()) == 0:
            return False  # nothing may be sent before `next_due`
        return self._queue.has_more

    @property
    def backlog(self) -> int:
        """How many updates wait. O(1)."""
        return len(self._queue) + len(self._deletions)

    def next_due(self) -> float:
        """Return when there may be a message even without an update; infinity if never."""
        if self._allowance is not None and self._allowance.at(self.now()) == 0:
            return self._allowance.next_due()
        return self._queue.next_due()

    def delivered(self, messages: int) -> None:
        """Note that the client has processed the oldest `messages` of those it had not answered."""
        if self.ending is not None:
            return
        deliver = self._queue.deliver
        for _ in range(messages):
            updates = self._unanswered.popleft()
            for update in updates:
                deliver(update)
            self._delivered += len(updates)

    def close(self, ending: Ending = Ending.DELETED) -> None:
        """Detach from the stream at once. The code that has the connection then ends it."""
        if self.ending is not None:
            return
        self.ending = ending
        self.stream.subscribers.discard(self)
        self._queue.close()
        self._unanswered.clear()
        self._deletions.clear()
        if self.on_end is not None:
            self.on_end()

    def record(self) -> dict[str, object]:
        """Return the record of the connection that the page shows."""
        now = self.now()
        return {
            "id": self.subscription_id,
            "queue": self.queue,
            "kind": self.transport,
            "since": self._started,
            "window": self.selection.window if self.transport == "websocket" else None,
            "sent": self._sent,
            "delivered": self._delivered,
            "waiting": len(self._queue),
            "pace": self._pace.at(now),
            "message_bytes": self.message_bytes,
            "queue_staleness": self._staleness.get(),
        }
