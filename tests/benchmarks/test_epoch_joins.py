"""Queries over epochs after the cut, beside one-time queries on temporary tables, as in the paper.

Processor time is measured, of the whole process, with the systems in turn. All of them must agree
on each answer. `EPOCHS` sets how many epochs are measured.
"""

from __future__ import annotations

import pytest

from tests.benchmarks.epoch_figures import (
    CHUNKS,
    ENGINE,
    SMALL_BATCH,
    SPREAD,
    TABLES,
    at_intervals,
    under_stress,
)
from tests.benchmarks.epoch_races import EpochRace
from tests.benchmarks.epoch_systems import QC, QD, EpochQuery
from tests.benchmarks.measure import Table
from tests.benchmarks.packets import Packets

pytestmark = pytest.mark.benchmark

LARGEST = CHUNKS[-1]
BY_TABLES = 1 / 5
JOIN_MILLISECONDS = 30.0
AGGREGATE_MILLISECONDS = 3.0


def show(table: Table, found: EpochRace) -> None:
    """Print what each system took for an epoch, and the engine's part of it."""
    for name in found.names:
        table.row(f"{name}: after the cut", found.after.milliseconds(name), None, "ms")
    for name in found.names:
        if name != ENGINE:
            table.row(f"by {name}", found.after.ratio(ENGINE, name), None)
    for name in found.names:
        table.row(f"{name}: before the cut", found.before.milliseconds(name), None, "ms")


@pytest.mark.parametrize("pieces", ["tenths", "thousands"])
@pytest.mark.parametrize("rows", CHUNKS)
def test_a_join_of_two_streams_after_the_cut(rows: int, pieces: str) -> None:
    batch = rows // 10 if pieces == "tenths" else SMALL_BATCH
    found = at_intervals(QC, Packets(rows), batch)
    table = Table(f"Qc, {rows:,} rows of each stream in an epoch, batches of {batch:,}")
    show(table, found)
    table.row("by temporary tables", found.after.ratio(ENGINE, TABLES), BY_TABLES)
    if rows == LARGEST:
        took = found.after.milliseconds(ENGINE)
        table.row("from the cut to the result", took, JOIN_MILLISECONDS, "ms")
    table.assert_met()


@pytest.mark.parametrize("rows", [CHUNKS[0], LARGEST])
def test_a_join_by_consecutive_numbers(rows: int) -> None:
    """Such keys are the easiest to join: DuckDB needs no hash table for them."""
    found = at_intervals(QC, Packets(rows, has_dense_ids=True), rows // 10)
    table = Table(f"Qc, {rows:,} rows of each stream in an epoch, consecutive packet ids")
    show(table, found)


@pytest.mark.parametrize("rows", CHUNKS)
def test_an_aggregate_of_one_stream_after_the_cut(rows: int) -> None:
    found = at_intervals(QD, Packets(rows), rows // 10)
    table = Table(f"Qd, {rows:,} rows in an epoch, batches of {rows // 10:,}")
    show(table, found)
    took = found.after.milliseconds(ENGINE)
    table.row("from the cut to the result", took, AGGREGATE_MILLISECONDS, "ms")
    table.assert_met()


@pytest.mark.parametrize("rows", [CHUNKS[0], LARGEST])
def test_a_join_in_epochs_of_different_sizes(rows: int) -> None:
    """The size of an epoch does not tell when the next one is over."""
    found = at_intervals(QC, Packets(rows, SPREAD), rows // 10)
    table = Table(f"Qc, {rows:,} rows of each stream in an epoch, more or less by {SPREAD:.0%}")
    show(table, found)
    table.row("by temporary tables", found.after.ratio(ENGINE, TABLES), BY_TABLES)
    table.assert_met()


@pytest.mark.parametrize("query", [pytest.param(query, id=query.name) for query in (QC, QD)])
@pytest.mark.parametrize("rows", CHUNKS)
def test_all_rows_of_an_epoch_at_once(rows: int, query: EpochQuery) -> None:
    """The stress mode of figure 7: nothing can be done before the cut."""
    found = under_stress(query, rows)
    table = Table(f"{query.name}, {rows:,} rows of a stream in an epoch, and the cut, at once")
    show(table, found)
