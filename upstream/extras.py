"""What to say where a package of an extra is not installed: a command that installs it.

UpStream is on no package index, so what is installed is always a checkout.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def missing_extra(what: str, package: str | None, extra: str) -> str:
    """Return that something needs a package, and how to install the extra that has it."""
    return (
        f"{what} needs {package}, which is not installed; install the extra `{extra}`: "
        f"{install_command(extra)}"
    )


def install_command(extra: str, *, package: Path = Path(__file__).parent) -> str:
    """Return the command that installs an extra for this Python.

    The path of the checkout is told if this `package` is imported from one.
    """
    checkout = package.resolve().parent
    python = shlex.quote(sys.executable or "python")
    if (checkout / "pyproject.toml").is_file():
        return f"{python} -m pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"{python} -m pip install 'CHECKOUT[{extra}]', CHECKOUT being the folder of its source"
