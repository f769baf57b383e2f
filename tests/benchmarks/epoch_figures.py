"""What the benchmarks of epochs measure, for the tests and for the page of figures."""

from __future__ import annotations

import os
from typing import Final

from tests.benchmarks.epoch_races import EpochRace, race_epochs
from tests.benchmarks.epoch_systems import (
    QC,
    EpochQuery,
    FilledTables,
    Polars,
    Standing,
    System,
    TemporaryTables,
    Told,
)
from tests.benchmarks.packets import Packets
from tests.benchmarks.python_joins import BuiltAfterCut, BuiltBeforeCut, JoinedBeforeCut

CHUNKS: Final = (10_000, 20_000, 50_000, 100_000)
"""Rows of each stream in an epoch, as in figures 6 and 7 of the paper."""
EPOCHS: Final = int(os.environ.get("EPOCHS", "30"))
SPREAD: Final = 0.2
"""The share by which epochs differ in their numbers of rows where that is measured."""
SMALL_BATCH: Final = 1_000

ENGINE: Final = "epochs"
TABLES: Final = "temporary tables"
NARROW: Final = "temporary tables, needed columns"
FILLED: Final = "temporary tables, filled before the cut"
POLARS: Final = "polars"
PYTHON_AFTER: Final = "Python, built after the cut"
PYTHON_BEFORE: Final = "Python, built before the cut"
PYTHON_JOINED: Final = "Python, joined before the cut"

AFTER_CUT: Final = (ENGINE, TABLES, NARROW, POLARS, PYTHON_AFTER)
"""What stores rows before the cut, if it does anything: candidates for the stress mode."""


def systems_of(query: EpochQuery) -> dict[str, System]:
    """Return the systems that answer Qc or Qd."""
    found: dict[str, System] = {
        ENGINE: Standing(query),
        TABLES: Told(TemporaryTables(query)),
        NARROW: Told(TemporaryTables(query, narrow=True)),
        FILLED: Told(FilledTables(query)),
    }
    if query is QC:
        found |= {
            POLARS: Told(Polars()),
            PYTHON_AFTER: Told(BuiltAfterCut()),
            PYTHON_BEFORE: Told(BuiltBeforeCut()),
            PYTHON_JOINED: Told(JoinedBeforeCut()),
        }
    return found


def at_intervals(query: EpochQuery, packets: Packets, batch: int) -> EpochRace:
    """Measure a query whose rows arrive in batches before the cut."""
    return race_epochs(query, packets, systems_of(query), batch=batch, epochs=EPOCHS)


def under_stress(query: EpochQuery, rows: int) -> EpochRace:
    """Measure a query whose rows all come at once, with the row that cuts."""
    systems = systems_of(query)
    for name in systems.keys() - set(AFTER_CUT):
        systems.pop(name).close()
    return race_epochs(query, Packets(rows), systems, batch=None, epochs=EPOCHS)
