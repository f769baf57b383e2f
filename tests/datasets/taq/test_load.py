"""Whole loads, compared row by row with what pandas reads from the same files."""

from __future__ import annotations

import io
import random
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

from .daily_files import MONTHLY_TRADES_HEADER, daily, fixed, fixed_trade, trade, write
from .test_staging import splits_of

ROWS_PER_FILE = 150
SYMBOLS = ("A", "BRK B", "IBM", "ZZZ")  # daily files are sorted by symbol, and not by time
CONDITIONS = ("@   ", " O  ", "O   ", "    ", "@4 I", "FTI", "@ I ", " F  ")
USUALLY_DROPPED = set("Z4TVUPWX")
COLUMNS = [
    *("time", "key", "time_ns", "price", "size"),
    *("exchange", "condition", "correction", "sequence"),
]


def daily_day(seed: int, day: str) -> str:
    """Return a day with few distinct times, so that many rows are of the same."""
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


def by_pandas(texts: list[str]) -> tuple[pd.DataFrame, int]:
    """Return the rows that are kept, in order, and how many there are in all."""
    separated = [
        pd.read_csv(
            io.StringIO(
                "\n".join(line for line in text.splitlines() if not line.startswith("END"))
            ),
            sep=separator,
            dtype=str,
            keep_default_na=False,
        )
        for text, separator in zip(texts, "||,", strict=False)
    ]
    names = ["time", "exchange", "key", "condition", "size", "price", "stop", "correction"]
    frames = []
    for day, frame in zip(("20180102", "20180309"), separated[:2], strict=True):
        frame = frame.iloc[:, :9].set_axis([*names, "sequence"], axis=1)
        frame["clock"] = pd.to_datetime(day + frame["time"].str[:6], format="%Y%m%d%H%M%S")
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
    utc = every["clock"].dt.tz_localize("America/New_York").dt.tz_convert("UTC")
    every["time_ns"] = utc.dt.as_unit("ns").astype("int64") + every["rest"]
    every["price"] = every["price"].astype(float)
    for name in ("size", "correction"):
        every[name] = every[name].astype("int64")
    is_kept = every["correction"].isin([0, 1, 2]) & (every["g127"] == "0") & (every["price"] > 0)
    is_kept &= every["condition"].map(USUALLY_DROPPED.isdisjoint)
    kept = every[is_kept].sort_values("time_ns", kind="stable")
    kept["time"] = [nanoseconds / 10**9 for nanoseconds in kept["time_ns"].tolist()]
    kept["sequence"] = [int(text) if text else None for text in kept["sequence"]]
    return kept, len(every)


@dataclass(frozen=True, slots=True)
class Loaded:
    folder: Path
    card: DataCard
    rows: pa.Table
    expected: pd.DataFrame
    read: int


@pytest.fixture(scope="module")
def loaded(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """Files of three formats, loaded together in splits that are small, and by pandas."""
    work = tmp_path_factory.mktemp("load")
    texts = [daily_day(1, "20180102"), daily_day(2, "20180309"), monthly_days(3), fixed_day(4)]
    packed = (True, False, False, True)
    paths = [
        write(work / f"{number}", text, is_gzip=is_gzip)
        for number, (text, is_gzip) in enumerate(zip(texts, packed, strict=True))
    ]
    folder = work / "out"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch, splits_of(spark, 10_000):
        patch.setattr(load_module, "ROWS_PER_FILE", ROWS_PER_FILE)
        card = load(spark, recognise(paths), folder, Wanted(), "python -m datasets taq")
    files = sorted(folder.glob("*.parquet"))
    rows = pa.concat_tables([pq.read_table(file) for file in files])
    return Loaded(folder, card, rows, *by_pandas(texts))


def test_every_row_is_as_pandas_reads_it_and_in_the_same_order(loaded: Loaded) -> None:
    assert loaded.rows.column_names == COLUMNS
    for name in COLUMNS:
        expected = [None if pd.isna(value) else value for value in loaded.expected[name].tolist()]
        assert loaded.rows[name].to_pylist() == expected, name


def test_rows_of_the_same_time_are_many_here(loaded: Loaded) -> None:
    assert loaded.expected["time_ns"].nunique() < len(loaded.expected) / 2
    assert len(loaded.expected) > 2 * ROWS_PER_FILE


def test_types_are_those_of_a_trace(loaded: Loaded) -> None:
    assert [str(field.type) for field in loaded.rows.schema] == [
        *("double", "string", "int64", "double", "int64"),
        *("string", "string", "int32", "int64"),
    ]


def test_files_are_in_the_order_of_their_names_and_several(loaded: Loaded) -> None:
    names = sorted(path.name for path in loaded.folder.iterdir())
    assert len(names) == -(-len(loaded.expected) // ROWS_PER_FILE)
    assert all(name.startswith("part-") for name in names)
    spans = [pq.read_table(loaded.folder / name)["time_ns"].to_pylist() for name in names]
    assert all(one[-1] <= other[0] for one, other in pairwise(spans))


def test_the_card_accounts_for_every_row(loaded: Loaded) -> None:
    card, expected = loaded.card, loaded.expected
    assert (card.read, card.trace.updates) == (loaded.read, len(expected))
    assert card.trace.updates + sum(card.dropped.values()) == card.read
    assert {
        "condition 4",
        "condition T",
        "correction 10",
        "G127 not 0",
        "price not above 0",
    } <= set(card.dropped)
    assert (card.trace.first_time, card.trace.last_time) == (
        expected["time"].min(),
        expected["time"].max(),
    )
    assert card.trace.keys == expected["key"].nunique()
    assert {column.name: bool(column.meaning) for column in card.trace.columns} == dict.fromkeys(
        COLUMNS, True
    )
    sources = [value for name, value in card.parameters.items() if "/" in name]
    assert sources[:2] == [
        *("daily-trades of 2018-01-02, 480 rows", "daily-trades of 2018-03-09, 480 rows")
    ]
    assert sources[2:] == ["monthly-trades, 240 rows", "fixed-trades of 2014-01-06, 400 rows"]


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
    assert layout.names == tuple(COLUMNS[2:])


def test_a_load_in_which_nothing_is_wanted_says_so(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "x", daily([trade(), "bad"]))
    folder = tmp_path / "out"
    folder.mkdir()
    wanted = Wanted(Filters(symbols=("IBM X",)), Allowance(bad_rows=1))
    with pytest.raises(BadFileError, match=f"^{path}: none of the 2 rows pass the filters"):
        load(spark, recognise([path]), folder, wanted, "")
