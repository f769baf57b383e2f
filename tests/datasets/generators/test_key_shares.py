"""Which keys update how often: as their shares say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from datasets.errors import BadOptionError
from datasets.generators.key_shares import KeyShares, TwoClassShares, ZipfShares
from upstream.workloads.key_shares import even_shares, two_class_shares, zipf_shares

from .chi_square import chi_square_p

ROWS = 400_000


def counts_of(spark: SparkSession, shares: KeyShares, seed: int = 1) -> NDArray[np.int64]:
    rows = spark.range(0, ROWS, 1, 2).withColumnRenamed("id", "row")
    keys = shares.draw(rows, seed=seed).select("key").toArrow()["key"].to_numpy()
    return np.bincount(keys, minlength=shares.keys)


def test_shares_are_those_of_the_laws() -> None:
    assert ZipfShares(7, 0.0).shares().tolist() == even_shares(7).tolist()
    assert ZipfShares(100, 0.9).shares().tolist() == zipf_shares(100, 0.9).tolist()
    assert TwoClassShares(10, 4, 20.0).shares().tolist() == two_class_shares(10, 4, 20.0).tolist()


@pytest.mark.parametrize(
    "shares",
    [
        ZipfShares(1_000, 0.9),
        ZipfShares(1_000, 0.0),
        ZipfShares(50, 2.0),
        TwoClassShares(1_000, 400, 20.0),
        TwoClassShares(100, 30, 0.5),
    ],
)
def test_keys_come_as_often_as_their_shares_say(spark: SparkSession, shares: KeyShares) -> None:
    assert chi_square_p(counts_of(spark, shares), shares.shares() * ROWS) > 0.001


def test_the_frequencies_tell_thetas_ratios_and_classes_that_are_slightly_wrong(
    spark: SparkSession,
) -> None:
    zipf = counts_of(spark, ZipfShares(1_000, 0.9))
    for theta in (0.88, 0.92):
        assert chi_square_p(zipf, ZipfShares(1_000, theta).shares() * ROWS) < 1e-6
    assert chi_square_p(zipf[::-1], ZipfShares(1_000, 0.9).shares() * ROWS) < 1e-6
    classes = counts_of(spark, TwoClassShares(1_000, 400, 20.0))
    for wrong in (TwoClassShares(1_000, 400, 16.0), TwoClassShares(1_000, 420, 20.0)):
        assert chi_square_p(classes, wrong.shares() * ROWS) < 1e-6


@pytest.mark.parametrize("slow_keys", [0, 5])
def test_one_class_may_be_empty(spark: SparkSession, slow_keys: int) -> None:
    shares = TwoClassShares(5, slow_keys, 100.0)
    assert chi_square_p(counts_of(spark, shares), np.full(5, ROWS / 5)) > 0.001


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ZipfShares(0, 0.0), "--keys 0: expected a whole number from 1 to 10,000,000"),
        (lambda: ZipfShares(10_000_001, 1), "--keys 10000001"),
        (lambda: ZipfShares(10, -0.1), "--theta -0.1: expected a number from 0"),
        (lambda: ZipfShares(10, float("nan")), "--theta nan"),
        (lambda: ZipfShares(10, 11), "--theta 11"),
        (lambda: TwoClassShares(10, 11, 2), "--slow-keys 11: expected a number from 0 to 10"),
        (lambda: TwoClassShares(10, -1, 2), "--slow-keys -1"),
        (lambda: TwoClassShares(10, 5, 0), "--ratio 0: expected a number above 0"),
        (lambda: TwoClassShares(10, 5, float("nan")), "--ratio nan"),
        (lambda: TwoClassShares(10, 5, float("inf")), "--ratio inf"),
    ],
)
def test_invalid_parameters_are_refused(make: type[KeyShares], message: str) -> None:
    with pytest.raises(BadOptionError, match=message):
        make()
