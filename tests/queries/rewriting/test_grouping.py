"""What a SELECT groups by, and whether it aggregates."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.grouping import (
    check_items,
    contains_aggregate,
    group_expressions,
    has_aggregates,
    has_sets,
)
from upstream.queries.rewriting.not_incremental import NotIncrementalError
from upstream.queries.sql.functions import Functions, functions_of
from upstream.queries.sql.trees import key

from ..parsed import select_of


@pytest.fixture(scope="module")
def functions(shared_duck: Duck) -> Functions:
    return functions_of(shared_duck)


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("SELECT sum(x) FROM s", []),
        ("SELECT g FROM s GROUP BY g, (h)", ["g", "h"]),
        ("SELECT x + 1 AS y, g FROM s GROUP BY 2, 1", ["g", "x + 1"]),
        ("SELECT g, sum(x), h, rank() OVER () FROM s GROUP BY ALL", ["g", "h"]),
        ("SELECT g FROM s GROUP BY ROLLUP (g, h)", ["g", "h"]),
        ("SELECT g FROM s GROUP BY GROUPING SETS ((g, h), (g), ())", ["g", "h", "g"]),
    ],
)
def test_numbers_sets_and_all_are_written_out(
    functions: Functions, text: str, groups: list[str]
) -> None:
    assert [key(group) for group in group_expressions(select_of(text), functions)] == groups


@pytest.mark.parametrize(
    ("text", "aggregates"),
    [
        ("SELECT x FROM s", False),
        ("SELECT 1 + sum(x) FROM s", True),
        ("SELECT x FROM s HAVING max(x) > 1", True),
        ("SELECT x FROM s ORDER BY count(*)", True),
        ("SELECT sum(x) OVER () FROM s", False),
        ("SELECT sum(sum(x)) OVER () FROM s", True),
        ("SELECT (SELECT max(x) FROM t) FROM s", False),
    ],
)
def test_an_aggregate_anywhere_above_from_counts_unless_it_is_a_window_function(
    functions: Functions, text: str, aggregates: bool
) -> None:
    assert has_aggregates(select_of(text), functions) is aggregates


def test_a_condition_may_contain_an_aggregate(functions: Functions) -> None:
    [item] = select_of("SELECT CASE WHEN sum(x) > 1 THEN 2 END").expressions
    assert contains_aggregate(item, functions)


def test_rollup_and_the_like_are_sets() -> None:
    for sets in ("ROLLUP (g)", "CUBE (g)", "GROUPING SETS ((g))"):
        assert has_sets(select_of(f"SELECT 1 FROM s GROUP BY {sets}"))
    assert not has_sets(select_of("SELECT 1 FROM s GROUP BY g"))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT unnest(a), unnest(b) FROM s",
        "SELECT g, unnest(a) FROM s GROUP BY 1",
        "SELECT g, unnest(a) FROM s GROUP BY ALL",
        "SELECT g, unnest(a) FROM s ORDER BY 2",
    ],
)
def test_items_of_several_columns_are_refused_where_it_is_not_clear_which(text: str) -> None:
    with pytest.raises(NotIncrementalError, match="several"):
        check_items(select_of(text), ("a", "b", "c"))


def test_one_item_may_make_several_columns() -> None:
    check_items(select_of("SELECT g, unnest(max(a)) FROM s GROUP BY g ORDER BY g"), ("g", "a", "b"))
    check_items(select_of("SELECT g, count(*) FROM s GROUP BY 1"), ("g", "n"))
