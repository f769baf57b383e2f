"""Errors are reported in the words of the query."""

from __future__ import annotations

from typing import Any

import pytest

from tests.queries.setting import append
from upstream import Engine
from upstream.queries.results.error_text import error_text

BAD = "Conversion Error: Could not convert string 'bad' to INT32"
CAST = "Conversion Error: Could not convert string 'zz' to INT32"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (f"{CAST}\n\nLINE 1: SELECT CAST(__s0 AS INT)\n               ^^^^", CAST),
        (f"{CAST} when casting from source column k", f"{CAST} when casting from source column k"),
        (
            f"{CAST} when casting from source column __s0",
            f"{CAST} when casting from source column max(k)",
        ),
        (
            f"{CAST} when casting from source column max(__s0)",
            f"{CAST} when casting from source column max(k)",
        ),
        (f"{CAST} when casting from source column min(__s7)", CAST),
        (
            "Error: Division by zero in expression (100 // sum(__s7)). Use TRY",
            "Error: Division by zero. Use TRY",
        ),
        (
            "Error: Division by zero in expression (1 // x). Use TRY",
            "Error: Division by zero in expression (1 // x). Use TRY",
        ),
        ("Error: no '__s7' to INT32", "Error: no '__s7' to INT32"),
        ('Error: "__g0" of __lent_49 and chunk_0 and merged_0', "Error: symbol of … and … and …"),
    ],
)
def test_errors_are_shortened_to_what_concerns_the_users_query(said: str, text: str) -> None:
    names = {"__s0": "max(k)", "__g0": "symbol"}
    assert error_text(ValueError(said), names) == text


@pytest.mark.parametrize("evaluation", ["increments", "whole"])
@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "SELECT max(k)::INT AS m FROM tumble(bids, 10)",
            f"{BAD} when casting from source column max(k)",
        ),
        (
            "SELECT x, max(k)::INT AS m FROM tumble(bids, 10) GROUP BY x",
            f"{BAD} when casting from source column max(k)",
        ),
        (
            "SELECT 7 // min(x) AS m FROM tumble(bids, 10) b",
            "Invalid Input Error: Division by zero in expression (7 // min(x)). ",
        ),
    ],
)
def test_results_say_the_same_whichever_way_they_are_evaluated(
    engine: Engine, evaluation: Any, text: str, error: str
) -> None:
    query = engine.continuous_query(text, evaluation=evaluation)
    append(engine, "bids", (1, 0, "bad"), (11, 1))
    [result] = query.results()
    assert result.error is not None
    assert result.error.startswith(error)
    assert "\n" not in result.error
    assert query.statistics().error == result.error


def test_ambiguous_columns_are_not_named(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT a.m::INT AS n FROM (SELECT max(k) AS m FROM tumble(bids, 10)) a,"
        " (SELECT min(k) AS m FROM tumble(asks, 10)) b",
        evaluation="increments",
    )
    for stream in ("bids", "asks"):
        append(engine, stream, (1, 0, "bad"), (11, 1))
    [result] = query.results()
    assert result.error is not None
    assert result.error.startswith(BAD)
    assert "__" not in result.error


@pytest.mark.parametrize(
    "text",
    ["SELECT max(k)::INT AS m FROM latest(bids)", "SELECT max(k)::INT AS m FROM landmark(bids)"],
)
def test_no_error_quotes_a_statement_that_the_library_wrote(engine: Engine, text: str) -> None:
    query = engine.continuous_query(text)
    append(engine, "bids", (1, 0, "bad"))
    [result] = query.results()
    assert result.error == (f"{BAD} when casting from source column max(k)")
