"""Who writes what other engines read is told what to write here."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.errors import QueryError, QuerySyntaxError
from upstream.queries.sql import check, parse, read_query
from upstream.queries.sql.foreign_forms import foreign_form
from upstream.queries.sql.source_text import SourceText

from .example_streams import STREAMS, shown


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(time), INTERVAL '1' HOUR))",
            "TUMBLE(",
            r"FROM tumble\(trades, INTERVAL",
        ),
        (
            "SELECT * FROM hop(DATA => TABLE trades, TIMECOL => DESCRIPTOR(time))",
            "hop(",
            r"FROM hop\(trades, INTERVAL",
        ),
        (
            "SELECT * FROM hop(TABLE trades, DESCRIPTOR(time), INTERVAL '1' HOUR)",
            "hop(",
            r"FROM hop\(trades, INTERVAL",
        ),
        (
            "SELECT symbol FROM trades WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY symbol EMIT CHANGES",
            "WINDOW",
            r"FROM tumble\(trades, INTERVAL",
        ),
        (
            "SELECT symbol FROM trades WINDOW HOPPING (SIZE 2 DAYS, ADVANCE BY 1 DAY)",
            "WINDOW",
            r"FROM hop\(trades, INTERVAL",
        ),
        ("SELECT symbol FROM trades EMIT CHANGES", "EMIT", r"continuous_query\(\)"),
        ("SELECT symbol FROM trades GROUP BY symbol EMIT FINAL", "EMIT", "leave it out"),
        ("SELCT symbol FROM trades", "SELCT", r"did you mean SELECT\?"),
        ("CREAT TABLE t (a INT)", "CREAT", r"did you mean CREATE\?"),
    ],
)
def test_what_other_engines_read_is_recognised(
    text: str, place: str, hint: str, duck: Duck
) -> None:
    for read in (parse, lambda text, duck: read_query(text, STREAMS, duck)):
        with pytest.raises(QuerySyntaxError, match=hint) as caught:
            read(text, duck)
        assert shown(caught).startswith(place)


@pytest.mark.parametrize(
    "text", ["SELECT a FROM t WINDOW w AS (ORDER BY a)", "SELECT emit FROM t", "SELECT 1"]
)
def test_what_is_written_so_here_too_is_no_foreign_form(text: str) -> None:
    assert foreign_form(SourceText(text).tokens) is None


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("SELECT * FROM main.trades", "main", "write trades alone"),
        ("SELECT k.tick FROM trades SEMI JOIN ticks k ON size = k.tick", "k.tick", "filters"),
        ("SELECT ticks.tick FROM trades", "ticks.tick", "choose one of|did you mean"),
        ('SELECT * FROM trades WHERE symbol = "IBM"', '"IBM"', "single quotes: 'IBM'"),
        ("SELECT symbol, sum(price) FROM tumble(trades, INTERVAL '1 day')", "symbol", "BY ALL"),
        ("SELECT * FROM tumble(companies, INTERVAL '1 day')", "companies", "companies is a table"),
        ("SELECT * FROM landmark(trades, INTERVAL '1 month')", "INTERVAL", "'30 days'.*'month'"),
    ],
)
def test_a_query_that_means_something_else_is_told_what_to_write(
    text: str, place: str, hint: str, duck: Duck
) -> None:
    with pytest.raises(QueryError, match=hint) as caught:
        check(read_query(text, STREAMS, duck), STREAMS, duck)
    assert shown(caught).startswith(place)
