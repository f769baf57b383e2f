"""A name in FROM stands for columns, and for the window that it is or passes on."""

from __future__ import annotations

import pytest
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.queries.sql.from_relations import FromRelations, made_up
from upstream.queries.sql.relation_columns import Relation

from .example_streams import STREAMS, select_of, window_of

WINDOWS = (window_of("tumble(ticks, 10)"), window_of("latest(news)"), window_of("rows(ticks, 9)"))
TICKS = frozenset({"tick", "sensor"})
FILLED = ("sensor", "tick")


def described(relation: Relation) -> tuple[object, ...]:
    """Return its alias, its columns if all are known, and the window that it is or hands on."""
    names = frozenset(each.name.lower() for each in relation.columns if each.name)
    window = () if relation.number is None else (relation.number, relation.filled)
    return (relation.alias, names if relation.is_known else None, *window)


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("chunk_0 AS T", ("t", TICKS, 0, FILLED)),
        ("chunk_0 t(a)", ("t", {"a", "sensor"}, 0, ("sensor", "a"))),
        ("chunk_1 n", ("n", {"k", "text"}, 1, ("k",))),
        ("companies c", ("c", {"symbol", "company"})),
        ("companies c(s)", ("c", {"company", "s"})),
        ("nowhere", ("nowhere", None)),
        ("main.chunk_0 m", ("m", None)),
        ("range(3) r", ("r", None)),
        ("(SELECT 1 AS a, max(b), c FROM companies) q", ("q", {"a", "c"})),
        ("(SELECT * FROM nowhere) q", ("q", None)),
        ("(SELECT COLUMNS('.*') FROM chunk_0) q", ("q", None)),
        ("(SELECT * FROM chunk_0) q", ("q", TICKS, 0, FILLED)),
        ("(SELECT * FROM (SELECT * FROM chunk_0)) q", ("q", TICKS, 0, FILLED)),
        ("(SELECT * EXCLUDE (tick) FROM chunk_0) q", ("q", {"sensor"}, 0, ())),
        ("(SELECT *, 1 AS b FROM chunk_0) q", ("q", TICKS | {"b"}, 0, ())),
        ("(SELECT x.* FROM chunk_0 x, companies) q", ("q", TICKS, 0, ())),
        ("(SELECT c.* FROM chunk_0 x, companies c) q", ("q", {"symbol", "company"})),
        ("(SELECT * FROM chunk_0) q(a)", ("q", {"a", "sensor"})),
        ("(SELECT * FROM chunk_0 UNION ALL SELECT * FROM chunk_2) q", ("q", TICKS)),
        (
            "(SELECT * FROM chunk_0 UNION ALL BY NAME FROM chunk_1) q",
            ("q", TICKS | {"k", "text"}),
        ),
        ("(SELECT * FROM chunk_0 a, chunk_2 b) q", ("q", TICKS)),
        ("(SELECT * FROM chunk_1) q", ("q", {"k", "text"})),
        (
            "(SELECT * FROM companies LEFT JOIN chunk_0 x ON true) q",
            ("q", TICKS | {"symbol", "company"}),
        ),
        ("(SELECT tick FROM chunk_0 GROUP BY tick) q", ("q", {"tick"})),
        (
            "(SELECT * RENAME (tick AS window_end) FROM chunk_0) q",
            ("q", {"sensor", "window_end"}, 0, ()),
        ),
    ],
)
def test_a_relation_has_columns_and_perhaps_a_window(
    relation: str, expected: tuple[object, ...], duck: Duck
) -> None:
    definitions = [STREAMS[window.stream] for window in WINDOWS]
    [found] = FromRelations(WINDOWS, definitions, duck).of(select_of(f"SELECT 1 FROM {relation}"))
    assert described(found) == expected


def test_a_common_table_is_a_relation_under_its_name(duck: Duck) -> None:
    definitions = [STREAMS[window.stream] for window in WINDOWS]
    relations = FromRelations(WINDOWS, definitions, duck)
    select = select_of("WITH c AS (SELECT * FROM chunk_0), d(x) AS (FROM c) SELECT 1 FROM c, d")
    assert [described(each) for each in relations.of(select)] == [
        ("c", TICKS, 0, FILLED),
        ("d", {"x", "sensor"}),
    ]
    assert [relations.has_bounds(each) for each in relations.of(select)] == [True, False]


@pytest.mark.parametrize(
    ("joins", "expected"),
    [
        ("a, b JOIN c ON true", set()),
        ("a LEFT JOIN b ON true", {"b"}),
        ("a RIGHT JOIN b ON true JOIN c ON true", {"a"}),
        ("a JOIN b ON true FULL JOIN c ON true", {"a", "b", "c"}),
        ("(a LEFT JOIN b ON true)", {"a", "b"}),
    ],
)
def test_rows_of_the_outer_sides_of_joins_may_be_made_up(joins: str, expected: set[str]) -> None:
    assert made_up(select_of(f"SELECT 1 FROM {joins}")) == expected


def test_in_the_condition_of_a_join_its_own_rows_are_there() -> None:
    select = select_of("SELECT 1 FROM a LEFT JOIN b ON b.x LEFT JOIN c ON c.x")
    places = [made_up(select, each) for each in select.find_all(exp.Column)]
    assert sorted(map(sorted, places)) == [[], ["b"]]


def test_an_expression_that_calls_itself_has_columns_that_are_not_known() -> None:
    text = "WITH RECURSIVE r AS (SELECT * FROM r a, r b) SELECT 1 FROM r"
    [found] = FromRelations((), (), None).of(select_of(text))
    assert described(found) == ("r", None)
