"""Every command line tells its version, which is that of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import upstream

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("module", ["api", "simulator", "datasets", "upstream"])
def test_every_command_line_shows_its_version(module: str) -> None:
    words = ["-m", module, "--version"]
    if module.startswith("upstream"):
        words = ["-c", "from upstream.cli import main; main()", "--version"]
    command = [sys.executable, *words]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert run.stdout == f"UpStream {upstream.__version__}\n"
    assert run.stderr == ""
