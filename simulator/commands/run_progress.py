"""Progress bars on the error output, so that the results can be piped."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)


def progress_on_errors(*columns: ProgressColumn) -> Progress:
    """Return progress bars on the error output, shown in terminals only."""
    console = Console(stderr=True)
    return Progress(
        *columns,
        console=console,
        transient=True,
        redirect_stdout=False,  # it would send the results to the terminal, not into the pipe
        disable=not console.is_terminal,
    )


class RunBar:
    """A bar over several runs of equal weight; shown in terminals only."""

    def __init__(self, runs: int) -> None:
        self._progress = progress_on_errors(
            TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
        )
        self._task = self._progress.add_task("", total=runs)
        self._begun = 0

    def __enter__(self) -> RunBar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def follow(self, name: str) -> Callable[[float], None]:
        """Begin the next run; return a function to call with the share of it that is done."""
        before = self._begun
        self._begun += 1
        self._progress.update(self._task, completed=before, description=name)

        def show(share: float) -> None:
            self._progress.update(self._task, completed=before + share)

        return show
