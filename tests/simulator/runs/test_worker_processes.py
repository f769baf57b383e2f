"""Points in processes of their own: the same rows, and no process that outlives the run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from simulator.errors import CodeChangedError, WorkerDiedError
from simulator.experiments.experiment import Scale
from simulator.experiments.registry import EXPERIMENTS
from simulator.runs.point_store import digest_of_code
from simulator.runs.worker_processes import Task, measure, measured

ROOT = Path(__file__).resolve().parents[3]
QUICK = Scale(seed=3, is_quick=True)
NAME = "5a"


def tasks() -> list[Task]:
    points = EXPERIMENTS[NAME].points(QUICK)
    return [(NAME, number, point) for number, point in enumerate(points)]


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for something that other processes do; the test's time limit ends it."""
    while not is_so():
        time.sleep(0.01)


def test_each_point_comes_once_with_the_rows_that_it_has_here() -> None:
    found = sorted(measured(tasks(), QUICK, jobs=2), key=lambda each: each[1])
    assert [number for _, number, _ in found] == list(range(len(tasks())))
    for (name, number, rows), (_, _, point) in zip(found, tasks(), strict=True):
        assert name == NAME, number
        assert rows == EXPERIMENTS[NAME].measure(point, QUICK)
    wait_until(lambda: multiprocessing.active_children() == [])


def test_code_that_was_changed_meanwhile_is_not_mixed() -> None:
    point = EXPERIMENTS["2"].points(QUICK)[0]
    assert measure("2", point, QUICK, digest_of_code())
    with pytest.raises(CodeChangedError):
        measure("2", point, QUICK, "another digest")


@pytest.mark.slow
def test_a_process_that_is_killed_is_reported_and_none_is_left() -> None:
    points = EXPERIMENTS["policies"].points(Scale())  # minutes of work
    long = [("policies", number, point) for number, point in enumerate(points)]
    results = measured(long, Scale(), jobs=2)
    next(results)
    for child in multiprocessing.active_children():
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(WorkerDiedError, match="killed"):
        list(results)
    wait_until(lambda: multiprocessing.active_children() == [])


@pytest.mark.slow
def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "simulator", "figure", "policies", "--jobs", "2"]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path)], cwd=ROOT, start_new_session=True
    ) as running:
        stored = tmp_path / ".unfinished" / "policies.jsonl"
        wait_until(lambda: stored.exists() and stored.stat().st_size > 0)
        assert len(members_of(running.pid)) > 2
        running.kill()
        running.wait()
    wait_until(lambda: members_of(running.pid) == [])


def members_of(session: int) -> list[int]:
    """Return the processes of a session, as the system knows them."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        state, session_of = fields[0], int(fields[3])
        if session_of == session and state != "Z":
            found.append(int(path.name))
    return found
