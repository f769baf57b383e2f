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
    return _SPECIAL.sub(r"\\\1", str(path.absolute()))
