"""The tables from which views are finished follow the tables that they are made of."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.queries.setting import append
from upstream import Engine
from upstream.database.duck import Duck
from upstream.database.prepared import Prepared
from upstream.queries.evaluation import finish_tables
from upstream.queries.evaluation.finish_tables import FinishTables

LOOKED_UP = """
    SELECT name FROM names AS n WHERE kind = 'new' AND most < (
        SELECT sum(x) FROM bids AS b WHERE b.k = n.k)
"""


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.sql("CREATE TABLE names (k TEXT, name TEXT, kind TEXT, most BIGINT)")
    engine.sql("INSERT INTO names VALUES ('a', 'A', 'new', 2), ('b', 'B', 'old', 0)")
    return engine


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[FinishTables]:
    """The tables of each view that is created."""
    made: list[FinishTables] = []
    init = FinishTables.__init__

    def noted(self: FinishTables, *given: object) -> None:
        init(self, *given)  # type: ignore[arg-type]
        made.append(self)

    monkeypatch.setattr(FinishTables, "__init__", noted)
    return made


def names(engine: Engine) -> list[str]:
    return sorted(engine.sql("SELECT name FROM v")["name"].to_pylist())


def own_tables(engine: Engine) -> int:
    count = "SELECT count(*) FROM duckdb_tables() WHERE starts_with(table_name, '__static')"
    [(found,)] = engine._duck.rows(count)
    return int(found)


def test_changes_of_tables_are_seen_at_the_next_read(
    engine: Engine, made: list[FinishTables]
) -> None:
    engine.sql(f"CREATE VIEW v AS {LOOKED_UP}")
    [tables] = made
    append(engine, "bids", (1, 3, "a"), (2, 5, "b"), (3, 7, "c"))
    assert names(engine) == ["A"]
    engine.sql("UPDATE names SET kind = 'new'")
    assert names(engine) == ["A", "B"]
    engine.sql("UPDATE names SET most = 4")
    assert names(engine) == ["B"]
    engine.sql("INSERT INTO names VALUES ('c', 'C', 'new', 1), (NULL, 'none', 'new', 1)")
    append(engine, "bids", (4, 2, "a"))
    assert names(engine) == ["A", "B", "C"]
    engine.sql("DELETE FROM names")
    assert names(engine) == []
    assert tables.are_made()


def test_only_groups_that_are_looked_up_are_finished(
    engine: Engine, made: list[FinishTables], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.sql(f"CREATE VIEW v AS {LOOKED_UP}")
    [tables] = made
    append(engine, "bids", *((1, i, f"k{i}") for i in range(50)), (2, 5, "a"))
    names(engine)
    [relation] = tables.relations
    keys = tables.keys(relation)
    assert keys is not None
    assert keys.to_pydict() == {"__g0": ["a"]}
    ran: list[int] = []
    run = Prepared.run

    def noted(self: Prepared, **given: pa.Table) -> pa.Table:
        ran.extend(table.num_rows for name, table in given.items() if "partials" in name)
        return run(self, **given)

    monkeypatch.setattr(Prepared, "run", noted)
    append(engine, "bids", (3, 1, "a"))
    assert names(engine) == ["A"]
    assert ran == [1]


def test_many_keys_are_not_looked_up(
    engine: Engine, made: list[FinishTables], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finish_tables, "_MOST_KEYS", 0)
    engine.sql(f"CREATE VIEW v AS {LOOKED_UP}")
    [tables] = made
    append(engine, "bids", (1, 3, "a"))
    assert names(engine) == ["A"]
    assert tables.keys(*tables.relations) is None


def test_a_condition_that_fails_is_left_to_the_finish(
    engine: Engine, made: list[FinishTables]
) -> None:
    engine.sql(
        "CREATE VIEW v AS SELECT name FROM names AS n WHERE CAST(kind AS INT) > 0"
        " AND most < (SELECT sum(x) FROM bids AS b WHERE b.k = n.k)"
    )
    assert made == []
    engine.sql("UPDATE names SET kind = '1'")
    engine.sql(
        "CREATE OR REPLACE VIEW v AS SELECT name FROM names AS n WHERE CAST(kind AS INT) > 0"
        " AND most < (SELECT sum(x) FROM bids AS b WHERE b.k = n.k)"
    )
    [tables] = made
    append(engine, "bids", (1, 3, "a"))
    assert names(engine) == ["A"]
    engine.sql("UPDATE names SET kind = 'none' WHERE k = 'a'")
    assert not tables.are_made()
    with pytest.raises(Exception, match="Could not convert string 'none'"):
        names(engine)
    engine.sql("UPDATE names SET kind = '2' WHERE k = 'a'")
    assert names(engine) == ["A"]
    assert tables.are_made()


def test_the_tables_are_dropped_with_the_view(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW v AS {LOOKED_UP}")
    assert own_tables(engine) == 1
    engine.sql("DROP VIEW v")
    assert own_tables(engine) == 0


@pytest.mark.parametrize(
    ("source", "condition"),
    [
        ("names", "kind = 'new' AND current_date > DATE '2000-01-01'"),
        ("names", "kind COLLATE nocase = 'new'"),
        ("names", "own(kind)"),
        ("seen", "kind = 'new'"),
        ("sums", "most > 1"),
        ("(SELECT k AS name, x AS most FROM latest(asks) AS l) AS l", "most > 1"),
    ],
)
def test_what_may_change_without_a_statement_is_read_anew(
    engine: Engine, source: str, condition: str, made: list[FinishTables]
) -> None:
    engine.sql("CREATE VIEW seen AS SELECT * FROM names")
    engine.sql("CREATE MACRO own(kind) AS kind = 'new'")
    engine.sql("CREATE VIEW sums AS SELECT k AS name, sum(x) AS most FROM bids GROUP BY k")
    late = "most < (SELECT sum(s.most) FROM sums AS s)"
    engine.sql(f"CREATE VIEW v AS SELECT name FROM names WHERE kind = 'new' AND {late}")
    assert len(made) == 1
    made.clear()
    engine.sql(
        f"CREATE OR REPLACE VIEW v AS SELECT name FROM {source} WHERE {condition} AND {late}"
    )
    assert made == []


def test_an_interruption_leaves_no_tables(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FinishTables, "__init__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.sql(f"CREATE VIEW v AS {LOOKED_UP}")
    assert own_tables(engine) == 0


def test_tables_that_were_not_made_to_the_end_are_made_again(
    engine: Engine, made: list[FinishTables], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.sql(f"CREATE VIEW v AS {LOOKED_UP}")
    assert len(made) == 1
    append(engine, "bids", (1, 3, "a"), (1, 3, "b"))
    assert names(engine) == ["A"]
    engine.sql("UPDATE names SET kind = 'new'")
    drop = Duck.drop_own_table

    def interrupted(self: Duck, name: str) -> None:
        drop(self, name)
        raise KeyboardInterrupt

    monkeypatch.setattr(Duck, "drop_own_table", interrupted)
    with pytest.raises(KeyboardInterrupt):
        names(engine)
    monkeypatch.undo()
    assert names(engine) == ["A", "B"]
