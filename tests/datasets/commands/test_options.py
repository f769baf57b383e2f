"""The options that commands share refuse what makes no sense, as usage errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from datasets.commands.generated import Generated
from datasets.commands.options import MAX_SEED, Cores, Json, Out, Seed, StreamOptions
from datasets.errors import BadOptionError
from datasets.generators.arrivals import FixedInterval
from datasets.generators.key_shares import EvenShares

app = typer.Typer()


@app.command()
def show(*, out: Out, seed: Seed = 1, cores: Cores = None, is_json: Json = False) -> None:
    typer.echo(f"{Path(out)} {seed} {cores} {is_json}")


def test_the_options_have_the_same_names_everywhere() -> None:
    run = CliRunner().invoke(app, ["--out", "day", "--seed", str(MAX_SEED), "--cores", "2"])
    assert (run.exit_code, run.output) == (0, f"day {MAX_SEED} 2 False\n")
    assert CliRunner().invoke(app, ["--out", "day", "--json"]).output == "day 1 None True\n"


@pytest.mark.parametrize(
    "words", [["--seed", "-1"], ["--seed", str(MAX_SEED + 1)], ["--seed", "x"], ["--cores", "0"]]
)
def test_a_value_out_of_range_is_a_usage_error(words: list[str]) -> None:
    assert CliRunner().invoke(app, ["--out", "day", *words]).exit_code == 2


def test_the_folder_to_write_must_be_given() -> None:
    assert CliRunner().invoke(app, []).exit_code == 2


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
    return options.generated("uniform", "Even", EvenShares(3), FixedInterval(), {"keys": 3})


def test_all_that_the_data_depend_on_is_told() -> None:
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


def test_partitions_are_not_told_as_nothing_depends_on_them() -> None:
    parted = generated(replace(OPTIONS, partitions=3))
    assert parted.command_line() == generated(OPTIONS).command_line()


def test_a_prefix_is_told_if_there_is_one() -> None:
    stream = generated(replace(OPTIONS, key_prefix="sym"))
    assert stream.options["key-prefix"] == "sym"
    assert "sym" in stream.meanings["key"]


def test_what_makes_no_sense_is_refused_before_anything_runs() -> None:
    with pytest.raises(BadOptionError, match="--value 'x'"):
        generated(replace(OPTIONS, value="x"))
    with pytest.raises(BadOptionError, match="--rate 0"):
        generated(replace(OPTIONS, rate=0.0))
