"""What the service and its clients agree on about push."""

from __future__ import annotations

from typing import Final

DEFAULT_WINDOW: Final = 8
"""How many messages may be unanswered, unless the service or a connection says otherwise."""
MOST_WINDOW: Final = 1_000
"""How many a connection may ask for."""
MOST_APPENDED: Final = 10_000
"""How many updates of an append queue may wait for one connection before they are conflated."""
