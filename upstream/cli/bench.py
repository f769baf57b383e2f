"""`upstream bench`: how fast the service takes updates in and hands them out."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Annotated, TypeAlias

import typer
from rich.progress import MofNCompleteColumn

from .arguments import Json
from .bench_run import Bench, BenchResult, BenchSettings, Measured
from .connection import TERMINATED, exit_codes, service_of
from .formatting import count, duration, rate
from .output import add_row, progress, table_with, write_json, write_line, write_table

Updates: TypeAlias = Annotated[int, typer.Option(min=1, help="How many to put.")]
Batch: TypeAlias = Annotated[int, typer.Option(min=1, max=10_000, help="How many at once.")]
Keys: TypeAlias = Annotated[
    int, typer.Option(min=1, max=1_000_000, help="How many keys, of Zipf's popularity.")
]
Connections: TypeAlias = Annotated[
    int, typer.Option("--connections", "-c", min=1, max=100, help="How many calls at a time.")
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Seed from which keys are drawn.")]


def bench(
    context: typer.Context,
    *,
    updates: Updates = 200_000,
    batch: Batch = 1_000,
    keys: Keys = 10_000,
    connections: Connections = 1,
    seed: Seed = 1,
    is_json: Json = False,
) -> None:
    """Measure how fast updates go in and out, through this client, which needs time as well.

    Uses a stream and a queue of its own, and removes them. Updates go in as JSON in batches; they
    come out until the queue is empty, which is filled again a few times. Latencies are those of
    whole batches. Interrupted or terminated, it removes its stream and queue as well.
    """
    service = service_of(context)
    settings = BenchSettings(updates, batch, keys, connections, seed)
    with exit_codes(), progress(MofNCompleteColumn()) as bar:
        putting = bar.add_task("put", total=updates)
        dequeuing = bar.add_task("dequeue", total=None)
        measuring = Bench(service.url, settings, timeout=service.timeout).run(
            lambda number: bar.advance(putting, number),
            lambda number: bar.advance(dequeuing, number),
        )
        try:
            result = asyncio.run(_until_terminated(measuring))
        except asyncio.CancelledError:
            raise typer.Exit(TERMINATED) from None
    if is_json:
        write_json(result)
    else:
        _write(result)


async def _until_terminated(measuring: Coroutine[None, None, BenchResult]) -> BenchResult:
    """Return what was measured; SIGTERM cancels it, so that it tidies up."""
    task = asyncio.ensure_future(measuring)
    with suppress(NotImplementedError):  # where there are no such signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


def _write(result: BenchResult) -> None:
    settings = result.settings
    write_line(
        f"{count(settings.keys, 'key')}, batches of {settings.batch:,}, "
        f"{count(settings.connections, 'connection')}\n"
    )
    numbers = ("updates", "seconds", "updates/s", "batch p50", "batch p99")
    table = table_with("", *numbers, right=numbers)
    for name, measured in (("put", result.put), ("dequeue", result.dequeue)):
        add_row(table, name, *_cells(measured))
    write_table(table)


def _cells(measured: Measured) -> tuple[str, ...]:
    return (
        f"{measured.updates:,}",
        f"{measured.seconds:.2f}",
        rate(measured.updates_per_second),
        duration(measured.latency_p50),
        duration(measured.latency_p99),
    )
