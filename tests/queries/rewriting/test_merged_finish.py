"""The finish reads other relations under the names that it has for its leaves."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from upstream.queries.rewriting.merged_finish import Merged, finish_over


def query(text: str) -> exp.Query:
    found = parse_one(text, dialect="duckdb")
    assert isinstance(found, exp.Query)
    return found


MERGE = "SELECT __g0, SUM(__s0) AS __s0 FROM partials GROUP BY __g0"
OVER_P_0 = MERGE.replace("partials", '"p_0"')


@pytest.mark.parametrize(
    ("finish", "merge", "expected"),
    [
        ("SELECT __s0 FROM merged_0", None, 'SELECT __s0 FROM p_0 AS "merged_0"'),
        ("SELECT m.__s0 FROM merged_0 AS m", None, "SELECT m.__s0 FROM p_0 AS m"),
        ("SELECT __s0 FROM other", None, "SELECT __s0 FROM other"),
        ("SELECT __s0 FROM db.merged_0", None, "SELECT __s0 FROM db.merged_0"),
        (
            "SELECT __s0 FROM merged_0",
            MERGE,
            f'SELECT __s0 FROM ({OVER_P_0}) AS "merged_0"',
        ),
    ],
    ids=["a table", "with an alias", "another table", "of a schema", "with its merge"],
)
def test_what_a_leaf_gives_takes_the_place_of_its_relation(
    finish: str, merge: str | None, expected: str
) -> None:
    tree = query(finish)
    merged = {"merged_0": Merged("p_0", None if merge is None else query(merge))}
    assert finish_over(merged, tree).sql("duckdb") == expected
    assert tree.sql("duckdb") == finish


def test_a_merge_stays_as_it_is_for_the_next_finish() -> None:
    merge = query(MERGE)
    for _ in range(2):
        finish_over({"merged_0": Merged("p_0", merge)}, query("SELECT __s0 FROM merged_0"))
    assert merge.sql("duckdb") == MERGE
