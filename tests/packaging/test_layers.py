"""The contracts of the layers break when they should.

That they hold for the code as it is, `make imports` says; here a copy of it is spoilt.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROKEN = 1

CASES = [
    ("upstream/unlisted.py", "math", "The layers of the library"),
    ("upstream/schedulers/spoilt.py", "upstream.memory", "The layers of the library"),
    ("upstream/memory/spoilt.py", "upstream.schedulers", "The layers of the library"),
    ("upstream/keys/spoilt.py", "upstream.queues", "The layers of the library"),
    ("upstream/queues/spoilt.py", "upstream.storage_manager", "The layers of the library"),
    ("upstream/queues/spoilt.py", "simulator", "Applications stand on the library"),
    ("upstream/tables/spoilt.py", "upstream.queries", "The layers of the library"),
    ("upstream/plans/spoilt.py", "upstream.queries", "The layers of the library"),
    ("upstream/rows/spoilt.py", "upstream.database", "The layers of the library"),
    ("upstream/queries/spoilt.py", "math", "The layers of the queries"),
    (
        "upstream/queries/chunks/spoilt.py",
        "upstream.queries.evaluation",
        "The layers of the queries",
    ),
    ("upstream/queries/evaluation/spoilt.py", "duckdb", "Only the database knows DuckDB"),
    ("upstream/queries/partials/spoilt.py", "sqlglot", "Only the database knows DuckDB"),
    ("api/spoilt.py", "math", "The layers of the service"),
    ("api/bodies/spoilt.py", "api.http", "The layers of the service"),
    ("datasets/taq/spoilt.py", "datasets.generators", "The layers of the jobs"),
    ("datasets/output/spoilt.py", "simulator", "Applications stand on the library"),
    ("upstream/client/spoilt.py", "upstream.cli", "The layers of the library"),
    ("upstream/queues/spoilt.py", "pandas", "The library has no web"),
    ("upstream/queues/spoilt.py", "socket", "The library does no input or output"),
]
"""A module that is added to the copy, what it imports, and the contract that this breaks."""

LINT_EACH = """
import contextlib, io, json, pathlib, sys
from importlinter.cli import lint_imports

found = []
for module, imported in json.load(sys.stdin):
    path = pathlib.Path(module)
    path.write_text(f'"Spoilt."\\n\\nimport {imported}\\n')
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = lint_imports(no_cache=True, no_logo=True)
    found.append((code, said.getvalue()))
    path.unlink()
json.dump(found, sys.stdout)
"""
"""Adds each module in turn and checks the contracts. Starting a process for each takes longer."""

Verdict = tuple[int, str]
"""The exit code of the import linter, and what it says."""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Verdict]:
    """Return what the linter says of each case, in a copy of what it reads."""
    checkout = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "pyproject.toml", checkout)
    for package in ("upstream", "api", "simulator", "datasets"):
        shutil.copytree(
            ROOT / package, checkout / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    modules = [(module, imported) for module, imported, _ in CASES]
    linted = subprocess.run(
        [sys.executable, "-c", LINT_EACH],  # the packages of the copy come before installed ones
        cwd=checkout,
        input=json.dumps(modules),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(zip(modules, json.loads(linted.stdout), strict=True))


@pytest.mark.parametrize(("module", "imported", "contract"), CASES)
def test_a_module_that_breaks_a_contract_is_found(
    verdicts: dict[tuple[str, str], Verdict], module: str, imported: str, contract: str
) -> None:
    code, said = verdicts[module, imported]
    assert code == BROKEN, said
    (verdict,) = (
        line for line in said.splitlines() if line.startswith(contract) and "BROKEN" in line
    )
    assert verdict
    assert module.removesuffix(".py").replace("/", ".") in said
