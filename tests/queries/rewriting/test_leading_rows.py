"""Which merged rows the finish of a view needs, and that it returns the same over only these."""

from __future__ import annotations

from contextlib import closing

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.database.duck import Duck
from upstream.queries.rewriting.leading_rows import leading_rows
from upstream.queries.rewriting.split_query import Leading, SplitQuery
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.lending import prepare

from .fixture_files import LASTING, split_of
from .random_steps import SCHEMA, SCHEMAS

SUMS = "(SELECT k, sum(x) AS n, count(*) AS c FROM chunk_0 GROUP BY k)"
WITH = "WITH w(key, n, c) AS (SELECT k, sum(x), count(*) FROM chunk_0 GROUP BY k)"

LIMITED = {
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY n DESC, k LIMIT 2": 2,
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY 2 DESC, k LIMIT 2 OFFSET 1": 3,
    "SELECT k, count(*) FROM chunk_0 GROUP BY k ORDER BY count(*) DESC NULLS FIRST, k LIMIT 1": 1,
    "SELECT k FROM chunk_0 GROUP BY k ORDER BY max(x) DESC, k LIMIT 3": 3,
    f"SELECT * FROM {SUMS} ORDER BY n DESC, k LIMIT 2": 2,
    f"SELECT t.c AS n, t.n AS c, 1 AS one FROM {SUMS} AS t ORDER BY c DESC, t.k LIMIT 2": 2,
    f"SELECT key AS k, n FROM {SUMS} AS t(key, n) ORDER BY n DESC, key LIMIT 2": 2,
}
EXTREME = {
    f"{WITH} SELECT * FROM w WHERE n = (SELECT max(n) FROM w)": False,
    f"{WITH} SELECT * FROM w WHERE (SELECT min(c) FROM w) = c AND key > 0": True,
    f"{WITH} SELECT weight, n FROM w, names WHERE key = id AND n = (SELECT max(n) FROM w)": False,
    f"{WITH} SELECT w.n, (SELECT max(n) FROM w) AS m FROM w JOIN names AS r ON w.key = r.id"
    " WHERE w.n = (SELECT max(n) FROM w)": False,
    f"{WITH} SELECT count(*) AS n FROM names WHERE id IN"
    " (SELECT key FROM w WHERE n = (SELECT max(n) FROM w))": False,
    f"{WITH} SELECT max(n) AS m FROM w": False,
}
ALL_NEEDED = [
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k",
    "SELECT sum(x) AS n FROM chunk_0 ORDER BY n DESC LIMIT 2",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY n DESC",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY n LIMIT 2",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY n ASC LIMIT 2",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY k DESC LIMIT 2",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY -n DESC LIMIT 2",
    "SELECT k, -sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY n DESC LIMIT 2",
    "SELECT k, avg(x) AS n FROM chunk_0 GROUP BY k ORDER BY n DESC LIMIT 2",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY n DESC LIMIT 5%",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY n DESC LIMIT 1 + 1",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY n DESC LIMIT 5000",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k HAVING count(*) > 1 ORDER BY n DESC LIMIT 2",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY ROLLUP (k) ORDER BY n DESC LIMIT 2",
    "SELECT CAST(g AS INT) AS i, sum(x) AS n FROM chunk_0 GROUP BY g ORDER BY n DESC LIMIT 2",
    "SELECT g, sum(x) AS n FROM chunk_0 GROUP BY g ORDER BY n DESC, CAST(g AS INT) LIMIT 2",
    "SELECT DISTINCT sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY n DESC LIMIT 2",
    f"SELECT n FROM {SUMS} WHERE c > 1 ORDER BY n DESC LIMIT 2",
    f"SELECT n, weight FROM {SUMS}, names ORDER BY n DESC LIMIT 2",
    f"SELECT n, k AS N FROM {SUMS} ORDER BY n DESC LIMIT 2",
    f"SELECT n, row_number() OVER (ORDER BY k) AS i FROM {SUMS} ORDER BY n DESC LIMIT 2",
    f"{WITH} SELECT * FROM w WHERE n = (SELECT max(c) FROM w)",
    f"{WITH} SELECT * FROM w WHERE n >= (SELECT max(n) FROM w)",
    f"{WITH} SELECT * FROM w WHERE n = (SELECT max(n) FROM w) OR c = 1",
    f"{WITH} SELECT * FROM w WHERE n = (SELECT max(n) FROM w WHERE c > 1)",
    f"{WITH} SELECT * FROM w WHERE n = (SELECT max(n) FILTER (WHERE c > 1) FROM w)",
    f"{WITH} SELECT * FROM w WHERE n = (SELECT max(n) + 1 FROM w)",
    f"{WITH} SELECT * FROM w WHERE n = (SELECT max(n) FROM w) AND c < (SELECT max(c) FROM w)",
    f"{WITH} SELECT * FROM w, w AS u WHERE w.n = (SELECT max(n) FROM w)",
    f"{WITH} SELECT * FROM names LEFT JOIN w ON key = id WHERE n = (SELECT max(n) FROM w)",
    f"{WITH} SELECT * FROM w JOIN names ON key = id AND n = (SELECT max(n) FROM w)",
    f"{WITH} SELECT count(*) AS n, (SELECT max(n) FROM w) AS m FROM w",
    f"{WITH} SELECT w.n FROM w, (SELECT 1 AS n) AS o WHERE o.n = (SELECT max(n) FROM w)",
    "SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k ORDER BY max(g) DESC LIMIT 2",
]


