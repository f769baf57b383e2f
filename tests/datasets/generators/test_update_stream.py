"""Whole streams: the same from a seed, however they are cut, without moving a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from datasets.errors import BadOptionError
from datasets.generators.arrivals import Cut, FixedInterval, PoissonArrivals, Span
from datasets.generators.bursts import BurstArrivals
from datasets.generators.key_shares import TwoClassShares, ZipfShares
from datasets.generators.update_stream import UpdateStream
from datasets.generators.value_columns import parse_values

from .chi_square import chi_square_p
from .plans import moves_rows

VALUES = parse_values("value:double,size:int")
SPAN = Span(updates=20_500, rate=100.0)
CUT = Cut(updates_per_block=500, blocks_per_file=4)
ZIPF = ZipfShares(100, 0.9)
STREAM = UpdateStream(ZIPF, PoissonArrivals(), SPAN, VALUES, seed=1)


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> pa.Table:
    return STREAM.frame(spark, CUT).toArrow()


def test_a_stream_has_times_keys_and_values(table: pa.Table) -> None:
    kinds = [(field.name, str(field.type)) for field in table.schema]
    assert kinds == [("time", "double"), ("key", "int64"), ("value", "double"), ("size", "int32")]
    assert len(table) == SPAN.updates


@pytest.mark.parametrize(
    "stream",
    [
        STREAM,
        replace(STREAM, shares=TwoClassShares(100, 40, 5.0), arrivals=FixedInterval()),
        replace(STREAM, arrivals=BurstArrivals(ZIPF, 20, 0.5), key_prefix="s"),
    ],
)
def test_one_two_and_seven_partitions_have_the_same_rows_in_the_same_order(
    spark: SparkSession, stream: UpdateStream
) -> None:
    tables = {
        partitions: stream.frame(spark, replace(CUT, partitions=partitions)).toArrow()
        for partitions in (1, 2, 7)
    }
    assert len(tables[1]) == SPAN.updates
    assert tables[2].equals(tables[1])
    assert tables[7].equals(tables[1])
    assert stream.frame(spark, replace(CUT, partitions=7)).rdd.getNumPartitions() == 7


@pytest.mark.parametrize("shares", [ZIPF, ZipfShares(100, 0.0), TwoClassShares(100, 40, 5.0)])
@pytest.mark.parametrize("arrivals", [PoissonArrivals(), FixedInterval()])
def test_no_row_is_sorted_or_moved(
    spark: SparkSession,
    shares: ZipfShares | TwoClassShares,
    arrivals: PoissonArrivals | FixedInterval,
) -> None:
    stream = replace(STREAM, shares=shares, arrivals=arrivals, key_prefix="s")
    frame = stream.frame(spark)
    assert not moves_rows(frame)
    assert moves_rows(frame.orderBy("time"))


def test_another_seed_makes_another_stream(spark: SparkSession, table: pa.Table) -> None:
    again, other = (replace(STREAM, seed=seed).frame(spark, CUT).toArrow() for seed in (1, 2))
    assert again.equals(table)
    for name in table.column_names:
        assert not other[name].equals(table[name])


def test_keys_come_independently_of_those_before(table: pa.Table) -> None:
    is_busiest = table["key"].to_numpy() == 0
    share = ZIPF.shares()[0]
    after_it = is_busiest[1:][is_busiest[:-1]]
    expected = np.array([share, 1 - share]) * len(after_it)
    assert chi_square_p([after_it.sum(), (~after_it).sum()], expected) > 0.001


def test_times_do_not_tell_keys_nor_values(table: pa.Table) -> None:
    gaps = np.diff(table["time"].to_numpy(), prepend=0.0)
    for other in (table["key"].to_numpy(), table["size"].to_numpy()):
        assert abs(np.corrcoef(gaps, other)[0, 1]) < 4 / SPAN.updates**0.5


def test_a_prefix_makes_keys_of_one_length_that_sort_as_their_numbers(
    spark: SparkSession, table: pa.Table
) -> None:
    named = replace(STREAM, key_prefix="sym%").frame(spark, CUT).toArrow()
    assert named["key"].to_pylist() == [f"sym%{key:02d}" for key in table["key"].to_pylist()]
    assert named.drop_columns("key").equals(table.drop_columns("key"))


def test_a_stream_may_start_at_any_time(spark: SparkSession, table: pa.Table) -> None:
    later = replace(STREAM, span=replace(SPAN, start=1e9)).frame(spark, CUT).toArrow()
    shifted = later["time"].to_numpy() - 1e9
    assert np.allclose(shifted, table["time"].to_numpy(), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("span", "message"),
    [
        (Span(0, 1.0), "--updates 0: expected a whole number from 1 to 10,000,000,000"),
        (Span(10_000_000_001, 1.0), "--updates 10000000001"),
        (Span(1, 0.0), "--rate 0: expected updates per second, above 0"),
        (Span(1, -1.0), "--rate -1"),
        (Span(1, float("nan")), "--rate nan"),
        (Span(1, float("inf")), "--rate inf"),
        (Span(1, 1.0, float("nan")), "--start nan: expected seconds, at most 1e"),
        (Span(1, 1.0, -1e12), "--start -1e"),
        (Span(1_000_000, 1e-6), "--rate 1e-06: expected a faster one: .* at 1e"),
        (Span(1, 5e-324), "--rate 4.9.*: expected a faster one"),
    ],
)
def test_an_invalid_span_is_refused(span: Span, message: str) -> None:
    with pytest.raises(BadOptionError, match=message):
        replace(STREAM, span=span)


def test_an_invalid_spread_and_an_invalid_prefix_are_refused() -> None:
    with pytest.raises(BadOptionError, match="--spread 100"):
        replace(STREAM, arrivals=BurstArrivals(ZIPF, 20, 100.0))
    with pytest.raises(BadOptionError, match=r"--key-prefix .*: expected text that can be printed"):
        replace(STREAM, key_prefix="a\nb")
