"""Views return what their queries return over all rows that came, whenever they are read."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.errors import UnboundedQueryError

from .view_truth import VIEWS, Append, Change, Truth, random_step, shapes

PARTS = 4  # which run beside one another
STEPS = 12
SHARE = max(2, settings().max_examples // 6)


@pytest.fixture
def truth() -> Iterator[Truth]:
    truth = Truth()
    yield truth
    truth.close()


@pytest.mark.parametrize("part", range(PARTS))
def test_each_shape_of_a_view_returns_what_its_query_returns(part: int, truth: Truth) -> None:
    for name, query in VIEWS.items():
        truth.create(name, query)
    views = {f"view_{n}": name for n, name in enumerate(shapes()) if n % PARTS == part}
    for view, name in views.items():
        truth.create(view, shapes()[name])
    random, answered = Random(part), 0
    for number in range(STEPS):
        truth.take(random_step(random))
        read = [view for view in views if number == STEPS - 1 or random.random() < 0.4]
        told = [f"{views[view]}: {each}" for view in read for each in truth.differences([view])]
        assert not told, "\n".join(told)
        answered += len(read)
    assert answered > 3 * len(views)


@settings(max_examples=SHARE)
@given(
    random=st.randoms(use_true_random=False),
    names=st.lists(st.sampled_from(sorted(shapes())), min_size=1, max_size=3, unique=True),
    before=st.integers(0, 2),
    after=st.integers(1, 6),
)
def test_views_follow_random_rows_and_changes_of_tables(
    random: Random, names: list[str], before: int, after: int
) -> None:
    truth = Truth()
    try:
        for _ in range(before):  # rows that came earlier are in latest(…) only
            truth.take(random_step(random))
        truth.forget()
        for name, query in VIEWS.items():
            truth.create(name, query)
        views = [f"view_{number}" for number in range(len(names))]
        for view, name in zip(views, names, strict=True):
            truth.create(view, shapes()[name])
        for _ in range(after):
            truth.take(random_step(random))
            if random.random() < 0.7:
                assert not truth.differences(views)
        assert not truth.differences([*views, *VIEWS])
    finally:
        truth.close()


def test_a_wrong_answer_would_be_told(truth: Truth) -> None:
    truth.create("by_k", VIEWS["by_k"])
    row = (1, "a", 0, 5, 0.5, "p")
    truth.take(Append("trades", (row,)))
    assert not truth.differences(["by_k"])
    truth.engine.append("trades", {"time": [1], "k": ["a"], "x": [1]})
    assert truth.differences(["by_k"])


def test_what_the_truth_says_about_newest_rows_is_by_time_and_then_by_arrival(truth: Truth) -> None:
    truth.create("newest", "SELECT k, x FROM latest(trades) AS t")
    for time, x in ((5, 1), (4, 2), (5, 3), (3, 4)):
        truth.take(Append("trades", ((time, "a", 0, x, 0.5, "p"),)))
    assert not truth.differences(["newest"])
    assert truth.plain.sql("FROM newest").fetchall() == [("a", 3)]


def test_a_view_that_reads_a_changed_table_twice_sees_one_state_of_it(truth: Truth) -> None:
    truth.create(
        "twice",
        "SELECT a.k, a.weight, (SELECT sum(weight) FROM sectors) AS all_of, n"
        " FROM sectors AS a, (SELECT count(*) AS n FROM trades) AS t",
    )
    for text in ("DELETE FROM sectors", "INSERT INTO sectors VALUES ('z', 'new', 9)"):
        truth.take(Change(text))
        assert not truth.differences(["twice"])


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, x FROM trades",
        "SELECT t.k, o.lots FROM trades AS t JOIN orders AS o ON o.k = t.k",
        "SELECT k, median(x) AS m FROM trades GROUP BY k",
        "SELECT k, list(x) AS l FROM trades GROUP BY k",
        "SELECT DISTINCT x, random() AS r FROM trades",
    ],
)
def test_what_would_keep_all_rows_is_refused(query: str, truth: Truth) -> None:
    with pytest.raises(UnboundedQueryError, match="keep all rows of"):
        truth.create("refused", query)
    assert not truth.engine.views
