"""How updates are spread over keys: each number against a plain computation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

from datasets.profile.keys import PERCENTS, KeyProfile, key_table, profile_keys
from datasets.profile.source import StreamRows


@pytest.fixture(scope="module")
def found(rows: StreamRows) -> KeyProfile:
    table = key_table(rows.frame).cache()
    profile = profile_keys(table)
    table.unpersist()
    return profile


@pytest.fixture(scope="module")
def counts(stream: pd.DataFrame) -> np.ndarray:
    """Updates per key, from the busiest."""
    return np.sort(stream.groupby("key").size().to_numpy())[::-1]


def test_the_counts_are_those_of_the_stream(found: KeyProfile, counts: np.ndarray) -> None:
    assert (found.keys, found.slowest_updates) == (len(counts), counts[-1])
    assert [key.updates for key in found.busiest] == counts[:10].tolist()
    assert found.busiest[0].key == "key 0"
    assert found.mean_updates == pytest.approx(counts.mean())


def test_ranks_are_spaced_by_their_logarithms_and_have_their_counts(
    found: KeyProfile, counts: np.ndarray
) -> None:
    ranks = [rank for rank, _ in found.ranks]
    assert (ranks[:5], ranks[-1]) == ([1, 2, 3, 4, 5], len(counts))
    assert 50 < len(ranks) <= 100
    assert [updates for _, updates in found.ranks] == counts[np.array(ranks) - 1].tolist()


def test_percentiles_are_counts_of_keys(found: KeyProfile, counts: np.ndarray) -> None:
    expected = np.percentile(counts, PERCENTS, method="inverted_cdf").astype(int).tolist()
    assert list(found.percentiles.values()) == expected


def test_shares_and_the_gini_coefficient_are_exact(found: KeyProfile, counts: np.ndarray) -> None:
    one, ten = -(-len(counts) // 100), -(-len(counts) // 10)
    assert found.share_of_busiest_1_percent == pytest.approx(counts[:one].sum() / counts.sum())
    assert found.share_of_busiest_10_percent == pytest.approx(counts[:ten].sum() / counts.sum())
    differences = np.abs(counts[:, None] - counts[None, :]).mean()
    assert found.gini == pytest.approx(differences / (2 * counts.mean()))


def test_the_theta_that_the_stream_was_drawn_with_is_found(found: KeyProfile) -> None:
    assert found.zipf is not None
    assert found.zipf.theta == pytest.approx(0.9, abs=0.04)
    assert found.zipf.keys < found.keys


def test_duplicates_and_burstiness_are_those_of_the_stream(
    found: KeyProfile, stream: pd.DataFrame
) -> None:
    assert found.duplicates == int(stream.duplicated().sum()) >= 9
    expected = {}
    for key, times in stream.groupby("key")["time"]:
        gaps = np.diff(np.sort(times.to_numpy()))
        if len(times) >= 10:
            expected[key] = (gaps.std() - gaps.mean()) / (gaps.std() + gaps.mean())
    for busy in found.busiest:
        assert busy.burstiness == pytest.approx(expected[busy.key], abs=1e-9)
    assert found.burstiness_median == pytest.approx(np.median([*expected.values()]), abs=0.01)


def test_a_regular_key_has_burstiness_minus_1_and_a_rare_one_none(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT double(id) AS time, 'even' AS key FROM range(20) "
        "UNION ALL SELECT double(id * id), 'rare' FROM range(5) "
        "UNION ALL SELECT 7.0, 'at once' FROM range(12)"
    )
    found = {row["key"]: row["burstiness"] for row in key_table(rows).collect()}
    assert found == {"even": -1.0, "rare": None, "at once": None}


def test_keys_that_are_all_alike_have_no_skew(spark: SparkSession) -> None:
    rows = spark.range(100).selectExpr("double(id) AS time", "id % 5 AS key")
    found = profile_keys(key_table(rows))
    assert found.gini == pytest.approx(0, abs=1e-12)
    assert found.zipf is None  # five keys are too few
    assert found.ranks == tuple((rank, 20) for rank in range(1, 6))
    assert [key.key for key in found.busiest] == ["0", "1", "2", "3", "4"]
