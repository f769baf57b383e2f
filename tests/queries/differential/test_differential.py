"""Random queries answered by the engine and by the reference, window for window.

QUERY_CASES says how many there are; the seed of each that differs is in the message, and
`sides.compare(case(seed))` runs it again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest

from upstream.errors import QueryError

from .arrivals import Standing, Window
from .cases import Case, case
from .comparison import difference
from .feeds import STREAMS, Append, Feed
from .grammar import Grammar
from .reference import Reference
from .side_by_side import Comparison, Sides

CASES = int(os.environ.get("QUERY_CASES", "120" if os.environ.get("CI") else "60"))
PARTS = 8  # which run beside one another


@pytest.fixture(scope="module")
def sides() -> Iterator[Sides]:
    found = Sides()
    yield found
    found.close()


@pytest.mark.slow
@pytest.mark.timeout(60 + CASES)
@pytest.mark.parametrize("part", range(PARTS))
def test_the_engine_answers_as_the_reference_does(part: int, sides: Sides) -> None:
    problems: list[str] = []
    taken: list[Comparison] = []
    for seed in range(part, CASES, PARTS):
        each = case(seed)
        found = sides.compare(each)
        problems += problems_of(each, found)
        if not found.refusal:
            taken.append(found)
    assert not problems, "\n\n".join(problems)
    assert sum(found.answers for found in taken) > 2 * len(taken)
    assert sum(found.is_incremental for found in taken) > 0.6 * len(taken)


def problems_of(each: Case, found: Comparison) -> list[str]:
    """Say what is wrong with a case: a refusal that is not expected, or the first difference."""
    if found.refusal not in (each.refusals or {""}):
        return [f"{each}\n  refused: {found.refusal or 'no'}, not {set(each.refusals) or 'no'}"]
    return [f"{each}\n  {len(found.problems)}: {found.problems[0]}"] if found.problems else []


def test_full_evaluation_is_distinguished_from_incremental_evaluation(sides: Sides) -> None:
    cases = [each for seed in range(120) if (each := case(seed)).query.shape == "aggregate"]
    windows = [each for each in cases if each.standing.windows[0].kind == "hop"]
    for is_merged in (True, False):
        each = next(each for each in windows if each.query.is_merged is is_merged)
        assert sides.compare(each).is_incremental is is_merged


def test_a_query_that_is_answered_once_sees_the_newest_row_of_each_key() -> None:
    for seed in range(15):
        query = Grammar(Random(seed), has_order=False).query()
        windows = tuple(Window("stream", stream) for stream in query.streams)
        sides = Sides()
        reference = Reference(
            Standing(query.template, windows, "update"), STREAMS, sides.connection
        )
        for event in Feed(Random(seed)).events(query.streams):
            if isinstance(event, Append):
                reference.append(event.stream, event.rows, sides.clock.now())
                sides.engine.append(event.stream, event.rows)
        [answer] = reference.poll(sides.clock.now())
        text = query.template.format(*query.streams)
        if answer.table is None:
            with pytest.raises(QueryError):
                sides.engine.sql(text)
        else:
            found = sides.engine.sql(text)
            told = difference(answer.table, found, is_ordered=query.is_ordered)
            assert not told, f"seed {seed}: {text}\n{told}"
        sides.close()
