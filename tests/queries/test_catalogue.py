"""The catalogue: what an engine has under names, and what reads what."""

from __future__ import annotations

import pytest

from upstream import Engine, ManualClock
from upstream.errors import NameTakenError, UnknownNameError
from upstream.queries.catalogue import Catalogue


def test_unnamed_queries_are_numbered() -> None:
    catalogue = Catalogue()
    assert catalogue.free_query_name(None) == "query-1"
    assert catalogue.free_query_name(None) == "query-2"


def test_an_unknown_query_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="query"):
        Catalogue().query("means")


def test_a_query_is_a_reader_of_its_streams_and_tables_until_it_is_closed() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM beats (n BIGINT)")
        engine.sql("CREATE TABLE names AS SELECT 1 AS n, 'one' AS name")
        catalogue = engine._catalogue
        query = engine.continuous_query(
            "SELECT name FROM beats JOIN names USING (n)", name="named beats"
        )
        assert catalogue.readers_of("beats") == ["named beats"]
        assert catalogue.readers_of_table("names") == ["named beats"]
        with pytest.raises(NameTakenError, match="named beats"):
            catalogue.free_query_name("named beats")
        query.close()
        assert catalogue.readers_of("beats") == catalogue.readers_of_table("names") == []
        assert catalogue.free_query_name("named beats") == "named beats"
