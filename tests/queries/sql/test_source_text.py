"""Texts are tokenized and parsed, and errors have a place."""

from __future__ import annotations

import logging
import re

import pytest

from upstream.database.duck import Duck
from upstream.errors import ParameterError, QueryError, QuerySyntaxError, StatementError
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.source_text import LONGEST, SourceText, places_in_brackets
from upstream.queries.sql.trees import place_of

from .example_streams import refused


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("SELECT 'abc", "'abc", "what begins here has no closing"),
        ('SELECT 1,\n  "abc', '"abc', "what begins here has no closing"),
        ("SELECT (1", "", r"expected \)"),
        ("SELECT 1 1 1", "1 1", "not expected here"),
        ("SELECT * FROM x WHERE", "", "something is missing here"),
        ("SELECT * FROM tumble(t INTERVAL 3)", "INTERVAL 3)", r"expected \)"),
        ("SELECT\n1 +\n* 3", "3", "not expected here"),
        ("SELECT \x00", "\x00", "a statement cannot contain"),
        ("SELECT '\ud800'", "\ud800", "a statement cannot contain"),
        ("", "", "no statement"),
        (" -- nothing\n;", " --", "no statement"),
        ("SELECT 1; SELECT 2", "SELECT 2", "second statement"),
    ],
)
def test_a_syntax_error_has_its_place(text: str, place: str, reason: str) -> None:
    with refused(QueryError, place, reason):
        SourceText(text).statement()


def test_a_second_statement_is_not_reported_as_bad_syntax() -> None:
    with pytest.raises(StatementError, match="one statement at a time"):
        SourceText("SELECT 1; SELECT 2;").statement()


def test_a_statement_may_end_with_semicolons() -> None:
    assert SourceText("SELECT 1;;").statement().sql() == "SELECT 1"


def test_a_comment_without_an_end_is_an_error_at_the_end() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        SourceText("SELECT /* x").statement()
    assert caught.value.column == len("SELECT /* x") + 1


def test_a_statement_that_is_nested_too_deeply_is_an_error() -> None:
    with pytest.raises(QuerySyntaxError, match="nested too deeply"):
        SourceText("SELECT " + "(" * 5_000 + "1" + ")" * 5_000).statement()


def test_a_text_that_is_too_long_is_refused_at_once() -> None:
    with pytest.raises(QuerySyntaxError, match="append"):
        SourceText("SELECT 1" + " " * LONGEST)
    assert SourceText("SELECT 1".ljust(LONGEST)).statement().sql() == "SELECT 1"


def test_a_statement_is_a_text() -> None:
    with pytest.raises(ParameterError):
        SourceText(b"SELECT 1")  # type: ignore[arg-type]  # that is the mistake


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM rows(trades, 10)",
        "SELECT * FROM rows (trades, 10) AS t",
        "SELECT * FROM a, Rows(trades, 10)",
        "SELECT * FROM a JOIN ROWS(trades, 10) ON true",
        "SELECT * FROM (rows(trades, 10) JOIN b ON true)",
        "FROM t: rows(trades, 10)",
        'SELECT * FROM rows("My trades", 10)',
    ],
)
def test_rows_may_be_called_as_a_function(text: str) -> None:
    assert "ROWS(" in SourceText(text).statement().sql(DIALECT)


OVER_FIVE = "FROM range(5) t(i) SELECT sum(i) OVER (ORDER BY i"


@pytest.mark.parametrize(
    "text",
    [
        f"{OVER_FIVE} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        f"{OVER_FIVE} ROWS (1) PRECEDING)",
        f"{OVER_FIVE} ROWS BETWEEN (1 + 1) PRECEDING AND (2) FOLLOWING)",
        "SELECT INTERVAL '10 minutes ago'",
        "SELECT INTERVAL '1 day 02:00:00'",
        "SELECT INTERVAL '1 day -02:00:00'",
        "SELECT INTERVAL '@ 1 minute'",
        "SELECT INTERVAL '-5 minutes'",
        "SELECT INTERVAL '1 minute -30 seconds'",
        "SELECT INTERVAL '1.5 hours'",
        "SELECT INTERVAL '02:00:00'",
        "SELECT INTERVAL '1 year 2 months 3 days'",
        """SELECT '{"a.b": 3}'::JSON -> 'a.b'""",
        """SELECT '{"a": {"b": 3}}'::JSON -> '$.a.b'""",
        """SELECT '{"a b": 3}' ->> 'a b'""",
        """SELECT json_extract('{"a.b": 1}', 'a.b')""",
        """SELECT json_extract('{"a": [1]}', '/a/0')""",
        """SELECT json_extract_string('{"*": 1}', '*')""",
        """SELECT '[1, 2]' -> 1""",
        """SELECT '[1, 2]' ->> -1""",
        """SELECT json_extract('{"a": 1}', ['a', '$.a'])""",
    ],
)
def test_frames_intervals_and_json_paths_mean_what_they_mean_to_duckdb(
    text: str, duck: Duck
) -> None:
    written = SourceText(text).statement().sql(DIALECT)
    assert duck.rows(text) == duck.rows(written)


