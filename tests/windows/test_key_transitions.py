"""The key transition graph: two tables, and the diagram that is drawn from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from upstream.windows import KeyEvent, KeyState
from upstream.windows.key_transitions import PROCESSING, WAITING, Transitions, diagram

DESIGN = Path(__file__).parents[2] / "DESIGN.md"


@pytest.mark.parametrize(
    ("table", "begin", "states"),
    [
        (WAITING, KeyState.ENQ, {KeyState.ENQ, KeyState.WAIT}),
        (PROCESSING, KeyState.DONE, {KeyState.DONE, KeyState.READY, KeyState.IDLE}),
    ],
    ids=["waiting", "processing"],
)
def test_every_state_can_be_reached_and_left(
    table: Transitions, begin: KeyState, states: set[KeyState]
) -> None:
    reached = {begin}
    for _ in states:
        reached |= {
            following
            for step in table.values()
            for state, following in step.items()
            if state in reached
        }
    assert reached == states
    assert {state for step in table.values() for state in step} == states


def test_the_two_halves_meet_only_at_commit() -> None:
    assert set(WAITING) & set(PROCESSING) == {KeyEvent.COMMIT}
    assert set(WAITING) | set(PROCESSING) == set(KeyEvent)


def test_a_key_can_wait_while_it_is_under_processing() -> None:
    """Each half keeps its own state, so no event of one is an event of the other but a commit."""
    waiting, processing = KeyState.WAIT, KeyState.DONE
    waiting = WAITING[KeyEvent.COMMIT][waiting]
    processing = PROCESSING[KeyEvent.COMMIT][processing]
    waiting = WAITING[KeyEvent.UPDATE][waiting]
    assert (waiting, processing) == (KeyState.WAIT, KeyState.READY)


def test_a_key_that_is_idle_is_not_committed_to_another_window() -> None:
    assert KeyState.IDLE not in PROCESSING[KeyEvent.COMMIT]
    assert KeyState.READY not in PROCESSING[KeyEvent.COMMIT]


def test_the_diagram_shows_every_transition_and_nothing_else() -> None:
    arrows = [line.strip() for line in diagram().splitlines() if "-->" in line]
    expected = {
        f"{state} --> {following} : {event}"
        for table in (WAITING, PROCESSING)
        for event, step in table.items()
        for state, following in step.items()
    }
    assert {arrow for arrow in arrows if not arrow.startswith("[*]")} == expected
    assert len(arrows) == len(expected) + 2


def test_the_design_has_the_diagram_as_it_is_drawn_from_the_tables() -> None:
    assert f"```mermaid\n{diagram()}\n```" in DESIGN.read_text(encoding="utf-8")
