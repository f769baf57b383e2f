"""What a view has taken from its streams is saved as a whole, and compared when it is restored."""

from __future__ import annotations

import pytest

from tests.queries.saving import VIEWS, feed
from upstream import Engine
from upstream.errors import StatementError
from upstream.queries.evaluation.view_state import SavedState, ViewState


def state_of(engine: Engine, query: str) -> ViewState:
    """Create the view `v`, feed it, and return its state."""
    engine.sql(f"CREATE VIEW v AS {query}")
    feed(engine, ("a", 1), ("b", 2), ("a", 3))
    engine.view("v").table()
    found = engine.view("v")._view._view_plan.state
    assert found is not None
    return found


def test_leaves_and_newest_rows_are_tables(saving: Engine) -> None:
    saved = state_of(saving, VIEWS["roads"]).saved(5.0)
    newest = "latest(bids, rows => 1, per => (k), expire_after => None)"
    assert [*saved.tables] == ["merged_0", newest]
    assert [table.num_rows for table in saved.tables.values()] == [2, 2]
    assert saved.moment == 5.0


def test_positions_are_those_of_the_slowest_reader(saving: Engine) -> None:
    state = state_of(saving, VIEWS["roads"])
    assert state.positions()["bids"].rows == 3
    assert state.is_even()
    feed(saving, ("a", 1))
    saving.delete("bids", {"k": ["b"]})
    evaluation = saving.view("v")._view._view_plan.evaluation
    assert evaluation is not None
    evaluation.take_in(0.0)  # newest rows are not refreshed
    assert not state.is_even()
    assert state.positions()["bids"].rows == 3
    saving.view("v").table()
    assert state.is_even()
    assert (state.positions()["bids"].rows, state.positions()["bids"].deletions) == (4, 1)


def test_what_another_query_has_taken_is_refused(saving: Engine, restoring: Engine) -> None:
    state = state_of(saving, VIEWS["sums"])
    saved = state_of(restoring, VIEWS["texts"]).saved(0.0)
    with pytest.raises(StatementError, match="is evaluated in another way here"):
        state.restore(saved)


def test_a_table_that_is_missing_is_the_state_of_another_view() -> None:
    with pytest.raises(StatementError, match="is evaluated in another way here"):
        SavedState(0.0, {}, {}, (0, None, []), {}).table("merged_0")


def test_a_checksum_does_not_depend_on_the_order_of_rows(saving: Engine, restoring: Engine) -> None:
    state = state_of(saving, VIEWS["joined"])
    restoring.sql("CREATE TABLE others AS FROM names ORDER BY v DESC")
    restoring.sql("DROP TABLE names")
    restoring.sql("ALTER TABLE others RENAME TO names")
    saved = state_of(restoring, VIEWS["joined"]).saved(0.0)
    assert saved.form["tables"] == state.saved(0.0).form["tables"]
