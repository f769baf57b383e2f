"""The version is that of the project."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from api import version

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def test_it_is_the_projects() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    assert project["name"] == version.DISTRIBUTION
    assert version.installed_version() in (project["version"], "0")


def test_a_checkout_that_was_not_installed_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "DISTRIBUTION", "no-such-distribution")
    assert version.installed_version() == "0"
