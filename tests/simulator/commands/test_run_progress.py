"""How far a run is: shown on the error output, in terminals only."""

from __future__ import annotations

import pytest
from rich.console import Console

from simulator.commands import run_progress
from simulator.commands.run_progress import RunBar


def test_without_a_terminal_nothing_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with RunBar(2) as bar:
        bar.follow("fifo")(0.5)
    assert capfd.readouterr() == ("", "")


def test_in_a_terminal_the_run_and_its_share_are_shown(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(Console):
        def __init__(self, *, stderr: bool) -> None:
            super().__init__(stderr=stderr, force_terminal=True, width=80, no_color=True)

    monkeypatch.setattr(run_progress, "Console", Terminal)
    with RunBar(2) as bar:
        bar.follow("fifo")(1.0)
        show = bar.follow("index")
        show(0.5)
        task = bar._progress.tasks[0]
        assert (task.completed, task.total, task.description) == (1.5, 2, "index")
    output, errors = capfd.readouterr()
    assert output == ""
    assert "index" in errors
