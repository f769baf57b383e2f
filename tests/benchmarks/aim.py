"""The AIM workload of the views paper: calls of customers, and the six queries of its Table 2.

The paper gives the columns and the parameters that were measured (α = 2, β = 2, γ = 4, δ = 25,
t = 2, cat = 1, v = 2), and no distributions. Here all values are uniform. Nine of ten calls are
in the current week, and the others came late.

`current_week()` is a constant. A view cannot leave out rows by the clock when they arrive, because
they would have to come back when the clock has moved. With the week as a column of the view, a
query over the view can choose the current week.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.view_systems import Setting

WEEK: Final = 47
EVENTS: Final = (
    "entity_id BIGINT, week INTEGER, duration INTEGER, cost DECIMAL(9,2), long_distance BOOLEAN"
)
QUERIES: Final = {
    "Q1": f"""
        SELECT avg(t_duration) AS avg_duration FROM (
            SELECT sum(duration) AS t_duration FROM events WHERE week = {WEEK}
            GROUP BY entity_id HAVING count(*) FILTER (NOT long_distance) > 2)""",
    "Q2": f"""
        SELECT max(max_cost) AS max_cost FROM (
            SELECT max(cost) AS max_cost FROM events WHERE week = {WEEK}
            GROUP BY entity_id HAVING count(*) > 2)""",
    "Q3": f"""
        SELECT sum(t_cost) / sum(t_duration) AS cost_ratio FROM (
            SELECT sum(cost) AS t_cost, sum(duration) AS t_duration, count(*) AS num_calls
            FROM events WHERE week = {WEEK} GROUP BY entity_id)
        GROUP BY num_calls LIMIT 100""",
    "Q4": f"""
        SELECT city_zip, avg(num_calls) AS avg_calls, sum(duration_calls) AS duration_calls FROM (
            SELECT entity_id, count(*) AS num_calls, sum(duration) AS duration_calls
            FROM events WHERE NOT long_distance AND week = {WEEK} GROUP BY entity_id
            HAVING count(*) > 4 AND sum(duration) > 25) e, customers c
        WHERE e.entity_id = c.id GROUP BY city_zip""",
    "Q5": f"""
        SELECT c.region_id, sum(cost) FILTER (long_distance) AS cost_long,
            sum(cost) FILTER (NOT long_distance) AS cost_local
        FROM events e, customers c
        WHERE e.entity_id = c.id AND week = {WEEK} AND c.type = 2 AND c.category = 1
        GROUP BY c.region_id""",
    "Q7": f"""
        SELECT sum(cost) / sum(duration) AS cost_ratio FROM events e, customers c
        WHERE e.entity_id = c.id AND week = {WEEK} AND c.value_type = 2""",
}
"""The queries of Table 2; the paper leaves out the sixth, which is not a single view."""

_KINDS: Final = {"region_id": 25, "city_zip": 1_000, "type": 4, "category": 3, "value_type": 4}
"""The columns of customers, and how many values each has."""


def setting(customers: int) -> Setting:
    """Return the queries over a stream of calls, with this number of customers."""
    return Setting({"customers": _customers(customers)}, "events", EVENTS, QUERIES)


@cache
def _customers(count: int) -> Path:
    """Write customers to a file, and return its path."""
    random = np.random.default_rng(7)
    columns = {"id": np.arange(count)} | {
        name: random.integers(0, kinds, count, np.int32) for name, kinds in _KINDS.items()
    }
    table = pa.table(columns)
    fields = [field.with_nullable(False) for field in table.schema]
    path = Path(mkdtemp(prefix="aim-")) / "customers.parquet"
    pq.write_table(table.cast(pa.schema(fields)), path)
    return path


def calls(customers: int, count: int, *, seed: int = 6) -> pa.Table:
    """Return calls of customers chosen at random, the same each time for a seed."""
    random = np.random.default_rng(seed)
    cents = random.integers(1, 1_000, count)
    return pa.table(
        {
            "entity_id": random.integers(0, customers, count),
            "week": np.where(random.random(count) < 0.9, WEEK, WEEK - 1).astype(np.int32),
            "duration": random.integers(1, 60, count, np.int32),
            "cost": pa.array(cents).cast(pa.decimal128(21, 2)).cast(pa.decimal128(9, 2)),
            "long_distance": random.random(count) < 0.5,
        }
    )
