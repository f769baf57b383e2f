"""The examples of the DataCell paper, answered incrementally as by evaluating each window anew.

Figure 3 has a plan for each way of replicating operators over basic windows; Q1, Q2 and Q3 are the
queries of section 4. Windows are of four basic windows here, and of 40 rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tests.queries.setting import rows_of
from upstream import ContinuousQuery, Engine, ManualClock, Result

SIZE, STEP, STEPS = 40, 10, 12
WINDOWS = ("rows(s1, 40, 10)", "rows(s2, 40, 10)")

EXAMPLES = {
    "Figure 3(a), select: simple concatenation": "SELECT x1 FROM {0} WHERE x1 > 2 AND x1 < 8",
    "Figure 3(b), sum: concatenation with compensation": (
        "SELECT sum(x1) AS total FROM {0} WHERE x1 > 2 AND x1 < 8"
    ),
    "Figure 3(c), average: expanding replication": (
        "SELECT avg(x1) AS mean FROM {0} WHERE x1 > 2 AND x1 < 8"
    ),
    "Figure 3(d), grouped sum: synchronous replication": (
        "SELECT x1, sum(x2) AS total FROM {0} WHERE x1 > 2 AND x1 < 8 GROUP BY x1"
    ),
    "Figure 3(e), join of two streams": (
        "SELECT max(a.x1) AS greatest FROM {0} a, {1} b WHERE a.x2 = b.x2"
    ),
    "Q1": "SELECT x1, sum(x2) AS total FROM {0} WHERE x1 > 5 GROUP BY x1",
    "Q2": "SELECT max(a.x1) AS greatest, avg(b.x1) AS mean FROM {0} a, {1} b WHERE a.x2 = b.x2",
}
LANDMARK = "SELECT max(x1) AS greatest, sum(x2) AS total FROM {0} WHERE x1 > 5"  # Q3


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        for name in ("s1", "s2"):
            engine.sql(f"CREATE STREAM {name} (x1 BIGINT, x2 BIGINT)")
        yield engine


def streams() -> tuple[pa.Table, pa.Table]:
    """Return the rows of two streams: so many basic windows, one more of which has no match."""
    random = np.random.default_rng(12)
    count = STEPS * STEP
    first, second = (
        pa.table({"x1": random.integers(0, 10, count), "x2": random.integers(0, 12, count)})
        for _ in range(2)
    )
    return first, second


def anew(text: str, *rows: pa.Table) -> list[tuple[object, ...]]:
    """Return what DuckDB answers over these rows, in an order of its own."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, table in zip(("w1", "w2"), rows, strict=False):
            connection.register(name, table)
        return sorted(connection.sql(text.format("w1", "w2")).fetchall(), key=repr)


def fed(engine: Engine, query: ContinuousQuery, piece: int) -> list[Result]:
    """Let the rows of both streams come in pieces, and ask after each."""
    results: list[Result] = []
    first, second = streams()
    for start in range(0, STEPS * STEP, piece):
        engine.append("s1", first.slice(start, piece))
        engine.append("s2", second.slice(start, piece))
        results += query.results()
    return results


@pytest.mark.parametrize("piece", [STEP, 3, 120], ids=lambda rows: f"{rows} rows at a time")
@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_each_window_has_the_result_of_a_full_evaluation(
    engine: Engine, text: str, piece: int
) -> None:
    query = engine.continuous_query(text.format(*WINDOWS), evaluation="increments")
    assert "incrementally" in query.explain()
    results = fed(engine, query, piece)
    starts = range(0, STEPS * STEP - SIZE + 1, STEP)
    assert [result.window_start for result in results] == list(starts)
    for result, start in zip(results, starts, strict=True):
        window = [rows.slice(start, SIZE) for rows in streams()]
        assert rows_of(result) == anew(text, *window)


@pytest.mark.parametrize("piece", [STEP, 3])
def test_a_landmark_is_answered_from_one_cumulative_result(engine: Engine, piece: int) -> None:
    query = engine.continuous_query(LANDMARK.format("landmark(s1)"))
    results = fed(engine, query, piece)
    first, _ = streams()
    for number, result in enumerate(results, start=1):
        assert rows_of(result) == anew(LANDMARK, first.slice(0, number * piece))
    assert query.statistics().rows_held <= 2  # "only one cumulative result"


@pytest.mark.parametrize("name", ["Q1", "Figure 3(b), sum: concatenation with compensation"])
def test_tuples_are_dropped_once_their_basic_window_has_a_partial(
    engine: Engine, name: str
) -> None:
    """Of a step with two hundred rows no more is held than its groups."""
    text = EXAMPLES[name].format("rows(s1, 800, 200)")
    query = engine.continuous_query(text, evaluation="increments")
    random = np.random.default_rng(3)
    for _ in range(12):
        rows = {"x1": random.integers(0, 10, 200), "x2": random.integers(0, 10, 200)}
        engine.append("s1", rows)
        query.results()
    assert query.statistics().rows_held <= 6 * 10


def test_a_join_computes_only_the_new_row_and_column(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With n basic windows of w rows, a slide joins w rows with n w of the other stream, twice."""
    joined: list[tuple[int, int]] = []
    from upstream.queries.pairs.pair_statements import PairStatements

    join = PairStatements.join

    def noted(
        self: PairStatements, window: int, rows: pa.Table, others: dict[int, pa.Table]
    ) -> pa.Table:
        [other] = others.values()
        joined.append((rows.num_rows, other.num_rows))
        return join(self, window, rows, others)

    monkeypatch.setattr(PairStatements, "join", noted)
    text = "SELECT sum(a.x1 * b.x1) AS total FROM {0} a, {1} b WHERE a.x2 = b.x2"
    query = engine.continuous_query(text.format(*WINDOWS), evaluation="increments")
    results = fed(engine, query, STEP)
    assert len(results) == STEPS - 3
    assert joined[-2:] == [(STEP, SIZE - STEP), (STEP, SIZE)]
    window = [rows.slice(STEPS * STEP - SIZE, SIZE) for rows in streams()]
    assert rows_of(results[-1]) == anew(text, *window)
