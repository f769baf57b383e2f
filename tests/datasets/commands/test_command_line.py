"""The command line of a data card."""

from __future__ import annotations

import sys

import pytest

from datasets.commands.command_line import command_line


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["taq", "a b.txt", "--out", "/x/y"], "python -m datasets taq 'a b.txt' --out DIR"),
        (["taq", "--out=/x/y", "a.txt"], "python -m datasets taq --out=DIR a.txt"),
    ],
)
def test_the_card_tells_the_command_but_not_where_its_output_went(
    monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["datasets", *words])
    assert command_line() == told
