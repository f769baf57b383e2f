"""Partials of pairs of steps are kept from the window's first step on, and merged by one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import cast

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.database.prepared import Prepared
from upstream.queries.pairs import pair_merge
from upstream.queries.pairs.pair_merge import PairMerge
from upstream.queries.rewriting.relations import PARTIALS
from upstream.queries.sql.lending import prepare
from upstream.queries.sql.names import STEP

from ..partials.contract import GREATEST, TUPLES
from ..partials.interruptions import is_interrupted, lines_of, worth_trying

SCHEMA = pa.schema([("place", pa.string()), ("tuples", pa.int64()), ("greatest", pa.int64())])
STATES = (TUPLES, GREATEST)
STEPPED = SCHEMA.insert(0, pa.field(STEP, pa.int64()))

Row = tuple[int, str, int, int]


def staged(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(STEPPED.names, row, strict=True)) for row in rows], schema=STEPPED
    )


def merged(merge: PairMerge, duck: Duck) -> dict[str, tuple[int, int]]:
    """Return count and maximum by place, as a finish would merge them."""
    assert merge.query is not None
    prepared = prepare(duck, merge.query, {PARTIALS: SCHEMA})
    try:
        rows = prepared.run(**{PARTIALS: merge.partials()}).to_pylist()
    finally:
        prepared.close()
    return {row["place"]: (row["tuples"], row["greatest"]) for row in rows}


ROWS = st.tuples(st.integers(0, 9), st.sampled_from("ab"), st.integers(1, 3), st.integers(0, 9))


@given(slides=st.lists(st.tuples(st.lists(ROWS, max_size=6), st.integers(0, 2)), max_size=8))
@settings(deadline=None, max_examples=50)
def test_the_merge_is_that_of_all_partials_from_the_first_step_on(
    shared_duck: Duck, slides: list[tuple[list[Row], int]]
) -> None:
    merge, came, first = PairMerge(("place",), STATES, SCHEMA, shared_duck), [], 0
    for rows, forward in slides:
        first += forward
        merge.advance(first)
        merge.stage(merge.conformed([staged(rows)]))
        came += rows
        expected: dict[str, tuple[int, int]] = defaultdict(lambda: (0, -1))
        for step, place, tuples, greatest in came:
            if step >= first:
                known = expected[place]
                expected[place] = (known[0] + tuples, max(known[1], greatest))
        assert merged(merge, shared_duck) == expected
        merge._check()


def test_rows_of_one_step_and_group_are_put_together_when_they_are_many(shared_duck: Duck) -> None:
    merge = PairMerge(("place",), STATES, SCHEMA, shared_duck)
    for _ in range(40):
        merge.stage([staged([(step, "a", 1, step) for step in range(250)])])
        assert merged(merge, shared_duck)["a"][1] == 249
    assert merge.rows <= 4_096 + 2 * 250
    assert merged(merge, shared_duck) == {"a": (40 * 250, 249)}


def test_without_groups_nothing_is_merged_to_nothing(shared_duck: Duck) -> None:
    schema = SCHEMA.remove(0)
    merge = PairMerge((), STATES, schema, shared_duck)
    assert merge.query is not None
    prepared = prepare(shared_duck, merge.query, {PARTIALS: schema})
    assert prepared.run(**{PARTIALS: merge.partials()}).num_rows == 0
    rows = {STEP: [1, 2], "tuples": [3, 4], "greatest": [5, None]}
    merge.stage([pa.table(rows, schema=STEPPED.remove(1))])
    answer = prepared.run(**{PARTIALS: merge.partials()}).to_pylist()
    assert answer == [{"tuples": 7, "greatest": 5}]
    prepared.close()


def test_rows_are_put_one_after_the_other(shared_duck: Duck) -> None:
    merge = PairMerge(None, (), SCHEMA, shared_duck)
    assert merge.query is None
    merge.stage([staged([(0, "a", 1, 1), (1, "b", 1, 2)])])
    merge.stage([staged([(1, "b", 1, 2)])])
    merge.advance(1)
    assert merge.partials()["place"].to_pylist() == ["b", "b"]
    assert "concatenated" in merge.describe()


def test_an_exception_at_any_line_loses_no_pair(
    shared_duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_merge, "_ROWS", 3)
    monkeypatch.setattr(pair_merge, "_UNASKED_ROWS", 8)
    merge = PairMerge(("place",), STATES, SCHEMA, shared_duck)
    places = worth_trying([lines_of(action, lambda _: None) for action in script(merge)])
    assert merged(merge, shared_duck) == {"a": (8, 7), "b": (6, 6)}
    for action, tried in enumerate(places):
        is_staging = is_stage(script(merge)[action])  # while that is done, Ctrl-C is held back
        for place in () if is_staging else tried:
            merge = PairMerge(("place",), STATES, SCHEMA, shared_duck)
            actions = script(merge)
            for before in actions[:action]:
                before()
            assert is_interrupted(actions[action], place)
            for after in actions[action:]:
                after()
            merge._check()
            assert merged(merge, shared_duck) == {"a": (8, 7), "b": (6, 6)}


def is_stage(action: Callable[[], object]) -> bool:
    return isinstance(action, partial) and action.func.__name__ == "stage"


def script(merge: PairMerge) -> list[Callable[[], object]]:
    """Return calls that keep pairs of chunks from the first on, which becomes the second."""
    actions: list[Callable[[], object]] = []
    for number in range(8):
        rows = [(chunk, place, 1, number) for chunk in (0, 1) for place in "ab"[: 1 + number % 7]]
        actions.append(partial(merge.stage, [staged(rows)]))
        if number % 3 == 2:
            actions += [merge.settle, merge.partials]
    return [*actions[:9], partial(merge.advance, 1), *actions[9:], merge.partials]


def test_partials_without_rows_are_not_kept_and_others_get_one_schema(shared_duck: Duck) -> None:
    merge = PairMerge(("place",), STATES, SCHEMA, shared_duck)
    narrow = STEPPED.set(3, pa.field("greatest", pa.int32()))
    kept = merge.conformed([staged([]), staged([(0, "a", 1, 1)]).cast(narrow)])
    assert [table.schema for table in kept] == [STEPPED]


def test_rows_are_combined_even_if_the_merge_is_never_read(
    shared_duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_merge, "_ROWS", 10)
    monkeypatch.setattr(pair_merge, "_UNASKED_ROWS", 100)
    merge = PairMerge(("place",), STATES, SCHEMA, shared_duck)
    for number in range(1_000):
        merge.stage([staged([(number % 3, "a", 1, number)])])
        merge.settle()
        assert merge.rows <= 2 * 10 + 101
    merge.advance(9)
    for _ in range(200):
        merge.stage([staged([(0, "a", 1, 1)])])
    merge.settle()
    assert merge.rows == 0  # all have left


def test_a_merge_that_fails_is_reported_when_it_is_read(
    shared_duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_merge, "_ROWS", 0)
    monkeypatch.setattr(pair_merge, "_UNASKED_ROWS", 0)
    merge = PairMerge(("place",), STATES, SCHEMA, shared_duck)
    merge.stage([staged([(0, "a", 1, 1)])])
    merge._by_key = merge._by_key and cast("Prepared", FailingStatement())
    merge.settle()
    assert merge.rows == 1
    with pytest.raises(DatabaseError):
        merge.partials()


class FailingStatement:
    """A statement that fails."""

    def run(self, **_: pa.Table) -> pa.Table:
        raise DatabaseError("a sum overflows")
