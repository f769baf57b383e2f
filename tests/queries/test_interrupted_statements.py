"""A standing query that is interrupted in a statement of DuckDB goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from upstream import Engine, ManualClock, Result
from upstream.database.prepared import Prepared
from upstream.queries import Semantics
from upstream.queries.choices import Way

MIDNIGHT = datetime(2026, 1, 2)
SUMS = "SELECT symbol, sum(size) AS size FROM tumble(trades, INTERVAL '10 seconds') GROUP BY symbol"
SLIDES = "INTERVAL '20 seconds', INTERVAL '10 seconds'"
INTERRUPTED: dict[str, tuple[str, Semantics]] = {
    "sums": (SUMS, "append"),
    "update": (SUMS, "update"),
    "late": (f"SELECT symbol, sum(size) AS n FROM hop(trades, {SLIDES}) GROUP BY 1", "append"),
    "fails": (
        f"SELECT sum(symbol::INT) AS n, max(symbol::INT) AS m FROM hop(trades, {SLIDES})",
        "append",
    ),
    "join": (
        f"""SELECT count(*) AS n, sum(a.size * b.size) AS x FROM hop(trades, {SLIDES}) a
            JOIN tumble(trades, INTERVAL '10 seconds') b USING (symbol)""",
        "append",
    ),
    "rows": ("SELECT symbol, size FROM rows(trades, 5, 3)", "append"),
    "session": (
        """SELECT symbol, count(*) AS n FROM session(trades, INTERVAL '4 seconds', per => symbol)
           GROUP BY symbol""",
        "append",
    ),
    "landmark": ("SELECT symbol, sum(size) AS n FROM landmark(trades) GROUP BY symbol", "append"),
    "landmark with a slide": (
        "SELECT sum(size) AS n FROM landmark(trades, INTERVAL '10 seconds')",
        "append",
    ),
    "row by row": ("SELECT symbol::INT AS n FROM trades", "append"),
    "newest": ("SELECT symbol, size FROM trades", "update"),
    "latest": ("SELECT sum(size) AS n FROM latest(trades)", "append"),
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM trades (time TIMESTAMP, symbol TEXT, size BIGINT) KEY (symbol)")
        yield engine


def append(engine: Engine, *rows: tuple[float, str, int]) -> None:
    """Append trades: seconds after midnight, symbol, size."""
    times, symbols, sizes = zip(*rows, strict=True)
    columns = [[MIDNIGHT + timedelta(seconds=second) for second in times], symbols, sizes]
    engine.append("trades", dict(zip(("time", "symbol", "size"), columns, strict=True)))


def interrupt_statement(
    patch: pytest.MonkeyPatch, number: int | None, *, is_after: bool
) -> Callable[[], int]:
    """Raise KeyboardInterrupt before or after a statement; return what counts statements."""
    run, count = Prepared.run, 0

    def counted(self: Prepared, **tables: pa.Table) -> pa.Table:
        nonlocal count
        count += 1
        if count - 1 == number and not is_after:
            raise KeyboardInterrupt
        try:
            return run(self, **tables)
        finally:
            if count - 1 == number and is_after:
                raise KeyboardInterrupt

    patch.setattr(Prepared, "run", counted)
    return lambda: count


def results_of(
    engine: Engine,
    name: str,
    evaluation: Way,
    patch: pytest.MonkeyPatch,
    *,
    interrupted_at: int | None,
) -> tuple[int, list[object]]:
    """Return how many statements a query runs, and what it answers in all.

    One of them is interrupted, on even numbers before it runs, else after it has.
    """
    text, semantics = INTERRUPTED[name]
    query = engine.continuous_query(
        text, semantics, evaluation=evaluation, allowed_lateness=60 if name == "late" else None
    )
    is_after = interrupted_at is not None and interrupted_at % 2 == 1
    count = interrupt_statement(patch, interrupted_at, is_after=is_after)
    found: list[object] = []
    times_raised = 0
    for moment in range(4):
        for second in (1, 4, 8):
            late = 25 if moment == 2 and second == 4 else 0
            seconds = 10 * moment + second - late
            append(engine, (seconds, "IBM", second), (10 * moment, "7", moment))
        try:
            results = query.results()
        except KeyboardInterrupt:
            times_raised += 1
            results = query.results()
        for each in results:
            rows = sorted(each.table.to_pylist(), key=repr)
            bounds = each.window_start, each.window_end, each.revision
            found.append((*bounds, rows, each.error, each.rows_failed, each.missed))
    assert times_raised == (interrupted_at is not None)
    counts = query.statistics()
    assert counts.is_balanced
    query.close()
    found.append((counts.rows_read, counts.rows_late, counts.rows_failed, counts.results_due))
    return count(), found


@pytest.mark.parametrize(
    ("name", "evaluation"),
    [
        *((name, "increments") for name in INTERRUPTED),
        *((name, "whole") for name in ("update", "join", "rows")),
        ("fails", "measured"),
    ],
)
def test_a_query_that_was_interrupted_in_any_statement_goes_on_where_it_was(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, name: str, evaluation: Way
) -> None:
    with monkeypatch.context() as patch:
        statements, expected = results_of(engine, name, evaluation, patch, interrupted_at=None)
    assert expected
    assert statements > 0
    for number in range(statements):
        with monkeypatch.context() as patch:
            _, found = results_of(engine, name, evaluation, patch, interrupted_at=number)
        assert found == expected, f"interrupted in statement {number}"


@pytest.mark.parametrize("is_after", [False, True])
def test_other_queries_are_not_interrupted_with_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, is_after: bool
) -> None:
    query, other = engine.continuous_query(SUMS), engine.continuous_query(SUMS)
    append(engine, (1, "IBM", 1), (11, "IBM", 2))
    with monkeypatch.context() as patch:
        interrupt_statement(patch, 0, is_after=is_after)
        with pytest.raises(KeyboardInterrupt):
            query.results()
    assert len(other.results()) == len(query.results()) == 1
    assert not query.is_due()


def test_a_query_that_was_interrupted_is_due(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Result] = []
    query = engine.continuous_query(SUMS, callback=found.append)
    assert not query.is_due()
    append(engine, (1, "IBM", 1), (11, "IBM", 2))
    with monkeypatch.context() as patch:
        interrupt_statement(patch, 0, is_after=False)
        with pytest.raises(KeyboardInterrupt):
            engine.run(1.0)
    assert query.is_due()
    engine.run(1.0)
    assert len(found) == 1
