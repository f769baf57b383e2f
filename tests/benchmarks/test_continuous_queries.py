"""Standing queries beside re-evaluation of the whole window, polars and Bytewax.

The queries, windows and steps are the DataCell paper's; see `paper_queries`. A slide is everything
from the new rows to the result. What is measured against is the faster of two ways to evaluate the
whole window again in DuckDB; see `reevaluation`.
"""

from __future__ import annotations

import gc
import os
from dataclasses import replace
from pathlib import Path
from time import process_time

import pyarrow as pa
import pytest

from tests.benchmarks.measure import Table
from tests.benchmarks.paper_queries import Feed, Query, Rows, query_1, query_2, query_3
from tests.benchmarks.reevaluation import ByArrow, ByPolars, ByTable, OneStep
from tests.benchmarks.slides import (
    Incremental,
    Race,
    System,
    assert_equal,
    plain,
    race,
    running,
    timed_slides,
)

pytest.importorskip("bytewax", reason="Bytewax does not come for this version of Python")
from tests.benchmarks import bytewax_windows

pytestmark = pytest.mark.benchmark

MILLION = 1_000_000
WHOLE = ("arrow", "table")
"""The two ways of re-evaluation."""
TWO = "two threads"


def systems(query: Query, *, polars: bool = True) -> dict[str, System]:
    """Return all that answer a query."""
    found: dict[str, System] = {
        "incremental": Incremental(query),
        "arrow": ByArrow(query),
        "table": ByTable(query),
    }
    if polars:
        found |= {"polars": ByPolars(query), TWO: ByArrow(query, threads=2)}
    return found


def show(table: Table, found: Race) -> str:
    """Print what a slide took each system; return which way of re-evaluation was the faster."""
    for name in found.processor:
        table.row(f"{name}, processor time", found.milliseconds(name), None, "ms")
    for name in [each for each in ("polars", TWO) if each in found.processor]:
        table.row(f"by {name}", found.ratio("incremental", name), None)
        table.row(f"by {name}, on the wall", found.wall_ratio("incremental", name), None)
    return found.faster(*WHOLE)


@pytest.mark.parametrize(
    ("groups", "x2_type"),
    [(20, "BIGINT"), (2_000, "BIGINT"), (200_000, "BIGINT"), (2_000, "DOUBLE")],
)
def test_sums_by_group_over_a_large_window(groups: int, x2_type: str) -> None:
    query = query_1(groups=groups, x2_type=x2_type)
    slides = 5 if groups > 100_000 else 10
    found = race(query, systems(query), rounds=3, slides=slides)
    what = f"{groups:,} groups, {x2_type}"
    table = Table(f"Q1, window {query.window:,}, step {query.step:,}, {what}: a slide")
    whole = show(table, found)
    table.row("by re-evaluation", found.ratio("incremental", whole), 1 / 10)
    table.assert_met()


@pytest.mark.parametrize("groups", [20, 2_000, 200_000])
def test_a_slide_beside_its_own_rows_alone(groups: int) -> None:
    """What is more than evaluating the new rows is what keeping a window costs.

    It runs alone, because a system that reads a whole window empties the caches of the others.
    """
    query = query_1(groups=groups)
    both: dict[str, System] = {"incremental": Incremental(query), "one step": OneStep(query)}
    found = race(query, both, rounds=9, slides=10, alone=("one step",))
    table = Table(f"Q1, window {query.window:,}, step {query.step:,}, {groups:,} groups: a slide")
    for name in both:
        table.row(f"{name}, processor time", found.milliseconds(name), None, "ms")
    table.row("by one step alone", found.ratio("incremental", "one step"), 3.0)
    table.assert_met()


@pytest.mark.parametrize(
    ("matching", "budget"), [(0.01, 1 / 20), (0.001, 1.0), (0.000_1, 1.0), (0.000_001, 1.0)]
)
def test_a_join_of_two_streams(matching: float, budget: float) -> None:
    query = query_2(matching=matching)
    polars = matching < 0.01
    rounds, slides = (3, 1) if matching >= 0.01 else (5, 5)
    found = race(query, systems(query, polars=polars), rounds=rounds, slides=slides)
    table = Table(
        f"Q2, window {query.window:,}, step {query.step:,}, {matching:.4%} match: a slide"
    )
    whole = show(table, found)
    table.row("by re-evaluation", found.ratio("incremental", whole), budget)
    table.assert_met()


