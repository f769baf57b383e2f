"""Which answers become results; `test_continuous_query.py` shows this from outside."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.queries.choices import Choices, Emit, Semantics
from upstream.queries.results.answer import Answer, Answers
from upstream.queries.results.emission import MOST_AT_ONCE, Emitter, is_same_relation
from upstream.queries.results.result_reader import ResultReader

ONE, TWO = pa.table({"a": [1]}), pa.table({"a": [2]})


def answers(*of: tuple[int, pa.Table], skipped: int = 0) -> Answers:
    """Return answers for windows that end then."""
    return Answers([Answer(end - 10, end, 0.0, 0, table) for end, table in of], skipped)


def give(emitter: Emitter, found: Answers, now: float) -> None:
    """Decide which answers become results, and make them."""
    emitter.prepared(found.answers, found.skipped, now).give()


@pytest.mark.parametrize(("emit", "unchanged"), [("slide", 0), ("changed", 2)])
def test_answers_as_the_one_before_are_left_out_if_that_was_asked_for(
    emit: Emit, unchanged: int
) -> None:
    emitter = Emitter(Choices(emit=emit))
    give(emitter, answers((10, ONE), (20, ONE), (30, ONE), (40, TWO)), 1.0)
    assert (emitter.due, emitter.unchanged, emitter.backlog.made) == (4, unchanged, 4 - unchanged)


@pytest.mark.parametrize("semantics", ["append", "update"])
def test_until_results_are_made_nothing_has_changed(semantics: Semantics) -> None:
    emitter = Emitter(Choices(semantics, emit="changed", emit_every=5.0))
    reader = ResultReader(emitter.backlog, "reader")
    found = answers((10, ONE), (20, ONE), (30, TWO), skipped=4)
    for _ in range(3):
        emitter.prepared(found.answers, found.skipped, 1.0)
        assert (emitter.due, emitter.unchanged, emitter.backlog.made) == (0, 0, 0)
        assert (emitter.skipped, emitter.held_until(2.0)) == (0, None)
    give(emitter, found, 1.0)
    assert (emitter.due, emitter.unchanged, emitter.held_until(2.0)) == (7, 1, 6.0)
    newest = reader.take(1.0)
    assert newest is not None
    assert newest.missed == (4 if semantics == "append" else 5)


def test_nothing_is_given_too_soon() -> None:
    emitter = Emitter(Choices(emit_every=5.0))
    assert (emitter.keep, emitter.held_until(0.0)) == (1, None)
    give(emitter, answers((10, ONE), skipped=3), 1.0)
    assert emitter.held_until(5.9) == 6.0
    assert emitter.held_until(6.0) is None
    assert (emitter.skipped, emitter.dropped) == (3, 0)


def test_answers_that_are_never_made_are_dropped_or_under_update_skipped() -> None:
    append, update = Emitter(Choices(keep=2)), Emitter(Choices("update", keep=2))
    for emitter in (append, update):
        give(emitter, answers((10, ONE), (20, ONE), (30, ONE), skipped=4), 1.0)
    assert (append.keep, append.dropped, append.skipped) == (2, 4, 0)
    assert (update.keep, update.dropped, update.skipped) == (1, 0, 4)
    stored = [len(emitter.backlog.stored) for emitter in (append, update)]
    assert stored == [2, 1]


def test_a_query_that_is_only_asked_gives_no_results() -> None:
    emitter = Emitter(Choices(emit="asked"))
    give(emitter, answers(skipped=7), 1.0)
    assert (emitter.keep, emitter.due, emitter.backlog.made) == (0, 0, 0)


def test_epochs_that_an_earlier_run_has_given_are_skipped() -> None:
    emitter = Emitter(Choices(), first=3, given_epoch=11)
    reader = ResultReader(emitter.backlog, "reader")
    epochs = [Answer(None, None, 0.0, 0, ONE, epoch=epoch) for epoch in (10, 11, 12, 13)]
    give(emitter, Answers(epochs), 1.0)
    give(emitter, Answers([Answer(None, None, 0.0, 0, ONE)]), 1.0)  # it has no epoch
    assert (emitter.due, emitter.skipped) == (5, 2)
    found = [(each.number, each.epoch, each.missed) for each in reader.take_all(1.0)]
    assert found == [(3, 12, 0), (4, 13, 0), (5, None, 0)]


def test_results_that_are_taken_at_once_may_be_many() -> None:
    kept = [Emitter(Choices(keep=2), is_taken_at_once=at_once).keep for at_once in (False, True)]
    assert kept == [2, MOST_AT_ONCE]


def test_after_a_new_beginning_windows_may_end_earlier() -> None:
    emitter = Emitter(Choices("update"))
    reader = ResultReader(emitter.backlog, "reader")
    give(emitter, answers((30, ONE)), 1.0)
    give(emitter, answers((20, TWO)), 1.0)
    assert (emitter.skipped, reader.waiting) == (1, 1)
    emitter.begin_anew()
    give(emitter, answers((10, TWO)), 1.0)
    newest = reader.oldest()
    assert newest is not None
    assert newest.end == 10


def test_tables_are_compared_as_relations() -> None:
    one = pa.table({"a": [1, 2], "b": [0.5, None]})
    assert is_same_relation(one, one.take([1, 0]))
    assert not is_same_relation(one, one.slice(1))
    assert not is_same_relation(one, pa.table({"a": [1, 3], "b": [0.5, None]}))
    lists = pa.table({"a": [[1], [2]]})
    assert is_same_relation(lists, lists)
    assert not is_same_relation(lists, lists.take([1, 0]))  # lists have no order to go by


def test_nan_equals_itself() -> None:
    table = pa.table({"a": [float("nan"), 1.0]})
    assert is_same_relation(table, pa.table({"a": [1.0, float("nan")]}))
    assert not is_same_relation(table, pa.table({"a": [1.0, 2.0]}))
