"""Relations are shared by what statements read, and go when nothing refers to them."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from upstream.database.lent import LentRelation, LentRelations

SCHEMA = pa.schema({"v": pa.int64()})


@pytest.fixture
def lent(connection: duckdb.DuckDBPyConnection) -> LentRelations:
    return LentRelations(connection)


def views(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    return [name for (name,) in rows]


def values(connection: duckdb.DuckDBPyConnection, relation: LentRelation) -> list[int]:
    return [v for (v,) in connection.execute(f"SELECT v FROM {relation.name}").fetchall()]


def test_a_relation_has_the_rows_that_it_holds_at_the_moment(
    connection: duckdb.DuckDBPyConnection, lent: LentRelations
) -> None:
    relation = lent.lend(SCHEMA)
    assert values(connection, relation) == []
    relation.hold(pa.table({"v": [1, 2]}, SCHEMA))
    assert values(connection, relation) == [1, 2]
    relation.hold(None)
    assert values(connection, relation) == []


def test_a_relation_of_a_schema_is_lent_once(lent: LentRelations) -> None:
    first = lent.shared(SCHEMA, 0)
    assert lent.shared(pa.schema({"v": pa.int64()}), 0) is first
    assert lent.shared(SCHEMA, 1) is not first
    assert lent.shared(pa.schema({"v": pa.int32()}), 0) is not first
    assert lent.shared(SCHEMA.with_metadata({"of": "a frame"}), 0) is not first
    assert lent.lend(SCHEMA) is not first


def test_a_relation_without_references_is_taken_back(
    connection: duckdb.DuckDBPyConnection, lent: LentRelations
) -> None:
    first, second = lent.shared(SCHEMA, 0), lent.shared(SCHEMA, 1)
    assert views(connection) == [first.name, second.name]
    del first
    lent.sweep()
    assert views(connection) == [second.name]
    assert lent.shared(SCHEMA, 0).name != second.name


def test_what_is_taken_back_is_gone_however_long_it_is_referred_to(
    connection: duckdb.DuckDBPyConnection, lent: LentRelations
) -> None:
    relation = lent.lend(SCHEMA, "trades")
    relation.hold(pa.table({"v": [1]}, SCHEMA))
    assert views(connection) == ["trades"]
    lent.take_back(relation)
    assert views(connection) == []
    assert pa.table(relation.rows).num_rows == 0
    lent.take_back(relation)  # a second time is nothing


def test_what_is_shared_is_kept_to_the_end_of_the_outermost_block(
    connection: duckdb.DuckDBPyConnection, lent: LentRelations
) -> None:
    with lent.keeping():
        with lent.keeping():
            name = lent.shared(SCHEMA, 0).name
        lent.sweep()
        assert views(connection) == [name]
        assert lent.shared(SCHEMA, 0).name == name
    assert views(connection) == []


def test_what_is_known_is_known_within_a_block_only(lent: LentRelations) -> None:
    lent.kept.columns["a"] = ("a",), ("INTEGER",)
    assert lent.kept.columns == {}
    with lent.keeping():
        lent.kept.columns["a"] = ("a",), ("INTEGER",)
        assert "a" in lent.kept.columns
    assert lent.kept.columns == {}


def test_a_block_that_fails_keeps_nothing(
    connection: duckdb.DuckDBPyConnection, lent: LentRelations
) -> None:
    def failing() -> None:
        with lent.keeping():
            assert pa.table(lent.shared(SCHEMA, 0).rows).num_rows == 0
            raise ValueError("in it")

    with pytest.raises(ValueError, match="in it"):
        failing()
    assert views(connection) == []
