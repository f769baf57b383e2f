"""Views beside full evaluation in DuckDB and beside ClickHouse's views of states.

Processor time is measured, of one thread each. `TPCH_SCALE` sets the scale of TPC-H, which is 1
otherwise. `AIM_CUSTOMERS` sets the number of customers, which is a million times the scale
otherwise, and `AIM_CALLS` the number of their calls, which is six for each customer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median

import pyarrow as pa
import pytest

from tests.benchmarks import aim, chdb_views
from tests.benchmarks.chdb_views import StateViews, like
from tests.benchmarks.measure import Table
from tests.benchmarks.tpch_rows import batches_of, rows_of
from tests.benchmarks.view_systems import Deferred, Setting, System, Views, seconds, tpch
from tests.queries.differential.comparison import difference

pytestmark = pytest.mark.benchmark

SCALE = float(os.environ.get("TPCH_SCALE", "1"))
CUSTOMERS = int(os.environ.get("AIM_CUSTOMERS", str(int(SCALE * 1_000_000))))
CALLS = int(os.environ.get("AIM_CALLS", str(6 * CUSTOMERS)))
BATCH = 10_000
ASKED = 6
"""After so many batches, at the end, all queries are asked."""
PAPER = ("Q1", "Q3", "Q6", "Q15", "Q20")
VIEW, FULL, STATES = "view", "full evaluation", "chDB"


@dataclass
class Costs:
    """Processor seconds of one system: of each row that was loaded, and of questions by query."""

    load: float = 0.0
    fresh: dict[str, list[float]] = field(default_factory=dict)
    """Asked after a batch."""
    again: dict[str, list[float]] = field(default_factory=dict)
    """Asked with nothing new."""


def systems_of(setting: Setting, forms: Mapping[str, chdb_views.Form]) -> dict[str, System]:
    """Return all systems, with chDB if it is installed."""
    systems: dict[str, System] = {VIEW: Views(setting), FULL: Deferred(setting)}
    if chdb_views.is_installed():
        systems[STATES] = StateViews(setting, forms)
    return systems


def costs_of(
    systems: Mapping[str, System], names: Sequence[str], batches: Sequence[pa.Table]
) -> dict[str, Costs]:
    """Load batches in three parts, the systems in turn, and ask after each of the last batches."""
    costs = {key: Costs() for key in systems}
    loaded = batches[:-ASKED]
    for part in (loaded[i::3] for i in range(3)):
        for key, system in systems.items():
            for batch in part:
                costs[key].load += seconds(system, partial(system.insert, batch))
    for system in systems.values():
        for name in names:
            system.ask(name)
    for batch in batches[-ASKED:]:
        for key, system in systems.items():
            system.insert(batch)
            for name in names:
                for kind in (costs[key].fresh, costs[key].again):
                    took = seconds(system, partial(system.ask, name))
                    kind.setdefault(name, []).append(took)
    return costs


def assert_same_answers(systems: Mapping[str, System], names: Sequence[str]) -> None:
    """Compare each answer with full evaluation."""
    for name in names:
        expected = systems[FULL].ask(name)
        for key, system in systems.items():
            found = like(expected, system.ask(name)) if key == STATES else system.ask(name)
            assert not difference(expected, found, is_ordered=False), f"{name} by {key}"


def print_costs(table: Table, costs: Mapping[str, Costs], names: Sequence[str], rows: int) -> None:
    """Print the rate of inserts, and what questions cost."""
    for key, cost in costs.items():
        table.row(f"{key}: inserts, million rows/s", rows / cost.load / 1e6, None, "")
    for name in names:
        for key, cost in costs.items():
            table.row(f"{name}, {key}: after a batch", median(cost.fresh[name]) * 1e3, None, "ms")
            if key != FULL:
                again = median(cost.again[name]) * 1e3
                table.row(f"{name}, {key}: with nothing new", again, None, "ms")


def seconds_of_a_refresh(cost: Costs, names: Sequence[str], rows: int) -> float:
    """Return what it takes to insert a batch and to have all answers anew."""
    return cost.load / rows * BATCH + sum(median(cost.fresh[name]) for name in names)


def print_refreshes(
    table: Table, costs: Mapping[str, Costs], names: Sequence[str], rows: int
) -> None:
    """Print what it costs to insert a batch and ask, which eager maintenance does each time."""
    for key, cost in costs.items():
        took = seconds_of_a_refresh(cost, names, rows) * 1e3
        table.row(f"{key}: insert a batch, and ask", took, None, "ms")


@pytest.mark.parametrize("name", PAPER)
def test_a_query_of_tpch_beside_views_of_states(name: str) -> None:
    if not chdb_views.is_installed():
        pytest.skip("chDB is not installed; CONTRIBUTING.md says how to install it")
    batches = batches_of(rows_of("lineitem", SCALE), BATCH)
    systems = systems_of(tpch(name, scale=SCALE), chdb_views.TPCH)
    costs = costs_of(systems, [name], batches)
    assert_same_answers(systems, [name])
    rows = sum(batch.num_rows for batch in batches[:-ASKED])
    table = Table(f"{name} of TPC-H, {rows:,} rows in batches of {BATCH:,}, beside chDB")
    print_costs(table, costs, [name], rows)
    print_refreshes(table, costs, [name], rows)
    for system in systems.values():
        system.close()


def test_the_queries_of_the_aim_workload() -> None:
    batches = batches_of(aim.calls(CUSTOMERS, CALLS + ASKED * BATCH), BATCH)
    setting = aim.setting(CUSTOMERS)
    names = list(setting.queries)
    systems = systems_of(setting, chdb_views.AIM)
    costs = costs_of(systems, names, batches)
    assert_same_answers(systems, names)
    table = Table(f"six queries of AIM, {CUSTOMERS:,} customers, {CALLS:,} calls")
    print_costs(table, costs, names, CALLS)
    print_refreshes(table, costs, names, CALLS)
    took = {key: seconds_of_a_refresh(cost, names, CALLS) for key, cost in costs.items()}
    table.row("insert a batch, and ask, by full evaluation", took[VIEW] / took[FULL], 1.0)
    for system in systems.values():
        system.close()
    table.assert_met()
