"""What is chosen for a standing query, by name."""

from __future__ import annotations

from typing import Literal

Semantics = Literal["append", "update"]
"""Whether every result counts, or only the newest."""

Emit = Literal["slide", "changed", "asked"]
"""When results are given: at each slide, when they differ from the last, or when asked for only."""

Way = Literal["measured", "increments", "whole"]
"""How windows are evaluated: by increments, whole, or as is measured to be cheaper."""
