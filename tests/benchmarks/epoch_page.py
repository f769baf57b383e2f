"""Measures epochs and writes the tables of `notebooks/epoch_measurements.md`; the text stays.

    python -m tests.benchmarks.epoch_page [SECTION ...]

All sections take about half an hour. The page is written after each.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.benchmarks.epoch_endurance import CASES, Endurance, grown_by_joins
from tests.benchmarks.epoch_endurance import measured as lasted
from tests.benchmarks.epoch_figures import (
    CHUNKS,
    ENGINE,
    SMALL_BATCH,
    SPREAD,
    TABLES,
    at_intervals,
    under_stress,
)
from tests.benchmarks.epoch_peers import MODULES, PEER_CHUNKS, measured
from tests.benchmarks.epoch_races import EpochRace
from tests.benchmarks.epoch_systems import QC, QD
from tests.benchmarks.packets import Packets

LASTING: Final = int(os.environ.get("LASTING_EPOCHS", "10000"))
PAGE: Final = Path(__file__).resolve().parents[2] / "notebooks" / "epoch_measurements.md"

Rows = Iterable[Sequence[object]]
"""The cells of a table row by row, the first one with the headings."""


def joins() -> Rows:
    """Qc whose rows arrive in tenths of an epoch."""
    return _races({f"{rows:,}": at_intervals(QC, Packets(rows), rows // 10) for rows in CHUNKS})


def small_batches() -> Rows:
    """Qc whose rows arrive in batches of 1,000."""
    return _races({f"{rows:,}": at_intervals(QC, Packets(rows), SMALL_BATCH) for rows in CHUNKS})


def consecutive() -> Rows:
    """Qc by keys that are consecutive numbers."""
    return _races(
        {
            f"{rows:,}": at_intervals(QC, Packets(rows, has_dense_ids=True), rows // 10)
            for rows in (CHUNKS[0], CHUNKS[-1])
        }
    )


def aggregates() -> Rows:
    """Qd whose rows arrive in tenths of an epoch."""
    return _races({f"{rows:,}": at_intervals(QD, Packets(rows), rows // 10) for rows in CHUNKS})


def varying() -> Rows:
    """Qc and Qd in epochs of different sizes."""
    return _races(
        {
            f"{query.name}, {rows:,}": at_intervals(query, Packets(rows, SPREAD), rows // 10)
            for query in (QC, QD)
            for rows in (CHUNKS[0], CHUNKS[-1])
        },
    )


def stress() -> Rows:
    """Qc and Qd whose rows arrive at once with the cut."""
    return _races(
        {
            f"{query.name}, {rows:,}": under_stress(query, rows)
            for query in (QC, QD)
            for rows in CHUNKS
        },
        has_before=False,
    )


def lasting() -> Rows:
    """Many epochs of 200 rows."""
    yield (
        "query",
        "an epoch, ms",
        "the last 1,000 by the second",
        "the same by the time to make the rows",
        "MB after 1,000",
        f"MB more after {LASTING:,}",
        "objects more",
        "tables more",
        "statements more",
    )
    for name in CASES:
        yield name, *_cells_of(lasted(name, LASTING))


def _cells_of(found: Endurance) -> tuple[object, ...]:
    early, late = found.early, found.late
    return (
        _short(1e3 * found.median),
        f"{found.ratio:.2f}",
        f"{found.ratio_by_making:.2f}",
        f"{early.megabytes:.0f}",
        f"{found.grown:.1f}",
        late.objects - early.objects,
        late.tables - early.tables,
        late.statements - early.statements,
    )


def peers() -> Rows:
    """Qc in other stream engines."""
    yield (
        "rows of each stream",
        "system",
        "rows/s of processor time",
        "from the cut to the result, ms",
        "memory for each epoch, MB",
    )
    for rows in PEER_CHUNKS:
        for name in MODULES:
            run = measured(name, rows)
            if isinstance(run, str):
                yield f"{rows:,}", name, run, "", ""
                continue
            yield (
                f"{rows:,}",
                name,
                f"{run.rows_per_second:,.0f}",
                _short(run.milliseconds_after_cut),
                _short(run.megabytes / run.epochs),
            )


def database() -> Rows:
    """A join of two small tables in DuckDB, again and again."""
    yield "joins", "MB more than before"
    for statements, megabytes in grown_by_joins(40_000):
        yield f"{statements:,}", f"{megabytes:.1f}"


SECTIONS: Final[Mapping[str, Callable[[], Rows]]] = {
    "joins": joins,
    "small batches": small_batches,
    "consecutive ids": consecutive,
    "aggregates": aggregates,
    "varying sizes": varying,
    "stress": stress,
    "ten thousand epochs": lasting,
    "DuckDB alone": database,
    "peers": peers,
}


def _races(races: Mapping[str, EpochRace], *, has_before: bool = True) -> Rows:
    """Return what systems took after the cut, by temporary tables, and what they took before."""
    widest = max(races.values(), key=lambda race: len(race.names))
    names = widest.names
    yield ("ms of processor time", *names, f"{TABLES} by {ENGINE}")
    for title, race in races.items():
        times = (_short(race.after.milliseconds(n)) if n in race.names else "" for n in names)
        yield (title, *times, f"{1 / race.after.ratio(ENGINE, TABLES):.1f}")
    if has_before:
        for title, race in races.items():
            yield (
                f"{title}, before the cut",
                *(_short(race.before.milliseconds(n)) if n in race.names else "" for n in names),
                "",
            )


def _short(number: float) -> str:
    """Return a number with two or three digits that count."""
    return f"{number:.0f}" if number >= 99.5 else f"{number:.2g}"


def _told(rows: Rows) -> Rows:
    """Print rows as they are measured."""
    for cells in rows:
        print(*cells, sep=" | ", flush=True)
        yield cells


def table_of(rows: Rows) -> str:
    """Return a table in Markdown."""
    lines = ["| " + " | ".join(map(str, cells)) + " |" for cells in rows]
    columns = lines[0].count("|") - 1
    return "\n".join([lines[0], "|" + " --- |" * columns, *lines[1:]])


def with_section(page: str, name: str, text: str) -> str:
    """Return the page with another text between the marks of a section."""
    section = rf"(<!-- {re.escape(name)} -->\n).*?(\n<!-- end -->)"
    found, count = re.subn(section, lambda it: it[1] + text + it[2], page, flags=re.DOTALL)
    assert count == 1, f"the page has {count} sections named {name}"
    return found


def main(names: Sequence[str]) -> None:
    """Measure these sections, or all, and write each to the page."""
    for name in names or SECTIONS:
        print(f"measuring {name}", flush=True)
        before = os.getloadavg()[0]
        table = table_of(_told(SECTIONS[name]()))
        load = f"Load average of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after."
        page = with_section(PAGE.read_text(encoding="utf-8"), name, f"{table}\n\n{load}")
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