def needed(text: str, tables: Duck) -> tuple[SplitQuery, Leading | None]:
    """Return the parts of a query with one leaf, and the rows that its finish needs."""
    parts = split_of(text, tables, LASTING)
    [leaf] = parts.leaves
    return parts, leading_rows(leaf, parts, Trial(tables, SCHEMAS))


@pytest.mark.parametrize(("text", "count"), LIMITED.items())
def test_a_limit_needs_the_first_rows_of_its_order(text: str, count: int, tables: Duck) -> None:
    parts, leading = needed(text, tables)
    assert leading is not None
    assert (leading.count, leading.is_least) == (count, False)
    assert leading.column in {state.columns[0] for state in parts.leaves[0].states}


@pytest.mark.parametrize(("text", "is_least"), EXTREME.items())
def test_a_comparison_with_the_extreme_needs_the_rows_that_have_it(
    text: str, is_least: bool, tables: Duck
) -> None:
    _, leading = needed(text, tables)
    assert leading is not None
    assert (leading.count, leading.is_least) == (1, is_least)


@pytest.mark.parametrize("text", ALL_NEEDED)
def test_other_queries_need_all_rows(text: str, tables: Duck) -> None:
    parts = split_of(text, tables, LASTING)
    trial = Trial(tables, SCHEMAS)
    assert [leading_rows(leaf, parts, trial) for leaf in parts.leaves] == [None] * len(parts.leaves)


def first_of(merged: pa.Table, leading: Leading) -> pa.Table:
    """Return the leading rows of a merged relation."""
    values = merged[leading.column].to_pylist()
    in_order = sorted(values, reverse=not leading.is_least)[: leading.count]
    leads = [
        (value <= in_order[-1] if leading.is_least else value >= in_order[-1]) for value in values
    ]
    return merged.filter(pa.array(leads, pa.bool_()))


EXAMPLES = max(settings().max_examples // 4, 10)
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(-2, 2)), max_size=14)


@pytest.mark.parametrize("text", [*LIMITED, *EXTREME])
def test_the_finish_returns_the_same_over_leading_rows(text: str, tables: Duck) -> None:
    parts, leading = needed(text, tables)
    [leaf] = parts.leaves
    assert leading is not None
    assert leaf.schema is not None
    partial = prepare(tables, leaf.partial, {"chunk_0": SCHEMA})
    finish = prepare(tables, parts.finish, {leaf.relation: leaf.schema})

    @settings(max_examples=EXAMPLES)
    @given(ROWS)
    def check(rows: list[tuple[int, int]]) -> None:
        columns = {"k": [k for k, _ in rows], "x": [x for _, x in rows]}
        merged = partial.run(chunk_0=_with_nulls(columns, len(rows)))
        of_all = finish.run(**{leaf.relation: merged}).to_pylist()
        of_first = finish.run(**{leaf.relation: first_of(merged, leading)}).to_pylist()
        if text in EXTREME:
            of_all, of_first = (sorted(each, key=repr) for each in (of_all, of_first))
        assert of_first == of_all

    with closing(partial), closing(finish):
        check()


def _with_nulls(columns: dict[str, list[int]], length: int) -> pa.Table:
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(length, field.type)
        for field in SCHEMA
    ]
    return pa.table(arrays, schema=SCHEMA)
