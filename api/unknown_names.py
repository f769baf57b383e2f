"""The message about an unknown name: the name, and which known name is similar.

No other message repeats the input. A name is repeated only if it looks like a name: anything else
may be a secret, or a megabyte, in the wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z_-]{0,31}")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return a message that no such name of this kind exists, with the known ones.

    >>> unknown_name("member", "scheduelr", ["kind", "scheduler"])
    "unknown member 'scheduelr'; did you mean 'scheduler'?"
    >>> unknown_name("member", "7", ["kind", "scheduler"])
    'unknown member; known are kind and scheduler'
    """
    names = list(known)
    if PLAIN_NAME.fullmatch(name) is None:
        return f"unknown {kind}; {_listed(names)}"
    nearest = get_close_matches(name, names, n=1)
    hint = f"did you mean '{nearest[0]}'?" if nearest else _listed(names)
    return f"unknown {kind} '{name}'; {hint}"


def _listed(names: list[str]) -> str:
    *others, last = names or ["none"]
    return f"known are {', '.join(others)} and {last}" if others else f"known is {last}"
