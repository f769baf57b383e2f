"""Names are found in any case, and suggested for misspelt ones."""

from __future__ import annotations

import pytest

from upstream.queries.sql.names import did_you_mean, found, is_reserved


def test_a_name_is_found_in_any_case() -> None:
    assert found("TRADES", ["quotes", "Trades"]) == "Trades"
    assert found("trade", ["Trades"]) is None


def test_the_nearest_name_is_offered() -> None:
    assert did_you_mean("Tradse", ["quotes", "Trades"]) == "did you mean Trades?"


def test_without_a_near_name_all_are_offered() -> None:
    assert did_you_mean("x", ["b", "a"]) == "choose one of a, b"
    many = [f"name{i:02}" for i in range(30)]
    assert did_you_mean("x", many) == f"choose one of {', '.join(many[:10])}, or 20 more"
    assert did_you_mean("x", []) == ""


@pytest.mark.parametrize(
    "name",
    [
        *("chunk_0", "CHUNK_12", "merged_3", "lent_1", "__s0", "__step", "__epoch", "__pair"),
        *("__Window_Start", "__window_end", "__row", "__place"),
    ],
)
def test_names_of_rewritten_queries_are_ours(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize(
    "name", ["chunk", "chunks_0", "chunk_a", "s0", "epoch", "__epochs", "__index_level_0__"]
)
def test_other_names_are_free(name: str) -> None:
    assert not is_reserved(name)
