"""The version stands in one place, and is known without installed metadata."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import upstream

ROOT = Path(__file__).resolve().parents[1]


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
