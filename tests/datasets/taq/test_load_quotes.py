"""Whole loads of quotes of every format, compared row by row with what pandas reads."""

from __future__ import annotations

import io
import random
from dataclasses import dataclass
from typing import Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from datasets.output.card import DataCard
from datasets.taq.load import Wanted, load
from datasets.taq.sources import recognise

from .daily_files import MONTHLY_QUOTES_HEADER, QUOTES_HEADER, daily, fixed, write

SYMBOLS: Final = ("A", "BRK B", "IBM")
PRICES: Final = ("45.88", "0", "103.0001", ".5")
COLUMNS: Final = [
    *("time", "key", "time_ns", "bid", "bid_size", "ask", "ask_size"),
    *("exchange", "condition", "sequence"),
]


def daily_quotes(draw: random.Random) -> str:
    rows = [
        f"{draw.choice((4, 9, 16)):02}0000{draw.randrange(9):09}|{draw.choice('NPQZ')}|{symbol}|"
        f"{draw.choice(PRICES)}|{draw.randrange(90)}|{draw.choice(PRICES)}|{draw.randrange(90)}|"
        f"{draw.choice('RLA')}|{draw.choice(('', draw.randrange(10**9)))}|0||||C|"
        for symbol in SYMBOLS
        for _ in range(100)
    ]
    return daily(rows, QUOTES_HEADER)


def fixed_quotes(draw: random.Random) -> str:
    rows = [
        f"0930{draw.randrange(3):02}{draw.randrange(3):03}{draw.choice('NPQZ')}"
        f"{symbol.split()[0]:6}{symbol.partition(' ')[2]:10}"
        f"{draw.randrange(10**6):011}{draw.randrange(90):07}"
        f"{draw.randrange(10**6):011}{draw.randrange(90):07}"
        f"{draw.choice('RLA')}    PP{draw.randrange(10**9):016}1C"
        for symbol in SYMBOLS
        for _ in range(60)
    ]
    return fixed(rows)


def monthly_quotes(draw: random.Random) -> str:
    rows = [
        f"{symbol},{day},{draw.randrange(9, 11)}:30:0{draw.randrange(3)},{draw.choice(PRICES)},"
        f"{draw.choice(PRICES)},{draw.randrange(90)},{draw.randrange(90)},12,{draw.choice('NPQ')}"
        for symbol in ("A", "IBM")
        for day in ("20080307", "20080310")  # a Friday in winter time, a Monday in summer time
        for _ in range(40)
    ]
    return "\n".join([MONTHLY_QUOTES_HEADER, *rows]) + "\n"


def by_pandas(daily_text: str, fixed_text: str, monthly_text: str) -> pd.DataFrame:
    """Return all the rows, in order of time, and of files and lines where that is the same."""
    lines = daily_text.splitlines()[:-1]
    day = _separated("\n".join(lines), "|").iloc[:, :9]
    names = ["clock", "exchange", "key", "bid", "bid_size", "ask", "ask_size", "condition"]
    day = day.set_axis([*names, "sequence"], axis=1)
    day["rest"] = day["clock"].str[6:].astype("int64")
    day["clock"] = "20180102" + day["clock"].str[:6]
    # From, to: as the specification of the product counts them.
    places = {"clock": (0, 6), "rest": (6, 9), "exchange": (9, 10)}
    places |= {"root": (10, 16), "suffix": (16, 26), "bid": (26, 37), "bid_size": (37, 44)}
    places |= {"ask": (44, 55), "ask_size": (55, 62), "condition": (62, 63), "sequence": (69, 85)}
    rows = io.StringIO("\n".join(fixed_text.splitlines()[1:]))
    wide = pd.read_fwf(rows, colspecs=list(places.values()), header=None, dtype=str)
    wide = wide.set_axis(list(places), axis=1).fillna("")
    wide["clock"] = "20140106" + wide["clock"]
    wide["rest"] = wide["rest"].astype("int64") * 10**6
    wide["key"] = (wide["root"] + " " + wide["suffix"]).str.strip()
    for name in ("bid", "ask"):
        wide[name] = wide[name].astype("int64") / 10_000
    month = _separated(monthly_text, ",").set_axis(
        ["key", "day", "clock", "bid", "ask", "bid_size", "ask_size", "condition", "exchange"],
        axis=1,
    )
    month["clock"] = month["day"] + month["clock"].str.zfill(8).str.replace(":", "")
    every = pd.concat([day, wide, month.assign(rest=0, sequence="")], ignore_index=True)
    clock = pd.to_datetime(every["clock"], format="%Y%m%d%H%M%S")
    utc = clock.dt.tz_localize("America/New_York").dt.tz_convert("UTC")
    every["time_ns"] = utc.dt.as_unit("ns").astype("int64") + every["rest"]
    every["time"] = [nanoseconds / 10**9 for nanoseconds in every["time_ns"].tolist()]
    every = every.astype({"bid": float, "ask": float, "bid_size": "int64", "ask_size": "int64"})
    every["sequence"] = [int(text) if text else None for text in every["sequence"]]
    return every.sort_values("time_ns", kind="stable")


def _separated(text: str, separator: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False)


@dataclass(frozen=True, slots=True)
class Loaded:
    card: DataCard
    rows: pa.Table
    expected: pd.DataFrame


@pytest.fixture(scope="module")
def loaded(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    work = tmp_path_factory.mktemp("quotes")
    draw = random.Random(5)
    texts = [daily_quotes(draw), fixed_quotes(draw), monthly_quotes(draw)]
    paths = [
        write(work / f"{number}", text, is_gzip=number == 0) for number, text in enumerate(texts)
    ]
    folder = work / "out"
    folder.mkdir()
    card = load(spark, recognise(paths), folder, Wanted(), "python -m datasets taq")
    files = sorted(folder.glob("*.parquet"))
    rows = pa.concat_tables([pq.read_table(file) for file in files])
    return Loaded(card, rows, by_pandas(*texts))


def test_every_quote_is_as_pandas_reads_it_and_in_the_same_order(loaded: Loaded) -> None:
    assert loaded.rows.column_names == COLUMNS
    for name in COLUMNS:
        expected = [None if pd.isna(value) else value for value in loaded.expected[name].tolist()]
        assert loaded.rows[name].to_pylist() == expected, name
    assert loaded.expected["time_ns"].nunique() < len(loaded.expected) / 3


def test_counts_times_and_exchanges_are_those_of_pandas(loaded: Loaded) -> None:
    card, expected = loaded.card, loaded.expected
    assert (card.read, card.trace.updates, dict(card.dropped)) == (len(expected), len(expected), {})
    assert (card.trace.first_time, card.trace.last_time) == (
        expected["time"].min(),
        expected["time"].max(),
    )
    assert card.trace.keys == expected["key"].nunique()
    counted = loaded.rows["exchange"].value_counts().to_pylist()
    assert {each["values"]: each["counts"] for each in counted} == (
        expected["exchange"].value_counts().to_dict()
    )
