"""Window queues beside the same work with a plain deque per key: time per tuple, as ratios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time
from types import FunctionType

import pytest

from tests.benchmarks.bare_windows import BareWindows
from tests.benchmarks.measure import Drive, Table, ratios, zipf_keys
from upstream import (
    Aggregate,
    BytesCodec,
    EagerWindowBuffer,
    InPlaceScheduler,
    LazyWindowBuffer,
    OnDemandMemory,
    PagePool,
    WindowBuffer,
    WindowQueue,
    WindowResult,
    WindowSpecification,
    WindowTuple,
)

pytestmark = pytest.mark.benchmark

KEYS = 300
TUPLES = 100_000
BUDGET = 4.0
SIZE = 10

Feed = list[tuple[str, float]]


def feed() -> Feed:
    """Return the keys of a Zipf sequence with a time for each: the number of the key's tuple."""
    seen: dict[str, int] = {}
    rows = []
    for key in zipf_keys(KEYS, TUPLES):
        seen[key] = seen.get(key, -1) + 1
        rows.append((key, float(seen[key])))
    return rows


def work(
    enqueue: Callable[[str, object, float], object],
    dequeue: Callable[[], WindowTuple | None],
    process: Callable[[WindowTuple], WindowResult | None],
    deliver: Callable[[WindowResult], object],
    *,
    rows: Sequence[tuple[str, float]],
    value: object,
    every: int,
) -> int:
    """Enqueue all rows, serve a tuple after `every` of them; return how many windows were done."""
    done = 0
    countdown = every
    for key, time in rows:
        enqueue(key, value, time)
        countdown -= 1
        if not countdown:
            countdown = every
            window_tuple = dequeue()
            if window_tuple is not None:
                result = process(window_tuple)
                if result is not None:
                    deliver(result)
                    done += 1
    return done


def own_copy() -> Callable[..., int]:
    """Return `work` as a function that the interpreter adapts to one candidate only."""
    return FunctionType(work.__code__.replace(), work.__globals__)


def ignore(result: WindowResult) -> None:
    """Do nothing: the bare queue does not count deliveries."""


def bare(rows: Feed, slide: float, every: int) -> Drive:
    run = own_copy()

    def drive() -> float:
        queue, total = BareWindows(SIZE, slide), Aggregate("count")
        start = thread_time()
        calls = (queue.enqueue, queue.dequeue, total.process, ignore)
        done = run(*calls, rows=rows, value=b"24.0", every=every)
        seconds = thread_time() - start
        assert done > 0.8 * TUPLES / every / SIZE
        return seconds

    return drive


def library(
    buffer: type[WindowBuffer], rows: Feed, slide: float, every: int, *, pool: bool = False
) -> Drive:
    run = own_copy()

    def drive() -> float:
        memory = None
        if pool:
            memory = OnDemandMemory(PagePool(1 << 22, page_bytes=4096), location_bytes=512)
        queue = WindowQueue(
            WindowSpecification(SIZE, slide, tick=1),
            buffer,
            InPlaceScheduler(),
            memory=memory,
            codec=BytesCodec() if pool else None,
        )
        total = Aggregate("count")
        start = thread_time()
        calls = (queue.enqueue, queue.dequeue, total.process, queue.deliver)
        done = run(*calls, rows=rows, value=b"24.0", every=every)
        seconds = thread_time() - start
        statistics = queue.statistics()
        assert done > 0.8 * TUPLES / every / SIZE
        assert statistics.tuples.arrived == TUPLES
        assert statistics.delivered == done
        assert statistics.tuples.rejected == 0
        return seconds

    return drive


@pytest.mark.parametrize("every", [1, 10], ids=["load 1", "load 10"])
def test_tuples_through_windows(every: int) -> None:
    rows = feed()
    table = Table(f"windows of {SIZE} tuples, {every} enqueued per one served, per tuple, by bare")
    for slide in (10, 5, 1):
        measured = ratios(
            {
                "bare": bare(rows, slide, every),
                "LAZY": library(LazyWindowBuffer, rows, slide, every),
                "EAGER": library(EagerWindowBuffer, rows, slide, every),
                "LAZY, byte pool": library(LazyWindowBuffer, rows, slide, every, pool=True),
                "EAGER, byte pool": library(EagerWindowBuffer, rows, slide, every, pool=True),
            },
            to="bare",
            rounds=5,
        )
        for name in ("LAZY", "EAGER"):
            table.row(f"{name}, slide {slide}", measured[name], BUDGET)
            pooled = f"{name}, byte pool"
            table.row(f"{pooled}, slide {slide}", measured[pooled], None)
    table.assert_met()
