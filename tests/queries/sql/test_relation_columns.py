"""Columns are followed through aliases, stars, unions and joins."""

from __future__ import annotations

import pytest
from sqlglot import exp

from upstream.queries.sql.relation_columns import (
    Relation,
    RelationColumn,
    equated,
    origins_of,
    united,
    without,
)

from .example_streams import select_of

K, V = frozenset({(0, "k")}), frozenset({(0, "v")})
COLUMNS = RelationColumn("k", K), RelationColumn("V", V)


def test_a_relation_that_is_not_known_may_have_any_column() -> None:
    known = Relation("t", COLUMNS, is_known=True)
    assert known.may_have("v")
    assert not known.may_have("w")
    assert Relation("t", COLUMNS).may_have("w")


def test_an_alias_renames_the_first_columns() -> None:
    found = Relation("", COLUMNS, is_known=True, number=0, filled=("k", "V")).renamed("t", ["a"])
    assert found.columns == (RelationColumn("a", K), RelationColumn("V", V))
    assert (found.alias, found.number, found.filled) == ("t", 0, ("a", "V"))


@pytest.mark.parametrize(
    ("star", "expected"),
    [
        ("*", [("k", K), ("V", V)]),
        ("* EXCLUDE (K)", [("V", V)]),
        ("* REPLACE (1 AS v)", [("k", K), ("V", frozenset())]),
        ("* RENAME (k AS a)", [("a", K), ("V", V)]),
    ],
)
def test_a_star_may_leave_out_and_change(star: str, expected: list[tuple[str, object]]) -> None:
    found = without(COLUMNS, select_of(f"SELECT {star} FROM t").selects[0])
    assert [(each.name, each.origins) for each in found] == expected


def test_a_union_has_the_origins_that_both_sides_have() -> None:
    right = Relation("", (RelationColumn("v", V), RelationColumn("k", K)), is_known=True)
    left = Relation("", COLUMNS, is_known=True)
    by_place = united(left, right, by_name=False)
    assert [each.origins for each in by_place.columns] == [K | V, K | V]
    assert united(left, right, by_name=True) == left
    short = united(left, Relation("", COLUMNS[:1]), by_name=False)
    assert [each.origins for each in short.columns] == [K, frozenset()]


@pytest.mark.parametrize(
    ("join", "expected"),
    [
        ("JOIN b ON a.k = b.k", K),
        ("JOIN b USING (k)", K),
        ("JOIN b ON true WHERE (a.k = b.k)", K),
        ("JOIN b ON x = 1 OR a.k = b.k", frozenset()),
        ("LEFT JOIN b ON a.k = b.k", frozenset()),
        ("JOIN b ON a.k = b.k + 1", frozenset()),
    ],
)
def test_columns_that_a_join_makes_equal_have_the_same_origins(join: str, expected: object) -> None:
    select = select_of(f"SELECT b.k FROM a {join}")
    relations = [Relation("a", COLUMNS), Relation("b", (RelationColumn("k"),))]
    found = equated(relations, select.args.get("where"), select.args["joins"])
    [column] = select.selects
    assert isinstance(column, exp.Column)
    assert origins_of(column, found) == expected
