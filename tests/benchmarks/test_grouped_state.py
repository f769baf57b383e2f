"""Grouped state that grows in place, beside a GROUP BY over all groups at each reading."""

from __future__ import annotations

from contextlib import closing
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from tests.benchmarks.measure import Table, ratios, timed
from tests.queries.partials.contract import sum_of
from upstream.database.duck import Duck
from upstream.queries.partials.cumulative_merge import CumulativeMerge
from upstream.queries.partials.growing_merge import GrowingMerge
from upstream.queries.partials.running_merge import RelationalMerge, RunningMerge

pytestmark = pytest.mark.benchmark

ROWS = 10_000
BATCHES = 6
SUM = "DECIMAL(38, 2)"
SCHEMA = pa.schema(
    [("part", pa.int64()), ("supplier", pa.int64()), ("quantity", pa.decimal128(38, 2))]
)


def partial_of(groups: np.ndarray) -> pa.Table:
    """Return a partial with these groups, as TPC-H Q20 has them: two numbers and a sum."""
    sums = pa.array(groups % 50).cast(pa.decimal128(19, 0)).cast(pa.decimal128(38, 2))
    return pa.table([pa.array(groups), pa.array(groups % 1_000), sums], schema=SCHEMA)


@pytest.mark.parametrize(
    ("groups", "budget"), [(1, 0.8), (20, 0.8), (1_000, 0.8), (200_000, 0.35), (1_000_000, 0.15)]
)
def test_taking_in_a_batch_and_reading_all_groups(groups: int, budget: float) -> None:
    keys = ("part", "supplier")
    states = (sum_of("quantity", SUM),)
    random = np.random.default_rng(20)
    batches = [partial_of(np.unique(random.integers(0, groups, ROWS))) for _ in range(BATCHES)]
    with closing(Duck()) as duck:
        first = RelationalMerge(keys, states, SCHEMA, duck)
        second = RelationalMerge(keys, states, SCHEMA, duck)
        merges: dict[str, RunningMerge] = {
            "in place": GrowingMerge(keys, states, first),
            "by GROUP BY": CumulativeMerge(second),
        }
        tables: dict[str, pa.Table] = {}

        def drive(name: str) -> float:
            return timed(partial(work, name))

        def work(name: str) -> None:
            for batch in batches:
                merges[name].stage([(0, batch)])
                merges[name].settle()
                tables[name] = merges[name].merged(0, 1)

        for merge in merges.values():
            merge.stage([(0, partial_of(np.arange(groups)))])
            merge.merged(0, 1)
        found = ratios({name: partial(drive, name) for name in merges}, to="by GROUP BY")
        in_order = [each.sort_by("part") for each in tables.values()]
        assert in_order[0].equals(in_order[1])
        assert in_order[0].num_rows == groups
        table = Table(f"a batch of {ROWS:,} rows and a reading, {groups:,} groups")
        table.row("in place, by GROUP BY", found["in place"], budget)
        for merge in merges.values():
            merge.close()
    table.assert_met()
