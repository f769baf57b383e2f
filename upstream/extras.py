"""The text for a missing package: it names the extra and the command that installs the extra.

UpStream is on no package index, so every installation is made from a checkout.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final

_OURS: Final = frozenset({"upstream", "api", "simulator", "datasets"})


def missing_extra(what: str, package: str | None, extra: str) -> str:
    """Return the text: `what` needs `package`, and this command installs the extra."""
    return (
        f"{what} needs {package}, which is not installed; install the extra `{extra}`: "
        f"{install_command(extra)}"
    )


def require(what: str, packages: Sequence[str], extra: str) -> None:
    """Import the packages of an extra; raise ImportError if one of them is missing."""
    try:
        for name in packages:
            import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(missing_extra(what, error.name, extra), name=error.name) from error


@contextmanager
def imports_of_command(command: str, extra: str) -> Iterator[None]:
    """If an import fails, print how to install `extra` and exit, instead of a traceback."""
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

    If `package` is imported from a checkout, the command contains the path of the checkout.
    """
    checkout = package.resolve().parent
    python = shlex.quote(sys.executable or "python")
    if (checkout / "pyproject.toml").is_file():
        return f"{python} -m pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"{python} -m pip install 'CHECKOUT[{extra}]', where CHECKOUT is the source folder"
