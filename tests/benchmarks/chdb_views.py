"""The same queries as incremental materialized views of ClickHouse, embedded by chDB.

The stream is a table that stores nothing. For each query, a view of the engine AggregatingMergeTree
keeps states (`sumState`), and the answer merges them (`sumMerge`) and does the rest. Views and
answers are written by hand. Rows of tables that meet the stream are chosen once, into a table of
the engine Join. All files are in memory where the system has such a folder, because the other
systems write no files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final

import pyarrow as pa

from tests.benchmarks.aim import WEEK
from tests.benchmarks.view_systems import Ask, Setting

TYPES: Final = {
    "BIGINT": "Int64",
    "INTEGER": "Int32",
    "VARCHAR": "String",
    "DECIMAL": "Decimal",
    "DATE": "Date32",
    "BOOLEAN": "Bool",
}
"""The types of columns of streams, as ClickHouse names them."""


@dataclass(frozen=True, slots=True)
class Form:
    """A query as a view of states: the key of the view, its query, and the query that answers.

    `chosen` is the key of a table in memory, and the query that it has the rows of.
    """

    key: str
    states: str
    answer: str
    chosen: tuple[str, str] | None = None


class StateViews:
    """Each query is a materialized view of states, all in the one chDB of the process."""

    clock = staticmethod(process_time)  # it works in threads of its own

    def __init__(self, setting: Setting, forms: Mapping[str, Form]) -> None:
        self._run = _connected()
        self._run("DROP DATABASE IF EXISTS views SYNC")
        self._run("CREATE DATABASE views ENGINE = Atomic")
        self._run("USE views")
        for name, path in setting.tables.items():
            self._run(f"CREATE TABLE {name} ENGINE = Memory AS SELECT * FROM file('{path}')")
        columns = re.sub(r"\b[A-Z]+\b", lambda found: TYPES[found[0]], setting.columns)
        self._run(f"CREATE TABLE {setting.stream} ({columns}) ENGINE = Null")
        self._stream = setting.stream
        self._answers = {name: forms[name].answer for name in setting.queries}
        for statement in _statements({name: forms[name] for name in setting.queries}):
            self._run(statement)

    def insert(self, batch: pa.Table) -> None:
        self._run(f"INSERT INTO {self._stream} SELECT * FROM Python(batch)")

    put = insert

    def ask(self, name: str) -> pa.Table:
        return self._run(self._answers[name], "ArrowTable")

    def reader(self) -> Ask:
        run = _connected()
        run("USE views")
        return lambda name: run(self._answers[name], "ArrowTable")

    def close(self) -> None:
        self._run("DROP DATABASE views SYNC")


def is_installed() -> bool:
    """Tell whether chDB can be imported."""
    return find_spec("chdb") is not None


@cache
def _folder() -> TemporaryDirectory[str]:
    memory = Path("/dev") / "shm"
    return TemporaryDirectory(
        prefix="chdb-", dir=memory if memory.is_dir() else None, ignore_cleanup_errors=True
    )


def _connected() -> Callable[..., Any]:
    """Return what runs statements in a session of its own; all sessions have the same tables."""
    session = import_module("chdb.session").Session(_folder().name)
    session.query("SET max_threads = 1")
    return session.query  # type: ignore[no-any-return]


def _statements(forms: Mapping[str, Form]) -> Iterable[str]:
    for name, form in forms.items():
        if form.chosen is not None:
            key, query = form.chosen
            yield f"CREATE TABLE chosen_{name} ENGINE = Join(ALL, INNER, {key}) AS {query}"
        engine = f"AggregatingMergeTree ORDER BY {form.key}"
        yield f"CREATE MATERIALIZED VIEW {name} ENGINE = {engine} AS {form.states}"


def like(expected: pa.Table, answer: pa.Table) -> pa.Table:
    """Return an answer with the names and types of another, which has the same columns."""
    return answer.rename_columns(expected.schema.names).cast(expected.schema)


_REVENUE: Final = "l_extendedprice * (1 - l_discount)"
TPCH: Final = {
    "Q1": Form(
        "(l_returnflag, l_linestatus)",
        f"""SELECT l_returnflag, l_linestatus, sumState(l_quantity) AS quantity,
            sumState(l_extendedprice) AS price, sumState({_REVENUE}) AS discounted,
            sumState({_REVENUE} * (1 + l_tax)) AS charge, avgState(l_quantity) AS quantity_mean,
            avgState(l_extendedprice) AS price_mean, avgState(l_discount) AS discount_mean,
            countState() AS lines
        FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL 90 DAY
        GROUP BY l_returnflag, l_linestatus""",
        """SELECT l_returnflag, l_linestatus, sumMerge(quantity), sumMerge(price),
            sumMerge(discounted), sumMerge(charge), avgMerge(quantity_mean), avgMerge(price_mean),
            avgMerge(discount_mean), countMerge(lines)
        FROM Q1 GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus""",
    ),
    "Q3": Form(
        "(l_orderkey, o_orderdate, o_shippriority)",
        f"""SELECT l_orderkey, o_orderdate, o_shippriority, sumState({_REVENUE}) AS revenue
        FROM lineitem INNER JOIN chosen_Q3 USING (l_orderkey)
        WHERE l_shipdate > '1995-03-15' GROUP BY l_orderkey, o_orderdate, o_shippriority""",
        """SELECT l_orderkey, sumMerge(revenue) AS total, o_orderdate, o_shippriority
        FROM Q3 GROUP BY l_orderkey, o_orderdate, o_shippriority
        ORDER BY total DESC, o_orderdate, l_orderkey LIMIT 10""",
        (
            "l_orderkey",
            """SELECT o_orderkey AS l_orderkey, o_orderdate, o_shippriority
            FROM orders INNER JOIN customer ON c_custkey = o_custkey
            WHERE c_mktsegment = 'BUILDING' AND o_orderdate < '1995-03-15'""",
        ),
    ),
    "Q6": Form(
        "tuple()",
        """SELECT sumState(l_extendedprice * l_discount) AS revenue FROM lineitem
        WHERE l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01'
            AND l_discount BETWEEN toDecimal64('0.05', 2) AND toDecimal64('0.07', 2)
            AND l_quantity < 24""",
        "SELECT sumMerge(revenue) FROM Q6",
    ),
    "Q15": Form(
        "l_suppkey",
        f"""SELECT l_suppkey, sumState({_REVENUE}) AS revenue FROM lineitem
        WHERE l_shipdate >= '1996-01-01' AND l_shipdate < '1996-04-01' GROUP BY l_suppkey""",
        """WITH totals AS (
            SELECT l_suppkey, sumMerge(revenue) AS total FROM Q15 GROUP BY l_suppkey)
        SELECT s_suppkey, s_name, s_address, s_phone, total
        FROM supplier INNER JOIN totals ON s_suppkey = l_suppkey
        WHERE total = (SELECT max(total) FROM totals) ORDER BY s_suppkey""",
    ),
    "Q20": Form(
        "(l_partkey, l_suppkey)",
        """SELECT l_partkey, l_suppkey, sumState(l_quantity) AS quantity FROM lineitem
        WHERE l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01'
        GROUP BY l_partkey, l_suppkey""",
        """WITH forest AS (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%')
        SELECT s_name, s_address FROM supplier INNER JOIN nation ON s_nationkey = n_nationkey
        WHERE n_name = 'CANADA' AND s_suppkey IN (
            SELECT ps_suppkey FROM partsupp INNER JOIN (
                SELECT l_partkey, l_suppkey, sumMerge(quantity) AS total FROM Q20
                WHERE l_partkey IN (forest) GROUP BY l_partkey, l_suppkey) AS sold
            ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
            WHERE ps_availqty * 2 > total)
        ORDER BY s_name""",
    ),
}
"""The queries of TPC-H that the paper measures."""

_BY_CUSTOMER: Final = f"FROM events WHERE week = {WEEK}"
AIM: Final = {
    "Q1": Form(
        "entity_id",
        f"""SELECT entity_id, sumState(duration) AS total,
            countIfState(NOT long_distance) AS local {_BY_CUSTOMER} GROUP BY entity_id""",
        """SELECT avgOrNull(duration) FROM (
            SELECT sumMerge(total) AS duration FROM Q1 GROUP BY entity_id
            HAVING countIfMerge(local) > 2)""",
    ),
    "Q2": Form(
        "entity_id",
        f"""SELECT entity_id, maxState(cost) AS highest, countState() AS calls {_BY_CUSTOMER}
        GROUP BY entity_id""",
        """SELECT maxOrNull(cost) FROM (
            SELECT maxMerge(highest) AS cost FROM Q2 GROUP BY entity_id
            HAVING countMerge(calls) > 2)""",
    ),
    "Q3": Form(
        "entity_id",
        f"""SELECT entity_id, sumState(cost) AS costs, sumState(duration) AS durations,
            countState() AS calls {_BY_CUSTOMER} GROUP BY entity_id""",
        """SELECT toFloat64(sum(cost)) / sum(duration) FROM (
            SELECT sumMerge(costs) AS cost, sumMerge(durations) AS duration,
                countMerge(calls) AS number FROM Q3 GROUP BY entity_id)
        GROUP BY number LIMIT 100""",
    ),
    "Q4": Form(
        "entity_id",
        f"""SELECT entity_id, countState() AS calls, sumState(duration) AS total {_BY_CUSTOMER}
            AND NOT long_distance GROUP BY entity_id""",
        """SELECT city_zip, avg(number), sum(duration) FROM customers INNER JOIN (
            SELECT entity_id, countMerge(calls) AS number, sumMerge(total) AS duration
            FROM Q4 GROUP BY entity_id HAVING number > 4 AND duration > 25) AS e
        ON id = entity_id GROUP BY city_zip""",
    ),
    "Q5": Form(
        "region_id",
        f"""SELECT region_id, sumIfState(cost, long_distance) AS long,
            sumIfState(cost, NOT long_distance) AS local
        FROM events INNER JOIN chosen_Q5 USING (entity_id) WHERE week = {WEEK}
        GROUP BY region_id""",
        "SELECT region_id, sumIfMerge(long), sumIfMerge(local) FROM Q5 GROUP BY region_id",
        (
            "entity_id",
            """SELECT id AS entity_id, region_id FROM customers
            WHERE type = 2 AND category = 1""",
        ),
    ),
    "Q7": Form(
        "tuple()",
        f"""SELECT sumState(cost) AS costs, sumState(duration) AS durations
        FROM events INNER JOIN chosen_Q7 USING (entity_id) WHERE week = {WEEK}""",
        "SELECT toFloat64(sumMerge(costs)) / sumMerge(durations) FROM Q7",
        ("entity_id", "SELECT id AS entity_id, 1 AS is_chosen FROM customers WHERE value_type = 2"),
    ),
}
"""The queries of the AIM workload."""
