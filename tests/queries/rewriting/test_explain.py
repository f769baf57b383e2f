"""Explanations for people."""

from __future__ import annotations

from upstream.queries.duck import Duck

from .fixture_files import new_duck, parts_of


def _explained(sql: str) -> list[str]:
    duck: Duck = new_duck()
    try:
        return parts_of(sql, duck).splitlines()
    finally:
        duck.close()


def test_each_leaf_is_explained_by_its_rule_partial_and_merge() -> None:
    assert _explained("SELECT g, -sum(y) AS less FROM chunk_0 s GROUP BY g") == [
        "merged_0 from chunk_0: synchronous replication",
        '  partial: SELECT "s"."g" AS "__g0", SUM("s"."y") AS "__s0" FROM chunk_0 AS s GROUP BY 1',
        '  merge: __s0 = SUM("__s0")',
        'finish: SELECT "__g0" AS "g", -"__s0" AS "less" FROM merged_0',
    ]


def test_what_is_re_evaluated_says_why() -> None:
    lines = _explained("SELECT median(x) FROM chunk_0 s")
    assert lines[1] == '  re-evaluated because MEDIAN("s"."x") needs every value'


def test_a_finish_that_need_not_run_is_said_to_be_none() -> None:
    lines = _explained("SELECT g, sum(x) AS total FROM chunk_0 s GROUP BY g")
    assert lines[-1] == "finish: none, the result is merged_0: __g0 as g, __s0 as total"
