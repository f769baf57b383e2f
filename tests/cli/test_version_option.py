"""Every command line tells its version, which is that of the package and of the build."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import upstream

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("module", ["api", "simulator", "datasets", "upstream"])
def test_every_command_line_tells_its_version(module: str) -> None:
    words = ["-m", module, "--version"]
    if module.startswith("upstream"):
        words = ["-c", "from upstream.cli import main; main()", "--version"]
    command = [sys.executable, *words]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert run.stdout == f"UpStream {upstream.__version__}\n"
    assert run.stderr == ""


def test_the_build_takes_the_version_from_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "upstream/version.py"


def test_the_version_is_known_without_installed_metadata(tmp_path: Path) -> None:
    (tmp_path / "upstream").symlink_to(ROOT / "upstream")
    code = (
        "import sys, upstream; assert 'importlib.metadata' not in sys.modules; "
        "print(upstream.__version__)"
    )
    command = [
        sys.executable,
        "-P",
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}",
    ]
    run = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert run.stdout.strip() == upstream.__version__
