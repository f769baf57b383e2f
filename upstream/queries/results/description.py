"""How a query is evaluated at the moment, in words."""

from __future__ import annotations

from dataclasses import dataclass

BY_INCREMENTS = "by increments"
OVER_KEPT_ROWS = "over kept rows"


@dataclass(frozen=True, slots=True)
class Description:
    """What `explain` says of an evaluation.

    `merges` tells for each leaf how its partials are merged; None where the query is not run in
    parts.
    """

    now: str
    merges: tuple[str, ...] | None = None
