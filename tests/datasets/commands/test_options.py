"""The options that commands share refuse what makes no sense, as usage errors."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from datasets.commands.options import MAX_SEED, Cores, Json, Out, Seed

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
