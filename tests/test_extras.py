"""What says that an extra is missing names a command that installs it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from upstream.extras import imports_of_command, install_command, missing_extra, require

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_the_command_installs_the_extra_of_this_checkout(extra: str) -> None:
    python, *words, target = shlex.split(install_command(extra))
    assert python == sys.executable
    assert words == ["-m", "pip", "install", "-e"]
    folder, _, rest = target.partition("[")
    assert (Path(folder), rest) == (ROOT, f"{extra}]")


def test_a_checkout_with_blanks_in_its_path_is_quoted(tmp_path: Path) -> None:
    package = tmp_path / "my checkout" / "upstream"
    package.mkdir(parents=True)
    (package.parent / "pyproject.toml").touch()
    assert shlex.split(install_command("client", package=package))[-1] == (
        f"{package.parent}[client]"
    )


def test_the_command_of_an_installed_package_needs_the_source_folder(tmp_path: Path) -> None:
    command = install_command("client", package=tmp_path / "site-packages" / "upstream")
    assert "pip install 'CHECKOUT[client]', where CHECKOUT is the source folder" in command


def test_no_file_refers_to_a_package_index_without_the_package() -> None:
    files = [ROOT / "README.md", *ROOT.glob("upstream/**/*.py"), *ROOT.glob("datasets/**/*.py")]
    files += [*ROOT.glob("simulator/**/*.py"), *ROOT.glob("api/**/*.py")]
    for file in files:
        assert "pip install 'upstream" not in file.read_text(encoding="utf-8"), file


def test_the_message_names_the_missing_module() -> None:
    told = missing_extra("Engine", "duckdb", "queries")
    assert told.startswith("Engine needs duckdb, which is not installed; install the extra `queri")


@pytest.mark.parametrize("extra", ["api", "client", "queries", "simulator", "codecs", "arrow"])
def test_make_run_installs_the_extras_that_the_readme_uses(extra: str) -> None:
    locked = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
    for requirement in EXTRAS[extra]:
        name = re.split(r"[\[<>=]", requirement)[0]
        assert re.search(rf"^{re.escape(name)}(\[\w+\])?==", locked, re.MULTILINE), requirement


@pytest.mark.parametrize("command", ["api", "simulator", "datasets"])
def test_a_command_without_its_extra_shows_how_to_install_it(command: str) -> None:
    code = (
        "import runpy, sys; sys.modules['typer'] = None\n"
        f"runpy.run_module({command!r}, run_name='__main__')"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert run.returncode == 1
    assert run.stderr == f"Error: {missing_extra(f'`python -m {command}`', 'typer', command)}\n"


def test_a_missing_module_of_the_project_is_not_a_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError), imports_of_command("upstream", "client"):
        raise ModuleNotFoundError(name="upstream.cli.bench")


def test_what_needs_an_extra_says_which_package_of_it_is_missing() -> None:
    require("it", ("json", "upstream"), "queries")
    with pytest.raises(
        ImportError, match=r"it needs no_such_module, .* the extra `queries`"
    ) as why:
        require("it", ("json", "no_such_module"), "queries")
    assert why.value.name == "no_such_module"
