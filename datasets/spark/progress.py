"""What a command waits for: a bar in a terminal, else one line, both on the error output."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOK_SECONDS = 0.25


@contextmanager
def job_progress(session: SparkSession | None, doing: str) -> Iterator[None]:
    """Show what the command is doing while the body runs.

    A terminal shows a bar, which follows the tasks of the running stages if there is a session.
    Anything else gets one line, so that a log shows it too.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        console.print(f"{doing} …", highlight=False, markup=False)
        yield
        return
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as progress:
        task = progress.add_task(doing, total=None)
        if session is None:
            yield
            return
        done = threading.Event()
        watcher = threading.Thread(target=_watch, args=(session, progress, task, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


def _watch(session: SparkSession, progress: Progress, task: TaskID, done: threading.Event) -> None:
    tracker = session.sparkContext.statusTracker()
    while not done.wait(LOOK_SECONDS):
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        known = [stage for stage in stages if stage is not None]
        if known:
            completed = sum(stage.numCompletedTasks for stage in known)
            progress.update(task, completed=completed, total=sum(s.numTasks for s in known))
