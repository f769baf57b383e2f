"""One thread inserts while another asks, by the wall clock.

Threads of one interpreter share its lock, and the machine may have few cores. So what is measured
is what a process sees that does both, and not what a system could do by itself.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event, Thread
from time import perf_counter, process_time, sleep

import pyarrow as pa

from tests.benchmarks.view_systems import System


@dataclass(frozen=True, slots=True)
class Seen:
    """What both threads saw: the rate of rows, and how many seconds each call took.

    `cores` is the processor time of the process by the wall clock: less than the threads could use
    if others use the machine.
    """

    rows_per_second: float
    asks_per_second: float
    asks: list[float]
    puts: list[float]
    cores: float


def p99(latencies: list[float]) -> float:
    """Return what one of a hundred latencies exceeds, or the highest of a few."""
    return sorted(latencies)[-1 - len(latencies) // 100]


@dataclass(frozen=True, slots=True)
class Reader:
    """Asks for queries at random, each as often as the others: without a pause, or at a rate."""

    system: System
    names: tuple[str, ...]
    period: float = 0.0

    def run(self, is_over: Event, latencies: list[float]) -> None:
        """Ask until it is over."""
        choice, ask = random.Random(2), self.system.reader()
        started = perf_counter()
        while not is_over.is_set():
            pace(started, len(latencies), self.period)
            before = perf_counter()
            ask(choice.choice(self.names))
            latencies.append(perf_counter() - before)


def pace(started: float, done: int, period: float) -> None:
    """Wait until the next one is due; what was held up is made up for."""
    wait = started + done * period - perf_counter()
    if wait > 0:
        sleep(wait)


def inserting(
    system: System,
    batches: Sequence[pa.Table],
    *,
    names: Sequence[str],
    period: float = 0.0,
    reader: Reader | None = None,
) -> Seen:
    """Insert batches, one in each period or without a pause, while the reader asks.

    At the end each query is asked once. So a system that only stores rows has to use them as well.
    """
    is_over, asks, puts = Event(), list[float](), list[float]()
    thread = None if reader is None else Thread(target=reader.run, args=(is_over, asks))
    started, worked = perf_counter(), process_time()
    if thread is not None:
        thread.start()
    for batch in batches:
        pace(started, len(puts), period)
        before = perf_counter()
        system.put(batch)
        puts.append(perf_counter() - before)
    for name in names:
        system.ask(name)
    seconds, cores, asked = perf_counter() - started, process_time() - worked, len(asks)
    is_over.set()
    if thread is not None:
        thread.join()
    rows = sum(batch.num_rows for batch in batches)
    return Seen(rows / seconds, asked / seconds, asks, puts, cores / seconds)
