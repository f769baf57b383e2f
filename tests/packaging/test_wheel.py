"""The wheel: what is in it, and what it asks for. Built without a network."""

from __future__ import annotations

import re
import subprocess
import sys
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*build, "--directory", str(folder)], cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    with ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def metadata(wheel: Path, names: list[str]) -> Message:
    (name,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    with ZipFile(wheel) as archive:
        return Parser().parsestr(archive.read(name).decode())


def requirements(metadata: Message) -> dict[str, set[str]]:
    """Return the names of the required packages by extra; those of the core under ''."""
    found: dict[str, set[str]] = {"": set()}
    for requirement in metadata.get_all("Requires-Dist", []):
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
        assert name is not None
        found.setdefault(extra[1] if extra else "", set()).add(name[0])
    return found


def test_the_only_top_level_name_is_upstream(names: list[str]) -> None:
    top_level = {name.partition("/")[0] for name in names}
    assert {name for name in top_level if not name.endswith(".dist-info")} == {"upstream"}


def test_every_module_of_the_checkout_is_in_the_wheel(names: list[str]) -> None:
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "upstream").rglob("*.py")}
    assert modules
    assert modules <= set(names)


def test_the_wheel_says_that_it_is_typed(names: list[str]) -> None:
    assert "upstream/py.typed" in names


def test_the_command_upstream_comes_with_the_wheel(wheel: Path, names: list[str]) -> None:
    (name,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
    with ZipFile(wheel) as archive:
        entries = archive.read(name).decode()
    assert "[console_scripts]\nupstream = upstream.cli:main" in entries


def test_the_licence_is_in_the_wheel(names: list[str], metadata: Message) -> None:
    assert metadata["License-Expression"] == "Apache-2.0"
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_the_core_requires_numpy_and_sortedcontainers_at_most(metadata: Message) -> None:
    core = requirements(metadata)[""]
    assert "numpy" in core
    assert core <= {"numpy", "sortedcontainers"}


def test_the_extra_all_has_everything_that_the_other_extras_have(metadata: Message) -> None:
    by_extra = requirements(metadata)
    others = {
        name for extra, found in by_extra.items() if extra not in {"", "all"} for name in found
    }
    assert others
    assert by_extra["all"] == others


def test_requirements_are_read_by_extra() -> None:
    metadata = Message()
    metadata["Requires-Dist"] = "numpy>=2.0"
    metadata["Requires-Dist"] = "pyarrow>=17; extra == 'arrow'"
    assert requirements(metadata) == {"": {"numpy"}, "arrow": {"pyarrow"}}
