"""The first rows of each group since a landmark, and the same query over all rows anew."""

from __future__ import annotations

from statistics import median
from time import process_time

import numpy as np
import pyarrow as pa
import pytest

from tests.benchmarks.measure import Table
from tests.queries.differential.comparison import difference
from tests.queries.setting import asked
from upstream import Engine, ManualClock

pytestmark = pytest.mark.benchmark

GROUPS, BATCHES, SIZE, LAST = 1_000, 100, 10_000, 20


@pytest.mark.parametrize(
    ("order", "budget"),
    [pytest.param("x DESC", 0.7, id="one key"), pytest.param("x DESC, time", 0.1, id="two keys")],
)
def test_the_first_three_rows_of_each_group(order: str, budget: float) -> None:
    """What a batch costs does not grow, while evaluating the query anew does.

    With one key in ORDER BY, DuckDB keeps a heap per group; the increments have to sort, since ties
    are in the order of arrival.
    """
    text = f"""SELECT g, x FROM {{}}
        QUALIFY row_number() OVER (PARTITION BY g ORDER BY {order}) <= 3"""
    table = Table(f"the first 3 of {GROUPS:,} groups by {order}, {BATCHES * SIZE:,} rows")
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (time BIGINT, g BIGINT, x DOUBLE) TIME (time)")
        query = engine.continuous_query(text.format("landmark(s)"), emit="asked")
        batches = [_batch(number) for number in range(BATCHES)]
        spent = []
        for batch in batches:
            start = process_time()
            engine.append("s", batch)
            asked(query)
            spent.append(process_time() - start)
        engine.create_table("rows", pa.concat_tables(batches))
        anew = []
        for _ in range(5):
            start = process_time()
            engine.sql(text.format("rows"))
            anew.append(process_time() - start)
        last = asked(query).table
        assert not difference(engine.sql(text.format("rows")), last, is_ordered=False)
        assert query.statistics().rows_held <= 3 * GROUPS
    table.row("a batch, taken in and answered", 1_000 * median(spent[-LAST:]), None, "ms")
    table.row("anew", 1_000 * median(anew), None, "ms")
    table.row("the last batches by early ones", sum(spent[-LAST:]) / sum(spent[5 : 5 + LAST]), 1.5)
    table.row("a batch by anew", median(spent[-LAST:]) / median(anew), budget)
    table.assert_met()


def _batch(number: int) -> pa.Table:
    random = np.random.default_rng(number)
    return pa.table(
        {
            "time": np.arange(number * SIZE, (number + 1) * SIZE),
            "g": random.integers(0, GROUPS, SIZE),
            "x": random.random(SIZE),
        }
    )
