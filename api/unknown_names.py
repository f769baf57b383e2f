"""What a client is told of a name that is not known: the name, and which one it may have meant.

No other answer repeats what was sent. A name is repeated only if it looks like one: it may be a
secret, or a megabyte, that landed in the wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z_-]{0,31}")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return that there is nothing of this kind and name, and what there is.

    >>> unknown_name("member", "scheduelr", ["kind", "scheduler"])
    "there is no member 'scheduelr'; did you mean 'scheduler'?"
    >>> unknown_name("member", "7", ["kind", "scheduler"])
    'there is a member of an unknown name; known are kind and scheduler'
    """
    names = list(known)
    if PLAIN_NAME.fullmatch(name) is None:
        return f"there is a {kind} of an unknown name; {_listed(names)}"
    nearest = get_close_matches(name, names, n=1)
    hint = f"did you mean '{nearest[0]}'?" if nearest else _listed(names)
    return f"there is no {kind} '{name}'; {hint}"


def _listed(names: list[str]) -> str:
    *others, last = names or ["none"]
    return f"known are {', '.join(others)} and {last}" if others else f"known is {last}"
