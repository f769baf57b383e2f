"""What it costs to let a query stand, beside what DuckDB takes to answer it once over no rows.

DuckDB is asked a dozen things about a query before it stands: what is wrong with it, whether each
part of it can be run, and of which types the parts are. So planning is compared to a statement.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import process_time

import pytest

from tests.benchmarks.measure import Drive, Table, ratios, timed
from tests.benchmarks.planning import QUERIES, counting, engine, statements
from upstream import Engine

pytestmark = pytest.mark.benchmark

STATEMENTS = {
    "a group by": 8,
    "Q1": 8,
    "Q2": 14,
    "Q3": 8,
    "row by row": 7,
    "a join": 9,
    "top five": 9,
    "a subquery": 17,
    "latest": 7,
}
"""The most statements that DuckDB may be given for each query."""
TIMES = {
    "a group by": 15,
    "Q1": 17,
    "Q2": 33,
    "Q3": 17,
    "row by row": 14,
    "a join": 18,
    "top five": 14,
    "a subquery": 29,
    "latest": 10,
}
"""Planning by one statement of DuckDB's, with its relation lent and its result as Arrow."""


def planning(made: Engine, text: str) -> Drive:
    def drive() -> float:
        seconds = timed(lambda: made.continuous_query(text))
        [query] = made.queries
        query.close()
        return seconds

    return drive


def one_statement(made: Engine) -> Drive:
    """Return what lends a table to DuckDB and asks it for a sum by group."""
    rows = made.sql("SELECT * FROM trades")
    duck = made._duck
    text = "SELECT symbol, avg(price) AS price FROM t GROUP BY symbol"

    def ask() -> None:
        for _ in range(5):
            assert duck.run_as_written(text, {"t": rows}).num_rows == 0

    return lambda: timed(ask) / 5


def test_planning_takes_a_few_statements() -> None:
    with counting() as calls, engine() as made:
        made.continuous_query(QUERIES["Q1"]).close()  # what is asked once for a database
        table = Table("Statements that DuckDB is given to plan a query")
        for name, text in QUERIES.items():
            calls.clear()
            query = made.continuous_query(text)
            table.row(name, statements(calls), STATEMENTS[name], "statements")
            for what in ("register", "tree copy", "tree generate", "tree parse"):
                table.row(f"  {what}", calls[what], None, "times")
            query.close()
    table.assert_met()


@pytest.mark.parametrize("name", QUERIES)
def test_planning_costs_a_few_statements(name: str) -> None:
    with engine() as made:
        drives = {name: planning(made, QUERIES[name]), "statement": one_statement(made)}
        found = ratios(drives, to="statement", rounds=25)
        table = Table(f"Planning {name}, beside a statement of DuckDB's")
        table.row("by a statement", found[name], TIMES[name])
        milliseconds = median(drives[name]() for _ in range(9)) * 1e3
        table.row("alone", milliseconds, None, "ms")
    table.assert_met()


FIRST = """
from time import process_time
import duckdb, pyarrow, sqlglot
from tests.benchmarks.planning import QUERIES, engine
made = engine()
start = process_time()
made.continuous_query(QUERIES["a group by"])
print(process_time() - start)
"""


def test_the_first_query_of_a_process_costs_little_more() -> None:
    with engine() as made:
        made.continuous_query(QUERIES["a group by"]).close()
        start = process_time()
        made.continuous_query(QUERIES["a group by"])
        later = process_time() - start
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
    table = Table("Planning the first query of a process")
    table.row("first", float(done.stdout) * 1e3, None, "ms")
    table.row("by a later one", float(done.stdout) / later, 12.0)
    table.assert_met()
