"""The card of a folder of tables: what it says, in both forms, and what it sees of the tables."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from datasets.output.card import Column
from datasets.output.table_card import Table, TableCard, tables_in

CARD = TableCard(
    title="Summary é",
    command="python -m datasets summarize logs --out DIR",
    read={"runs": 2, "events": 12_345},
    tables=(Table("runs.parquet", 2, (Column("a|b", "double", "a mean"),)),),
    dropped={"runs without events": 1},
    parameters={"buckets": 50},
    notes=("Times are seconds.",),
)


def test_both_files_are_written_with_all_that_it_says(tmp_path: Path) -> None:
    CARD.write(tmp_path)
    read = json.loads((tmp_path / "_data_card.json").read_text(encoding="utf-8"))
    assert read == json.loads(json.dumps(CARD.as_json()))
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
