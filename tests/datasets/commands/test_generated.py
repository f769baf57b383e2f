"""How a generated stream is described and written: the same files however it is cut, or nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import typer
from pyspark.sql import DataFrame, SparkSession

from datasets.commands.generated import Generated, StreamOptions, write_generated
from datasets.commands.job import usage_errors
from datasets.errors import BadFileError, BadOptionError
from datasets.generators.arrivals import Cut, FixedInterval, PoissonArrivals, Span
from datasets.generators.key_shares import ZipfShares
from datasets.generators.update_stream import UpdateStream
from datasets.generators.value_columns import parse_values
from datasets.output import trace

from .command_line import bytes_of, table_of

CUT = Cut(updates_per_block=500, blocks_per_file=4)
STREAM = UpdateStream(
    ZipfShares(20, 0.9),
    PoissonArrivals(),
    Span(updates=15_100, rate=10.0),
    parse_values("value:double"),
    seed=1,
)
GENERATED = Generated(
    command="zipf",
    title="A stream",
    seed=1,
    options={"keys": 20, "start": -1.5, "key-prefix": "a b"},
    meanings={"time": "seconds"},
    frame=lambda session: STREAM.frame(session, CUT),
    notes=("Made for a test.",),
)


def test_one_two_and_seven_partitions_write_the_same_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "ROWS_PER_FILE", CUT.updates_per_file)
    written = {}
    for partitions in (1, 2, 7):
        frame = partial(STREAM.frame, cut=replace(CUT, partitions=partitions))
        stream = replace(GENERATED, frame=frame)
        out = tmp_path / str(partitions)
        write_generated(stream, out, cores=2, is_json=False)
        written[partitions] = bytes_of(out)
    names = [f"part-{number:05d}.snappy.parquet" for number in range(8)]
    assert sorted(written[1]) == ["_data_card.json", "_data_card.md", *names]
    assert written[2] == written[1]
    assert written[7] == written[1]
    times = table_of(tmp_path / "7")["time"].to_pylist()
    assert times == sorted(times)
    assert len(times) == 15_100


def test_the_command_line_says_every_option_as_a_shell_needs_it() -> None:
    assert GENERATED.command_line() == (
        "python -m datasets zipf --keys 20 --start=-1.5 --key-prefix 'a b' --seed 1 --out DIR"
    )


def test_a_stream_that_cannot_be_made_leaves_nothing(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def frame(session: SparkSession) -> DataFrame:
        raise BadFileError("x", "is no good")

    with pytest.raises(typer.Exit) as ended:
        write_generated(replace(GENERATED, frame=frame), tmp_path / "x", cores=1, is_json=False)
    assert ended.value.exit_code == 1
    assert "Error: x: is no good\n" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_only_options_are_usage_errors() -> None:
    with pytest.raises(typer.BadParameter, match="--theta -1"), usage_errors():
        raise BadOptionError("--theta", -1, "more")
    with pytest.raises(BadFileError), usage_errors():
        raise BadFileError("x", "is no good")


OPTIONS = StreamOptions(
    updates=10,
    rate=2.0,
    start=5.0,
    value="value:double,size:int",
    key_prefix="",
    seed=4,
    partitions=None,
)


def generated(options: StreamOptions) -> Generated:
    return options.generated("uniform", "Even", ZipfShares(3, 0.0), FixedInterval(), {"keys": 3})


def test_a_stream_lists_all_options_that_its_data_depend_on() -> None:
    stream = generated(OPTIONS)
    assert (stream.command, stream.title, stream.seed) == ("uniform", "Even", 4)
    assert stream.options == {
        "keys": 3,
        "updates": 10,
        "rate": 2.0,
        "start": 5.0,
        "value": "value:double,size:int",
    }
    assert set(stream.meanings) == {"time", "key", "value", "size"}


def test_partitions_are_not_listed_because_the_data_do_not_depend_on_them() -> None:
    parted = generated(replace(OPTIONS, partitions=3))
    assert parted.command_line() == generated(OPTIONS).command_line()


def test_a_prefix_is_listed_if_it_is_given() -> None:
    stream = generated(replace(OPTIONS, key_prefix="sym"))
    assert stream.options["key-prefix"] == "sym"
    assert "sym" in stream.meanings["key"]


def test_an_invalid_option_is_refused_before_anything_runs() -> None:
    with pytest.raises(BadOptionError, match="--value 'x'"):
        generated(replace(OPTIONS, value="x"))
    with pytest.raises(BadOptionError, match="--rate 0"):
        generated(replace(OPTIONS, rate=0.0))
