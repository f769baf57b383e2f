"""Ratios that hold on a noisy machine: processor time, all candidates in turn, medians.

The interpreter adapts each call site to what it calls first. A loop that drove several candidates
would be adapted to one and slow for the others, so each candidate gets a copy of the loop's code,
and a round to warm up that is not counted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import accumulate
from statistics import median
from time import thread_time
from types import FunctionType

Drive = Callable[[], float]
"""One round of a candidate: does its work and returns the seconds that count."""

KEYS = 3_000
UPDATES = 200_000
UPDATES_PER_DEQUEUE = 10


def zipf_keys(keys: int = KEYS, updates: int = UPDATES, theta: float = 0.9) -> list[str]:
    """Return a Zipf sequence of keys, the same every time."""
    weights = accumulate((rank + 1) ** -theta for rank in range(keys))
    names = [f"K{rank}" for rank in range(keys)]
    return random.Random(620).choices(names, cum_weights=list(weights), k=updates)


def timed(work: Callable[[], object]) -> float:
    """Return the processor seconds that `work` took."""
    start = thread_time()
    work()
    return thread_time() - start


def ratios(candidates: dict[str, Drive], *, to: str, rounds: int = 9) -> dict[str, float]:
    """Return the median, over rounds, of each candidate's time by that of `to` in its round."""
    for drive in candidates.values():
        drive()
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, drive in candidates.items():
            seconds[name].append(drive())
    return {
        name: median(a / b for a, b in zip(times, seconds[to], strict=True))
        for name, times in seconds.items()
    }


class Table:
    """Prints what was measured beside its budget, and remembers what missed it."""

    def __init__(self, title: str) -> None:
        self._missed: list[str] = []
        print(f"\n{title}\n{'-' * len(title)}")

    def row(self, what: str, measured: float, budget: float | None, unit: str = "x") -> None:
        """Print one measurement; without a budget it is for information."""
        verdict = "" if budget is None else f"budget {budget:g} {unit}"
        if budget is not None and measured > budget:
            self._missed.append(what)
            verdict += "  MISSED"
        print(f"{what:<58}{measured:>9.3g} {unit:<6}{verdict}")

    def assert_met(self) -> None:
        """Fail if a budget was missed."""
        assert not self._missed, f"over budget: {', '.join(self._missed)}"


class Driver:
    """Enqueues updates one by one, with a dequeue after each ten, by a loop of its own."""

    def __init__(self) -> None:
        code = _feed.__code__.replace()
        self._feed = FunctionType(code, _feed.__globals__)

    def seconds(
        self,
        enqueue: Callable[[str, object, float], object],
        dequeue: Callable[[], object],
        keys: Sequence[str],
        values: Sequence[object],
    ) -> float:
        """Return the time of enqueueing all.

        Each key is enqueued once before the clock runs, so that the steady state is measured.
        """
        for key in dict.fromkeys(keys):
            enqueue(key, values[0], -1.0)
        start = thread_time()
        served = self._feed(enqueue, dequeue, keys, values)
        seconds = thread_time() - start
        assert served == len(keys) // UPDATES_PER_DEQUEUE, "a dequeue that found nothing"
        return seconds


def _feed(
    enqueue: Callable[[str, object, float], object],
    dequeue: Callable[[], object],
    keys: Sequence[str],
    values: Sequence[object],
) -> int:
    served = 0
    countdown = UPDATES_PER_DEQUEUE
    time = 0.0
    for key, value in zip(keys, values, strict=True):
        enqueue(key, value, time)
        time += 0.001
        countdown -= 1
        if not countdown:
            countdown = UPDATES_PER_DEQUEUE
            served += dequeue() is not None
    return served
