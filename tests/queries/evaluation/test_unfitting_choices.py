"""What a query's windows cannot have is refused where the window is, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from upstream import StatementError, WindowError
from upstream.queries.evaluation.query_choices import Choices
from upstream.queries.evaluation.unfitting_choices import (
    refuse_choices_of_windows,
    refuse_leaving_out,
    refuse_unfitting,
)
from upstream.queries.sql import ParsedQuery, read_query

from ..sql.example_streams import STREAMS, shown

if TYPE_CHECKING:
    from typing import Any


def parsed(window: str) -> ParsedQuery:
    return read_query(f"SELECT count(*) AS n FROM {window}", STREAMS)


@pytest.mark.parametrize(
    ("window", "name", "why"),
    [
        ("rows(trades, 9)", "allowed_lateness", "counted none is late"),
        ("rows(trades, 9)", "close_after", "when they are full"),
        ("landmark(trades)", "allowed_lateness", "in any case"),
        ("landmark(trades, INTERVAL '1 day')", "allowed_lateness", "in any case"),
        ("landmark(trades)", "close_after", "never closes"),
        ("landmark(news)", "close_after", "never closes"),
        ("hop(ticks, 9, 3)", None, ""),
        ("landmark(trades, INTERVAL '1 day')", "allowed_lateness", "landmark"),
        ("tumble(news, INTERVAL '1 day', by => arrival)", "allowed_lateness", "by arrival no row"),
        ("tumble(news, INTERVAL '1 day', by => arrival)", "close_after", "by the clock"),
    ],
)
def test_a_choice_that_a_window_cannot_have_is_refused(
    window: str, name: str | None, why: str
) -> None:
    query = parsed(window)
    if name is None:
        refuse_unfitting(query, 0, Choices(allowed_lateness=1, close_after=1))
        return
    choice: dict[str, Any] = {name: 1}
    with pytest.raises(WindowError, match=f"^{name} is for .*{why}") as caught:
        refuse_unfitting(query, 0, Choices(**choice))
    assert shown(caught) == window
    refuse_unfitting(query, 0, Choices())


def test_a_landmark_with_a_slide_closes_after_silence() -> None:
    refuse_unfitting(parsed("landmark(trades, INTERVAL '1 day')"), 0, Choices(close_after=1))


def test_without_a_window_nothing_is_late_or_closed() -> None:
    refuse_choices_of_windows(parsed("trades"), Choices())
    with pytest.raises(WindowError, match="allowed_lateness is for windows") as caught:
        refuse_choices_of_windows(parsed("trades"), Choices(allowed_lateness=1))
    assert shown(caught) == "trades"


def test_of_rows_that_come_once_none_is_left_out() -> None:
    with pytest.raises(StatementError, match="each row once") as caught:
        refuse_leaving_out(parsed("trades"), 0)
    assert shown(caught) == "trades"
