"""A hundred standing queries over a window of ten slides of 20,000 rows.

Identical queries share one evaluation, so a hundred of them cost little more than one: each still
takes each result. Queries of one kind, with other constants, share partials: they are compared with
queries that share nothing. Queries of different kinds share what they can, and are compared with
their evaluation in DuckDB. Of queries that share nothing, it is measured what serving them in order
adds to evaluating them.

`thread_time` is measured: the engine evaluates in one thread.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from time import thread_time

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tests.benchmarks.measure import Drive, Table, ratios
from upstream import Engine, ManualClock
from upstream.queries.evaluation.shared_windows import Families

pytestmark = pytest.mark.benchmark

STEP = 20_000
STEPS = 10
QUERIES = 100
SLIDES = 60
SUMS = (
    f"SELECT k, sum(v) AS s, count(*) AS n FROM rows(s, {STEPS * STEP}, {STEP}) "
    "WHERE v > 21 GROUP BY k"
)


class Queries:
    """An engine with standing queries whose window is full."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._random = np.random.default_rng(18)
        self.engine = Engine(clock=ManualClock())
        self.engine.sql("CREATE STREAM s (k BIGINT, g BIGINT, v BIGINT, x DOUBLE)")
        self.queries = [self.engine.continuous_query(text) for text in texts]
        for _ in range(STEPS + 1):
            self.slide(self.batch())

    def batch(self) -> pa.Table:
        """Return the rows of a slide."""
        k, g, v = (self._random.integers(0, most, STEP) for most in (20, 200, 1_000))
        return pa.table({"k": k, "g": g, "v": v, "x": self._random.random(STEP)})

    def slide(self, rows: pa.Table) -> int:
        """Append rows, serve all queries, take their results, and return how many there are."""
        self.engine.append("s", rows)
        self.engine.run(60)
        return sum([len(query.results()) for query in self.queries])

    def drive(self) -> float:
        """Return the seconds of a slide, over some slides."""
        batches = [self.batch() for _ in range(SLIDES)]
        start = thread_time()
        results = sum([self.slide(batch) for batch in batches])
        seconds = thread_time() - start
        assert results == SLIDES * len(self.queries)
        return seconds / SLIDES


def test_a_hundred_identical_queries_take_in_as_many_rows_as_one() -> None:
    one, hundred = Queries([SUMS]), Queries([SUMS] * QUERIES)
    found = ratios({"one": one.drive, "a hundred": hundred.drive}, to="one")
    seconds = one.drive()
    tables = [queries.queries[-1].ask() for queries in (one, hundred)]
    assert [table and table.table.num_rows for table in tables] == [20, 20]
    table = Table("Rows per second of identical standing queries")
    table.row("one, million rows/s", STEP / seconds / 1e6, None, "M/s")
    table.row("time of a hundred by that of one", found["a hundred"], 1 / 0.8)
    table.assert_met()


KIND = [SUMS.replace("v > 21", f"v > {7 * number}") for number in range(QUERIES)]
"""Queries of one kind."""


def test_a_hundred_queries_of_one_kind_cost_a_fraction_of_queries_that_share_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = Queries(KIND)
    with monkeypatch.context() as patch:
        patch.setattr(Families, "join", lambda *_: None)
        alone = Queries(KIND)
    found = ratios({"alone": alone.drive, "shared": shared.drive}, to="alone", rounds=3)
    for one, other in zip(shared.queries, alone.queries, strict=True):
        answers = one.ask(), other.ask()
        assert answers[0] is not None
        assert answers[1] is not None
        assert answers[0].table.num_rows == answers[1].table.num_rows == 20
    table = Table("A hundred standing queries of one kind")
    table.row("shared, million rows/s", STEP / shared.drive() / 1e6, None, "M/s")
    table.row("shared, by queries that share nothing", found["shared"], 1 / 3)
    table.assert_met()