def test_a_join_in_which_every_tenth_pair_matches() -> None:
    """Re-evaluation goes through 10 billion pairs, a billion of which match, at each slide."""
    query = query_2(matching=0.1)
    candidates: dict[str, System] = {"incremental": Incremental(query), "arrow": ByArrow(query)}
    found = race(query, candidates, rounds=1, slides=1, warm_up=1)
    table = Table(f"Q2, window {query.window:,}, step {query.step:,}, 10% match: a slide")
    for name in candidates:
        table.row(f"{name}, processor time", found.milliseconds(name), None, "ms")
    table.row("by re-evaluation", found.ratio("incremental", "arrow"), 1 / 20)
    table.assert_met()


@pytest.mark.parametrize(("key", "budget"), [("", 1 / 10), ("x1", None)])
def test_a_landmark(key: str, budget: float | None) -> None:
    """Figure 6(b): what a slide costs does not grow, while re-evaluation's does.

    With a key, the newest row of each is kept besides, which takes longer than the query.
    """
    query, slides = replace(query_3(), key=key), 40
    feed = Feed(query, slides * query.step)
    ours = Incremental(query, over=query.text.format("landmark(stream1)"))
    whole = ByArrow(query, most_rows=slides * query.step)
    keyed = " (with a key)" if key else ""
    table = Table(f"Q3, a landmark, step {query.step:,}: a slide{keyed}")
    seconds: dict[str, list[float]] = {"incremental": [], "arrow": []}
    with running({"incremental": ours, "arrow": whole}):
        whole.fill(feed.take(0))
        for _ in range(slides):
            rows = [feed.take(query.step)]
            one, spent, _ = timed_slides(ours, rows)
            other, again, _ = timed_slides(whole, rows)
            assert_equal([one, other])
            seconds["incremental"].append(spent)
            seconds["arrow"].append(again)
    for name, times in seconds.items():
        for at in (1, 10, slides - 1):
            table.row(f"{name}, slide {at + 1}", 1_000 * times[at], None, "ms")
    last, early = (sum(seconds["incremental"][part]) for part in (slice(-8, None), slice(2, 10)))
    table.row("the last slides by early ones", last / early, 1.5 if budget else None)
    table.row("the last by re-evaluation", last / sum(seconds["arrow"][-8:]), budget)
    table.assert_met()


@pytest.mark.parametrize("groups", [20, 2_000])
def test_the_answer_after_the_last_row_of_a_step(groups: int) -> None:
    """The rows of a step come in pieces, and what comes before the last is evaluated ahead."""
    query, pieces = query_1(groups=groups), 50
    feed = Feed(query, query.window + 40 * query.step)
    ours, whole = Incremental(query), ByArrow(query)
    with running({"incremental": ours, "arrow": whole}):
        first = feed.take(query.window)
        ours.fill(first)
        whole.fill(first)
        responses = []
        for _ in range(100):
            step = feed.take(query.step)
            responses.append(response(ours, step, pieces))
            whole.append(step)
        again = sorted(timed_slides(whole, [feed.take(0)])[1] for _ in range(9))[4]
    settled = sorted(responses[-30:])[15]
    table = Table(
        f"Q1, {groups:,} groups, a step in {pieces} pieces: from its last row to the result"
    )
    table.row("at first, in one chunk", 1_000 * sorted(responses[:5])[2], None, "ms")
    table.row("with the chunks that it chose", 1_000 * settled, None, "ms")
    table.row("re-evaluation", 1_000 * again, None, "ms")
    table.row("by re-evaluation", settled / again, 1 / 20)
    table.assert_met()


