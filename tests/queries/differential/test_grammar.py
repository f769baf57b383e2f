"""The grammar writes queries that DuckDB accepts, of all shapes and over all windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import duckdb
import pytest

from .cases import case
from .feeds import LISTED, STREAMS
from .grammar import Grammar

SEEDS = range(300)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as found:
        for name, stream in STREAMS.items():
            empty = stream.schema.empty_table()
            found.register(name, empty)
        found.register("listed", LISTED)
        yield found


def test_duckdb_accepts_every_query(connection: duckdb.DuckDBPyConnection) -> None:
    for seed in SEEDS:
        query = Grammar(Random(seed)).query()
        connection.sql(query.template.format(*query.streams))


def test_a_seed_gives_the_same_case_each_time() -> None:
    for seed in range(20):
        assert str(case(seed)) == str(case(seed))
        assert str(case(seed).events) == str(case(seed).events)


def test_cases_are_of_every_shape_and_over_every_window() -> None:
    cases = [case(seed) for seed in SEEDS]
    shapes = Counter(each.query.shape for each in cases)
    kinds = Counter(window.kind for each in cases for window in each.standing.windows)
    assert set(shapes) == set(Grammar(Random(0)).shapes)
    assert set(kinds) == {"tumble", "hop", "rows", "latest", "landmark", "stream"}
    assert any(window.by_arrival for each in cases for window in each.standing.windows)
    assert min(*shapes.values(), *kinds.values()) > 5


def test_cases_are_over_windows_that_differ_in_size_slide_and_offset() -> None:
    several = [
        each.standing.windows for seed in SEEDS if len((each := case(seed)).standing.windows) > 1
    ]
    of_time = [windows for windows in several if windows[0].kind in ("tumble", "hop", "rows")]
    for measure in ("size", "slide", "offset"):
        differ = [len({getattr(each, measure) for each in windows}) > 1 for windows in of_time]
        assert 5 < sum(differ) < len(differ) - 5
    assert any(window.slide > window.size for windows in of_time for window in windows)
