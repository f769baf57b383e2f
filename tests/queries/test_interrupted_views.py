"""A view that is interrupted is as it was, or as it was to become, and leaves nothing behind.

KeyboardInterrupt is raised at lines of the modules of views while one is created, replaced, read
and dropped: at some of the lines, and at all of them in `make differ`. Nothing is raised where
Ctrl-C is held back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from tests.interrupted import FOLDER, Interrupter, Moment, respect_held_interrupts
from upstream import Engine, ManualClock

PLACES = int(os.environ.get("INTERRUPTED_LINES", "4" if os.environ.get("CI") else "2"))
"""At about how many moments each action is interrupted once."""
FILES = tuple(
    f"{FOLDER}/queries/{name}"
    for name in (
        *("view", "maintained_view", "catalogue", "statements", "known_queries", "one_time"),
        *("continuous_query", "evaluation/view", "evaluation/newest", "evaluation/changing_leaf"),
        *("evaluation/followed_rows", "evaluation/state_planning", "evaluation/stream_leaf"),
        *("evaluation/stream_state", "rewriting/static_parts", "rewriting/static_joins"),
        *("evaluation/followed_state", "evaluation/row_states", "evaluation/ranked_state"),
        *("evaluation/signed_leaf", "evaluation/signed_stream"),
    )
)
OLD = "SELECT k, max(x * v) AS n, 0 AS m, 0 AS x FROM bids JOIN names USING (k) GROUP BY k"
NEW = (
    "SELECT q.k, q.n, s.n AS m, l.x FROM latest(bids) AS l JOIN sums AS s USING (k) JOIN"
    " (SELECT k, sum(x * v) AS n FROM bids JOIN names USING (k) GROUP BY k) AS q USING (k)"
)
"""Each reads a part of a table that is computed once; the new one a view and newest rows, too."""
TWIN = (
    "SELECT max(n) AS n FROM (SELECT k, sum(x * v) AS n FROM bids JOIN names USING (k) GROUP BY k)"
)
"""It keeps the same of the stream as the new one."""


@dataclass(frozen=True)
class Action:
    """What is done before an action, the action, and what the view may answer after it.

    None stands for a view that does not exist.
    """

    before: Callable[[Engine], object]
    act: Callable[[Engine], object]
    answers: tuple[tuple[int, ...] | None, ...]
    has_twin: bool = False
    """Whether there is a view with the same state; nothing is fed before the action then."""


def feed(engine: Engine) -> None:
    engine.append("bids", {"k": ["a", "b", "a"], "x": [1, 2, 3]})


def old(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW v AS {OLD}")
    feed(engine)
    engine.sql("FROM v")


def new(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW v AS {NEW}")
    feed(engine)
    engine.sql("FROM v")
    feed(engine)


def twin(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW twin AS {TWIN}")


def old_and_twin(engine: Engine) -> None:
    twin(engine)
    engine.sql(f"CREATE VIEW v AS {OLD}")


def new_and_twin(engine: Engine) -> None:
    twin(engine)
    engine.sql(f"CREATE VIEW v AS {NEW}")


SIGNED = (
    "SELECT k, sum(x * v)::INT AS n, count(*)::INT AS m, 0 AS x"
    " FROM orders JOIN names USING (k) GROUP BY k"
)
"""It takes rows away again, by a column of signs."""


def signed(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW v WITH (sign = 'op') AS {SIGNED}")
    engine.append("orders", {"k": ["a", "a"], "x": [1, 2], "op": [1, 1]})
    engine.sql("FROM v")
    engine.append("orders", {"k": ["a", "b", "a"], "x": [7, 2, 1], "op": [1, 1, -1]})


ACTIONS = {
    "create": Action(
        lambda _: None, lambda engine: engine.sql(f"CREATE VIEW v AS {NEW}"), ((8, 4, 3), None)
    ),
    "replace": Action(
        old,
        lambda engine: engine.sql(f"CREATE OR REPLACE VIEW v AS {NEW}"),
        ((6, 0, 0), (8, 8, 3)),
    ),
    "create beside a twin": Action(
        twin,
        lambda engine: engine.sql(f"CREATE VIEW v AS {NEW}"),
        ((8, 4, 3), None),
        has_twin=True,
    ),
    "replace by a twin": Action(
        old_and_twin,
        lambda engine: engine.sql(f"CREATE OR REPLACE VIEW v AS {NEW}"),
        ((6, 0, 0), (8, 4, 3)),
        has_twin=True,
    ),
    "drop beside a twin": Action(
        new_and_twin,
        lambda engine: engine.sql("DROP VIEW v"),
        ((8, 4, 3), None),
        has_twin=True,
    ),
    "drop": Action(new, lambda engine: engine.sql("DROP VIEW v"), ((16, 8, 3), None)),
    "read": Action(new, lambda engine: engine.sql("FROM v"), ((16, 8, 3),)),
    "feed": Action(new, lambda engine: engine._catalogue.views["v"].evaluate(), ((16, 8, 3),)),
    "create with signs": Action(
        lambda _: None,
        lambda engine: engine.sql(f"CREATE VIEW v WITH (sign = 'op') AS {SIGNED}"),
        (None, (16, 1, 0)),
    ),
    "read with signs": Action(signed, lambda engine: engine.sql("FROM v"), ((18, 2, 0),)),
    "close": Action(new, lambda engine: engine.close(), ()),
}
"""Each action is followed by more rows, and the answers are those for `a`: n, m and x."""


@pytest.fixture(autouse=True)
def _held(monkeypatch: pytest.MonkeyPatch) -> None:
    respect_held_interrupts(monkeypatch)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        make(engine)
        yield engine


def make(engine: Engine) -> None:
    """Make what the views read."""
    engine.sql("CREATE STREAM bids (k TEXT, x BIGINT) KEY (k)")
    engine.sql("CREATE STREAM orders (k TEXT, x BIGINT, op TINYINT)")
    engine.sql("CREATE TABLE names AS SELECT 'a' AS k, 2 AS v")
    engine.sql("CREATE VIEW sums AS SELECT k, sum(x) AS n FROM bids GROUP BY k")


def left(engine: Engine) -> tuple[int, int, int]:
    """Drop the view, and return what is lent, our own tables, and the readers of the stream."""
    for name in ("v", "twin", "sums"):
        engine.sql(f"DROP VIEW IF EXISTS {name}")
    lent = engine._duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")
    own = engine._duck.rows(
        "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, '__')"
    )
    return len(lent), len(own), len(engine._catalogue.streams["bids"].log._readers)


def shares(engine: Engine) -> bool:
    """Tell whether the twin answers, and uses its state with the view if that is the new one."""
    views = engine._catalogue.views
    [share] = views["twin"].shares
    is_new = "v" in views and views["v"].text == NEW
    assert engine.sql("SELECT n FROM twin").to_pylist() == [{"n": 8}]
    return share.others == (["v"] if is_new else [])


def answer(engine: Engine) -> tuple[int, ...] | None:
    """Return the row of `a` in the view, after more rows; None if there is no view."""
    if "v" not in engine.views:
        return None
    [row] = engine.sql("SELECT n, m, x FROM v WHERE k = 'a'").to_pylist()
    return tuple(row.values())


def interrupter_at(number: int) -> Interrupter:
    """Return what interrupts once, at the moment of this number."""

    def is_due(moment: Moment) -> bool:
        return moment.number == number

    return Interrupter("line", is_due, files=FILES)


@pytest.mark.parametrize("name", [name for name in ACTIONS if name != "close"])
def test_an_interrupt_leaves_a_view_as_it_was_or_done(name: str, engine: Engine) -> None:
    action = ACTIONS[name]
    action.before(engine)
    watcher = Interrupter("line", files=FILES)
    with watcher.watching():
        action.act(engine)
    assert watcher.count > 20
    for number in range(0, watcher.count, max(1, watcher.count // PLACES)):
        with Engine(clock=ManualClock()) as other:
            make(other)
            action.before(other)
            once = interrupter_at(number)
            with suppress(KeyboardInterrupt), once.watching():
                action.act(other)
            assert once.raised == 1
            place = next(each for each in once.seen.values() if each.number == number)
            if name in ("create", "replace") or action.has_twin:
                feed(other)
            if name == "create with signs":
                other.append("orders", {"k": ["a", "a", "a"], "x": [8, 3, 3], "op": [1, -1, 1]})
            assert answer(other) in action.answers, f"interrupted at {place}"
            if action.has_twin:
                assert shares(other), f"interrupted at {place}"
            assert left(other) == (0, 0, 1), f"interrupted at {place}"


def test_an_interrupt_at_every_line_in_turn_changes_no_answer(engine: Engine) -> None:
    new(engine)
    for _ in range(2):
        seen: set[tuple[str, int]] = set()

        def is_due(moment: tuple[str, int, str, int, int]) -> bool:
            place = moment[:2]
            is_new = place not in seen  # noqa: B023  # used here
            seen.add(place)  # noqa: B023
            return is_new

        often = Interrupter("line", is_due, files=FILES)
        found = None
        while found is None:
            with suppress(KeyboardInterrupt), often.watching():
                found = engine.sql("SELECT n FROM v ORDER BY n").to_pylist()
        assert often.raised > 20
        total = engine.sql("SELECT n FROM sums WHERE k = 'a'").to_pylist()[0]["n"]
        assert found[0]["n"] == 2 * total
        feed(engine)


def test_an_interrupted_close_of_the_engine_can_be_repeated() -> None:
    action = ACTIONS["close"]
    for number in range(0, 60, 7):
        engine = Engine(clock=ManualClock())
        make(engine)
        action.before(engine)
        watcher = interrupter_at(number)
        with suppress(KeyboardInterrupt), watcher.watching():
            action.act(engine)
        engine.close()
        assert repr(engine).startswith("<Engine")
