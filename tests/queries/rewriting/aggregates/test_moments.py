"""Moments keep the digits that sums of squares lose, and equal values have no variance at all."""

from __future__ import annotations

from statistics import pvariance

import pyarrow as pa
import pytest

from upstream.database.duck import Duck

from ..both_ways import BothWays

SCHEMA = pa.schema([("x", pa.float64()), ("y", pa.float64())])


@pytest.fixture
def duck() -> Duck:
    return Duck()


def _steps(*values: list[float]) -> dict[str, list[pa.Table]]:
    tables = [pa.table({"x": step, "y": step[::-1]}, schema=SCHEMA) for step in values]
    return {"chunk_0": tables}


def test_a_large_mean_costs_no_digits(duck: Duck) -> None:
    ways = BothWays("SELECT var_pop(x) FROM chunk_0", {"chunk_0": SCHEMA}, duck)
    values = [[0.0, 1.0], [2.0], [3.0, 0.5, 4.0]]
    [result] = ways.in_parts(_steps(*[[1e9 + value for value in step] for step in values]))
    exact = pvariance([value for step in values for value in step])
    assert result == pytest.approx([exact], rel=1e-12)  # DuckDB over the whole has 9 digits right
    duck.close()


def test_equal_values_in_steps_of_any_length_have_no_variance(duck: Duck) -> None:
    sql = "SELECT var_pop(x), corr(y, x), regr_r2(y, x), regr_slope(y, x) FROM chunk_0"
    ways = BothWays(sql, {"chunk_0": SCHEMA}, duck)
    ways.check(_steps([0.1], [0.1] * 3, [0.1] * 7, [], [0.1] * 10))
    duck.close()
