"""Partials of pairs of steps are kept from the window's first step on, and merged by one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.database.duck import Duck
from upstream.queries.pairs import pair_merge
from upstream.queries.pairs.pair_merge import PairMerge
from upstream.queries.rewriting.merge_query import PARTIALS
from upstream.queries.sql.lending import prepare
from upstream.queries.sql.names import STEP

from ..partials.contract import GREATEST, TUPLES
from ..partials.interruptions import is_interrupted, lines_of, worth_trying

SCHEMA = pa.schema([("place", pa.string()), ("tuples", pa.int64()), ("greatest", pa.int64())])
STATES = (TUPLES, GREATEST)
STEPPED = SCHEMA.insert(0, pa.field(STEP, pa.int64()))

Row = tuple[int, str, int, int]


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


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
    duck: Duck, slides: list[tuple[list[Row], int]]
) -> None:
    merge, came, first = PairMerge(("place",), STATES, SCHEMA, duck), [], 0
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
        assert merged(merge, duck) == expected
        merge._check()


def test_rows_of_one_step_and_group_are_put_together_when_they_are_many(duck: Duck) -> None:
    merge = PairMerge(("place",), STATES, SCHEMA, duck)
    for _ in range(40):
        merge.stage(merge.conformed([staged([(step, "a", 1, step) for step in range(250)])]))
        assert merged(merge, duck)["a"][1] == 249
    assert merge.rows <= 4_096 + 2 * 250
    assert merged(merge, duck) == {"a": (40 * 250, 249)}


def test_without_groups_nothing_is_merged_to_nothing(duck: Duck) -> None:
    schema = SCHEMA.remove(0)
    merge = PairMerge((), STATES, schema, duck)
    assert merge.query is not None
    prepared = prepare(duck, merge.query, {PARTIALS: schema})
    assert prepared.run(**{PARTIALS: merge.partials()}).num_rows == 0
    rows = {STEP: [1, 2], "tuples": [3, 4], "greatest": [5, None]}
    merge.stage(merge.conformed([pa.table(rows, schema=STEPPED.remove(1))]))
    answer = prepared.run(**{PARTIALS: merge.partials()}).to_pylist()
    assert answer == [{"tuples": 7, "greatest": 5}]
    prepared.close()


def test_rows_are_put_one_after_the_other(duck: Duck) -> None:
    merge = PairMerge(None, (), SCHEMA, duck)
    assert merge.query is None
    merge.stage(merge.conformed([staged([(0, "a", 1, 1), (1, "b", 1, 2)])]))
    merge.stage(merge.conformed([staged([(1, "b", 1, 2)])]))
    merge.advance(1)
    assert merge.partials()["place"].to_pylist() == ["b", "b"]
    assert "one after the other" in merge.describe()


def test_whatever_line_an_exception_comes_from_all_pairs_are_there_once(
    duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_merge, "_ROWS", 3)
    monkeypatch.setattr(pair_merge, "_UNASKED_ROWS", 8)
    expected = {"a": (8, 7), "b": (6, 6)}
    merge = PairMerge(("place",), STATES, SCHEMA, duck)
    lines = [lines_of(action, bool) for action in script(merge)]
    assert merged(merge, duck) == expected
    for number, tried in enumerate(worth_trying(lines)):
        for place in tried:
            merge = PairMerge(("place",), STATES, SCHEMA, duck)
            for at, action in enumerate(script(merge)):
                if at == number:
                    assert is_interrupted(action, place)
                action()
            merge._check()
            assert merged(merge, duck) == expected


def script(merge: PairMerge) -> Iterator[Callable[[], object]]:
    """Yield calls while pairs of two chunks are staged, of which the first leaves in the end."""
    for number in range(8):
        rows = [(chunk, place, 1, number) for chunk in (0, 1) for place in "ab"[: 1 + number % 7]]
        merge.stage(merge.conformed([staged(rows)]))
        yield merge.settle
        if number % 3 == 2:
            yield merge.partials
    yield partial(merge.advance, 1)
    yield merge.settle


def test_the_window_never_goes_back(duck: Duck) -> None:
    merge = PairMerge(("place",), STATES, SCHEMA, duck)
    merge.advance(3)
    with pytest.raises(AssertionError):
        merge.advance(2)
