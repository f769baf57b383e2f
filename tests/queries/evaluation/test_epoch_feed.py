"""What cannot go on exactly as without a restart is not recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.queries.setting import append
from upstream import Engine
from upstream.queries.choices import Choices
from upstream.queries.evaluation.epoch_feed import refusal_of
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

CLAUSE = WindowClause(WindowKind.EPOCHS, "bids", Axis.SOURCE, size=20, slide=10)


def test_epochs_by_source_time_and_in_the_order_of_arrival_can_go_on() -> None:
    ordinal = replace(CLAUSE, axis=Axis.ORDINAL, size=2, slide=1, rows=10)
    assert refusal_of([CLAUSE], Choices()) == refusal_of([ordinal], Choices("update")) == ""


@pytest.mark.parametrize(
    ("clause", "choices", "reason"),
    [
        pytest.param(replace(CLAUSE, axis=Axis.ARRIVAL), Choices(), "another time", id="arrival"),
        pytest.param(CLAUSE, Choices(close_after=1.0), "with close_after", id="close_after"),
        pytest.param(replace(CLAUSE, answers_empty=True), Choices(), "empty => true", id="empty"),
        pytest.param(CLAUSE, Choices(emit="changed"), "emit and emit_every", id="changed"),
        pytest.param(CLAUSE, Choices(emit_every=1.0), "emit and emit_every", id="every"),
    ],
)
def test_what_depends_on_more_than_rows_is_refused(
    clause: WindowClause, choices: Choices, reason: str
) -> None:
    assert reason in refusal_of([clause, CLAUSE], choices)


@pytest.mark.parametrize(("kind", "depth"), [("JOIN", 2), ("LEFT JOIN", 4)])
def test_a_join_that_is_not_inner_begins_before_all_chunks_of_both_sides(
    engine: Engine, kind: str, depth: int
) -> None:
    epochs = "epochs({}, 10, keep => 2, pairing => 'window')"
    query = engine.continuous_query(
        f"SELECT b.x FROM {epochs.format('bids')} b {kind} {epochs.format('asks')} a ON a.k = b.k"
    )
    feed = query._evaluated._plan.feed
    assert feed is not None
    feed.begin_at(feed.here())
    for time in range(0, 80, 10):
        append(engine, "bids", (time, 1))
        append(engine, "asks", (time, 1))
    query.evaluate()
    assert [start.position for start in feed.starts(6)] == [6 - depth + 1] * 2
    feed.forget(6)
    assert [start.position for start in feed.starts(0)] == [6 - depth + 1] * 2
