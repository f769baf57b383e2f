"""Whole loads of trades and quotes, compared row by row with what pandas reads from the files."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from api.bodies import Limits
from api.bodies.arrow.layout import layout_of
from datasets.errors import BadFileError
from datasets.output.card import DataCard
from datasets.taq import load as load_module
from datasets.taq.checks import Allowance
from datasets.taq.filters import Filters
from datasets.taq.load import Wanted, load
from datasets.taq.sources import recognise
from simulator.workloads.trace_file import read_trace

from .daily_files import (
    MONTHLY_QUOTES_HEADER,
    MONTHLY_TRADES_HEADER,
    QUOTES_HEADER,
    daily,
    fixed,
    fixed_trade,
    trade,
    write,
)
from .test_staging import splits_of

ROWS_PER_FILE = 150
SYMBOLS = ("A", "BRK B", "IBM", "ZZZ")  # daily files are sorted by symbol, and not by time
QUOTED = SYMBOLS[:3]
PRICES = ("45.88", "0", "103.0001", ".5")
CONDITIONS = ("@   ", " O  ", "O   ", "    ", "@4 I", "FTI", "@ I ", " F  ")
USUALLY_DROPPED = set("Z4TVUPWX")


def daily_day(seed: int, day: str) -> str:
    """Return a day with few distinct times, so that many rows have the same time."""
    draw = random.Random(seed)
    rows = [
        trade(
            f"{draw.choice((4, 9, 16)):02}0000{draw.randrange(15):09}",
            symbol,
            draw.choice(CONDITIONS),
            exchange=draw.choice("NQPT"),
            size=str(draw.randrange(1, 500)),
            price=draw.choice(("45.88", "0", "103.0001", ".5")),
            correction=draw.choice(("00", "01", "10")),
            sequence=draw.choice(("", str(draw.randrange(10**9)))),
        )
        for symbol in SYMBOLS
        for _ in range(120)
    ]
    return daily(rows, day=day)


def fixed_day(seed: int) -> str:
    draw = random.Random(seed)
    rows = [
        fixed_trade(
            f"09{draw.randrange(20):02}00{draw.randrange(3):03}",
            *(symbol.split() if " " in symbol else (symbol, "")),
            condition=draw.choice(CONDITIONS),
            price=f"{draw.randrange(10**6):011}",
        )
        for symbol in SYMBOLS
        for _ in range(100)
    ]
    return fixed(rows)


def monthly_days(seed: int) -> str:
    draw = random.Random(seed)
    rows = [
        f"{symbol},{day},{draw.randrange(9, 11)}:30:0{draw.randrange(3)},{draw.randrange(5)}.25,"
        f"{number},{draw.choice((0, 0, 0, 40))},{draw.choice((0, 12))},{draw.choice(('@', 'T'))},N"
        for symbol in ("A", "IBM")
        for day in ("20080307", "20080310")  # a Friday in winter time, a Monday in summer time
        for number in range(60)
    ]
    return "\n".join([MONTHLY_TRADES_HEADER, *rows])


def trades_by_pandas(texts: list[str]) -> tuple[pd.DataFrame, int]:
    """Return the rows that are kept, in order, and how many there are in all."""
    separated = [
        _separated("\n".join(line for line in text.splitlines() if not line.startswith("END")), by)
        for text, by in zip(texts, "||,", strict=False)
    ]
    names = ["time", "exchange", "key", "condition", "size", "price", "stop", "correction"]
    frames = []
    for frame in separated[:2]:
        frame = frame.iloc[:, :9].set_axis([*names, "sequence"], axis=1)
        frame["clock"] = pd.to_datetime("20180102" + frame["time"].str[:6], format="%Y%m%d%H%M%S")
        frames.append(frame.assign(rest=frame["time"].str[6:].astype("int64"), g127="0"))
    monthly = separated[2].set_axis(
        ["key", "day", "time", "price", "size", "g127", "correction", "condition", "exchange"],
        axis=1,
    )
    clock = pd.to_datetime(monthly["day"] + " " + monthly["time"], format="%Y%m%d %H:%M:%S")
    frames.append(monthly.assign(clock=clock, rest=0, sequence=""))
    lines = pd.Series(texts[3].splitlines()[1:])
    wide = pd.DataFrame(
        {
            "clock": pd.to_datetime("20140106" + lines.str[:6], format="%Y%m%d%H%M%S"),
            "rest": lines.str[6:9].astype("int64") * 10**6,
            "exchange": lines.str[9],
            "key": (lines.str[10:16].str.strip() + " " + lines.str[16:26].str.strip()).str.strip(),
            "condition": lines.str[26:30],
            "size": lines.str[30:39],
            "price": (lines.str[39:50].astype("int64") / 10_000).astype(str),
            "correction": lines.str[51:53],
            "sequence": lines.str[53:69],
            "g127": "0",
        }
    )
    every = pd.concat([*frames, wide], ignore_index=True)
    every = every.astype({"price": float, "size": "int64", "correction": "int64"})
    is_kept = every["correction"].isin([0, 1, 2]) & (every["g127"] == "0") & (every["price"] > 0)
    is_kept &= every["condition"].map(USUALLY_DROPPED.isdisjoint)
    return in_order(every[is_kept]), len(every)


def daily_quotes(draw: random.Random) -> str:
    rows = [
        f"{draw.choice((4, 9, 16)):02}0000{draw.randrange(9):09}|{draw.choice('NPQZ')}|{symbol}|"
        f"{draw.choice(PRICES)}|{draw.randrange(90)}|{draw.choice(PRICES)}|{draw.randrange(90)}|"
        f"{draw.choice('RLA')}|{draw.choice(('', draw.randrange(10**9)))}|0||||C|"
        for symbol in QUOTED
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
        for symbol in QUOTED
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


def quotes_by_pandas(texts: list[str]) -> tuple[pd.DataFrame, int]:
    """Return all the rows in order, and how many there are."""
    daily_text, fixed_text, monthly_text = texts
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
    every = every.astype({"bid": float, "ask": float, "bid_size": "int64", "ask_size": "int64"})
    every["clock"] = pd.to_datetime(every["clock"], format="%Y%m%d%H%M%S")
    return in_order(every), len(every)


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in order of time, and of files and lines where that is the same.

    `clock` is the second in New York, and `rest` has the nanoseconds after it.
    """
    utc = rows["clock"].dt.tz_localize("America/New_York").dt.tz_convert("UTC")
    found = rows.assign(time_ns=utc.dt.as_unit("ns").astype("int64") + rows["rest"])
    found["time"] = [nanoseconds / 10**9 for nanoseconds in found["time_ns"].tolist()]
    found["sequence"] = [int(text) if text else None for text in found["sequence"]]
    return found.sort_values("time_ns", kind="stable")


