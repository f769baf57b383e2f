"""When updates arrive: memoryless to the point, or like a clock."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from datasets.generators.arrivals import (
    Cut,
    FixedInterval,
    PoissonArrivals,
    Span,
    memoryless_blocks,
)

from .chi_square import chi_square_p, dispersion_p

Floats = NDArray[np.float64]

SPAN = Span(updates=200_000, rate=50.0, start=1_000.0)
BLOCK = 500


@pytest.fixture(scope="module")
def times(spark: SparkSession) -> Floats:
    """The times of memoryless arrivals, in small blocks so that there are many edges of them."""
    cut = Cut(updates_per_block=BLOCK, blocks_per_file=64)
    table = PoissonArrivals().frame(spark, SPAN, seed=1, cut=cut).toArrow()
    assert table["row"].to_pylist() == list(range(SPAN.updates))
    found: Floats = table["time"].to_numpy()
    return found


def test_times_ascend_from_the_start_and_end_when_the_rate_says(times: Floats) -> None:
    assert times[0] > SPAN.start
    assert np.all(np.diff(times) >= 0)
    seconds = SPAN.updates / SPAN.rate
    assert times[-1] - SPAN.start == pytest.approx(seconds, abs=3 * seconds / SPAN.updates**0.5)


@pytest.mark.parametrize("updates_per_slot", [20, BLOCK, 3 * BLOCK + 17])
def test_there_are_as_many_arrivals_in_a_slot_as_poisson_says(
    times: Floats, updates_per_slot: int
) -> None:
    edges = np.arange(SPAN.start, times[-1], updates_per_slot / SPAN.rate)
    assert dispersion_p(np.histogram(times, edges)[0]) > 0.001


def test_the_dispersion_tells_blocks_of_even_length_from_memoryless_ones() -> None:
    random = np.random.default_rng(1)
    blocks = np.arange(SPAN.updates // BLOCK)[:, np.newaxis]
    even = (blocks + random.random((len(blocks), BLOCK))).ravel() * BLOCK / SPAN.rate
    edges = np.arange(0, even.max(), (3 * BLOCK + 17) / SPAN.rate)
    assert dispersion_p(np.histogram(even, edges)[0]) < 1e-6


def test_the_times_between_arrivals_are_exponential_within_blocks_and_between_them(
    times: Floats,
) -> None:
    gaps = np.diff(times, prepend=SPAN.start)
    for chosen in (gaps, gaps[::BLOCK], gaps[BLOCK - 1 :: BLOCK]):
        counts, _ = np.histogram(np.exp(-chosen * SPAN.rate), bins=20, range=(0, 1))
        assert chi_square_p(counts, np.full(20, len(chosen) / 20)) > 0.001


def test_the_times_between_arrivals_do_not_depend_on_those_before(times: Floats) -> None:
    gaps = np.diff(times)
    assert abs(np.corrcoef(gaps[1:], gaps[:-1])[0, 1]) < 4 / len(gaps) ** 0.5


def test_the_last_update_of_a_block_is_at_its_end(times: Floats) -> None:
    blocks = memoryless_blocks(SPAN, seed=1, cut=Cut(updates_per_block=BLOCK))
    assert times[BLOCK - 1 :: BLOCK].tolist() == pytest.approx(blocks["end"].to_pylist(), rel=1e-15)
    assert blocks["start"].to_pylist() == [SPAN.start, *blocks["end"].to_pylist()[:-1]]


@pytest.mark.parametrize("updates", [1, BLOCK, BLOCK + 1])
def test_the_last_block_has_what_is_left(spark: SparkSession, updates: int) -> None:
    cut = Cut(updates_per_block=BLOCK)
    rows = PoissonArrivals().frame(spark, Span(updates, rate=1.0), seed=1, cut=cut).collect()
    assert [row["row"] for row in rows] == list(range(updates))
    blocks = memoryless_blocks(Span(updates, rate=1.0), seed=1, cut=cut)
    assert rows[-1]["time"] == pytest.approx(blocks["end"][-1].as_py(), rel=1e-15)


def test_at_a_fixed_interval_the_first_arrival_is_at_the_start(spark: SparkSession) -> None:
    cut = Cut(updates_per_block=3, blocks_per_file=2)
    span = Span(updates=8, rate=4.0, start=10.0)
    rows = FixedInterval().frame(spark, span, seed=1, cut=cut).collect()
    assert [(row["row"], row["time"]) for row in rows] == [(n, 10.0 + n / 4) for n in range(8)]


BLOCKS = pa.table({"start": [float(block) for block in range(10)]})


@pytest.mark.parametrize(("partitions", "made"), [(None, 4), (1, 1), (3, 3), (7, 4)])
def test_partitions_are_whole_files_in_order(
    spark: SparkSession, partitions: int | None, made: int
) -> None:
    frame = Cut(blocks_per_file=3, partitions=partitions).frame(spark, BLOCKS)
    rows = frame.select("block", "start", F.spark_partition_id().alias("part")).collect()
    assert [(row["block"], row["start"]) for row in rows] == [(n, float(n)) for n in range(10)]
    parts = [row["part"] for row in rows]
    assert parts == sorted(parts)
    assert len(set(parts)) == made
    assert all(parts[block] == parts[block - 1] for block in range(10) if block % 3)


def test_a_file_has_as_many_updates_as_the_writer_allows() -> None:
    from datasets.output.trace import ROWS_PER_FILE

    assert Cut().updates_per_file == ROWS_PER_FILE
