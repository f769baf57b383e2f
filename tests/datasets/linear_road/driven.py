"""Short runs that tests look at, driven without Spark."""

from __future__ import annotations

from functools import cache

import numpy as np

from datasets.linear_road.road import Run
from datasets.linear_road.tuples import NAMES, Columns, tuples_of

CROWDED = Run(
    expressways=1,
    minutes=15,
    rate=900,
    accidents=100,
    requests=0.05,
    has_travel_times=True,
    seed=7,
)
SMALL = Run(2, 10, 60, 60, 0.1, has_travel_times=True, seed=5)


@cache
def drive(run: Run) -> Columns:
    """Return all tuples of a run, by car and time."""
    parts = [part for unit in range(run.directions) for part in tuples_of(run, unit)]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in NAMES}
    order = np.lexsort((columns["type"], columns["time"], columns["key"]))
    return {name: column[order] for name, column in columns.items()}


def of_type(columns: Columns, *types: int) -> Columns:
    """Return the tuples of some types only."""
    is_of_type = np.isin(columns["type"], types)
    return {name: column[is_of_type] for name, column in columns.items()}