def response(ours: Incremental, step: Rows, pieces: int) -> float:
    """Give a step piece by piece; return how long after the last the result was there."""
    rows = -(-len(step[0]) // pieces)
    taken = 0.0
    for start in range(0, len(step[0]), rows):
        since = process_time()
        ours.append(tuple(table.slice(start, rows) for table in step))
        results = ours.query.results()
        taken = process_time() - since
        is_last = start + rows >= len(step[0])
        assert len(results) == is_last
    return taken


@pytest.mark.parametrize("batch", [20_000, 200_000, 1_000_000])
def test_rows_that_come_in_while_a_query_stands(batch: int) -> None:
    ingest(query_1(), batch)


@pytest.mark.parametrize("groups", [2_000, 200_000])
def test_rows_with_a_key_that_come_in(groups: int) -> None:
    """Of a stream with a key the newest row of each is kept, in the same time."""
    ingest(replace(query_1(groups=groups), key="x1"), 200_000)


def ingest(query: Query, batch: int) -> None:
    """Measure all that a row costs: conforming, keeping, evaluating, a result for each slide."""
    feed = Feed(query, query.window)
    ours = Incremental(query)
    with running({"incremental": ours}):
        ours.fill(feed.take(query.window))
        rows = results = 0
        start = process_time()
        while rows < 10 * MILLION:
            ours.append(feed.take(batch))
            results += len(ours.query.results())
            rows += batch
        seconds = process_time() - start
    assert results == rows // query.step
    key = f", of {query.x1_values:,} keys" if query.key else ""
    table = Table(f"Arrow batches of {batch:,} rows{key}, with one standing Q1")
    table.row("million rows a second", rows / seconds / MILLION, None, "")
    table.row("five million rows", seconds / rows * 5 * MILLION, 1.0, "s")
    table.assert_met()


@pytest.mark.parametrize(("window", "step", "budget"), [(1_024, 16, None), (10_240, 160, 1.0)])
def test_beside_an_engine_of_tuples(window: int, step: int, budget: float | None) -> None:
    """Q1 on Bytewax, in a thousandth of the paper's size or less: in full a slide takes it seconds.

    Steps of a few rows take an engine of tuples as long as a statement takes DuckDB.
    """
    query = query_1(window=window, step=step, groups=20)
    rows = Feed(query, window + 100 * step).take(window + 100 * step)
    tuples = bytewax_windows.items(rows)
    start = process_time()
    found = bytewax_windows.sums_by_window(query, tuples[0], query.x1_values - 21)
    theirs = process_time() - start
    results, taken = slide_through(query, rows)
    for number, result in enumerate(results):
        assert dict(zip(*plain(result).astype(int).tolist(), strict=True)) == found[number]
    compare_with_tuples(f"Q1, window {window:,}, step {step:,}, 20 groups", taken, theirs, budget)


def test_a_join_beside_an_engine_of_tuples() -> None:
    query = query_2(window=1_024, step=16, matching=0.01)
    rows = Feed(query, query.window + 30 * query.step).take(query.window + 30 * query.step)
    tuples = bytewax_windows.items(rows)
    start = process_time()
    found = bytewax_windows.matches_by_window(query, tuples)
    theirs = process_time() - start
    results, taken = slide_through(query, rows)
    for number, result in enumerate(results):
        assert plain(result)[:, 0].tolist() == pytest.approx(found[number])
    compare_with_tuples(
        f"Q2, window {query.window:,}, step {query.step}, 1% match", taken, theirs, 1.0
    )


def slide_through(query: Query, rows: Rows) -> tuple[list[pa.Table], float]:
    """Fill a window and slide on, step by step; return all results and the seconds it took."""
    ours = Incremental(query)
    with running({"incremental": ours}):
        start = process_time()
        ours.append(tuple(table.slice(0, query.window) for table in rows))
        results = [result.table for result in ours.query.results()]
        for at in range(query.window, len(rows[0]), query.step):
            step = tuple(table.slice(at, query.step) for table in rows)
            results.append(ours.slide(step))
        return results, process_time() - start


def compare_with_tuples(title: str, ours: float, theirs: float, budget: float | None) -> None:
    table = Table(f"{title}: all slides")
    table.row("Bytewax", 1_000 * theirs, None, "ms")
    table.row("incremental", 1_000 * ours, None, "ms")
    table.row("by Bytewax", ours / theirs, budget)
    table.assert_met()


def test_memory_of_a_sliding_sum() -> None:
    """The rows of a step go as soon as there is a partial for it.

    The last rows are also held for requests of the newest row of a key; their number is bounded.
    """
    table = Table("Q1, 512 steps a window, 20 groups: what is held once the window is full")
    held, grown = {}, {}
    for window in (102_400, 1_024_000, 10_240_000):
        query = query_1(window=window, step=window // 512, groups=20)
        feed = Feed(query, window)
        ours = Incremental(query)
        with running({"incremental": ours}):
            before = resident_megabytes()
            for _ in range(512):
                [step] = feed.take(query.step)
                ours.append((copy_of(step),))
                ours.query.results()
            held[window] = ours.query.statistics().rows_held
            grown[window] = resident_megabytes() - before
        table.row(f"window of {window:,} rows: rows held", held[window], None, "rows")
        table.row("the process has grown by", grown[window], None, "MB")
    table.row("rows held by the largest by the smallest", held[10_240_000] / held[102_400], 1.25)
    megabytes = 10_240_000 * 16 / MILLION
    table.row("what it has grown by rows of the window", grown[10_240_000] / megabytes, 0.3)
    table.assert_met()


def copy_of(rows: pa.Table) -> pa.Table:
    """Return rows that own their memory, so that it shows whether they are kept."""
    columns = zip(rows.column_names, rows.columns, strict=True)
    return pa.table({name: column.to_numpy().copy() for name, column in columns})


def resident_megabytes() -> float:
    """Return how much memory this process has."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MILLION
