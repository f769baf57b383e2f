"""Measure experiments, their points in parallel, and go on where an earlier run was stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..experiments.experiment import Experiment, Point, Row, Scale
from ..experiments.registry import EXPERIMENTS
from .point_store import PointStore, fingerprint, locked
from .results import Result, read_result, write_result
from .worker_processes import Measured, Task, measured


class Progress(Protocol):
    """Shows the progress of a run."""

    def expect(self, name: str, *, points: int, measured: int) -> None:
        """Take an experiment, its number of points, and how many of them are known already."""
        ...

    def advance(self, name: str) -> None:
        """Count one more measured point of it."""
        ...


@dataclass(slots=True)
class _Pending:
    """An experiment that is not finished yet."""

    experiment: Experiment
    points: Sequence[Point]
    store: PointStore
    fingerprint: str

    @property
    def missing(self) -> list[int]:
        return [number for number in range(len(self.points)) if number not in self.store.rows]

    def table(self) -> list[Row]:
        return [row for number in range(len(self.points)) for row in self.store.rows[number]]


def run_experiments(
    names: Sequence[str],
    scale: Scale,
    *,
    out: Path,
    jobs: int,
    progress: Progress,
    is_fresh: bool = False,
) -> Iterator[Result]:
    """Yield the result of each experiment when it is finished; those that already are, first.

    What was measured by the same code at the same scale is not measured again, unless `is_fresh`.
    FolderInUseError if another run writes to the folder.
    """
    with locked(out), ExitStack() as stores:
        pending: dict[str, _Pending] = {}
        for name in names:
            experiment = EXPERIMENTS[name]
            mark = fingerprint(experiment, scale)
            result = None if is_fresh else read_result(experiment, out)
            if result is not None and result.fingerprint == mark:
                progress.expect(name, points=1, measured=1)
                yield result
                continue
            path = out / ".unfinished" / f"{experiment.file_name}.jsonl"
            if is_fresh:
                path.unlink(missing_ok=True)
            store = stores.enter_context(PointStore(path, mark))
            points = experiment.points(scale)
            progress.expect(name, points=len(points), measured=len(store.rows))
            pending[name] = _Pending(experiment, points, store, mark)
        yield from _finish_all(pending, scale, out=out, jobs=jobs, progress=progress)


def _finish_all(
    pending: dict[str, _Pending], scale: Scale, *, out: Path, jobs: int, progress: Progress
) -> Iterator[Result]:
    tasks = [
        (name, number, each.points[number])
        for name, each in pending.items()
        for number in each.missing
    ]
    for name in [name for name, each in pending.items() if not each.missing]:
        yield _finish(pending.pop(name), scale, out)
    for name, number, rows in _measured(tasks, scale, jobs=jobs):
        each = pending[name]
        each.store.add(number, rows)
        progress.advance(name)
        if not each.missing:
            yield _finish(pending.pop(name), scale, out)


def _finish(each: _Pending, scale: Scale, out: Path) -> Result:
    result = write_result(
        each.experiment, each.table(), scale, out=out, fingerprint=each.fingerprint
    )
    each.store.remove()
    return result


def _measured(tasks: Sequence[Task], scale: Scale, *, jobs: int) -> Iterator[Measured]:
    """Yield the rows of each point; measure here if more processes would not be faster."""
    if jobs > 1 and len(tasks) > 1:
        yield from measured(tasks, scale, jobs=jobs)
        return
    for name, number, point in tasks:
        yield name, number, EXPERIMENTS[name].measure(point, scale)
