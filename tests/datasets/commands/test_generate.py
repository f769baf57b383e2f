"""Generated streams: what the commands write, and refuse, and that other parts can read it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from datasets.generators.key_shares import TwoClassShares, ZipfShares
from simulator.workloads.trace_file import read_trace
from tests.server_process import running
from upstream.client import Client

from ..generators.chi_square import chi_square_p
from .command_line import FAILED, assert_refused, bytes_of, data_files, generate, invoke, table_of

UPDATES = 120_000


@pytest.fixture(scope="module")
def zipf(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stream larger than one body that the service takes."""
    out = tmp_path_factory.mktemp("generated") / "zipf"
    words = ("--keys", 500, "--theta", 0.8, "--updates", UPDATES, "--rate", 2_000, "--seed", 7)
    return generate(out, "zipf", *words, "--value", "value:double", "--partitions", 2)


def test_the_frequencies_are_those_of_the_options(zipf: Path) -> None:
    counts = np.bincount(table_of(zipf)["key"].to_numpy(), minlength=500)
    assert chi_square_p(counts, ZipfShares(500, 0.8).shares() * UPDATES) > 0.001
    assert chi_square_p(counts, ZipfShares(500, 0.85).shares() * UPDATES) < 1e-6


def test_the_simulator_takes_the_folder_as_a_trace(zipf: Path) -> None:
    trace = read_trace(zipf)
    table = table_of(zipf)
    assert trace.times.tolist() == table["time"].to_pylist()
    assert [trace.keys[code] for code in trace.codes[:1_000]] == table["key"][:1_000].to_pylist()
    assert trace.times[-1] == pytest.approx(UPDATES / 2_000, rel=0.02)


def test_the_service_takes_the_tables_as_bodies(spark: SparkSession, tmp_path: Path) -> None:
    fields = "price:double,size:int,total:bigint,venue:string,is_open:boolean"
    words = ("--keys", 300, "--key-prefix", "sym", "--value", fields, "--updates", UPDATES)
    table = table_of(generate(tmp_path / "uniform", "uniform", *words))
    with running() as service, Client(service.url) as client:
        client.create_queue("prices")
        counts = client.put_table("prices", table)
        assert counts.waiting + counts.superseded == UPDATES
        assert (counts.late, counts.rejected) == (0, 0)
        newest = {each.key: (each.time, each.value) for each in client.snapshot("prices")}
    rows = {row["key"]: row for row in table.to_pylist()}
    assert newest.keys() == {f"sym{key:03d}" for key in range(300)} == rows.keys()
    for key, (time, value) in newest.items():
        assert isinstance(value, dict)
        assert {"time": time, "key": key, **value} == rows[key]


def test_the_card_says_what_is_in_the_folder_and_how_to_make_it_again(
    zipf: Path, tmp_path: Path
) -> None:
    card = json.loads((zipf / "_data_card.json").read_text())
    table = table_of(zipf)
    assert (card["updates"], card["keys"], card["seed"]) == (UPDATES, 500, 7)
    assert (card["first_time"], card["last_time"]) == (
        table["time"][0].as_py(),
        table["time"][-1].as_py(),
    )
    counts = np.bincount(table["key"].to_numpy())
    assert card["skew"]["busiest_updates"] == counts.max()
    assert [column["name"] for column in card["columns"]] == ["time", "key", "value"]
    assert all(column["meaning"] for column in card["columns"])
    assert card["command"] == (
        "python -m datasets zipf --keys 500 --theta 0.8 --arrivals poisson --updates 120000 "
        "--rate 2000.0 --start 0.0 --value value:double --seed 7 --out DIR"
    )
    words = shlex.split(card["command"].replace("DIR", str(tmp_path / "again")))[3:]
    assert invoke(*words).exit_code == 0
    assert bytes_of(tmp_path / "again") == bytes_of(zipf)


def test_two_classes_may_come_at_a_fixed_interval(spark: SparkSession, tmp_path: Path) -> None:
    words = ("--keys", 50, "--slow-keys", 20, "--ratio", 8, "--updates", 20_000, "--rate", 4)
    out = generate(
        tmp_path / "x", "two-class", *words, "--arrivals", "fixed", "--start", -100, "--seed", 3
    )
    table = table_of(out)
    assert table["time"].to_pylist() == [row / 4 - 100 for row in range(20_000)]
    expected = TwoClassShares(50, 20, 8).shares() * 20_000
    assert chi_square_p(np.bincount(table["key"].to_numpy(), minlength=50), expected) > 0.001
    command = json.loads((out / "_data_card.json").read_text())["command"]
    assert "--start=-100.0" in command


