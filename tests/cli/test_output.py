"""Data on the standard output, messages on the error output."""

from __future__ import annotations

import pytest
from rich.progress import MofNCompleteColumn

from upstream.cli.output import (
    add_row,
    progress,
    say,
    table_with,
    write_json,
    write_json_lines,
    write_line,
    write_table,
)
from upstream.client import Counts

Captured = pytest.CaptureFixture[str]


def test_data_and_messages_go_their_own_ways(capsys: Captured) -> None:
    write_line("data")
    say("message")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("data\n", "message\n")


def test_json_can_be_read_by_people_or_by_the_line(capsys: Captured) -> None:
    write_json(Counts(waiting=1))
    assert capsys.readouterr().out.startswith('{\n  "waiting": 1,\n')
    write_json_lines([{"a": 1}, [2]])
    assert capsys.readouterr().out == '{"a":1}\n[2]\n'
    write_json_lines([])
    assert capsys.readouterr().out == ""


def test_a_table_that_is_piped_is_plain_and_never_cut(capsys: Captured) -> None:
    table = table_with("name", "count", right=["count"])
    add_row(table, "[bold]" + "x" * 300, "1")
    add_row(table, "y", "1,000")
    write_table(table)
    header, first, second = capsys.readouterr().out.splitlines()
    assert header == "name".ljust(308) + "count"
    assert first == "[bold]" + "x" * 300 + "      1"
    assert second.split() == ["y", "1,000"]


def test_progress_is_shown_in_terminals_only(capsys: Captured) -> None:
    with progress(MofNCompleteColumn()) as bar:
        bar.advance(bar.add_task("put", total=2))
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
