"""`python -m datasets profile`: what it shows, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from .command_line import FAILED, USAGE_ERROR, assert_refused, invoke

ROWS = "SYM,T\n" + "".join(f"key {row % 3 * (row % 2)},{row * 500}\n" for row in range(60))


@pytest.mark.usefixtures("spark")
def test_it_shows_numbers_and_writes_keys_ranks_and_the_plot(tmp_path: Path) -> None:
    path, out = tmp_path / "x.csv", tmp_path / "profile"
    path.write_text(ROWS)
    words = ("--time", "T", "--time-unit", "ms", "--key", "SYM", "--json")
    run = invoke("profile", path, *words, "--out", out, "--plot", tmp_path / "p.png")
    assert run.exit_code == 0, run.output
    shown = json.loads(run.stdout)
    assert (shown["updates"], shown["keys"], shown["seconds"]) == (60, 3, 29.5)
    assert shown == json.loads((out / "profile.json").read_text(encoding="utf-8"))
    assert [row["updates"] for row in shown["busiest"]] == [40, 10, 10]
    keys = pq.read_table(out / "keys").to_pylist()
    assert {row["key"]: row["updates"] for row in keys} == {"key 0": 40, "key 1": 10, "key 2": 10}
    assert (out / "ranks.csv").read_text() == "rank,updates\n1,40\n2,10\n3,10\n"
    card = json.loads((out / "_data_card.json").read_text(encoding="utf-8"))
    assert (card["read"], card["updates"], card["keys"], card["dropped"]) == (60, 60, 3, {})
    assert (card["first_time"], card["last_time"]) == (0.0, 29.5)
    assert card["skew"]["busiest_key"] == "key 0"
    assert [each["name"] for each in card["columns"]] == list(keys[0])
    assert (card["parameters"]["time"], card["parameters"]["time-unit"]) == ("T", "ms")
    assert (out / "_data_card.md").read_text(encoding="utf-8").startswith("# Profile of x.csv\n")
    for plot in (out / "profile.png", tmp_path / "p.png"):
        assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time,key\n1,a\nx,b\n", "x.csv, line 3: time 'x' is not a number"),
        ("time,key\n", "x.csv: there are no updates in it"),
    ],
)
def test_a_bad_stream_is_one_line_and_nothing_is_written(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    run = invoke("profile", path, "--out", tmp_path / "out")
    assert_refused(run, status=FAILED)
    error = run.stderr.splitlines()[-1]
    assert error.startswith("Error: ")
    assert says in error
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "words",
    [
        ["--time-unit", "h"],
        ["--plot", "x.pdf"],
        ["--plot", "nowhere/x.png"],
        ["--interval", "0"],
        ["--interval", "nan"],
    ],
)
def test_invalid_options_are_usage_errors(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "x.csv"
    path.write_text(ROWS)
    assert invoke("profile", path, *words).exit_code == USAGE_ERROR
