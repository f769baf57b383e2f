"""What an interval join is made of, by its query and its options."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from upstream import Engine, ManualClock, WindowError
from upstream.queries.evaluation.interval import IntervalEvaluation
from upstream.queries.evaluation.newest import NewestEvaluation
from upstream.queries.evaluation.row_wise import RowWiseEvaluation

NEAR = "SELECT a.k FROM a {} JOIN b ON b.time BETWEEN a.time - {} AND a.time"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        for name in "ab":
            columns = "time DOUBLE, k TEXT, at FLOAT"
            engine.sql(f"CREATE STREAM {name} ({columns}) KEY (k) TIME (time)")
            engine.sql(f"CREATE STREAM single_{name} (k TEXT, at FLOAT) KEY (k) TIME (at)")
        yield engine


@pytest.mark.parametrize(
    ("text", "semantics", "kind"),
    [
        (NEAR.format("", 5), "append", IntervalEvaluation),
        (NEAR.format("FULL", 5), "append", IntervalEvaluation),
        ("SELECT k FROM a UNION ALL SELECT k FROM b", "append", RowWiseEvaluation),
        ("SELECT a.k FROM a JOIN latest(b) b USING (k)", "append", RowWiseEvaluation),
        (NEAR.format("", 5).replace("a.k", "a.k, b.k AS l"), "update", NewestEvaluation),
    ],
)
def test_a_join_without_windows_is_an_interval_join_under_append(
    engine: Engine, text: str, semantics: str, kind: type
) -> None:
    query = engine.continuous_query(text, semantics)  # type: ignore[arg-type]  # is one of them
    assert isinstance(query._evaluated._evaluation, kind)
    query.close()


@pytest.mark.parametrize("option", ["allowed_lateness", "close_after"])
def test_only_interval_joins_have_options_for_time_without_a_window(
    engine: Engine, option: str
) -> None:
    engine.continuous_query(NEAR.format("", 5), **{option: 3.0}).close()  # type: ignore[arg-type]
    for text in ("SELECT k FROM a", "SELECT k FROM a UNION ALL SELECT k FROM b"):
        with pytest.raises(WindowError, match=f"{option} applies to windows over time"):
            engine.continuous_query(text, **{option: 3.0})  # type: ignore[arg-type]


def test_a_very_long_allowed_lateness_is_possible(engine: Engine) -> None:
    query = engine.continuous_query(NEAR.format("", 5), allowed_lateness=1e300)
    farthest = 4_611_686_018_427.0
    for name in "ab":
        engine.append(name, {"time": [-farthest], "k": ["j"], "at": [0]})
    assert query.results()[0].table.num_rows == 1
    engine.append("a", {"time": [-1e11, -1e12], "k": ["k", "l"], "at": [0, 0]})
    engine.append("b", {"time": [-1e12], "k": ["k"], "at": [0]})
    [result] = query.results()
    assert result.table["k"].to_pylist() == ["l"]
    assert query.statistics().rows_late == 0
    query.close()


def test_calculations_with_a_float_are_refused_with_the_type_that_works(engine: Engine) -> None:
    text = "SELECT a.k FROM single_a a JOIN single_b b ON b.at BETWEEN a.at - 5 AND a.at"
    with pytest.raises(Exception, match="declare the times as DOUBLE"):
        engine.continuous_query(text)
    engine.continuous_query(text.replace(" - 5", "")).close()


def test_explain_says_who_waits_for_what(engine: Engine) -> None:
    query = engine.continuous_query(NEAR.format("LEFT", 7.5))
    said = query.explain(sql=True)
    assert "b waits for rows of a that are up to 7.5 seconds newer" in said
    assert "a waits for rows of b that are not newer" in said
    assert "a row without a partner is given" in said
    assert "0 rows are held" in said
    assert "whole: SELECT" in said
    query.close()