@pytest.mark.parametrize("interval", [".5 seconds", "+5 minutes", "P1D"])
def test_what_is_no_interval_to_duckdb_does_not_become_one(interval: str) -> None:
    written = SourceText(f"SELECT INTERVAL '{interval}'").statement().sql(DIALECT)
    assert f"'{interval}'" in written


def test_nothing_is_logged_of_what_is_only_passed_on(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        SourceText("CALL pragma_version()").statement()
        SourceText("CREATE SOMETHING strange").statement()
    assert caplog.records == []


def test_a_part_of_a_tree_knows_its_place() -> None:
    text = "SELECT a, upper(bcd) FROM t"
    first, second = SourceText(text).statement().expressions
    assert place_of(first) == 7
    assert place_of(second) == 10
    assert place_of(SourceText("SELECT INTERVAL '1 day'").statement()) == 7
    assert place_of(SourceText("SELECT true").statement()) is None


def test_arguments_are_found_by_their_places() -> None:
    text = "SELECT f((1, 2), [3, 4], g(5, 6) + 1, x => 7), 8"
    behind = [each for each in SourceText(text).tokens if each.start > text.index("f(")]
    [places, *_] = places_in_brackets(behind)
    assert [text[place:] for place in places] == [
        text[text.index(each) :] for each in ("(1", "[3", "g(", "x =")
    ]


@pytest.mark.parametrize(
    "text",
    ["SELEC * FROM x", "SELECT * FROM", "SELECT 1 +", "DESCRIBE", "FROM x WHERE a >"],
)
def test_errors_do_not_mention_the_parser(text: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        SourceText(text).statement()
    assert not re.search("Token|keyword|Mul|GT|expression", caught.value.reason)
    assert caught.value.line == 1


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELEC * FROM x", "did you mean SELECT?"),
        ("selct a FROM x WHERE", "did you mean SELECT?"),
        ("SELECT * FROM x WHERE", ""),
        ("X *", ""),
    ],
)
def test_the_first_word_is_guessed(text: str, hint: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        SourceText(text).statement()
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("text", "for_duckdb"),
    [
        ("SELECT a FROM t OFFSET 3", None),
        ("SELECT a FROM t WINDOW w AS (ORDER BY a)", None),
        ("SELECT window FROM t", None),
        ("SELECT 'tumble(TABLE t)'", None),
        ("FROM tumble(t, 3, offset => 1)", "FROM tumble(t, 3, offse_ => 1)"),
        ("FROM f(offset:=1) OFFSET 2", "FROM f(offse_:=1) OFFSET 2"),
        ("FROM Tumble(TABLE t, 3)", "FROM Tumble(      t, 3)"),
        ("FROM TABLE(hop(TABLE t, f(3))) x", "FROM       hop(      t, f(3))  x"),
        ("FROM session(table t PARTITION BY é, 3)", "FROM session(      t , per =>     é, 3)"),
        ("FROM tumble(TABLE t PARTITION BY k, 3)", "FROM tumble(      t PARTITION BY k, 3)"),
        (
            "SELECT tumble(INTERVAL '1 day') AS window, window.end FROM t WINDOW w AS ()",
            "SELECT tumble(INTERVAL '1 day') AS windo_, windo_.end FROM t WINDOW w AS ()",
        ),
        ("FROM TABLE(tumble(TABLE t, 3", "FROM       tumble(      t, 3"),
        ("offset", None),
        ("tumble", None),
        ("tumble(TABLE", "tumble(     "),
    ],
)
def test_words_of_other_engines_are_exchanged_and_all_else_stays_in_its_place(
    text: str, for_duckdb: str | None
) -> None:
    source = SourceText(text)
    assert source.for_duckdb == (for_duckdb or text)
    assert len(source.for_duckdb) == len(source.text)
    assert source.text == text


def test_the_text_of_tokens_has_single_spaces() -> None:
    source = SourceText("SELECT a  +\n b /* c */ , 'd  e'")
    assert source.written(1, 4) == "a + b"
    assert source.written(5, 6) == "'d  e'"
