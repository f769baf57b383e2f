"""Walker's table: exactly the shares that were asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from datasets.generators.alias_table import AliasTable
from datasets.generators.randomness import uniform

from .chi_square import chi_square_p


def shares_of(table: AliasTable) -> NDArray[np.float64]:
    """Return the share with which each outcome is drawn."""
    kept: NDArray[np.float64] = table.thresholds.copy()
    np.add.at(kept, table.aliases, 1.0 - table.thresholds)
    return kept / len(kept)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50).filter(lambda each: sum(each) > 1e-3))
def test_every_outcome_has_its_share(weights: list[float]) -> None:
    shares = np.array(weights) / sum(weights)
    table = AliasTable.of(np.array(weights))
    assert shares_of(table) == pytest.approx(shares, abs=1e-12)
    assert ((table.thresholds >= 0) & (table.thresholds <= 1)).all()


@pytest.mark.parametrize("theta", [0.1, 0.9, 1.5])
def test_a_million_outcomes_have_their_shares(theta: float) -> None:
    weights = np.arange(1.0, 1e6 + 1) ** -theta
    table = AliasTable.of(weights)
    assert np.allclose(shares_of(table), weights / weights.sum(), rtol=1e-6, atol=0)


def test_even_shares_need_no_aliases() -> None:
    table = AliasTable.of(np.full(49, 1 / 49))
    assert shares_of(table) == pytest.approx(np.full(49, 1 / 49), rel=1e-12)


def test_rows_draw_by_the_table_and_keep_their_columns_and_order(spark: SparkSession) -> None:
    weights = np.array([5.0, 0.0, 1.0, 3.0, 0.5, 0.5])
    rows = spark.range(0, 50_000, 1, 2)
    drawn = AliasTable.of(weights).draw(rows, uniform(1, "x", F.col("id")), "outcome").toArrow()
    assert drawn.column_names == ["id", "outcome"]
    assert drawn["id"].to_pylist() == list(range(50_000))
    counts = np.bincount(drawn["outcome"].to_numpy(), minlength=6)
    assert counts[1] == 0
    assert chi_square_p(counts[weights > 0], weights[weights > 0] * 5_000) > 0.001
