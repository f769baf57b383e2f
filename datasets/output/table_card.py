"""The data card of a folder of tables: what was read for them, and which columns each has.

As that of updates (card.py), it is `_data_card.json` for programs and `_data_card.md` for people,
and has nothing in it that differs from run to run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .card import JSON_NAME, PAGE_NAME, Cell, Column, row_of_page


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the folder."""

    name: str
    """Of its file or its folder."""
    rows: int
    columns: tuple[Column, ...]
    """Their types are by Arrow's names."""


@dataclass(frozen=True, slots=True)
class TableCard:
    """What is in a folder of tables."""

    title: str
    command: str
    """The command that makes it again."""
    read: Mapping[str, Cell]
    """What was read, by what it is."""
    tables: tuple[Table, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    """How many of what was found were not read, by reason."""
    parameters: Mapping[str, Cell] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return what the JSON file has."""
        return asdict(self)

    def write(self, folder: Path) -> None:
        """Write both files into a folder."""
        text = json.dumps(self.as_json(), indent=2, allow_nan=False, ensure_ascii=False)
        (folder / JSON_NAME).write_text(text + "\n", encoding="utf-8")
        (folder / PAGE_NAME).write_text(self.as_page(), encoding="utf-8")

    def as_page(self) -> str:
        """Return the card as Markdown."""
        lines = [f"# {self.title}", "", f"Made by `{self.command}`.", ""]
        lines += [f"- {what}: {_shown(value)}" for what, value in self.read.items()]
        lines += [f"- dropped, {why}: {_shown(count)}" for why, count in self.dropped.items()]
        for table in self.tables:
            lines += ["", f"## {table.name}, {table.rows:,} rows", ""]
            lines += ["| column | type | meaning |", "| --- | --- | --- |"]
            lines += [
                row_of_page(f"`{each.name}`", each.kind, each.meaning) for each in table.columns
            ]
        if self.parameters:
            lines += ["", "| parameter | value |", "| --- | --- |"]
            lines += [row_of_page(name, value) for name, value in self.parameters.items()]
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines) + "\n"


def tables_in(folder: Path, meanings: Mapping[str, str]) -> tuple[Table, ...]:
    """Return the tables of Parquet in a folder: files, and folders of files, by their names."""
    return tuple(
        _table(path, files, meanings)
        for path in sorted(folder.iterdir())
        if (files := sorted(_parquet_files(path)))
    )


def _parquet_files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from path.glob("[!._]*.parquet")
    elif path.suffix == ".parquet":
        yield path


def _table(path: Path, files: list[Path], meanings: Mapping[str, str]) -> Table:
    import pyarrow.parquet as pq

    columns = tuple(
        Column(each.name, str(each.type), meanings.get(each.name, ""))
        for each in pq.read_schema(files[0])
    )
    rows = sum(pq.read_metadata(file).num_rows for file in files)
    return Table(path.name, rows, columns)


def _shown(value: Cell) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
