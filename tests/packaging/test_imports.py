"""What `import upstream` brings with it: the core's dependencies and nothing more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = {"upstream", "numpy", "sortedcontainers"}
EXTRAS = ("pyarrow", "msgspec", "rich", "typer", "simpy", "duckdb", "sqlglot", "pyspark", "pandas")


def in_a_new_python(code: str) -> str:
    """Run `code` in a process of its own and return what it prints."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def foreign_packages_after(statement: str) -> set[str]:
    """Return the top-level packages, the standard library's left out, that `statement` imports."""
    report = in_a_new_python(
        "import json, sys\n"
        "before = set(sys.modules)\n"
        f"{statement}\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(json.dumps(sorted(new - sys.stdlib_module_names)))\n"
    )
    # NumPy's wheels register a compiled runtime under a name of its own, with a hash in it.
    return {name for name in json.loads(report) if not name.startswith("_cython_")}


def test_importing_upstream_imports_the_core_dependencies_only() -> None:
    imported = foreign_packages_after("import upstream")
    assert "upstream" in imported
    assert imported <= CORE


def test_an_import_of_an_extra_would_be_seen() -> None:
    assert not foreign_packages_after("import rich") <= CORE


def test_upstream_can_be_imported_where_no_extra_is_installed() -> None:
    in_a_new_python(f"import sys\nsys.modules.update(dict.fromkeys({EXTRAS}))\nimport upstream\n")


def test_importing_upstream_starts_no_thread() -> None:
    count = in_a_new_python("import threading, upstream\nprint(threading.active_count())\n")
    assert int(count) == 1


def test_spark_modules_need_no_other_extra() -> None:
    others = ("rich", "typer", "simpy", "fastapi", "matplotlib", "pydantic", "plotly")
    in_a_new_python(
        f"import sys\nsys.modules.update(dict.fromkeys({others}))\n"
        "import upstream.spark.conflation.processor\n"
        "import upstream.spark.source.data_source\n"
        "import upstream.spark.source.readers\n"
        "import upstream.spark.source.writer\n"
    )


def test_every_name_in_all_exists() -> None:
    missing = in_a_new_python(
        "import upstream\n"
        "print([name for name in upstream.__all__ if not hasattr(upstream, name)])\n"
    )
    assert missing.strip() == "[]"
