"""The staleness report of a queue: means, percentiles, the stalest keys, and lower bounds.

One pass over the keys makes the rows. The rest needs the rows only, not the queue. So the rows of
many keys can be gathered in parts, and a thread can do the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from upstream import Key, KeyStaleness, StreamQueue, WindowQueue, staleness_lower_bound
from upstream.staleness import against_bound, observed_seconds

PERCENTILES = (50, 90, 99, 100)

Report = dict[str, object]
LibraryQueue = StreamQueue | WindowQueue

_stalest = attrgetter("queue_staleness")
_OF_A_KEY = (
    *("key", "queue_staleness", "application_staleness", "waiting_seconds", "stale_seconds"),
    "rate",
)
_OF_A_RANK = ("rate", "queue_staleness", "application_staleness")


class Gathered(NamedTuple):
    """The data of a report."""

    rows: Sequence[KeyStaleness]
    cost: float | None
    queue_staleness: float
    application_staleness: float


def gather(queue: LibraryQueue, rows: Sequence[KeyStaleness] | None = None) -> Gathered:
    """Return the data of a queue's report, with `rows` if they were gathered. O(keys)."""
    if rows is None:
        rows = queue.key_staleness()
    return Gathered(rows, queue.processing_cost, *queue.mean_staleness(rows))


def staleness_report(gathered: Gathered, *, stalest: int = 10, ranks: int = 100) -> Report:
    """Return the report as JSON objects. O(keys log keys)."""
    rows, cost, queue_mean, application_mean = gathered
    rates = [row.rate or 0.0 for row in rows]
    bound = _bound(rates, cost, "queue")
    application_bound = _bound(rates, cost, "application")
    observed = observed_seconds(rows)
    compared = against_bound(queue_mean, bound, observed=observed)
    application = against_bound(application_mean, application_bound, observed=observed)
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
        "ranks": _ranks(rows, rates, ranks),
        "rates": {"arrival": sum(rates), "keys": len(rows)},
        "cost": cost,
        "bound": "memoryless",
        "lower_bound": bound,
        "ratio": compared.times,
        "is_warming_up": compared.is_warming_up,
        "application_lower_bound": application_bound,
        "application_ratio": application.times,
        "application_is_warming_up": application.is_warming_up,
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
        {name: getattr(row, name) for name in _OF_A_KEY}
        for row in sorted(rows, key=_stalest, reverse=True)
    ]


def _ranks(
    rows: Sequence[KeyStaleness], rates: Sequence[float], most: int
) -> list[dict[str, float | None]]:
    """Return the staleness of some keys by their update rates; the busiest key has rank 1."""
    if not rows or not most:
        return []
    by_rate = np.argsort(-np.array(rates), kind="stable")
    spaced = np.geomspace(1, len(rows), num=min(most, len(rows)))
    return [
        {"rank": rank} | {name: getattr(rows[by_rate[rank - 1]], name) for name in _OF_A_RANK}
        for rank in sorted(set(np.rint(spaced).astype(int).tolist()))
    ]