def _separated(text: str, separator: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False)


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one kind in three formats, and what is to be found in them."""

    make: Callable[[], list[str]]
    by_pandas: Callable[[list[str]], tuple[pd.DataFrame, int]]
    columns: dict[str, str]
    """The columns of the trace, with their types."""
    dropped: set[str]
    sources: list[str]


def schema(text: str) -> dict[str, str]:
    return {name: kind for name, _, kind in (each.partition(":") for each in text.split())}


def quotes() -> list[str]:
    draw = random.Random(5)
    return [daily_quotes(draw), fixed_quotes(draw), monthly_quotes(draw)]


FILES = {
    "trades": Files(
        lambda: [daily_day(1, "20180102"), daily_day(2, "20180102"), monthly_days(3), fixed_day(4)],
        trades_by_pandas,
        schema(
            "time:double key:string time_ns:int64 price:double size:int64 exchange:string "
            "condition:string correction:int32 sequence:int64"
        ),
        {"condition 4", "condition T", "correction 10", "G127 not 0", "price not above 0"},
        [
            "daily-trades of 2018-01-02, 480 rows",
            "daily-trades of 2018-01-02, 480 rows",
            "monthly-trades, 240 rows",
            "fixed-trades of 2014-01-06, 400 rows",
        ],
    ),
    "quotes": Files(
        quotes,
        quotes_by_pandas,
        schema(
            "time:double key:string time_ns:int64 bid:double bid_size:int64 ask:double "
            "ask_size:int64 exchange:string condition:string sequence:int64"
        ),
        set(),
        [
            "daily-quotes of 2018-01-02, 300 rows",
            "fixed-quotes of 2014-01-06, 180 rows",
            "monthly-quotes, 160 rows",
        ],
    ),
}


@dataclass(frozen=True, slots=True)
class Loaded:
    files: Files
    folder: Path
    card: DataCard
    rows: pa.Table
    expected: pd.DataFrame
    read: int


@pytest.fixture(scope="module", params=FILES)
def loaded(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Loaded:
    """Files of three formats, loaded together in splits that are small, and by pandas."""
    files = FILES[request.param]
    work = tmp_path_factory.mktemp("load")
    texts = files.make()
    paths = [
        write(work / f"{number}", text, is_gzip=number in (0, 3))
        for number, text in enumerate(texts)
    ]
    folder = work / "out"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch, splits_of(spark, 10_000):
        patch.setattr(load_module, "ROWS_PER_FILE", ROWS_PER_FILE)
        card = load(spark, recognise(paths), folder, Wanted(), "python -m datasets taq")
    rows = pa.concat_tables([pq.read_table(file) for file in sorted(folder.glob("*.parquet"))])
    return Loaded(files, folder, card, rows, *files.by_pandas(texts))


def test_every_row_is_as_pandas_reads_it_and_in_the_same_order(loaded: Loaded) -> None:
    for name in loaded.files.columns:
        expected = [None if pd.isna(value) else value for value in loaded.expected[name].tolist()]
        assert loaded.rows[name].to_pylist() == expected, name


def test_many_rows_have_the_same_time_here(loaded: Loaded) -> None:
    assert loaded.expected["time_ns"].nunique() < len(loaded.expected) / 2
    assert len(loaded.expected) > 2 * ROWS_PER_FILE


def test_columns_and_types_are_those_of_a_trace(loaded: Loaded) -> None:
    types = {field.name: str(field.type) for field in loaded.rows.schema}
    assert list(types.items()) == list(loaded.files.columns.items())


def test_several_files_are_in_the_order_of_their_names(loaded: Loaded) -> None:
    names = sorted(path.name for path in loaded.folder.iterdir())
    assert len(names) == -(-len(loaded.expected) // ROWS_PER_FILE)
    assert all(name.startswith("part-") for name in names)
    spans = [pq.read_table(loaded.folder / name)["time_ns"].to_pylist() for name in names]
    assert all(one[-1] <= other[0] for one, other in pairwise(spans))


def test_the_card_accounts_for_every_row(loaded: Loaded) -> None:
    card, trace, expected = loaded.card, loaded.card.trace, loaded.expected
    assert (card.read, trace.updates) == (loaded.read, len(expected))
    assert trace.updates + sum(card.dropped.values()) == card.read
    assert loaded.files.dropped <= set(card.dropped)
    assert bool(card.dropped) == bool(loaded.files.dropped)
    assert (trace.first_time, trace.last_time) == (expected["time"].min(), expected["time"].max())
    assert trace.keys == expected["key"].nunique()
    meanings = {column.name: bool(column.meaning) for column in trace.columns}
    assert meanings == dict.fromkeys(loaded.files.columns, True)
    sources = [value for name, value in card.parameters.items() if "/" in name]
    assert sources == loaded.files.sources


def test_each_exchange_has_as_many_rows_as_pandas_counts(loaded: Loaded) -> None:
    counted = loaded.rows["exchange"].value_counts().to_pylist()
    assert {each["values"]: each["counts"] for each in counted} == (
        loaded.expected["exchange"].value_counts().to_dict()
    )


def test_the_simulator_replays_it(loaded: Loaded) -> None:
    trace = read_trace(loaded.folder)
    assert trace.times.tolist() == loaded.expected["time"].tolist()
    assert [trace.keys[code] for code in trace.codes] == loaded.expected["key"].tolist()


def test_the_service_takes_it(loaded: Loaded) -> None:
    layout = layout_of(loaded.rows.schema, Limits())
    assert layout.names == tuple(loaded.files.columns)[2:]


def test_a_load_without_rows_that_pass_the_filters_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = write(tmp_path / "x", daily([trade(), "bad"]))
    folder = tmp_path / "out"
    folder.mkdir()
    wanted = Wanted(Filters(symbols=("IBM X",)), Allowance(bad_rows=1))
    with pytest.raises(BadFileError, match=f"^{path}: none of the 2 rows pass the filters"):
        load(spark, recognise([path]), folder, wanted, "")
