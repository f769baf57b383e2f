"""A server and its keys as a plain loop over events, which knows nothing of the library.

Arrivals are Poisson, the cost of a key is constant, the server never idles. Both kinds of
staleness are integrated exactly, per key, from the end of the warm-up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Server:
    rates: Floats
    costs: Floats
    weights: Floats


# Given the server, when each key began to wait (inf if it does not) and the time: the key to serve.
Policy = Callable[[Server, Floats, float, np.random.Generator], int]


def serve_longest_waiting(
    server: Server, since: Floats, now: float, random: np.random.Generator
) -> int:
    return int(since.argmin())


def serve_any(server: Server, since: Floats, now: float, random: np.random.Generator) -> int:
    return int(random.choice(np.isfinite(since).nonzero()[0]))


def serve_largest_index(
    server: Server, since: Floats, now: float, random: np.random.Generator
) -> int:
    keys = np.isfinite(since).nonzero()[0]
    wait, rate, cost = now - since[keys], server.rates[keys], server.costs[keys]
    horizon = 4.0 * (wait.max() + cost)
    quiet = -np.expm1(-rate * horizon) / rate
    index = server.weights[keys] * (wait * wait / 2.0 + wait * quiet) / cost
    return int(keys[index.argmax()])


def measure(server: Server, policy: Policy, *, services: int, seed: int) -> tuple[Floats, Floats]:
    """Return the queue and the application staleness of each key."""
    loop = _Loop(server, seed, warm_up_services=services // 10)
    for _ in range(services // 10 + services):
        loop.serve(policy)
    return loop.averages()


class _Loop:
    def __init__(self, server: Server, seed: int, *, warm_up_services: int) -> None:
        size = server.rates.size
        self.server = server
        self.random = np.random.default_rng(seed)
        self.now = 0.0
        self.counted_from = math.inf
        self.warm_up_services = warm_up_services
        self.queue_area, self.application_area = np.zeros(size), np.zeros(size)
        self.waiting_since = np.full(size, math.inf)
        self.waiting = 0
        self.stale_since = np.full(size, math.inf)
        self.delivered_at = np.zeros(size)
        self.arrival_time = 0.0
        self.arrivals: list[tuple[float, int]] = []
        self.draw_arrivals()

    def draw_arrivals(self) -> None:
        rate = self.server.rates.sum()
        gaps = self.random.exponential(1.0 / rate, 4096)
        keys = self.random.choice(self.server.rates.size, gaps.size, p=self.server.rates / rate)
        times = self.arrival_time + gaps.cumsum()
        self.arrival_time = float(times[-1])
        self.arrivals = list(zip(times.tolist(), keys.tolist(), strict=True))[::-1]

    def admit_one(self) -> None:
        time, key = self.arrivals.pop()
        if self.waiting_since[key] == math.inf:
            self.waiting_since[key] = time
            self.waiting += 1
        if self.stale_since[key] == math.inf:
            self.stale_since[key] = time
        if not self.arrivals:
            self.draw_arrivals()

    def serve(self, policy: Policy) -> None:
        if not self.waiting:
            self.now = self.arrivals[-1][0]
            self.admit_one()
        key = policy(self.server, self.waiting_since, self.now, self.random)
        self.queue_area[key] += self.area(self.waiting_since[key], 0.0)
        self.waiting_since[key] = math.inf
        self.waiting -= 1
        self.now += self.server.costs[key]
        while self.arrivals[-1][0] <= self.now:
            self.admit_one()
        self.application_area[key] += self.area(self.stale_since[key], self.delivered_at[key])
        self.stale_since[key] = self.waiting_since[key]
        self.delivered_at[key] = self.now
        self.warm_up_services -= 1
        if self.warm_up_services == 0:
            self.counted_from = self.now

    def area(self, since: float, start: float) -> float:
        """Integrate the age of `since` from `start`, and from the warm-up's end, until now."""
        start = max(since, start, self.counted_from)
        if start >= self.now:
            return 0.0
        return float((self.now - since) ** 2 - (start - since) ** 2) / 2.0

    def averages(self) -> tuple[Floats, Floats]:
        for key in range(self.server.rates.size):
            self.queue_area[key] += self.area(self.waiting_since[key], 0.0)
            self.application_area[key] += self.area(self.stale_since[key], self.delivered_at[key])
        duration = self.now - self.counted_from
        return self.queue_area / duration, self.application_area / duration
