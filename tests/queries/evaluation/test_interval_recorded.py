"""Interval joins of random streams are one DuckDB join over all recorded rows in time.

The streams have disorder, gaps, idle sides and returns. Results are requested at random moments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.setting import held
from upstream import ContinuousQuery
from upstream.database.duck import Duck

from .interval_model import END, House, Row, in_time, joined, rows_of, without_ends


@pytest.fixture(scope="module")
def shared_house() -> Iterator[House]:
    house = House()
    with house.engine:
        yield house


JOINS = {
    "inner": "SELECT a.time AS t, a.k, a.x, b.time AS u, b.k AS l, b.x AS y FROM a JOIN b ON {on}",
    "comma": "SELECT a.time AS t, a.k, a.x, b.time AS u, b.k AS l, b.x AS y FROM b, a WHERE {on}",
    "left": "SELECT a.time AS t, a.k, a.x, b.k AS l, b.x AS y FROM a LEFT JOIN b ON {on}",
    "right": "SELECT a.time AS t, a.k, a.x, b.k AS l, b.x AS y FROM a RIGHT JOIN b ON {on}",
    "full": "SELECT a.time AS t, a.k, a.x, b.k AS l, b.x AS y FROM a FULL JOIN b ON {on}",
    "semi": "SELECT a.time AS t, a.k, a.x FROM a SEMI JOIN b ON {on}",
    "anti": "SELECT a.time AS t, a.k, a.x FROM a ANTI JOIN b ON {on}",
    "self": "SELECT a.time AS t, a.k, a.x, b.x AS y FROM a LEFT JOIN a AS b ON {on}",
    "three": """SELECT a.time AS t, a.k, a.x, b.x AS y, c.time AS u, c.x AS z
        FROM a JOIN b ON {on} JOIN c ON c.time BETWEEN b.time - 1 AND b.time + 2""",
}
BANDS = (
    "b.time BETWEEN a.time - 3 AND a.time",
    "b.time > a.time - 3 AND b.time <= a.time + 2",
    "abs(a.time - b.time) < 4",
    "a.time = b.time",
    "b.time >= a.time + 2 AND a.time > b.time - 6",
    "a.time - 4 < b.time AND b.time < a.time - 1",
)
EQUALITIES = ("a.k = b.k", "a.x = b.x", "true", "a.x < b.x", "a.k = b.k AND a.x IS NOT NULL")

Action = tuple[str, Sequence[Row]] | float | None
"""A batch, a pause, or a request for results (None)."""
rows = st.tuples(
    st.integers(-6, 6), st.sampled_from("klm"), st.one_of(st.none(), st.integers(0, 2))
)
batch = st.tuples(st.sampled_from("aabbc"), st.lists(rows, min_size=1, max_size=5))
actions: st.SearchStrategy[list[Action]] = st.lists(
    st.one_of(batch, batch, batch, st.sampled_from([0.25, 1.0, 2.5, 7.0, 30.0]), st.none()),
    max_size=25,
)


class Case(NamedTuple):
    """A query, its options, and what happens to it; `is_watched` if pauses are looked at."""

    join: str
    band: str
    equality: str
    actions: Sequence[Action]
    lateness: int
    close_after: float | None
    is_watched: bool


cases = st.builds(
    Case,
    st.sampled_from(sorted(JOINS)),
    st.sampled_from(BANDS),
    st.sampled_from(EQUALITIES),
    actions,
    st.sampled_from([0, 1, 4]),
    st.sampled_from([None, 0.0, 2.0, 5.0]),
    st.booleans(),
)


@given(cases)
def test_the_pairs_are_those_of_one_join_over_all_rows_in_time(
    shared_duck: Duck, shared_house: House, case: Case
) -> None:
    house = shared_house
    text = JOINS[case.join].format(on=f"{case.equality} AND {case.band}")
    house.clock.advance(100)
    query = house.query(text, allowed_lateness=case.lateness or None, close_after=case.close_after)
    since = house.clock.now()
    found = list(happened(house, query, case))
    for name in "abcabc":
        house.append(name, (10_000, END, 0))
    found += rows_of(query)
    a, b, c = house.batches
    inputs = {"self": [a, a], "three": [a, b, c]}.get(case.join, [a, b])
    streams = in_time(inputs, case.lateness, case.close_after, since)
    assert without_ends(found) == joined(shared_duck, reference(text), streams)
    statistics = query.statistics()
    assert statistics.rows_late == sum(stream.late for stream in streams)
    assert statistics.rows_waiting == 0
    assert held(query) <= 4 * len(streams), "only the last rows are held"
    query.close()


def happened(house: House, query: ContinuousQuery, case: Case) -> Iterator[tuple[object, ...]]:
    """Do what happens in a case, and yield the rows of the results meanwhile."""
    now = {"a": 0, "b": 0, "c": 0}
    for action in case.actions:
        if action is None:
            yield from rows_of(query)
        elif isinstance(action, float):
            if case.is_watched:
                yield from after_a_pause(house, query, action)
            else:
                house.clock.advance(action)
            now = {name: time + int(action) for name, time in now.items()}
        else:
            name, batch = action
            house.append(name, *((now[name] + time, key, x) for time, key, x in batch))
            now[name] += max(0, *(time for time, *_ in batch)) // 2


def after_a_pause(house: House, query: ContinuousQuery, seconds: float) -> list[tuple[object, ...]]:
    """Return the rows before a pause and after it, in which rows leave when that was due."""
    before = rows_of(query)
    due = query._evaluated._next_due()
    house.clock.advance(seconds)
    is_due = due is not None and due <= house.clock.now()
    after = rows_of(query)
    assert bool(after) == is_due
    return before + after


def reference(text: str) -> str:
    """Return a query over the recorded streams, which are numbered by their names."""
    return text.replace("JOIN a AS b", "JOIN b")
