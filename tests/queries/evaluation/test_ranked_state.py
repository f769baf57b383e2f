"""Extremes and first rows follow newest rows, and groups are read again when none are left."""

from __future__ import annotations

from math import inf, nan

import pytest

from upstream import Engine
from upstream.queries.evaluation import ranked_state
from upstream.queries.evaluation.changing_leaf import ChangeableLeaf

from .followed_views import NAMES, STREAM, feed, leaves


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.sql(f"CREATE STREAM s {STREAM}")
    engine.create_table("names", NAMES)
    return engine


@pytest.fixture(autouse=True)
def _few_spare_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranked_state, "SPARE", 1)
    monkeypatch.setattr(ranked_state, "SPARE_WITHOUT_GROUPS", 1)


def read_again(engine: Engine) -> int:
    [leaf] = leaves(engine)
    assert isinstance(leaf, ChangeableLeaf)
    return leaf.groups_read_again


def test_a_group_is_read_again_when_none_of_its_kept_rows_are_left(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT g, max(x) AS a FROM latest(s) AS s GROUP BY g")
    feed(engine, *({"time": 1, "k": f"{g}{n}", "g": g, "x": n} for n in range(6) for g in "ab"))
    assert engine.sql("FROM v ORDER BY g").to_pylist() == [{"g": "a", "a": 5}, {"g": "b", "a": 5}]
    found = []
    for n in range(5, 0, -1):
        engine.delete("s", {"k": [f"a{n}"]})
        found.append(
            (*engine.sql("SELECT a FROM v ORDER BY g")["a"].to_pylist(), read_again(engine))
        )
    assert found == [(4, 5, 0), (3, 5, 1), (2, 5, 1), (1, 5, 2), (0, 5, 2)]
    engine.delete("s", {"k": ["a0"]})
    assert engine.sql("FROM v").to_pylist() == [{"g": "b", "a": 5}]


def test_a_row_that_becomes_worse_makes_room_for_the_next(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT k, x FROM latest(s) AS s ORDER BY x DESC LIMIT 2")
    feed(engine, *({"time": 1, "k": f"{n}", "x": n} for n in range(9)))
    assert engine.sql("SELECT x FROM v")["x"].to_pylist() == [8, 7]
    for time, expected in enumerate(([7, 6], [6, 5], [5, 4]), 2):
        feed(engine, {"time": time, "k": f"{10 - time}", "x": -time})
        assert engine.sql("SELECT x FROM v")["x"].to_pylist() == expected
    assert read_again(engine) == 1


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("f", [-inf, -1.5, 0.0, 2.5, inf, nan]),
        ("note", ["", "10", "9", "a", "aa", "é"]),
        ("d", ["-99999999.99", "-0.01", "0.00", "0.01", "5.00", "99999999.99"]),
        ("day", ["1969-12-31", "1970-01-01", "2026-01-01", "2026-01-02", "2026-01-03", None]),
        ("b", [False, False, False, True, True, None]),
        ("x", [-(2**63), -1, 0, 1, 2**63 - 1, None]),
    ],
)
@pytest.mark.parametrize("name", ["min", "max"])
def test_values_leave_from_either_end_of_the_order_of_duckdb(
    engine: Engine, name: str, column: str, values: list[object]
) -> None:
    call = {"bmin": "bool_and", "bmax": "bool_or"}.get(column + name, name)
    engine.sql(f"CREATE VIEW v AS SELECT {call}({column}) AS a FROM latest(s) AS s")
    for time, value in enumerate(values):
        text = "NULL" if value is None else f"'{value}'"
        engine.sql(f"INSERT INTO s (time, k, {column}) VALUES (1, '{time}', {text})")
    assert read_again(engine) == 0
    places = range(len(values))
    for place in places if name == "min" else reversed(places):
        expected = engine.sql(f"SELECT {call}({column}) AS a FROM latest(s) AS s").to_pylist()
        assert repr(engine.sql("FROM v").to_pylist()) == repr(expected)
        engine.delete("s", {"k": [f"{place}"]})
    assert engine.sql("FROM v").to_pylist() == [{"a": None}]


def test_values_chosen_by_one_column_are_of_the_same_row(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT arg_max(k, x) AS k, arg_max(i, x) AS i FROM latest(s) AS s")
    feed(engine, *({"time": 1, "k": f"{n}", "x": 7, "i": n} for n in range(6)))
    for n in range(6):
        assert engine.sql("FROM v").to_pylist() == [{"k": f"{n}", "i": n}]
        engine.delete("s", {"k": [f"{n}"]})


def test_texts_with_a_collation_are_evaluated_when_the_view_is_read(engine: Engine) -> None:
    for query in (
        "SELECT max(note COLLATE NOCASE) AS a FROM latest(s) AS s",
        "SELECT DISTINCT ON (note COLLATE NOCASE) note FROM latest(s) AS s ORDER BY x",
    ):
        engine.sql(f"CREATE OR REPLACE VIEW v AS {query}")
        assert not any(isinstance(leaf, ChangeableLeaf) for leaf in leaves(engine))
