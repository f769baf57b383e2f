"""The contracts of the layers break when they should.

That they hold for the code as it is, `make imports` says; here a copy of it is spoilt.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = "import importlinter.cli as cli; cli.lint_imports_command()"
BROKEN = 1


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Copy what the import linter reads."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("upstream", "api", "simulator", "datasets"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path


def lint_imports(checkout: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of `checkout`, with its own packages before any installed one."""
    return subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-cache", "--no-logo"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("module", "imported", "contract"),
    [
        ("upstream/unlisted.py", "math", "The layers of the library"),
        ("upstream/schedulers/spoilt.py", "upstream.memory", "The layers of the library"),
        ("upstream/memory/spoilt.py", "upstream.schedulers", "The layers of the library"),
        ("upstream/keys/spoilt.py", "upstream.queues", "The layers of the library"),
        ("upstream/queues/spoilt.py", "upstream.storage_manager", "The layers of the library"),
        ("upstream/queues/spoilt.py", "simulator", "Applications stand on the library"),
        ("api/spoilt.py", "math", "The layers of the service"),
        ("api/bodies/spoilt.py", "api.http", "The layers of the service"),
        ("datasets/taq/spoilt.py", "datasets.generators", "The layers of the jobs"),
        ("datasets/output/spoilt.py", "simulator", "Applications stand on the library"),
        ("upstream/client/spoilt.py", "upstream.cli", "The layers of the library"),
        ("upstream/queues/spoilt.py", "pandas", "The library has no web"),
        ("upstream/queues/spoilt.py", "socket", "The library does no input or output"),
    ],
)
def test_a_module_that_breaks_a_contract_is_found(
    checkout: Path, module: str, imported: str, contract: str
) -> None:
    (checkout / module).write_text(f'"""Spoilt."""\n\nimport {imported}\n')
    result = lint_imports(checkout)
    assert result.returncode == BROKEN, result.stdout + result.stderr
    (verdict,) = (
        line
        for line in result.stdout.splitlines()
        if line.startswith(contract) and "BROKEN" in line
    )
    assert verdict
