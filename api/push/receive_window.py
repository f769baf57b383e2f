"""What a client has received and not read, as far as its TCP window tells.

Small buffers on this side do not affect those of the client. Its kernel may hold megabytes for a
slow reader: ten seconds of 50 kB/s after half a minute, and more later. That kernel acknowledges
everything at once, but it offers less room in return, which can be seen here.

An offer varies by a third even if everything is read. So only an offer below half of the best
counts as short. It is a guess, since room may be missing for other reasons. If no room comes back
for some time, the present offer becomes the best, and that time is doubled as long as it goes on.
"""

from __future__ import annotations

import socket
import struct
import sys
from typing import Final

PATIENCE: Final = 0.25
MOST_PATIENCE: Final = 8.0

_INFO_BYTES: Final = 232
_WINDOW_AT: Final = 228
"""The offset of the offered room in Linux's `struct tcp_info`, since 5.4."""


def offered_window(connection: socket.socket) -> int | None:
    """Return how many bytes the other side has room for, or None if the kernel does not tell."""
    if sys.platform != "linux":
        return None
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
    except (OSError, ValueError):  # the connection is closed
        return None
    if len(info) < _INFO_BYTES:
        return None
    (window,) = struct.unpack_from("=I", info, _WINDOW_AT)
    return int(window)


class ReceiveWindow:
    """Follows the room that the client of one connection offers."""

    __slots__ = ("_best", "_connection", "_last", "_patience", "_since")

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._best = 0
        self._patience = PATIENCE
        self._last = 0
        """The offer when room last came back."""
        self._since: float | None = None
        """Since when no room has come back, while it is short."""

    def is_short(self, now: float) -> bool:
        """Tell whether the client has so much to read that the server should wait."""
        window = offered_window(self._connection)
        return window is not None and self._is_short(window, now)

    def _is_short(self, window: int, now: float) -> bool:
        self._best = max(self._best, window)
        if 2 * window >= self._best:
            self._since = None
        elif self._since is None:
            self._since, self._last = now, window
        elif window > self._last:  # the client reads
            self._since, self._last = now, window
            self._patience = PATIENCE
        elif now - self._since > self._patience:
            self._best = window
            self._patience = min(2 * self._patience, MOST_PATIENCE)
            self._since = None
        return self._since is not None
