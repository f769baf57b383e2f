"""The command line as a whole: which commands there are, and that help needs no Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from datasets.cli import app

from .commands.command_line import FAILED, assert_refused, invoke

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = typer.main.get_group(app).commands


def test_each_command_has_a_page_of_help_that_says_what_it_does() -> None:
    assert {"zipf", "taq", "taq-like", "linear-road", "profile"} <= set(COMMANDS)
    for name in COMMANDS:
        run = CliRunner().invoke(app, [name, "--help"])
        assert run.exit_code == 0
        assert "--json" in run.output


def test_help_is_shown_without_spark_and_what_it_needs() -> None:
    code = (
        "import sys\n"
        "for name in ('pyspark', 'pandas', 'pyarrow', 'matplotlib'): sys.modules[name] = None\n"
        "from datasets.cli import app\n"
        "app(['linear-road', '--help'])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert run.returncode == 0, run.stderr
    assert "--xways" in run.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_without_spark_says_how_to_install_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.csv").write_text("time,key\n1,a\n")
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    given = [str(tmp_path / "x.csv")] if name in ("taq", "profile", "summarize") else []
    result = invoke(name, *given, "--out", tmp_path / "out")
    assert_refused(result, "this job needs pyspark.sql, which is not installed", status=FAILED)
    assert not (tmp_path / "out").exists()
