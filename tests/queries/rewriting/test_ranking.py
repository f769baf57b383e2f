"""The queries that put rows in order, and read the first rows of groups again."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.ranking import PLACE, WANTED, Ranking
from upstream.queries.rewriting.relations import PARTIALS
from upstream.queries.sql.lending import answer_once
from upstream.queries.sql.names import STEP

from .fixture_files import split_of
from .static_tables import LENT, WINDOWS
from .test_changing import made_of

COUNT = 9
ROWS = pa.table(
    {
        "g": ["a", "b", None] * 3,
        "k": [3, 3, 1, 2, 3, 1, 1, 9, 1],
        "x": [1, 2, 3, None, 2, 3, 5, 2, 7],
    }
)
NUMBERED = (
    pa.table(
        {
            field.name: (
                ROWS[field.name] if field.name in ROWS.column_names else pa.nulls(COUNT, field.type)
            )
            for field in LENT.schema
        }
    )
    .cast(LENT.schema)
    .append_column(STEP, pa.array(range(10, 10 + COUNT)))
)
ORDERED: dict[str, dict[object, list[int]]] = {
    "SELECT g, max(x) AS a FROM chunk_0 s GROUP BY g": {"a": [16], "b": [11, 14], None: [18, 12]},
    "SELECT g, min(k) AS a FROM chunk_0 s GROUP BY g": {
        "a": [16, 13],
        "b": [11, 14],
        None: [12, 15],
    },
    "SELECT DISTINCT ON (g) g, k FROM chunk_0 s ORDER BY g, k DESC, x": {
        "a": [10],
        "b": [17],
        None: [12],
    },
    "SELECT max(k) AS a FROM chunk_0 s": {"": [17, 10]},
    "SELECT k, x FROM chunk_0 s ORDER BY x NULLS FIRST, k LIMIT 2": {"": [13, 10]},
}
"""Queries, and the numbers of the rows that come first in each group."""


def ranking_of(sql: str, tables: Duck) -> Ranking:
    [leaf] = split_of(sql, tables, WINDOWS).leaves
    if leaf.ranking is not None:
        return leaf.ranking
    made = made_of(leaf)
    assert made is not None
    [ranking] = made.rankings
    return ranking


@pytest.mark.parametrize("sql", ORDERED)
def test_the_first_rows_of_each_group_are_read(sql: str, tables: Duck) -> None:
    ranking = ranking_of(sql, tables)
    expected = ORDERED[sql]
    count = max(map(len, expected.values()))
    rows = answer_once(tables, ranking.rows, sql, {"chunk_0": NUMBERED})
    group_of = dict(zip(rows[STEP].to_pylist(), groups_in(rows, ranking), strict=True))
    for wanted in ([*expected], [*expected][:1]):
        lent = {"chunk_0": NUMBERED}
        if ranking.groups:
            lent[WANTED] = pa.table({ranking.groups[0]: pa.array(wanted, pa.string())})
        query = ranking.first_rows(count, of_wanted=len(wanted) == 1)
        found = answer_once(tables, query, sql, lent)
        numbers: dict[object, list[int]] = {group: [] for group in wanted}
        for number in found[STEP].to_pylist():
            numbers[group_of[number]].append(number)
        assert {g: {*found} >= {*expected[g]} for g, found in numbers.items()} == dict.fromkeys(
            wanted, True
        )
        assert all(len(each) <= count for each in numbers.values())


def groups_in(rows: pa.Table, ranking: Ranking) -> list[object]:
    if not ranking.groups:
        return [""] * rows.num_rows
    groups: list[object] = rows[ranking.groups[0]].to_pylist()
    return groups


@pytest.mark.parametrize("sql", ORDERED)
def test_rows_are_put_in_order_and_equal_ones_by_number(sql: str, tables: Duck) -> None:
    ranking = ranking_of(sql, tables)
    rows = answer_once(tables, ranking.rows, sql, {"chunk_0": NUMBERED})
    if ranking.known is not None:
        rows = rows.filter(rows[ranking.known].is_valid())
    backwards = rows.take(list(reversed(range(rows.num_rows))))
    partials = backwards.append_column(PLACE, pa.array(range(rows.num_rows)))
    places = answer_once(tables, ranking.in_order(), sql, {PARTIALS: partials}).column(0)
    in_order = backwards.take(places.combine_chunks())
    groups = groups_in(in_order, ranking)
    for group, numbers in ORDERED[sql].items():
        of_group = [
            number
            for number, each in zip(in_order[STEP].to_pylist(), groups, strict=True)
            if each == group
        ]
        assert of_group[: len(numbers)] == numbers
