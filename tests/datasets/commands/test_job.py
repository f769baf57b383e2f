"""How commands run and end: errors in one line, the right status, nothing half-written."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from datasets.commands.job import command_line, errors_shown, job, show_card
from datasets.errors import BadFileError

from ..output.test_card import CARD as A_CARD

ROOT = Path(__file__).resolve().parents[3]
SLEEPS = """
import sys, typer
from pathlib import Path
from datasets.commands.job import job
from datasets.output.folder import output_folder
def main(out: Path) -> None:
    with job("sleeping") as session, output_folder(out) as folder:
        print("writing", flush=True)
        frame = session.range(0, 4, 1, 4)
        sleep = "java_method('java.lang.Thread', 'sleep', 400L * (1 + 100 * (id div 3)))"
        frame.selectExpr("id", f"{sleep} AS slept").write.parquet(str(folder / "files"))
typer.run(main)
"""
CARD = replace(A_CARD, title="A day [test]")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (BadFileError("a.txt", "is cut off", line=3), "Error: a.txt, line 3: is cut off\n"),
        (
            PermissionError(13, "Permission denied", "a"),
            "Error: [Errno 13] Permission denied: 'a'\n",
        ),
    ],
)
def test_an_error_is_one_line_and_status_1(
    error: Exception, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as caught, errors_shown():
        raise error
    assert caught.value.exit_code == 1
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize("error", [BrokenPipeError, AssertionError, typer.BadParameter])
def test_other_errors_are_not_caught(error: Callable[[str], Exception]) -> None:
    with pytest.raises(type(error("x"))), errors_shown():
        raise error("x")


@pytest.mark.usefixtures("spark")
def test_an_error_of_spark_is_one_line_and_logs_are_off_only_during_the_job(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(typer.Exit) as caught, job("dividing") as session:
        session.range(3).selectExpr("id / 0").collect()
    assert caught.value.exit_code == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: dividing: Spark says: Division by zero")
    assert err.count("\n") == 1
    assert logging.root.manager.disable == logging.NOTSET


def test_a_card_is_shown_to_people_and_to_programs(capsys: pytest.CaptureFixture[str]) -> None:
    show_card(CARD, Path("day [1]"), is_json=False)
    assert capsys.readouterr().out.startswith("A day [test], in day [1]\n")
    show_card(CARD, Path("day"), is_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert (shown["folder"], shown["updates"]) == ("day", 90)


@pytest.mark.slow
@pytest.mark.usefixtures("spark")  # skipped where there is no Java
def test_a_command_that_is_told_to_end_leaves_nothing_behind(tmp_path: Path) -> None:
    place = tmp_path / "out"
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    run = subprocess.Popen(
        [sys.executable, "-c", SLEEPS, str(place / "day")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "writing\n"
    until = time.monotonic() + 60
    while not list(place.glob(".day.*/files/**/part-*")) and time.monotonic() < until:
        time.sleep(0.1)
    assert list(place.glob(".day.*/files/**/part-*")), "nothing was being written"
    run.send_signal(signal.SIGTERM)
    _, error = run.communicate(timeout=30)
    assert run.returncode == 128 + signal.SIGTERM
    assert error == "Starting Spark …\nError: stopped by SIGTERM\n"
    assert not place.exists()
    assert list(temporary.glob("upstream-spark-*")) == []


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
