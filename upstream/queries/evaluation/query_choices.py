"""What the user chose for a standing query, beside its text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from ..choices import OnError, Semantics, Way, check_name_of_choice, checked_seconds
from ..results.emission import Emission


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user chose for a query, beside its text."""

    semantics: Semantics = "append"
    way: Way = "measured"
    allowed_lateness: float | timedelta | None = None
    close_after: float | timedelta | None = None
    emission: Emission = field(default_factory=Emission)
    on_error: OnError = "skip"

    def checked(self) -> Choices:
        """Return the same with times in seconds; ParameterError if it cannot be meant."""
        check_name_of_choice("semantics", self.semantics, Semantics)
        check_name_of_choice("evaluation", self.way, Way)
        check_name_of_choice("on_error", self.on_error, OnError)
        return replace(
            self,
            allowed_lateness=checked_seconds("allowed_lateness", self.allowed_lateness),
            close_after=checked_seconds("close_after", self.close_after),
        )
