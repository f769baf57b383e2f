"""How stale a queue is: means, percentiles, the keys that pay for it, and the least there could be.

One pass over the keys makes all of it. Of many keys the report takes long, so callers ration it.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from upstream import Key, KeyStaleness, staleness_lower_bound

from .definitions import AnyQueue
from .window_results import WindowResults

PERCENTILES = (50, 90, 99, 100)

_stalest = attrgetter("queue_staleness")


def staleness_report(queue: AnyQueue, *, stalest: int = 10, ranks: int = 100) -> dict[str, object]:
    """Return the report, as JSON objects. O(keys log keys)."""
    source = queue.queue if isinstance(queue, WindowResults) else queue
    rows = source.key_staleness()
    cost = source.processing_cost
    queue_mean = source.queue_staleness()
    application_mean = source.application_staleness()
    rates = [row.rate or 0.0 for row in rows]
    bound = _bound(rates, cost, "queue")
    application_bound = _bound(rates, cost, "application")
    worst = max(rows, key=_stalest, default=None)
    return {
        "queue_staleness": queue_mean,
        "application_staleness": application_mean,
        "present_queue_staleness": _mean([row.waiting_seconds for row in rows]),
        "present_application_staleness": _mean([row.stale_seconds for row in rows]),
        "worst_key": None if worst is None else worst.key,
        "percentiles": _percentiles([row.queue_staleness for row in rows]),
        "application_percentiles": _percentiles([row.application_staleness for row in rows]),
        "stalest_keys": _stalest_keys(rows, stalest),
        "ranks": _ranks(rows, ranks),
        "rates": {"arrival": sum(rates), "keys": len(rows)},
        "cost": cost,
        "bound": "memoryless",
        "lower_bound": bound,
        "ratio": queue_mean / bound if bound else None,
        "application_lower_bound": application_bound,
        "application_ratio": application_mean / application_bound if application_bound else None,
    }


def _bound(rates: Sequence[float], cost: float | None, of: str) -> float | None:
    if cost is None or not any(rates):
        return None
    return staleness_lower_bound(rates, cost, of=of)


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def _percentiles(numbers: Sequence[float]) -> dict[str, float | None]:
    if not numbers:
        return dict.fromkeys(map(str, PERCENTILES))
    found = np.percentile(np.array(numbers), PERCENTILES)
    return dict(zip(map(str, PERCENTILES), found.tolist(), strict=True))


def _stalest_keys(rows: Sequence[KeyStaleness], most: int) -> list[dict[str, Key | float | None]]:
    columns = np.array([row.queue_staleness for row in rows])
    if len(rows) > most:
        picked = np.argpartition(-columns, most)[:most] if most else columns[:0].astype(int)
        rows = [rows[index] for index in picked.tolist()]
    return [
        {
            "key": row.key,
            "queue_staleness": row.queue_staleness,
            "application_staleness": row.application_staleness,
            "waiting_seconds": row.waiting_seconds,
            "stale_seconds": row.stale_seconds,
            "rate": row.rate,
        }
        for row in sorted(rows, key=_stalest, reverse=True)
    ]


def _ranks(rows: Sequence[KeyStaleness], most: int) -> list[dict[str, float | None]]:
    """Return what keys of some ranks by update rate pay; the busiest key has rank 1."""
    if not rows or not most:
        return []
    by_rate = np.argsort([-(row.rate or 0.0) for row in rows], kind="stable")
    spaced = np.geomspace(1, len(rows), num=min(most, len(rows)))
    return [
        {
            "rank": rank,
            "rate": rows[by_rate[rank - 1]].rate,
            "queue_staleness": rows[by_rate[rank - 1]].queue_staleness,
            "application_staleness": rows[by_rate[rank - 1]].application_staleness,
        }
        for rank in sorted(set(np.rint(spaced).astype(int).tolist()))
    ]
