"""Arguments that do not fit are refused with their place."""

from __future__ import annotations

import pytest

from upstream.errors import WindowError

from .example_streams import refused, window_of


@pytest.mark.parametrize(
    ("call", "place", "reason"),
    [
        ("tumble(trades)", "tumble(", "tumble needs a size"),
        (
            "tumble(trades, 1, 2)",
            "tumble(",
            "takes a size after the stream, and 2 ",
        ),
        ("tumble()", "tumble(", "first argument of tumble"),
        ("latest(rows => 3)", "latest(", "first argument of latest"),
        ("hop(trades, INTERVAL '1 minute')", "hop(", "hop needs a slide"),
        ("hop(trades, slide => INTERVAL '1 minute')", "hop(", "hop needs a size"),
        ("hop(ticks, 1, size => 1, slide => 1)", "size =>", "the argument size twice"),
        ("tumble(ticks, slide => 10)", "slide =>", r"has no argument slide[^$]*write hop\("),
        ("rows(trades)", "rows(", "rows needs a size"),
        (
            "latest(trades, 3)",
            "latest(",
            "takes no positional argument after the stream, and 1 ",
        ),
        ("tumble(ticks, 10, offset => 1, offset => 2)", "offset => 2", "the argument offset twice"),
        ("rows(ticks, 10, offset => 1)", "offset", "rows has no argument offset"),
        ("rows(ticks, 10, empty => true)", "empty", "a window of rows is never empty"),
        ("session(ticks, 10, empty => true)", "empty", "a session is never empty"),
        ("epochs(ticks, 1, 2)", "epochs(", "epochs takes a length after the stream, and 2 "),
        ("epochs(ticks, size => 1)", "size =>", "epochs has no argument size"),
        ("epochs(ticks, tick, 10)", "epochs(", "takes a length after the stream, and 2 "),
        ("session(trades)", "session(", "session needs a gap"),
        ("tumble(trades, INTERVAL '1 day', at => arrival)", "at =>", "no argument at"),
        ("rows(trades, 10, by => arrival)", "by =>", "no argument by"),
        ("latest(trades, rows => 1, rows => 2)", "rows => 2", "the argument rows twice"),
        ("latest(trades, rows => 1, symbol)", "symbol)", "positional arguments"),
        ("tumble('trades', 3)", "'trades'", "the name of a stream"),
        ("tumble((SELECT 1), 3)", "(SELECT", "the name of a stream"),
    ],
)
def test_an_argument_that_does_not_fit_is_shown_where_it_is(
    call: str, place: str, reason: str
) -> None:
    with refused(WindowError, place, reason) as caught:
        window_of(call)
    assert caught.value.hint
