"""The generated day: the report's two ends, the hours of the formulas, New York's time."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from datasets.errors import BadOptionError
from datasets.generators.trading_day import TradingDay, parse_date
from upstream.workloads.trading_day import CLOSES, LETTERS, OPENS, busyness, updates_by_rank

from .chi_square import chi_square_p


@pytest.fixture(scope="module")
def day(spark: SparkSession) -> pa.Table:
    return TradingDay(seed=1).frame(spark).toArrow()


def counts_of(day: pa.Table) -> list[int]:
    found = day.group_by("key").aggregate([("key", "count")])["key_count"].to_pylist()
    return sorted(found, reverse=True)


def test_the_busiest_and_the_slowest_symbol_are_those_of_the_report(day: pa.Table) -> None:
    counts = counts_of(day)
    assert (len(counts), counts[0], counts[-1]) == (3_000, 4_305, 1)
    assert counts == updates_by_rank("power-law").tolist()


def test_rows_are_in_order_of_time_and_have_the_columns_of_trades(day: pa.Table) -> None:
    kinds = [(field.name, str(field.type)) for field in day.schema]
    assert kinds == [("time", "double"), ("key", "string"), ("price", "double"), ("size", "int32")]
    assert np.all(np.diff(day["time"].to_numpy()) >= 0)
    assert all(column.null_count == 0 for column in day.columns)


def test_there_are_as_many_updates_at_each_time_as_the_intensity_says(day: pa.Table) -> None:
    seconds = day["time"].to_numpy() - TradingDay().opens()
    assert seconds.min() >= 0
    assert seconds.max() <= CLOSES - OPENS
    edges = np.linspace(0, CLOSES - OPENS, 79)
    found, _ = np.histogram(seconds, bins=edges)
    pieces = busyness()
    until = np.interp(edges, np.linspace(0, CLOSES - OPENS, len(pieces) + 1), _sums(pieces))
    assert chi_square_p(found, np.diff(until) * len(day)) > 0.001
    assert chi_square_p(found, np.full(78, len(day) / 78)) < 1e-6
    assert found[0] > 3 * found[39]
    assert found[-1] > 2 * found[39]


def _sums(pieces: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float]:
    sums = np.concatenate([[0.0], pieces.cumsum()])
    found: list[float] = (sums / sums[-1]).tolist()
    return found


def test_busy_and_slow_symbols_come_at_the_same_hours(day: pa.Table) -> None:
    seconds = day["time"].to_numpy() - TradingDay().opens()
    keys = np.array(day["key"].to_pylist())
    names, codes, counts = np.unique(keys, return_inverse=True, return_counts=True)
    assert len(names) == 3_000
    is_slow = counts[codes] < 10
    deviation = seconds.std() / min(is_slow.sum(), (~is_slow).sum()) ** 0.5
    assert abs(seconds[is_slow].mean() - seconds[~is_slow].mean()) < 4 * deviation


def test_symbols_are_four_consonants_in_no_order_of_rank(day: pa.Table) -> None:
    symbols = set(day["key"].to_pylist())
    assert all(len(symbol) == 4 and set(symbol) <= set(LETTERS) for symbol in symbols)
    counted = day.group_by("key").aggregate([("key", "count")]).sort_by("key")
    busy = [place for place, count in enumerate(counted["key_count"].to_pylist()) if count > 50]
    assert np.mean(busy) == pytest.approx(1_500, abs=400)


def test_prices_walk_in_small_steps_and_sizes_are_in_lots(day: pa.Table) -> None:
    keys = np.array(day["key"].to_pylist())
    names, counts = np.unique(keys, return_counts=True)
    prices = day["price"].to_numpy()[keys == names[counts.argmax()]]
    steps = np.abs(np.diff(prices))
    assert steps.max() <= prices.max() * 4.1e-4 + 0.01
    assert np.ptp(prices) > 10 * steps.max()
    assert day["price"].to_numpy().min() >= 4.9
    assert set(day["size"].to_pylist()) == set(range(100, 1_001, 100))


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_partitions_change_nothing(spark: SparkSession, day: pa.Table, partitions: int) -> None:
    frame = TradingDay(seed=1).frame(spark, partitions)
    table = frame.select("*", F.spark_partition_id().alias("part")).toArrow()
    assert len(set(table["part"].to_pylist())) == partitions
    assert table.drop_columns("part").equals(day)


def test_another_seed_makes_another_day_with_the_same_counts(
    spark: SparkSession, day: pa.Table
) -> None:
    small = TradingDay(symbols=5, busiest=20, seed=1).frame(spark).toArrow()
    other = TradingDay(symbols=5, busiest=20, seed=2).frame(spark).toArrow()
    assert counts_of(small) == counts_of(other)
    assert set(small["key"].to_pylist()) != set(other["key"].to_pylist())
    assert not set(small["time"].to_pylist()) & set(other["time"].to_pylist())


@pytest.mark.parametrize(
    ("date", "opens"), [("2006-01-17", "2006-01-17T14:30Z"), ("20060703", "2006-07-03T13:30Z")]
)
def test_the_market_opens_by_the_clocks_of_new_york(date: str, opens: str) -> None:
    assert TradingDay(date=parse_date(date)).opens() == dt.datetime.fromisoformat(opens).timestamp()


def test_invalid_parameters_are_refused() -> None:
    with pytest.raises(BadOptionError, match="--shape flat: expected power-law or lognormal"):
        TradingDay(shape="flat")
    with pytest.raises(BadOptionError, match="--symbols 1: expected a number from 2 to 160,000"):
        TradingDay(symbols=1)
    with pytest.raises(BadOptionError, match="--symbols 160001"):
        TradingDay(symbols=160_001)
    with pytest.raises(BadOptionError, match="--busiest 0: expected a number from 1 to 10,000,000"):
        TradingDay(busiest=0)
    with pytest.raises(BadOptionError, match="--date 2006-02-30: expected a day such as"):
        parse_date("2006-02-30")
