"""One import registers the format with the session that is active."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession as Sessions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODULE = "upstream.spark.registered"


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[SparkSession]:
    """Return the sessions with which the format is registered, as the module is imported anew."""
    sessions: list[SparkSession] = []
    monkeypatch.setattr("upstream.spark.source.register", sessions.append)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    return sessions


def test_the_import_registers_the_format_with_the_active_session(
    spark: SparkSession, registered: list[SparkSession]
) -> None:
    importlib.import_module(MODULE)
    assert registered == [spark]


def test_the_import_does_nothing_without_a_session(
    registered: list[SparkSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sessions, "getActiveSession", lambda: None)
    importlib.import_module(MODULE)
    assert registered == []
