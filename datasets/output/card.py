"""The data cards: what is in a folder, where it comes from, and how to make it again.

`DataCard` describes a folder of updates, `TableCard` a folder of tables. Each is written twice
beside the data: `_data_card.json` for programs and `_data_card.md` for people. Nothing in it
differs from run to run, so the same command writes the same card.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

JSON_NAME: Final = "_data_card.json"
PAGE_NAME: Final = "_data_card.md"

EARLIEST_DATE: Final = 3e8
"""Of 1979: what is below counts from a start of its own."""
LATEST_DATE: Final = 1e11

Cell = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the data."""

    name: str
    kind: str
    """Its type, by Spark's name."""
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Skew:
    """How unevenly the updates are spread over the keys."""

    busiest_key: str
    busiest_updates: int
    slowest_updates: int
    share_of_busiest_1_percent: float
    share_of_busiest_10_percent: float


@dataclass(frozen=True, slots=True)
class Trace:
    """The content of a folder of updates, as measured from the files."""

    updates: int
    keys: int
    first_time: float
    last_time: float
    """In seconds."""
    columns: tuple[Column, ...]
    skew: Skew


@dataclass(frozen=True, slots=True)
class DataCard:
    """What is in a folder of updates."""

    title: str
    command: str
    """The command that makes it again."""
    trace: Trace
    seed: int | None = None
    parameters: Mapping[str, Cell] = field(default_factory=dict)
    read: int | None = None
    """Rows that were read, where the data comes from files."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """How many of them were dropped, by reason."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert self.read is None or self.read == self.trace.updates + sum(self.dropped.values()), (
            "a row that was neither written nor counted as dropped"
        )

    def as_json(self) -> dict[str, object]:
        """Return what the JSON file has: the members of the trace among those of the card."""
        members = asdict(self)
        trace = members.pop("trace")
        return {"title": self.title, "command": self.command, **trace, **members}

    def as_page(self) -> str:
        """Return the card as Markdown."""
        lines = [f"# {self.title}", "", f"Made by `{self.command}`.", ""]
        lines += [f"- {name}: {value}" for name, value in self.as_facts().items()]
        lines += _column_table(self.trace.columns)
        return _page(lines, self.parameters, self.notes)

    def as_facts(self) -> dict[str, str]:
        """Return what a person wants to know first, in words."""
        trace, skew = self.trace, self.trace.skew
        seconds = trace.last_time - trace.first_time
        facts = {
            "updates": f"{trace.updates:,}",
            "keys": f"{trace.keys:,}",
            "first": _shown_time(trace.first_time),
            "last": f"{_shown_time(trace.last_time)}, {seconds:,.3f} s later",
            "busiest key": f"{skew.busiest_key}, {skew.busiest_updates:,} updates",
            "slowest key": f"{skew.slowest_updates:,} updates",
            "share of the busiest 1 % of keys": f"{skew.share_of_busiest_1_percent:.1%}",
            "share of the busiest 10 %": f"{skew.share_of_busiest_10_percent:.1%}",
        }
        if self.seed is not None:
            facts["seed"] = str(self.seed)
        if self.read is not None:
            facts["rows read"] = f"{self.read:,}"
            facts |= {f"dropped, {why}": f"{count:,}" for why, count in self.dropped.items()}
        return facts


def _column_table(columns: Iterable[Column]) -> list[str]:
    lines = ["", "| column | type | meaning |", "| --- | --- | --- |"]
    return lines + [row_of_page(f"`{each.name}`", each.kind, each.meaning) for each in columns]


def _page(lines: list[str], parameters: Mapping[str, Cell], notes: Iterable[str]) -> str:
    """Return a page of these lines, a table of parameters, and notes."""
    if parameters:
        lines += ["", "| parameter | value |", "| --- | --- |"]
        lines += [row_of_page(name, value) for name, value in parameters.items()]
    if notes:
        lines += ["", *notes]
    return "\n".join(lines) + "\n"


def row_of_page(*cells: Cell) -> str:
    """Return a row of a Markdown table; a cell is in one line, and its bars are no borders."""
    texts = (" ".join(str(cell).split()).replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(texts)} |"


def _shown_time(seconds: float) -> str:
    """Return a time for people: what must be seconds since 1970 as a date.

    >>> _shown_time(1.5), _shown_time(1477315800.5)
    ('1.5 s', '2016-10-24 13:30:00.500000 UTC')
    """
    if not EARLIEST_DATE <= seconds <= LATEST_DATE:
        return f"{seconds:.9g} s"
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


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

    def as_page(self) -> str:
        """Return the card as Markdown."""
        lines = [f"# {self.title}", "", f"Made by `{self.command}`.", ""]
        lines += [f"- {what}: {_shown(value)}" for what, value in self.read.items()]
        lines += [f"- dropped, {why}: {_shown(count)}" for why, count in self.dropped.items()]
        for table in self.tables:
            lines += ["", f"## {table.name}, {table.rows:,} rows"]
            lines += _column_table(table.columns)
        return _page(lines, self.parameters, self.notes)


def write_card(card: DataCard | TableCard, folder: Path) -> None:
    """Write both files of a card into a folder."""
    text = json.dumps(card.as_json(), indent=2, allow_nan=False, ensure_ascii=False)
    (folder / JSON_NAME).write_text(text + "\n", encoding="utf-8")
    (folder / PAGE_NAME).write_text(card.as_page(), encoding="utf-8")


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
