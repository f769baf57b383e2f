"""The reason why a rule does not apply, in words for the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, ParamSpec

if TYPE_CHECKING:
    from collections.abc import Callable

_Asked = ParamSpec("_Asked")

BOUNDS_COME_LATER: Final = "bounds of the window, which are known only when it has ended"
"""What a partial cannot read."""


class NotIncrementalError(Exception):
    """A rule cannot split this, so the next one is tried. It never leaves the package."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def needs_every_value(aggregates: list[str]) -> str:
    """Return the reason that these aggregates cannot be computed from partials."""
    return f"{listed(aggregates)} {'need' if len(aggregates) > 1 else 'needs'} every value"


def listed(names: list[str]) -> str:
    """Return one name, or several as a list in prose."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def obstacle(check: Callable[_Asked, None], *about: _Asked.args, **named: _Asked.kwargs) -> str:
    """Return the reason for which a check raises, or "" if it does not."""
    try:
        check(*about, **named)
    except NotIncrementalError as error:
        return error.reason
    return ""


def refusal(error: Exception) -> str:
    """Return the reason why a part was refused; for DuckDB, the first line of its message."""
    if isinstance(error, NotIncrementalError):
        return error.reason
    return f"DuckDB rejects the split query ({str(error).strip().splitlines()[0]})"
