"""Waiting that ends early."""

from __future__ import annotations

import asyncio

from upstream.client.waiting import sleep_unless


def test_it_lasts_for_its_time_or_until_the_event() -> None:
    async def run() -> None:
        closed = asyncio.Event()
        await sleep_unless(closed, 0.001)
        sleeping = asyncio.create_task(sleep_unless(closed, 1_000.0))
        await asyncio.sleep(0)
        closed.set()
        await asyncio.wait_for(sleeping, 30.0)
        await sleep_unless(closed, 1_000.0)

    asyncio.run(run())
