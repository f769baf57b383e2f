"""The summary on a terminal."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from datasets.summaries.comparison import Sample, compare
from datasets.summaries.report import NOT_SEEDED, doubts, number, show

from .conftest import Summarized

WIDTH = 79


def shown(summarized: Summarized) -> str:
    file = StringIO()
    show(summarized.summary, Console(file=file, width=WIDTH, highlight=False))
    return file.getvalue()


def test_the_tables_fit_a_terminal_and_no_number_is_cut(summarized: Summarized) -> None:
    text = shown(summarized)
    assert max(map(len, text.splitlines())) <= WIDTH
    for word in ("x bound", "superseded", "latency", "check", "stalest keys", "append-shedding"):
        assert word in text
    assert "…" not in text
    assert "memoryless" in text
    assert "Student" in text


def test_runs_without_seeds_are_said_to_have_no_interval(summarized: Summarized) -> None:
    lives = [
        Sample("{}", "a", seed, {"queue": 1.0, "application": 1.0}) for seed in (None, None, 1, 2)
    ]
    for samples, is_said in ((lives[:2], True), (lives[2:], False)):
        summary = replace(summarized.summary, comparisons=compare(samples))
        file = StringIO()
        show(summary, Console(file=file, width=WIDTH, highlight=False))
        assert (NOT_SEEDED in " ".join(file.getvalue().split())) is is_said


def test_assumptions_and_differences_are_reported(summarized: Summarized) -> None:
    lines = list(doubts(summarized.summary.runs))
    said = {line.partition(": ")[0].rpartition("/")[2]: line for line in lines}
    assert said.keys() == {"returned", "undescribed", "expired", "killed", "wrong"}
    assert "no run.json; assumed are the policy 'returned'" in said["returned"]
    assert "queue staleness cannot be recomputed: 3 updates expired" in said["expired"]
    assert "did not finish" in said["killed"]
    assert "NOT what the queue integrated" in said["wrong"]


def test_large_times_are_whole_and_small_ones_take_seven_characters() -> None:
    values = (12_345.6, 12.3456, 0.012345, 0.0012345, 0.00012345, None)
    shown = [number(value) for value in values]
    assert shown == ["12,346", "12.35", "0.01235", "0.00123", "0.00012", "-"]