def different(count: int) -> list[str]:
    """Return queries with other groups, aggregates and conditions."""
    chance = random.Random(5)
    aggregates = ["count(*)", "sum(v)", "avg(x)", "min(v)", "max(x)", "sum(x)", "avg(v)", "max(v)"]
    aggregates += ["count(DISTINCT v % 7)", "stddev(x)"]
    texts = []
    for _ in range(count):
        groups = chance.choice([[], ["k"], ["g"], ["k", "g % 10"], ["v // 100"]])
        conditions = [
            *("", f"WHERE v > {chance.randrange(900)}", f"WHERE x < {chance.random():.3f}"),
            f"WHERE k <> {chance.randrange(20)} AND v < {chance.randint(100, 900)}",
        ]
        values = chance.sample(aggregates, chance.randint(1, 3))
        names = [f"{each} AS c{i}" for i, each in enumerate([*groups, *values])]
        window = f"FROM rows(s, {STEPS * STEP}, {STEP}) {chance.choice(conditions)}"
        by = f"GROUP BY {', '.join(groups)}" if groups else ""
        texts.append(f"SELECT {', '.join(names)} {window} {by}")
    return texts


class Anew:
    """The queries over a table in DuckDB that has the rows of one window."""

    def __init__(self, texts: Sequence[str], rows: pa.Table) -> None:
        self._duck = duckdb.connect(config={"threads": 1})
        self._duck.register("window_rows", rows)
        self._duck.execute("CREATE TABLE s AS FROM window_rows")
        self._texts = [text.replace(f"rows(s, {STEPS * STEP}, {STEP})", "s") for text in texts]

    def drive(self) -> float:
        """Return the seconds of evaluating all queries."""
        start = thread_time()
        for text in self._texts:
            assert self._duck.sql(text).to_arrow_table().num_rows
        return thread_time() - start


def test_a_hundred_queries_of_different_kinds_cost_half_of_evaluating_them_anew() -> None:
    texts = different(QUERIES)
    queries = Queries(texts)
    anew = Anew(texts, pa.concat_tables([queries.batch() for _ in range(STEPS)]))
    found = ratios({"anew": anew.drive, "standing": queries.drive}, to="anew", rounds=3)
    table = Table("A hundred standing queries of different kinds")
    table.row("by evaluation of each in DuckDB", found["standing"], 0.5)
    table.assert_met()


class Taking:
    """Results that are taken, one of each query, after an evaluation that is not measured."""

    def __init__(self, queries: int) -> None:
        self.engine = Engine()
        self.engine.sql("CREATE STREAM s (v BIGINT)")
        text = "SELECT sum(v) AS v FROM rows(s, 4, 2)"
        self.queries = [self.engine.continuous_query(text) for _ in range(queries)]
        self.engine.append("s", {"v": [1, 2]})

    def drive(self, slides: int = 100) -> float:
        """Return the seconds that taking one result takes."""
        seconds = 0.0
        for _ in range(slides):
            self.engine.append("s", {"v": [1, 2]})
            self.queries[0].evaluate()
            start = thread_time()
            results = [query.results() for query in self.queries]
            seconds += thread_time() - start
            assert all(len(each) == 1 for each in results)
        return seconds / slides / len(self.queries)


def test_taking_a_result_that_another_query_has_evaluated_takes_microseconds() -> None:
    taking = Taking(QUERIES)
    taking.drive()
    table = Table("Results of a hundred identical queries")
    table.row("one call of results(), µs", 1e6 * min(taking.drive() for _ in range(9)), 3.0, "µs")
    table.assert_met()


def test_serving_a_hundred_different_queries_adds_little_to_evaluating_them() -> None:
    texts = [SUMS.replace("BY k", f"BY k, k + {number}") for number in range(QUERIES)]
    candidates: dict[str, Drive] = {
        "served": Served(texts).drive,
        "evaluated": Evaluated(texts).drive,
    }
    found = ratios(candidates, to="evaluated", rounds=5)
    table = Table("A hundred different standing queries")
    table.row("served in order, by evaluated one by one", found["served"], 1.15)
    table.assert_met()


class Served(Queries):
    """Queries that the engine serves."""

    def drive(self) -> float:
        """Return the seconds of a slide, over two slides, without taking results."""
        seconds = 0.0
        for _ in range(2):
            self.engine.append("s", self.batch())
            start = thread_time()
            self.evaluate()
            seconds += thread_time() - start
            assert all(len(query.results()) == 1 for query in self.queries)
        return seconds / 2

    def evaluate(self) -> None:
        assert self.engine.run(60) == len(self.queries)


class Evaluated(Served):
    """Queries that are evaluated one by one, in the order of their creation."""

    def evaluate(self) -> None:
        for query in self.queries:
            query.evaluate()
