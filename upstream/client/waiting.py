"""Waiting that ends early when nobody needs what is waited for any more."""

from __future__ import annotations

import asyncio
from contextlib import suppress


async def sleep_unless(closed: asyncio.Event, seconds: float) -> None:
    """Sleep for so long, or until the event is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await closed.wait()
