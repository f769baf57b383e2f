"""Data on the standard output, messages on the error output."""

from __future__ import annotations

import msgspec
import pytest
from rich.console import Console
from rich.progress import MofNCompleteColumn

from upstream.cli.output import (
    add_row,
    console,
    fit,
    is_terminal,
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


def test_data_and_messages_have_separate_outputs(capsys: Captured) -> None:
    write_line("data")
    say("message")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("data\n", "message\n")


def test_a_message_may_quote_anything(capsys: Captured) -> None:
    say("no such key: a\x1b[31m\nnext")
    assert capsys.readouterr().err == "no such key: a\\u001b[31m\nnext\n"


def test_json_can_be_read_by_people_or_by_the_line(capsys: Captured) -> None:
    write_json(Counts(waiting=1))
    assert capsys.readouterr().out.startswith('{\n  "waiting": 1,\n')
    write_json_lines([{"a": 1}, [2]])
    assert capsys.readouterr().out == '{"a":1}\n[2]\n'
    write_json_lines([])
    assert capsys.readouterr().out == ""


def test_a_piped_table_has_no_colours_and_is_never_shortened(capsys: Captured) -> None:
    table = table_with("name", "count", right=["count"])
    add_row(table, "[bold]" + "x" * 300, "1")
    add_row(table, "y", "1,000")
    write_table(table)
    header, first, second = capsys.readouterr().out.splitlines()
    assert header == "name".ljust(308) + "count"
    assert first == "[bold]" + "x" * 300 + "      1"
    assert second.split() == ["y", "1,000"]


def test_json_output_has_no_control_characters(capsys: Captured) -> None:
    value = {"a\x9b31m": ["\u202e", "Z\u00fcrich", "\U000e0001"]}
    write_json_lines([value])
    text = capsys.readouterr().out
    assert text == '{"a\\u009b31m":["\\u202e","Z\u00fcrich","\\udb40\\udc01"]}\n'
    write_json(value)
    pretty = capsys.readouterr().out
    assert all(line.isprintable() for line in pretty.splitlines())
    assert msgspec.json.decode(text) == msgspec.json.decode(pretty) == value


def test_a_pipe_gets_no_colours_even_if_they_are_forced(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "10")
    table = table_with("name", "count", right=["count"])
    add_row(table, "x" * 30, "1,000")
    write_table(table)
    assert capsys.readouterr().out.splitlines()[1] == "x" * 30 + "  1,000"
    assert not is_terminal()
    assert not console().is_terminal


def fitted(width: int, *, elastic: int | None = None) -> list[str]:
    table = table_with("key", "value", "count", right=["count"])
    add_row(table, "instrument", "y" * 30, "1,000,000")
    wide = Console(width=width, color_system=None)
    with wide.capture() as captured:
        wide.print(fit(table, width, elastic=elastic))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_table_that_does_not_fit_omits_whole_columns_from_the_right() -> None:
    assert fitted(53)[0].split() == ["key", "value", "count"]
    assert fitted(53)[1] == "instrument  " + "y" * 30 + "  1,000,000"
    assert fitted(52)[1] == "instrument  " + "y" * 30
    assert fitted(41)[1] == "instrument"
    assert fitted(52, elastic=1)[1] == "instrument  " + "y" * 28 + "\u2026  1,000,000"
    assert fitted(31, elastic=1)[1] == "instrument  yyyyyyy\u2026  1,000,000"
    assert fitted(30, elastic=1)[1] == "instrument  yyyyyyy\u2026"


def test_progress_is_shown_in_terminals_only(capsys: Captured) -> None:
    with progress(MofNCompleteColumn()) as bar:
        bar.advance(bar.add_task("put", total=2))
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
