"""The summary on a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from datasets.summaries.report import doubts, number, show

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


def test_what_ought_to_be_doubted_is_said(summarized: Summarized) -> None:
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
