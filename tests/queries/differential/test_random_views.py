"""Random queries as views: each is refused, or returns what the reference returns.

QUERY_CASES says how many there are; the seed of each that differs is in the message, and
`compared(seed, engine, connection)` runs it again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from unittest.mock import patch

import duckdb
import pytest

from upstream import ManualClock
from upstream.engine import Engine
from upstream.errors import QueryError, StatementError, UnboundedQueryError
from upstream.queries.evaluation import stream_state

from .arrivals import Standing, Window
from .comparison import difference
from .feeds import DEFINITIONS, LISTED, STREAMS, Append, Feed, Poll
from .grammar import Grammar, Query
from .reference import Answer, Reference

CASES = int(os.environ.get("QUERY_CASES", "30" if os.environ.get("CI") else "15"))
PARTS = 4  # which run beside one another
REFUSALS = (UnboundedQueryError, StatementError)
LEAST_TAKEN = 0.5
"""If a larger share of the queries were refused, the comparison would say little."""


@dataclass(slots=True)
class Found:
    """What came of a case: a refusal, or how many answers were compared, and the differences."""

    refusal: str = ""
    answers: int = 0
    problem: str = ""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock(60.0)) as engine:
        for definition in DEFINITIONS.values():
            engine.sql(definition)
        engine.create_table("listed", LISTED)
        yield engine


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(config={"threads": 1})
    connection.register("listed", LISTED)
    yield connection
    connection.close()


@pytest.mark.slow
@pytest.mark.timeout(60 + CASES)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_random_view_is_refused_or_returns_what_the_reference_returns(
    part: int, engine: Engine, connection: duckdb.DuckDBPyConnection
) -> None:
    found = {seed: compared(seed, engine, connection) for seed in range(part, CASES, PARTS)}
    problems = [f"seed {seed}: {each.problem}" for seed, each in found.items() if each.problem]
    assert not problems, "\n\n".join(problems)
    taken = [each for each in found.values() if not each.refusal]
    refused = Counter(each.refusal for each in found.values() if each.refusal)
    assert len(taken) > LEAST_TAKEN * len(found), refused
    assert sum(each.answers for each in taken) > 3 * len(taken)


def compared(seed: int, engine: Engine, connection: duckdb.DuckDBPyConnection) -> Found:
    """Create the view of a seed, feed its streams, and compare its results at random moments.

    Every other one takes its rows in portions of a few.
    """
    random = Random(seed)
    kinds = random.choice([("landmark",), ("landmark",), ("landmark", "latest"), ("latest",)])
    query = Grammar(random, has_order=kinds == ("landmark",)).query()
    windows = tuple(_window(random.choice(kinds), stream) for stream in query.streams)
    text = query.template.format(*map(_text, windows))
    # What came before is in latest(…), and in nothing else; so the engine has to be empty.
    for name in DEFINITIONS:
        engine.sql(f"DROP STREAM {name}")
        engine.sql(DEFINITIONS[name])
    reference = Reference(Standing(query.template, windows), STREAMS, connection)
    feed = Feed(random, late=0.2, strange=random.choice([0.0, 0.0, 0.1]))
    try:
        engine.sql(f"CREATE VIEW random_view({_names(query, reference)}) AS {text}")
    except REFUSALS as error:
        return Found(refusal=type(error).__name__)
    together = 6 if seed % 2 else 65_536
    try:
        with patch.object(stream_state, "_TOGETHER", together):
            return _fed(text, query, engine, reference, feed)
    finally:
        engine.sql("DROP VIEW random_view")


def _fed(text: str, query: Query, engine: Engine, reference: Reference, feed: Feed) -> Found:
    found = Found()
    for event in feed.events(query.streams):
        if isinstance(event, Append):
            reference.append(event.stream, event.rows, 0.0)
            engine.append(event.stream, event.rows)
        elif isinstance(event, Poll):
            found.answers += 1
            told = _difference(reference.ask(0.0), engine)
            if told:
                found.problem = f"{text}\n  at answer {found.answers}: {told}"
                break
    return found


def _difference(expected: Answer, engine: Engine) -> str:
    """Compare with a view, which has no order and fails if any row makes its query fail."""
    try:
        found = engine.sql("SELECT * FROM random_view")
    except QueryError as error:
        return f"the view fails: {error}" if expected.table is not None else ""
    if expected.table is None:
        return "the query fails, and the view does not"
    wanted = expected.table.rename_columns(found.schema.names)
    return difference(wanted, found, is_ordered=False)


def _names(query: Query, reference: Reference) -> str:
    """Return new names for the columns of a result, of which two may have one name."""
    answer = reference.ask(0.0)
    count = 0 if answer.table is None else answer.table.num_columns
    return ", ".join(f"c_{number}" for number in range(count)) or "c_0"


def _window(kind: str, stream: str) -> Window:
    return Window(kind, stream, rows=1, per=STREAMS[stream].key)


def _text(window: Window) -> str:
    return f"latest({window.stream})" if window.kind == "latest" else window.stream
