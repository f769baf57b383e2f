"""Paths as Spark takes them: it reads a path that has brackets or stars in it as a pattern."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_SPECIAL: Final = re.compile(r"([\\*?\[\]{}])")


def path_to_read(path: Path) -> str:
    r"""Return a path by which Spark reads this file or folder, and no others.

    >>> path_to_read(Path("/day[1]/50 %"))
    '/day\\[1\\]/50 %'
    """
    return _SPECIAL.sub(r"\\\1", str(plain_path(path)))


def plain_path(path: Path) -> Path:
    """Return the absolute path without `..` by which Spark knows this file or folder in its rows.

    Spark takes `link/..` for the folder that the link is in; for the system it is that above the
    folder that the link leads to. A link at the end stays one: its name may say the format.

    >>> str(plain_path(Path("/day/../night/trades.csv")))
    '/night/trades.csv'
    """
    if path.name == "..":
        return path.resolve()
    return path.parent.resolve() / path.name
