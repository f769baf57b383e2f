"""The state of an evaluation and its results are committed together."""

from __future__ import annotations

import pytest

from tests.queries.results.test_backlog import answer
from tests.queries.sinks import MemorySink
from upstream import SinkError
from upstream.queries.choices import Choices
from upstream.queries.results.answer import Answers
from upstream.queries.results.commit import Commit
from upstream.queries.results.result_reader import ResultReader
from upstream.queries.results.sink import SinkWriter


def test_the_state_is_committed_after_the_sink_has_sealed_and_before_it_commits() -> None:
    sink = MemorySink()
    commit = Commit(Choices(), sink=SinkWriter(sink, "query"))
    reader = ResultReader(commit.emitter.backlog, "query")
    answers = Answers([answer(0), answer(1)], 0, lambda: sink.steps.append("state"))
    commit.give(answers, answers.answers, 1.0)
    assert sink.steps == [
        *("stage 0", "seal 0", "stage 1", "seal 1", "state", "commit 0", "commit 1"),
    ]
    assert (reader.waiting, commit.unfinished_at) == (0, None)


@pytest.mark.parametrize("step", ["stage 0", "seal 1", "commit 0"])
def test_what_the_sink_refuses_is_finished_later(step: str) -> None:
    sink = MemorySink()
    states: list[int] = []
    commit = Commit(Choices(), sink=SinkWriter(sink, "query"))
    reader = ResultReader(commit.emitter.backlog, "query")
    answers = Answers([answer(0), answer(1)], 0, lambda: states.append(commit.emitter.due))
    sink.breaks.add(step)
    with pytest.raises(SinkError):
        commit.give(answers, answers.answers, 1.0)
    is_committed = step.startswith("commit")
    assert commit.unfinished_at == 1.0
    assert (reader.waiting, len(states)) == ((2, 1) if is_committed else (0, 0))
    sink.breaks.clear()
    commit.finish(2.0)
    if not is_committed:
        assert not sink.results
        commit.give(answers, answers.answers, 1.0)
    assert (states, list(sink.results), reader.waiting) == ([0], [0, 1], 0)


def test_without_a_sink_results_wait_for_readers() -> None:
    commit = Commit(Choices())
    readers = [ResultReader(commit.emitter.backlog, name) for name in "ab"]
    answers = Answers([answer(0), answer(1)])
    commit.give(answers, answers.answers, 1.0)
    commit.finish(1.0)
    assert [reader.waiting for reader in readers] == [2, 2]
    assert commit.unfinished_at is None
