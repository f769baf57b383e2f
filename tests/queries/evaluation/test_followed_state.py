"""The states of a leaf follow rows together, or are built from the present rows together."""

from __future__ import annotations

from decimal import Decimal
from math import inf

import pytest

from upstream import Engine
from upstream.errors import QueryError
from upstream.queries.evaluation.changing_leaf import ChangeableLeaf
from upstream.queries.evaluation.followed_state import FollowedFirstRows, FollowedGroups

from .followed_views import NAMES, STREAM, feed, leaves


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.sql(f"CREATE STREAM s {STREAM}")
    engine.create_table("names", NAMES)
    return engine


def leaf_of(engine: Engine) -> ChangeableLeaf:
    [leaf] = leaves(engine)
    assert isinstance(leaf, ChangeableLeaf)
    return leaf


def built(engine: Engine) -> bool:
    return leaf_of(engine)._built is not None


def test_sums_and_extremes_share_their_groups(engine: Engine) -> None:
    engine.sql(
        "CREATE VIEW v AS SELECT g, count(*) AS n, max(x) AS m, sum(f) AS a, avg(i) AS e"
        " FROM latest(s) AS s GROUP BY g"
    )
    assert isinstance(leaf_of(engine)._state, FollowedGroups)
    feed(
        engine,
        {"time": 1, "k": "p", "g": "a", "x": 5, "f": 0.5, "i": 1},
        {"time": 1, "k": "q", "g": None, "x": None, "f": None, "i": 2},
        {"time": 1, "k": "r", "g": "a", "x": 7, "f": 0.25, "i": 4},
    )
    assert sorted(engine.sql("FROM v").to_pylist(), key=repr) == [
        {"g": "a", "n": 2, "m": 7, "a": 0.75, "e": 2.5},
        {"g": None, "n": 1, "m": None, "a": None, "e": 2.0},
    ]
    feed(engine, {"time": 2, "k": "r", "g": None, "x": 1, "f": 2.0, "i": None})
    assert sorted(engine.sql("FROM v").to_pylist(), key=repr) == [
        {"g": "a", "n": 1, "m": 5, "a": 0.5, "e": 1.0},
        {"g": None, "n": 2, "m": 1, "a": 2.0, "e": 2.0},
    ]


@pytest.mark.parametrize(
    ("query", "described"),
    [
        ("SELECT g, sum(i) AS a FROM latest(s) AS s GROUP BY g", "are subtracted"),
        ("SELECT g, sum(f) AS a FROM latest(s) AS s GROUP BY g", "sums of doubles are kept"),
        ("SELECT g, max(i) AS a FROM latest(s) AS s GROUP BY g", "first rows of each group"),
        ("SELECT k FROM latest(s) AS s ORDER BY x LIMIT 3", "the first rows of all are kept"),
    ],
)
def test_a_state_describes_how_it_follows(engine: Engine, query: str, described: str) -> None:
    engine.sql(f"CREATE VIEW v AS {query}")
    assert described in leaf_of(engine).describe()


def test_a_view_without_groups_is_null_when_all_rows_are_gone(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT max(x) AS m, sum(f) AS a FROM latest(s) AS s")
    assert engine.sql("FROM v").to_pylist() == [{"m": None, "a": None}]
    feed(engine, {"time": 1, "k": "p", "x": 5, "f": 0.5})
    assert engine.sql("FROM v").to_pylist() == [{"m": 5, "a": 0.5}]
    engine.sql("DELETE FROM s")
    assert engine.sql("FROM v").to_pylist() == [{"m": None, "a": None}]


def test_a_state_that_cannot_follow_lets_all_be_evaluated_until_it_can(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT max(x) AS m, sum(f) AS a FROM latest(s) AS s")
    feed(engine, {"time": 1, "k": "p", "x": 5, "f": 0.5})
    engine.sql("FROM v")
    assert built(engine)
    feed(engine, {"time": 1, "k": "q", "x": 9, "f": 1.5e308})
    assert engine.sql("FROM v").to_pylist() == [{"m": 9, "a": 1.5e308}]
    assert not built(engine)
    feed(engine, {"time": 2, "k": "q", "x": 4, "f": inf})
    assert engine.sql("FROM v").to_pylist() == [{"m": 5, "a": inf}]
    assert built(engine)
    engine.delete("s", {"k": ["q"]})
    assert engine.sql("FROM v").to_pylist() == [{"m": 5, "a": 0.5}]


def test_an_error_of_the_query_lasts_as_long_as_its_row(engine: Engine) -> None:
    for number, query in enumerate(
        (
            "SELECT max(note::INT) AS a FROM latest(s) AS s",
            "SELECT note::INT AS a FROM latest(s) AS s ORDER BY a DESC LIMIT 1",
            "SELECT sum(note::DOUBLE)::INT AS a FROM latest(s) AS s WHERE note <> '1'",
        )
    ):
        engine.sql(f"CREATE OR REPLACE VIEW v AS {query}")
        time = 10 * number
        feed(engine, {"time": time, "k": "p", "note": "1"}, {"time": time, "k": "q", "note": "2"})
        assert engine.sql("FROM v").to_pylist() == [{"a": 2}]
        feed(engine, {"time": time + 1, "k": "p", "note": "x"})
        for _ in range(2):
            with pytest.raises(QueryError, match="'x'"):
                engine.sql("FROM v")
        feed(engine, {"time": time + 2, "k": "p", "note": "1"})
        assert engine.sql("FROM v").to_pylist() == [{"a": 2}]


def test_a_filter_protects_extremes_from_values_that_fail(engine: Engine) -> None:
    engine.sql(
        "CREATE VIEW v AS SELECT max(note::INT) FILTER (note <> 'x') AS a FROM latest(s) AS s"
    )
    feed(engine, {"time": 1, "k": "p", "note": "x"}, {"time": 1, "k": "q", "note": "2"})
    assert engine.sql("FROM v").to_pylist() == [{"a": 2}]


def test_first_rows_are_kept_of_groups_that_expressions_make(engine: Engine) -> None:
    engine.sql(
        "CREATE VIEW v AS SELECT k, d FROM latest(s) AS s QUALIFY"
        " row_number() OVER (PARTITION BY i % 2, upper(g) ORDER BY d) = 1"
    )
    assert isinstance(leaf_of(engine)._state, FollowedFirstRows)
    feed(
        engine,
        {"time": 1, "k": "p", "g": "a", "i": 1, "d": Decimal("2.50")},
        {"time": 1, "k": "q", "g": "A", "i": 3, "d": Decimal("1.50")},
        {"time": 1, "k": "r", "g": "a", "i": 2, "d": None},
    )
    assert engine.sql("SELECT k FROM v ORDER BY k")["k"].to_pylist() == ["q", "r"]
    engine.delete("s", {"k": ["q"]})
    assert engine.sql("SELECT k FROM v ORDER BY k")["k"].to_pylist() == ["p", "r"]


def test_all_rows_meet_a_table_again_when_it_has_changed(engine: Engine) -> None:
    engine.sql(
        "CREATE VIEW v AS SELECT max(i * v) AS a FROM latest(s) AS s JOIN names ON names.g = s.g"
    )
    feed(engine, {"time": 1, "k": "p", "g": "a", "i": 5})
    assert engine.sql("FROM v").to_pylist() == [{"a": 5}]
    engine.sql("UPDATE names SET v = 3 WHERE g = 'a'")
    feed(engine, {"time": 2, "k": "q", "g": "a", "i": 1})
    assert engine.sql("FROM v").to_pylist() == [{"a": 15}]
