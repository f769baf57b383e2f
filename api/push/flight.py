"""What is on its way to one websocket, and how much more may be sent: credit and an allowance.

The client answers messages, so the server knows what was not read. At most `window` messages are
unanswered. That bounds the number of messages, not their age: eight messages of 64 kB take ten
seconds for a client that reads 50 kB/s. So an allowance of bytes is learned from the time to the
answer, as TCP Vegas learns its window. It is doubled while answers come within `QUICK` of the
shortest time, if it was what limited sending. It is halved when answers take longer than that by
`SLOW`. Messages begin small and grow likewise, up to the allowance. So a slow client has about as
much on its way as it reads in `SLOW`, usually one message. Other updates wait in the queue, where
newer values supersede them.

Some delay does not depend on the allowance: that of a distant client, or of a client that spends
its time on messages rather than bytes. At the smallest allowance the delay is taken as the shortest
time, and the allowance grows again.

A client may answer several messages at once. The allowance then applies only once as many messages
are on their way as it has answered at once. If no answer comes for a while (a lull), one more
message may be sent. So within its window a client never waits for a message while the server waits
for its answer.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final, NamedTuple

QUICK: Final = 0.008
SLOW: Final = 0.02
LEAST_BYTES: Final = 512
FIRST_MESSAGES: Final = 8
"""How many of the smallest messages fit into the first allowance."""
MOST_MESSAGE_BYTES: Final = 65_536
LULL: Final = 0.25
LULL_ROUND_TRIPS: Final = 4
"""A lull lasts as long as this many answers took, and at least `LULL`."""


class _Sent(NamedTuple):
    at: float
    size: int
    is_full: bool
    """Whether it was as large as it might be."""
    is_limited: bool
    """Whether it was the last message for which the allowance had room."""


class Flight:
    """The messages that one client has not answered.

    >>> flight = Flight(window=2)
    >>> flight.send(size=100, now=0.0)
    >>> flight.send(size=100, now=0.1)
    >>> flight.may_send(now=0.1)
    False
    >>> flight.answer(1, now=0.2)
    1
    >>> flight.may_send(now=0.2)
    True
    """

    __slots__ = (
        "_allowance",
        "_bytes",
        "_changed_at",
        "_last_event",
        "_message_bytes",
        "_most",
        "_round_trip",
        "_sent",
        "_shortest",
        "_stride",
        "window",
    )

    def __init__(self, window: int) -> None:
        self.window = window
        self._sent: deque[_Sent] = deque()
        self._bytes = 0
        self._most = window * MOST_MESSAGE_BYTES
        self._allowance = LEAST_BYTES * min(window, FIRST_MESSAGES)
        self._message_bytes = LEAST_BYTES
        self._changed_at = -math.inf
        self._shortest = math.inf
        self._round_trip = 0.0
        self._stride = 1
        self._last_event = -math.inf

    def __len__(self) -> int:
        """Return how many messages are unanswered."""
        return len(self._sent)

    @property
    def has_credit(self) -> bool:
        """Whether the window allows another message."""
        return len(self._sent) < self.window

    @property
    def message_bytes(self) -> int:
        """About how large the next message may be.

        The first one is small. Otherwise the shortest time would be that of a large message, and no
        answer would seem slow.
        """
        return self._message_bytes

    def may_send(self, now: float) -> bool:
        """Tell whether another message may be sent now."""
        messages = len(self._sent)
        if messages < self._stride or self._bytes < self._allowance:
            return messages < self.window
        return messages < self.window and now >= self.next_due()

    def next_due(self) -> float:
        """Return when a message may be sent even without an answer; infinity without credit."""
        if not self.has_credit:
            return math.inf
        return self._last_event + max(LULL, LULL_ROUND_TRIPS * self._round_trip)

    def send(self, size: int, now: float) -> None:
        """Note that a message is sent."""
        assert len(self._sent) < self.window, "a message without credit"
        self._bytes += size
        self._last_event = now
        is_full = size >= self._message_bytes
        self._sent.append(_Sent(now, size, is_full, self._bytes >= self._allowance))

    def answer(self, messages: int, now: float) -> int:
        """Note that the client has answered the oldest `messages`; return their number."""
        messages = min(messages, len(self._sent))
        if messages == 0:
            return 0
        self._last_event = now
        self._stride = max(self._stride, messages)
        answered = [self._sent.popleft() for _ in range(messages)]
        self._bytes -= sum(sent.size for sent in answered)
        newest = answered[-1]  # earlier messages waited for it if they are answered together
        self._round_trip = now - newest.at
        self._shortest = min(self._shortest, self._round_trip)
        if newest.at >= self._changed_at:  # otherwise it says nothing about the present allowance
            self._learn(
                is_full=any(sent.is_full for sent in answered),
                is_limited=any(sent.is_limited for sent in answered),
                now=now,
            )
        return messages

    def _learn(self, *, is_full: bool, is_limited: bool, now: float) -> None:
        before = self._allowance, self._message_bytes
        delay = self._round_trip - self._shortest
        if delay > SLOW:
            if self._allowance <= LEAST_BYTES:
                self._shortest = self._round_trip
            self._allowance = max(self._allowance // 2, LEAST_BYTES)
        elif delay < QUICK:
            if is_limited:
                self._allowance = min(self._allowance * 2, self._most)
            if is_full:
                self._message_bytes = min(self._message_bytes * 2, MOST_MESSAGE_BYTES)
        elif is_limited:
            self._message_bytes = self._allowance  # as much as before, in fewer messages
        self._message_bytes = min(self._message_bytes, self._allowance, MOST_MESSAGE_BYTES)
        if (self._allowance, self._message_bytes) != before:
            self._changed_at = now

    def _check(self) -> None:
        """Assert every invariant."""
        assert len(self._sent) <= self.window
        assert self._bytes == sum(sent.size for sent in self._sent)
        assert LEAST_BYTES <= self._message_bytes <= self._allowance <= self._most
        assert [sent.at for sent in self._sent] == sorted(sent.at for sent in self._sent)