def test_bursts_are_of_the_keys_that_the_options_say(spark: SparkSession, tmp_path: Path) -> None:
    words = ("--keys", 60, "--bursting", 5, "--updates", 20_000, "--rate", 100, "--theta", 0.5)
    table = table_of(generate(tmp_path / "x", "bursts", *words))
    times, keys = table["time"].to_numpy(), table["key"].to_numpy()
    together = times[keys == 59]
    assert len(together) > 100
    for key in range(55, 59):
        assert times[keys == key].tolist() == pytest.approx(together, abs=0)
    assert not set(times[keys < 55]) & set(together)


def test_the_day_is_as_the_options_say_and_can_be_replayed(
    spark: SparkSession, tmp_path: Path
) -> None:
    words = ("--symbols", 30, "--busiest", 200, "--shape", "lognormal", "--date", "2006-01-03")
    out = generate(tmp_path / "day", "taq-like", *words, "--seed", 5)
    card = json.loads((out / "_data_card.json").read_text())
    skew = card["skew"]
    assert (card["keys"], skew["busiest_updates"], skew["slowest_updates"]) == (30, 200, 1)
    assert (card["seed"], card["parameters"]["date"]) == (5, "2006-01-03")
    assert "lognormal" in card["title"]
    trace = read_trace(out)
    assert len(trace.keys) == 30
    opens = 1_136_298_600  # 2006-01-03 09:30 in New York
    assert opens <= trace.times[0] < trace.times[-1] <= opens + 6.5 * 3600
    assert table_of(out).column_names == ["time", "key", "price", "size"]


def test_json_is_one_object_and_nothing_else(spark: SparkSession, tmp_path: Path) -> None:
    result = invoke("uniform", "--keys", 3, "--updates", 10, "--out", tmp_path / "x", "--json")
    shown = json.loads(result.stdout)
    assert shown["folder"] == str(tmp_path / "x")
    assert (shown["updates"], shown["seed"]) == (10, 1)
    assert len(data_files(tmp_path / "x")) == 1


def test_one_update_is_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    assert len(table_of(generate(tmp_path / "x", "zipf", "--updates", 1))) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("zipf --keys 0", "--keys 0: expected a whole number from 1 to 10,000,000"),
        ("zipf --theta -1", "--theta -1: expected a number from 0"),
        ("zipf --theta nan", "--theta nan: expected a number from 0"),
        ("uniform --rate 0", "--rate 0: expected updates per second, above 0"),
        ("uniform --updates 0", "--updates 0: expected a whole number from 1"),
        ("uniform --start inf", "--start inf: expected seconds"),
        ("uniform --arrivals bursts", "--arrivals bursts: expected poisson or fixed"),
        ("uniform --value time:double", "--value time: expected another name"),
        ("uniform --value price", "--value 'price': expected NAME:TYPE"),
        ("two-class --slow-keys 1001", "--slow-keys 1001: expected a number from 0 to 1,000"),
        ("two-class --ratio 0", "--ratio 0: expected a number above 0"),
        ("bursts --bursting 0", "--bursting 0: expected a number of keys, from 1 to 1,000"),
        ("bursts --spread 1e6", "--spread 1e+06: expected seconds from 0 to 5.03471"),
        ("taq-like --symbols 1", "--symbols 1: expected a number from 2 to 160,000"),
        ("taq-like --busiest 0", "--busiest 0: expected a number from 1"),
        ("taq-like --shape flat", "--shape flat: expected power-law or lognormal"),
        ("taq-like --date yesterday", "--date yesterday: expected a day such as 2006-01-17"),
        ("zipf --partitions 0", "Invalid value for '--partitions'"),
        ("zipf --keys many", "Invalid value for '--keys'"),
    ],
)
def test_an_invalid_option_is_a_usage_error_and_nothing_is_written(
    tmp_path: Path, words: str, message: str
) -> None:
    assert_refused(invoke(*words.split(), "--out", tmp_path / "x"), message)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    said = f"Error: {tmp_path / 'x'} already exists; choose another"
    assert_refused(invoke("zipf", "--out", tmp_path / "x"), said, status=FAILED)
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]
    assert list((tmp_path / "x").iterdir()) == []
