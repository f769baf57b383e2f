"""Which evaluation a query gets, and which queries are refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.queries.setting import append, given
from upstream import Engine, UnboundedQueryError, WindowError


@pytest.fixture
def engine(shared_engine: Engine) -> Engine:
    return shared_engine


@pytest.mark.parametrize(
    ("text", "semantics", "words"),
    [
        ("SELECT sum(x) FROM tumble(bids, 10)", "append", "windows of up to 65,536 rows"),
        ("SELECT sum(x) FROM rows(bids, 10, 5)", "update", "windows of up to 65,536 rows"),
        ("SELECT sum(x) FROM landmark(bids)", "append", "since the landmark"),
        ("SELECT k, sum(x) FROM session(bids, 5, per => k) GROUP BY k", "append", "session ends"),
        ("SELECT sum(x) FROM latest(bids)", "append", "the newest rows of all keys"),
        ("SELECT sum(x) FROM bids", "update", "the newest rows of all keys"),
        ("SELECT k, x FROM bids", "update", "the newest rows of keys with news"),
        ("SELECT k, x FROM bids", "append", "no rows are kept"),
        ("SELECT b.x FROM bids b JOIN latest(asks) a USING (k)", "append", "no rows are kept"),
        ("SELECT 1 FROM tumble(bids, 10) JOIN latest(asks) USING (k)", "append", "windows are"),
    ],
)
def test_windows_and_semantics_say_how_a_query_is_evaluated(
    engine: Engine, text: str, semantics: Any, words: str
) -> None:
    assert words in engine.continuous_query(text, semantics=semantics).explain()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM tumble(bids, 10) a JOIN rows(asks, 10, 10) b USING (k)",
        "SELECT 1 FROM tumble(bids, 10) a JOIN landmark(asks) b USING (k)",
        "SELECT 1 FROM tumble(bids, 10) a JOIN session(asks, 10) b USING (k)",
        "SELECT 1 FROM tumble(bids, 10) a JOIN tumble(moments, INTERVAL '10 us') b USING (k)",
    ],
)
def test_windows_that_do_not_go_together_are_refused(engine: Engine, text: str) -> None:
    with pytest.raises(WindowError) as caught:
        engine.continuous_query(text)
    assert caught.value.hint
    assert_nothing_is_stored(engine)


def test_windows_of_one_query_may_differ_in_size_and_slide(engine: Engine) -> None:
    # time   0    5    10   15   20
    # bids     1    2    3    4    |
    # asks                 5       |
    query = engine.continuous_query(
        "SELECT (SELECT list(x) FROM tumble(bids, 5)) AS b, (SELECT list(x) FROM hop(asks, 20, 10))"
    )
    append(engine, "bids", (1, 1), (6, 2), (11, 3), (16, 4), (20,))
    append(engine, "asks", (12, 5), (20,))
    assert given(query.results()) == [
        (-20, 5, [([1], None)]),  # with the window of asks that ended at 0
        (-10, 10, [([2], None)]),
        (-10, 15, [([3], None)]),
        (0, 20, [([4], [5])]),
    ]


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("SELECT sum(x) FROM rows(bids, 10, 5)", {"allowed_lateness": 1}),
        ("SELECT sum(x) FROM rows(bids, 10, 5)", {"close_after": 1}),
        ("SELECT sum(x) FROM landmark(bids)", {"allowed_lateness": 1}),
        ("SELECT sum(x) FROM landmark(bids)", {"close_after": 1}),
        (
            "SELECT sum(x) FROM tumble(bids, INTERVAL '1 second', by => arrival)",
            {"allowed_lateness": 1},
        ),
        (
            "SELECT sum(x) FROM tumble(bids, INTERVAL '1 second', by => arrival)",
            {"close_after": 1},
        ),
        ("SELECT x FROM bids", {"allowed_lateness": 1}),
        ("SELECT sum(x) FROM latest(bids)", {"close_after": 1}),
    ],
)
def test_options_that_a_window_cannot_have_are_refused(
    engine: Engine, text: str, choices: dict[str, Any]
) -> None:
    [name] = choices
    with pytest.raises(WindowError, match=name):
        engine.continuous_query(text, **choices)


UNBOUNDED = [
    "SELECT sum(x) FROM bids",
    "SELECT DISTINCT x FROM bids",
    "SELECT b.x FROM bids b JOIN asks a USING (k)",
    "SELECT x FROM landmark(bids)",
    "SELECT median(x) FROM landmark(bids)",
    "SELECT b.x FROM tumble(bids, 10) b JOIN asks a USING (k)",
]


@pytest.mark.parametrize("text", UNBOUNDED)
def test_a_query_that_would_keep_all_rows_is_refused_with_a_hint(engine: Engine, text: str) -> None:
    with pytest.raises(UnboundedQueryError) as caught:
        engine.continuous_query(text)
    assert text in str(caught.value)
    assert ("since the landmark: " in str(caught.value)) == ("landmark" in text)
    assert caught.value.hint
    assert_nothing_is_stored(engine)


@pytest.mark.parametrize(
    ("beside", "words"),
    [
        ("tumble(bids, 10)", "with a window[^$]*give it the same window, or use latest\\(asks\\)"),
        ("epochs(bids, 10)", "with epochs[^$]*give it epochs, too, or use latest\\(asks\\)"),
    ],
)
def test_a_stream_is_not_kept_beside_windows_or_epochs(
    engine: Engine, beside: str, words: str
) -> None:
    with pytest.raises(UnboundedQueryError, match=f"kept for the join {words}"):
        engine.continuous_query(f"SELECT b.x FROM {beside} b JOIN asks a USING (k)")


def assert_nothing_is_stored(engine: Engine) -> None:
    """Fail if anything besides the engine itself still reads the streams."""
    for stream in ("bids", "asks"):
        append(engine, stream, (1,), (2,))
        engine.sql(f"SELECT * FROM {stream}")
        assert engine._catalogue.streams[stream].log.stored_rows == 0
