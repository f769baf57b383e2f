"""What a name in FROM stands for: its columns, and the window that it is or hands on."""

from __future__ import annotations

import pytest
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.queries.sql.from_relations import FromRelations, Relation, is_star, made_up
from upstream.queries.sql.source_text import SourceText

from .example_streams import STREAMS, window_of

WINDOWS = (window_of("tumble(ticks, 10)"), window_of("latest(news)"), window_of("rows(ticks, 9)"))
TICKS = frozenset({"tick", "sensor"})


def select_of(text: str) -> exp.Select:
    select = SourceText(text).statement()
    assert isinstance(select, exp.Select)
    return select


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("chunk_0 AS T", Relation("t", TICKS, 0, ("sensor", "tick"))),
        ("chunk_0 t(a)", Relation("t", frozenset({"a", "sensor"}), 0, ("sensor", "a"))),
        ("chunk_1 n", Relation("n", frozenset({"k", "text"}), 1, ("k",))),
        ("companies c", Relation("c", frozenset({"symbol", "company"}))),
        ("companies c(s)", Relation("c", frozenset({"symbol", "company", "s"}))),
        ("nowhere", Relation("nowhere", None)),
        ("main.chunk_0 m", Relation("m", None)),
        ("range(3) r", Relation("r", None)),
        ("(SELECT 1 AS a, max(b), c FROM companies) q", Relation("q", frozenset({"a", "c"}))),
        ("(SELECT * FROM nowhere) q", Relation("q", None)),
        ("(SELECT COLUMNS('.*') FROM chunk_0) q", Relation("q", None)),
        ("(SELECT * FROM chunk_0) q", Relation("q", TICKS, 0, ("sensor", "tick"))),
        ("(SELECT * FROM (SELECT * FROM chunk_0)) q", Relation("q", TICKS, 0, ("sensor", "tick"))),
        ("(SELECT * EXCLUDE (tick) FROM chunk_0) q", Relation("q", TICKS, 0)),
        ("(SELECT *, 1 AS b FROM chunk_0) q", Relation("q", TICKS | {"b"}, 0)),
        ("(SELECT x.* FROM chunk_0 x, companies) q", Relation("q", TICKS, 0)),
        (
            "(SELECT c.* FROM chunk_0 x, companies c) q",
            Relation("q", frozenset({"symbol", "company"})),
        ),
        ("(SELECT * FROM chunk_0) q(a)", Relation("q", TICKS | {"a"})),
        ("(SELECT * FROM chunk_0 UNION ALL SELECT * FROM chunk_2) q", Relation("q", TICKS)),
        ("(SELECT * FROM chunk_0 a, chunk_2 b) q", Relation("q", TICKS)),
        ("(SELECT * FROM chunk_1) q", Relation("q", frozenset({"k", "text"}))),
        ("(SELECT * FROM companies LEFT JOIN chunk_0 x ON true) q", None),
        ("(SELECT tick FROM chunk_0 GROUP BY tick) q", Relation("q", frozenset({"tick"}))),
        (
            "(SELECT * RENAME (tick AS window_end) FROM chunk_0) q",
            Relation("q", TICKS | {"window_end"}, 0),
        ),
    ],
)
def test_a_relation_has_columns_and_perhaps_a_window(
    relation: str, expected: Relation | None, duck: Duck
) -> None:
    definitions = [STREAMS[window.stream] for window in WINDOWS]
    [found] = FromRelations(WINDOWS, definitions, duck).of(select_of(f"SELECT 1 FROM {relation}"))
    expected = expected or Relation("q", TICKS | {"symbol", "company"})
    assert found == expected


def test_a_common_table_is_a_relation_under_its_name(duck: Duck) -> None:
    definitions = [STREAMS[window.stream] for window in WINDOWS]
    relations = FromRelations(WINDOWS, definitions, duck)
    select = select_of("WITH c AS (SELECT * FROM chunk_0), d(x) AS (FROM c) SELECT 1 FROM c, d")
    assert relations.of(select) == [
        Relation("c", TICKS, 0, ("sensor", "tick")),
        Relation("d", TICKS | {"x"}),
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


@pytest.mark.parametrize(
    ("item", "expected"), [("*", True), ("t.*", True), ("count(*)", False), ("a", False)]
)
def test_a_star_is_all_columns(item: str, expected: bool) -> None:
    assert is_star(select_of(f"SELECT {item} FROM t").selects[0]) is expected
