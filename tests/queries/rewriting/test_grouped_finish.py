"""The finish of grouped aggregates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from upstream.database.duck import Duck

from .fixture_files import new_duck, parts_of
from .rule_contract import RuleContract


class TestGroupingSets(RuleContract):
    rule = "grouping_sets"


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    duck = new_duck()
    yield duck
    duck.close()


def finish_of(sql: str, duck: Duck) -> str:
    return parts_of(sql, duck).splitlines()[-1]


def test_of_each_group_one_row_is_read(duck: Duck) -> None:
    finish = finish_of("SELECT g, sum(y) + 1 AS s FROM chunk_0 s GROUP BY g", duck)
    assert finish == 'finish: SELECT "__g0" AS "g", "__s0" + 1 AS "s" FROM merged_0'


def test_without_groups_it_aggregates_once_more_so_that_no_row_is_a_row(duck: Duck) -> None:
    finish = finish_of("SELECT count(*) AS n FROM chunk_0 s", duck)
    assert finish == (
        'finish: SELECT COALESCE(CAST(SUM("__s0") AS BIGINT), 0) AS "n" FROM merged_0'
    )


def test_having_over_groups_is_a_condition_on_rows(duck: Duck) -> None:
    finish = finish_of("SELECT g FROM chunk_0 s GROUP BY g HAVING sum(y) > 1", duck)
    assert finish.endswith('FROM merged_0 WHERE "__s0" > 1')
