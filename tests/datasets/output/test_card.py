"""The data card: what it says, in both forms, and what it does not let pass."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.output.card import (
    Column,
    DataCard,
    Skew,
    Table,
    TableCard,
    Trace,
    tables_in,
    write_card,
)

CARD = DataCard(
    title="Trades of a day",
    command="python -m datasets taq a.txt --out day",
    trace=Trace(
        updates=90,
        keys=7,
        first_time=1.5,
        last_time=3_601.5,
        columns=(Column("time", "double", "seconds"), Column("key", "string")),
        skew=Skew("IBM é", 50, 1, 0.555, 0.9),
    ),
    seed=3,
    parameters={"theta": 0.9},
    read=100,
    dropped={"corrected": 10},
    notes=("Times are UTC.",),
)


def test_the_json_file_has_every_field(tmp_path: Path) -> None:
    write_card(CARD, tmp_path)
    read = json.loads((tmp_path / "_data_card.json").read_text(encoding="utf-8"))
    assert read == json.loads(json.dumps(CARD.as_json()))
    names = DataCard.__dataclass_fields__.keys() | Trace.__dataclass_fields__.keys()
    assert set(read) == names - {"trace"}
    assert read["skew"]["busiest_key"] == "IBM é"


def test_the_page_says_what_a_person_asks(tmp_path: Path) -> None:
    write_card(CARD, tmp_path)
    page = (tmp_path / "_data_card.md").read_text(encoding="utf-8")
    for line in (
        "# Trades of a day",
        "- updates: 90",
        "- first: 1.5 s",
        "- last: 3601.5 s, 3,600.000 s later",
        "- busiest key: IBM é, 50 updates",
        "- share of the busiest 1 % of keys: 55.5%",
        "- seed: 3",
        "- rows read: 100",
        "- dropped, corrected: 10",
        "| `time` | double | seconds |",
        "| theta | 0.9 |",
        "Times are UTC.",
    ):
        assert line in page.splitlines()


def test_facts_that_do_not_apply_are_left_out() -> None:
    card = replace(CARD, seed=None, read=None, dropped={}, parameters={}, notes=())
    assert not {"seed", "rows read"} & set(card.as_facts())
    assert "| parameter |" not in card.as_page()


def test_a_row_that_was_neither_written_nor_dropped_fails_an_assertion() -> None:
    with pytest.raises(AssertionError, match="neither written nor counted"):
        replace(CARD, read=101)


def test_a_cell_cannot_break_its_table() -> None:
    columns = (Column("a|b", "string", "this | that\nmore"),)
    odd = replace(CARD, trace=replace(CARD.trace, columns=columns))
    row = next(line for line in odd.as_page().splitlines() if "string" in line)
    assert row == r"| `a\|b` | string | this \| that more |"


TABLES = TableCard(
    title="Summary é",
    command="python -m datasets summarize logs --out DIR",
    read={"runs": 2, "events": 12_345},
    tables=(Table("runs.parquet", 2, (Column("a|b", "double", "a mean"),)),),
    dropped={"runs without events": 1},
    parameters={"buckets": 50},
    notes=("Times are seconds.",),
)


def test_both_files_are_written_with_all_that_it_says(tmp_path: Path) -> None:
    write_card(TABLES, tmp_path)
    read = json.loads((tmp_path / "_data_card.json").read_text(encoding="utf-8"))
    assert read == json.loads(json.dumps(TABLES.as_json()))
    assert set(read) == set(TableCard.__dataclass_fields__)
    page = (tmp_path / "_data_card.md").read_text(encoding="utf-8").splitlines()
    for line in (
        "# Summary é",
        "Made by `python -m datasets summarize logs --out DIR`.",
        "- events: 12,345",
        "- dropped, runs without events: 1",
        "## runs.parquet, 2 rows",
        r"| `a\|b` | double | a mean |",
        "| buckets | 50 |",
        "Times are seconds.",
    ):
        assert line in page


def test_tables_are_files_and_folders_of_files(tmp_path: Path) -> None:
    table = pa.table({"key": ["x", "y"], "count": [1, 2]})
    pq.write_table(table, tmp_path / "runs.parquet")
    folder = tmp_path / "by_key"
    folder.mkdir()
    for name in ("part-0.parquet", "part-1.parquet", "_hidden.parquet"):
        pq.write_table(table, folder / name)
    (tmp_path / "runs.csv").write_text("key,count\n")
    (tmp_path / "empty").mkdir()
    columns = (Column("key", "string", "the key"), Column("count", "int64"))
    assert tables_in(tmp_path, {"key": "the key"}) == (
        Table("by_key", 4, columns),
        Table("runs.parquet", 2, columns),
    )
