"""The options of a standing query in SQL: `WITH (semantics = 'update', deletes = true)`.

They have the names and meanings of the arguments of `Engine.continuous_query`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ...errors import ParameterError, StatementError
from ..choices import Choices, seconds_of
from .names import did_you_mean

if TYPE_CHECKING:
    from .statement import OptionValue

DELETES: Final = "deletes"
SIGN: Final = "sign"
"""The option of a view that names the column of signs."""
_DURATIONS: Final = ("emit_every", "allowed_lateness", "close_after")
_NAMES: Final = (
    *("semantics", "evaluation", "emit", "on_error", "keep", "weight"),
    *(*_DURATIONS, DELETES),
)


def choices_of(options: Mapping[str, tuple[OptionValue, int]], text: str) -> tuple[Choices, bool]:
    """Return the options, and whether keys are to be deleted.

    Raise StatementError at the place of a value that is not allowed.
    """
    choices, deletes = Choices(), False
    for name, (value, place) in options.items():
        if name not in _NAMES:
            reason = f"there is no option named {name}"
            hint = did_you_mean(name, _NAMES)
            if name == SIGN:
                hint = "only views have it: CREATE VIEW … WITH (sign = 'op') AS SELECT …"
            raise StatementError(reason, text, place, hint)
        try:
            if name == DELETES:
                deletes = _truth(value)
                continue
            given = _seconds(name, value) if name in _DURATIONS else value
            # mypy: the values are of any type, and Choices checks them
            choices = replace(choices, **{name: given})  # type: ignore[arg-type]
        except ParameterError as error:
            raise StatementError(str(error), text, place) from None
    return choices, deletes


def _truth(value: OptionValue) -> bool:
    if not isinstance(value, bool):
        raise ParameterError(DELETES, value, "true or false")
    return value


def _seconds(name: str, value: OptionValue) -> float:
    if isinstance(value, str):
        raise ParameterError(name, value, "a number of seconds, or an INTERVAL")
    return seconds_of(name, value)
