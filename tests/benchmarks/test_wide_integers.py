"""Sums of integers that are lent to DuckDB as they are, beside casts from decimals."""

from __future__ import annotations

from contextlib import closing
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from tests.benchmarks.measure import Drive, Table, ratios, timed
from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.database.wide_integers import labelled, with_wide_integers
from upstream.queries.sql.lending import prepare

pytestmark = pytest.mark.benchmark

GROUPS = 1_000_000


def test_sums_of_integers_read_by_a_finish() -> None:
    sums = pa.array(np.random.default_rng(38).integers(0, 1_000, GROUPS))
    decimals = pa.table({"s": sums.cast(pa.decimal128(38, 0))})
    schema = with_wide_integers(decimals.schema, {"s"})
    finish = query_of("SELECT avg(CAST(s AS HUGEINT)) AS mean FROM merged_0")
    with closing(Duck()) as duck:
        cast = prepare(duck, finish, {"merged_0": decimals.schema})
        wide = prepare(duck, finish, {"merged_0": schema})
        means = [
            cast.run(merged_0=decimals).to_pylist(),
            wide.run(merged_0=labelled(decimals, schema)).to_pylist(),
        ]
        assert means[0] == means[1] == [{"mean": np.mean(sums.to_numpy())}]
        drives: dict[str, Drive] = {
            "cast": partial(timed, lambda: cast.run(merged_0=decimals)),
            "wide": partial(timed, lambda: wide.run(merged_0=labelled(decimals, schema))),
        }
        found = ratios(drives, to="cast", rounds=5)
        cast.close()
        wide.close()
    table = Table(f"the mean of {GROUPS:,} sums of integers")
    table.row("lent as HUGEINT, by a cast from DECIMAL(38, 0)", found["wide"], 0.5)
    table.assert_met()
