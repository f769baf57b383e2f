"""What to say where a package of an extra is not installed: a command that installs it.

UpStream is on no package index, so what is installed is always a checkout.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_OURS: Final = frozenset({"upstream", "api", "simulator", "datasets"})


def missing_extra(what: str, package: str | None, extra: str) -> str:
    """Return that something needs a package, and how to install the extra that has it."""
    return (
        f"{what} needs {package}, which is not installed; install the extra `{extra}`: "
        f"{install_command(extra)}"
    )


@contextmanager
def imports_of_command(command: str, extra: str) -> Iterator[None]:
    """Exit with the command that installs the extra if a package is missing, not a traceback."""
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package in _OURS:
            raise
        sys.stderr.write(f"Error: {missing_extra(f'`{command}`', package, extra)}\n")
        sys.exit(1)


def install_command(extra: str, *, package: Path = Path(__file__).parent) -> str:
    """Return the command that installs an extra for this Python.

    The path of the checkout is told if this `package` is imported from one.
    """
    checkout = package.resolve().parent
    python = shlex.quote(sys.executable or "python")
    if (checkout / "pyproject.toml").is_file():
        return f"{python} -m pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"{python} -m pip install 'CHECKOUT[{extra}]', CHECKOUT being the folder of its source"
