"""How far jobs are: one line in a log, a bar on a terminal, and never on the output."""

from __future__ import annotations

import threading

import pytest
from pyspark.sql import SparkSession
from rich.progress import Progress, TaskID

from datasets.spark.progress import job_progress


def test_a_log_gets_one_line(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    with job_progress(spark, "Reading [1/2] files"):
        pass
    with job_progress(None, "Starting Spark"):
        assert capsys.readouterr() == ("", "Reading [1/2] files …\nStarting Spark …\n")


@pytest.fixture
def as_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rich take the error output for a terminal."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


def watchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "(_watch)" in thread.name]


def test_the_watcher_ends_with_the_body_even_if_it_fails(
    spark: SparkSession, as_terminal: None
) -> None:
    watching: list[int] = []

    def fail() -> None:
        with job_progress(spark, "Reading"):
            watching.append(len(watchers()))
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert (watching, watchers()) == ([1], [])


def test_a_terminal_shows_what_is_waited_for_before_there_is_a_session(
    as_terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with job_progress(None, "Starting Spark"):
        assert watchers() == []
    assert "Starting Spark" in capsys.readouterr().err


def test_a_terminal_shows_how_many_tasks_are_done(
    spark: SparkSession, as_terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[float] = []
    frame = spark.range(0, 8, 1, 8)
    before = Progress.update

    def update(progress: Progress, task: TaskID, **given: float) -> None:
        seen.append(given["completed"] / given["total"])
        before(progress, task, completed=given["completed"], total=given["total"])

    with pytest.MonkeyPatch.context() as patch, job_progress(spark, "Sleeping"):
        patch.setattr(Progress, "update", update)
        frame.selectExpr("java_method('java.lang.Thread', 'sleep', 300L)").collect()
    out, shown = capsys.readouterr()
    assert out == ""
    assert "Sleeping" in shown
    assert "━" in shown
    assert seen == sorted(seen)
    assert any(0 < done < 1 for done in seen)
