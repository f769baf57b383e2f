"""Random numbers by hash: even, independent, and the same wherever a row is made."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from datasets.generators.randomness import AliasTable, below, driver_random, number_of, uniform

from .chi_square import chi_square_p, upper_tail

ROWS = 100_000


@pytest.fixture(scope="module")
def drawn(spark: SparkSession) -> pa.Table:
    row = F.col("id")
    frame = spark.range(0, ROWS, 1, 3).select(
        uniform(1, "keys", row).alias("keys"),
        uniform(1, "times", row).alias("times"),
        uniform(2, "keys", row).alias("other_seed"),
        uniform(1, "keys", row, F.lit(5)).alias("two_numbers"),
        below(7, uniform(1, "keys", row)).alias("below_7"),
    )
    return frame.toArrow()


def test_the_p_values_are_those_of_the_tables() -> None:
    assert upper_tail(18.307, 10) == pytest.approx(0.05, abs=0.001)
    assert upper_tail(124.342, 100) == pytest.approx(0.05, abs=0.001)
    assert upper_tail(149.449, 100) == pytest.approx(0.001, abs=0.0002)


def test_numbers_are_even_from_0_to_1(drawn: pa.Table) -> None:
    numbers = drawn["keys"].to_numpy()
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts, _ = np.histogram(numbers, bins=200, range=(0, 1))
    assert chi_square_p(counts, np.full(200, ROWS / 200)) > 0.001


def test_numbers_of_other_purposes_seeds_and_rows_are_independent(drawn: pa.Table) -> None:
    numbers = drawn["keys"].to_numpy()
    others = [drawn[name].to_numpy() for name in ("times", "other_seed", "two_numbers")]
    for other in [*others, np.roll(numbers, 1)]:
        counts, _, _ = np.histogram2d(numbers, other, bins=10, range=((0, 1), (0, 1)))
        assert chi_square_p(counts.ravel(), np.full(100, ROWS / 100)) > 0.001


def test_whole_numbers_below_a_count_are_even(drawn: pa.Table) -> None:
    counts = np.bincount(drawn["below_7"].to_numpy())
    assert chi_square_p(counts, np.full(7, ROWS / 7)) > 0.001


def test_numbers_are_the_same_in_every_version_of_this_project(drawn: pa.Table) -> None:
    assert number_of(1, "keys") == 5077111243895479767
    assert drawn["keys"][0].as_py() == pytest.approx(0.0, abs=1)
    assert driver_random(1, "blocks").random() == driver_random(1, "blocks").random()
    assert driver_random(1, "blocks").random() != driver_random(2, "blocks").random()


# Walker's table.


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
