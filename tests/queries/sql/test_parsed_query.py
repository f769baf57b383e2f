"""A parsed query is a value: text, tree and windows."""

from __future__ import annotations

import pytest

from upstream.queries.sql import ParsedQuery, read_query

from .example_streams import STREAMS


def test_a_query_that_is_read_twice_is_the_same() -> None:
    text = "SELECT symbol, avg(price) FROM rows(trades, 10, 5) GROUP BY symbol"
    first, second = read_query(text, STREAMS), read_query(text, STREAMS)
    assert first == second
    assert first != read_query(text.replace("5", "2"), STREAMS)


def test_a_parsed_query_cannot_be_changed() -> None:
    parsed = read_query("SELECT 1", {})
    assert parsed == ParsedQuery("SELECT 1", parsed.query, ())
    with pytest.raises(AttributeError):
        parsed.windows = ()  # type: ignore[misc]  # that is the mistake


def test_a_parsed_query_says_which_tables_it_is_lent() -> None:
    text = "SELECT b.window_end FROM rows(news, 3) a JOIN tumble(ticks, 10) b ON true"
    parsed = read_query(text, STREAMS)
    assert parsed.bounds == {1}
    assert {name: schema.names for name, schema in parsed.schemas(STREAMS).items()} == {
        "chunk_0": ["k", "text"],
        "chunk_1": ["tick", "sensor"],
        "bounds_1": ["window_start", "window_end"],
    }
