"""The limits of push connections, shared by the service and its clients."""

from __future__ import annotations

from typing import Final

DEFAULT_WINDOW: Final = 8
"""How many messages may be unanswered by default."""
MOST_WINDOW: Final = 1_000
"""The largest window that a connection may ask for, in messages."""
MOST_APPENDED: Final = 10_000
"""How many updates of an append queue may wait for one connection before they are conflated."""
