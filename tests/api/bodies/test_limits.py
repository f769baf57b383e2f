"""Limits are values, by which types of decoders are kept."""

from __future__ import annotations

from api.bodies.limits import Limits


def test_equal_limits_are_one_key() -> None:
    assert {Limits(): "kept"}[Limits()] == "kept"
    assert Limits(depth=3) != Limits()
