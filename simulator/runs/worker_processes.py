"""Points measured in processes of their own, which end when this one does.

Spawned processes inherit no state, so a point gives the same rows in any of them. Only this process
handles Ctrl-C: it ignores the signal while it starts the others, and they inherit that.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait

from ..errors import CodeChangedError, WorkerDiedError
from ..experiments.experiment import Point, Scale, Table
from ..experiments.registry import EXPERIMENTS
from .point_store import digest_of_code

Task = tuple[str, int, Point]
"""An experiment's name, and the number of a point and the point itself."""
Measured = tuple[str, int, Table]


def measured(tasks: Sequence[Task], scale: Scale, *, jobs: int) -> Iterator[Measured]:
    """Yield the rows of each point, in the order in which they are measured."""
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(
        min(jobs, len(tasks)), mp_context=context, initializer=_end_with_parent
    )
    try:
        with _ignoring_interrupts():
            running: dict[Future[Table], tuple[str, int]] = {
                executor.submit(measure, name, point, scale, digest_of_code()): (name, number)
                for name, number, point in tasks
            }
        for future in as_completed(running):
            yield *running[future], future.result()
    except BrokenProcessPool as error:
        raise WorkerDiedError from error
    finally:
        # Everything is done, or the run was stopped: end the remaining processes at once.
        executor.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()
            child.join()


def measure(name: str, point: Point, scale: Scale, digest: str) -> Table:
    """Measure a point, if the code is still that of the process that asks for it."""
    rows = EXPERIMENTS[name].measure(point, scale)
    if digest_of_code() != digest:
        raise CodeChangedError
    return rows


def _end_with_parent() -> None:
    """End this process when the one that started it has ended, even if that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "no process of its own"

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
