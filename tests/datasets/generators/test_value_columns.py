"""The columns of values: how they are said, and what is in them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from datasets.errors import BadOptionError
from datasets.generators.value_columns import ValueColumn, parse_values

from .chi_square import chi_square_p

SCHEMA = "price:double,other_price:double,size:int,total:bigint,venue:string,is_open:boolean"
ROWS = 10_000
KEYS = 100


@pytest.fixture(scope="module")
def drawn(spark: SparkSession) -> pa.Table:
    row, key = F.col("id"), F.col("id") % KEYS
    columns = (each.expression(row, key, seed=1) for each in parse_values(SCHEMA))
    return spark.range(0, ROWS, 1, 2).select(*columns).toArrow()


def test_columns_have_the_types_that_were_asked_for(drawn: pa.Table) -> None:
    assert [(field.name, str(field.type)) for field in drawn.schema] == [
        ("price", "double"),
        ("other_price", "double"),
        ("size", "int32"),
        ("total", "int64"),
        ("venue", "string"),
        ("is_open", "bool"),
    ]
    assert all(column.null_count == 0 for column in drawn.columns)


def test_prices_are_in_cents_and_near_the_level_of_their_key(drawn: pa.Table) -> None:
    prices = drawn["price"].to_numpy().reshape(-1, KEYS)
    assert prices * 100 == pytest.approx(np.rint(prices * 100), abs=1e-9)
    assert prices.min() >= 4.95
    assert prices.max() <= 505
    levels = prices.mean(axis=0)
    assert np.all(np.abs(prices / levels - 1) < 0.0125)
    assert np.median(levels) == pytest.approx(50, rel=0.3)
    assert levels.std() > 50
    assert not np.array_equal(drawn["price"].to_numpy(), drawn["other_price"].to_numpy())


def test_numbers_texts_and_truths_are_even(drawn: pa.Table) -> None:
    sizes = np.bincount(drawn["size"].to_numpy() // 10, minlength=100)
    assert chi_square_p(sizes, np.full(100, ROWS / 100)) > 0.001
    totals, _ = np.histogram(drawn["total"].to_numpy(), bins=20, range=(0, 1e12))
    assert chi_square_p(totals, np.full(20, ROWS / 20)) > 0.001
    texts = drawn["venue"].to_pylist()
    assert {len(text) for text in texts} == {8}
    firsts = np.bincount([int(text[0], 16) for text in texts], minlength=16)
    assert chi_square_p(firsts, np.full(16, ROWS / 16)) > 0.001
    assert sum(drawn["is_open"].to_pylist()) == pytest.approx(ROWS / 2, abs=2 * ROWS**0.5)


def test_spaces_and_capitals_in_types_do_not_matter() -> None:
    assert parse_values(" a : INT , b:String") == (
        ValueColumn("a", "int"),
        ValueColumn("b", "string"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "--value '': expected NAME:TYPE"),
        ("price", "--value 'price': expected NAME:TYPE"),
        ("a:int,", "--value '': expected NAME:TYPE"),
        ("a b:int", "names of letters, digits and underscores"),
        ("`:int", "names of letters"),
        ("a:float", "--value 'a:float': expected one of the types double, int"),
        ("a:int:int", "one of the types"),
        ("time:double", "--value time: expected another name"),
        ("Key:int", "--value Key: expected another name"),
        ("a:int,A:double", "--value A: expected a different name"),
        (",".join(f"v{n}:int" for n in range(251)), "at most 250"),
    ],
)
def test_an_invalid_schema_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadOptionError, match=message):
        parse_values(text)
