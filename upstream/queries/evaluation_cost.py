"""How long the evaluations of a query took, and about how long the next one will take."""

from __future__ import annotations

from typing import Final

_SMOOTHING: Final = 0.2


class EvaluationCost:
    """Counts evaluations. `estimate` follows their durations, and is 0 before the first one.

    >>> cost = EvaluationCost()
    >>> cost.note(1.0)
    >>> cost.note(2.0)
    >>> cost.count, cost.seconds, cost.estimate
    (2, 3.0, 1.2)
    """

    __slots__ = ("count", "estimate", "seconds")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = self.estimate = 0.0

    def note(self, seconds: float) -> None:
        """Note how long an evaluation took."""
        self.count += 1
        self.seconds += seconds
        if self.count == 1:
            self.estimate = seconds
        else:
            self.estimate += _SMOOTHING * (seconds - self.estimate)
