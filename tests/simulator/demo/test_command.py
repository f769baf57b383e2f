"""The demo as a program: JSON, plain lines, Ctrl-C, a real terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simulator.demo.command import run_demo
from simulator.demo.demo import DemoSettings

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "simulator", "demo"]
ESCAPE = "\x1b"
PATIENCE = 60


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )


@pytest.mark.slow
def test_json_is_all_that_is_printed() -> None:
    result = run("--seconds", "1", "--json")
    found = json.loads(result.stdout)
    assert result.stderr == ""
    assert found["is_stopped"] is False
    assert found["elapsed_seconds"] >= 1.0
    for policy in found["policies"].values():
        counted = policy["statistics"]
        assert counted["arrived"] == found["arrived"] > 0
        assert counted["dequeued"] + counted["waiting"] + counted["superseded"] == found["arrived"]


@pytest.mark.slow
def test_without_a_terminal_plain_lines_are_printed() -> None:
    result = run("--seconds", "1.5")
    assert result.stderr == ""
    assert result.stdout.isascii()
    assert ESCAPE not in result.stdout
    lines = result.stdout.splitlines()
    assert lines[0].startswith("One feed of 100 keys")
    assert any(re.match(r" +\d\.\d s: append ", line) for line in lines)
    assert re.search(r"^After \d\.\d s and ", result.stdout, re.MULTILINE)


@pytest.mark.slow
def test_ctrl_c_ends_the_run_with_its_summary() -> None:
    with subprocess.Popen(
        [*COMMAND, "--seconds", "100"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:  # the first progress shows that it runs
            if "s: append" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(PATIENCE) == 0
    assert "Stopped after" in rest
    assert "Traceback" not in rest


@pytest.mark.slow
def test_in_a_terminal_a_live_table_is_drawn() -> None:
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    with subprocess.Popen(
        [*COMMAND, "--seconds", "1"], cwd=ROOT, stdout=theirs, env=environment
    ) as process:
        os.close(theirs)
        drawn = _read_all(ours)
        assert process.wait(PATIENCE) == 0
    assert ESCAPE in drawn
    assert drawn.count("UpStream: where an update waits") >= 2
    assert re.search(r"After \d\.\d s and ", drawn)


def _read_all(terminal: int) -> str:
    drawn = b""
    try:
        while chunk := os.read(terminal, 65_536):
            drawn += chunk
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return drawn.decode()


def test_the_handler_of_ctrl_c_is_put_back(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    run_demo(DemoSettings(keys=5), seconds=0.05, is_json=True)
    assert signal.getsignal(signal.SIGINT) is before
    assert json.loads(capsys.readouterr().out)["settings"]["keys"] == 5


@pytest.mark.slow
def test_the_demo_sleeps_while_nothing_is_due() -> None:
    spent = time.process_time()
    run_demo(DemoSettings(updates_per_second=100.0), seconds=1.0, is_json=True)
    assert time.process_time() - spent < 0.5
