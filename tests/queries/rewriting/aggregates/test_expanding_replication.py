"""Averages from sums and counts; variances and regressions from moments, which lose no digits."""

from __future__ import annotations

from statistics import pvariance

import pyarrow as pa
import pytest

from upstream import Engine, ManualClock
from upstream.database.duck import Duck

from ..both_ways import BothWays
from ..rule_contract import RuleContract


class TestExpandingReplication(RuleContract):
    rule = "expanding_replication"


class TestVariance(RuleContract):
    rule = "variance"


class TestRegression(RuleContract):
    rule = "regression"


OF_ONE = ("var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev", "sem")
OF_TWO = (
    *("covar_pop", "covar_samp", "corr", "regr_count", "regr_avgx", "regr_avgy", "regr_sxx"),
    *("regr_syy", "regr_sxy", "regr_slope", "regr_intercept", "regr_r2"),
)

PAIRS = (
    *(["inf 1"], ["nan 1"], ["1 inf"], ["inf inf"], ["5 2"], ["-0.0 0"]),
    *(["inf 1", "1 2"], ["1 2", "inf 1"], ["inf 1", "inf 1"], ["nan 1", "2 1"]),
    *(["1 inf", "2 3"], ["inf 1", "-inf 1"], ["1e200 1e200", "-1e200 3"]),
)


def test_infinite_values_give_the_results_of_duckdb() -> None:
    called = [f"{name}(y)" for name in OF_ONE] + [f"{name}(y, x)" for name in OF_TWO]
    selected = f"SELECT g, {', '.join(called)}"
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (i BIGINT, g BIGINT, y DOUBLE, x DOUBLE) TIME (i)")
        engine.sql("CREATE TABLE kept (i BIGINT, g BIGINT, y DOUBLE, x DOUBLE)")
        query = engine.continuous_query(
            f"{selected} FROM hop(s, 10, 1) GROUP BY g ORDER BY g", evaluation="increments"
        )
        for i in range(10):
            pairs = [(g, pairs[i].split()) for g, pairs in enumerate(PAIRS) if i < len(pairs)]
            rows = ", ".join(f"({i}, {g}, '{y}', '{x}')" for g, (y, x) in pairs)
            for name in ("s", "kept") if rows else ():
                engine.sql(f"INSERT INTO {name} VALUES {rows}")
        engine.sql("INSERT INTO s VALUES (10, -1, NULL, NULL)")
        expected = engine.sql(f"{selected} FROM kept GROUP BY g ORDER BY g").to_pylist()
        [found] = [each for each in query.results() if each.window_end == 10]
        assert list(map(repr, found.table.to_pylist())) == list(map(repr, expected))
        assert len(expected) == len(PAIRS)


SCHEMA = pa.schema([("x", pa.float64()), ("y", pa.float64())])


def _steps(*values: list[float]) -> dict[str, list[pa.Table]]:
    tables = [pa.table({"x": step, "y": step[::-1]}, schema=SCHEMA) for step in values]
    return {"chunk_0": tables}


def test_a_large_mean_costs_no_digits(duck: Duck) -> None:
    ways = BothWays("SELECT var_pop(x) FROM chunk_0", {"chunk_0": SCHEMA}, duck)
    values = [[0.0, 1.0], [2.0], [3.0, 0.5, 4.0]]
    [result] = ways.in_parts(_steps(*[[1e9 + value for value in step] for step in values]))
    exact = pvariance([value for step in values for value in step])
    assert result == pytest.approx([exact], rel=1e-12)  # DuckDB over the whole has 9 digits right


def test_equal_values_in_steps_of_any_length_have_no_variance(duck: Duck) -> None:
    sql = "SELECT var_pop(x), corr(y, x), regr_r2(y, x), regr_slope(y, x) FROM chunk_0"
    ways = BothWays(sql, {"chunk_0": SCHEMA}, duck)
    ways.check(_steps([0.1], [0.1] * 3, [0.1] * 7, [], [0.1] * 10))
