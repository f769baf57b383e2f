"""What a client has received and not read, as far as its TCP window tells.

Small buffers on this side leave those of the client, and its kernel may hold megabytes for a reader
that is slow: ten seconds of 50 kB/s after half a minute, and more after that. The kernel takes what
comes and acknowledges it at once, but it offers the less room in return, and that can be seen here.

An offer varies by a third though all is read, so only one below half of the best is taken for a
sign. And it is a guess: room may be missing for other reasons. If none comes back for a while, the
present offer is taken for the best, and that while is doubled as long as it goes on.
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
"""Where Linux, since 5.4, tells the offered room in its `struct tcp_info`."""


def offered_window(connection: socket.socket) -> int | None:
    """Return how many bytes the other side has room for, None if the kernel does not tell."""
    if sys.platform != "linux":
        return None
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
    except (OSError, ValueError):  # it is closed
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
        """The offer when room came back last."""
        self._since: float | None = None
        """Since when none did, while it is short."""

    def is_short(self, now: float) -> bool:
        """Tell whether the client has so much to read that nothing should be added to it."""
        window = offered_window(self._connection)
        return window is not None and self._is_short(window, now)

    def _is_short(self, window: int, now: float) -> bool:
        self._best = max(self._best, window)
        if 2 * window >= self._best:
            self._since = None
        elif self._since is None:
            self._since, self._last = now, window
        elif window > self._last:  # it reads
            self._since, self._last = now, window
            self._patience = PATIENCE
        elif now - self._since > self._patience:
            self._best = window
            self._patience = min(2 * self._patience, MOST_PATIENCE)
            self._since = None
        return self._since is not None
