"""The key transition graph of windows, as tables (report, section 6.2 and Figure 10).

A key may wait and be under processing at once, because a newer window may arrive while the operator
still processes an older one. So the graph is two small tables side by side. LAZY and EAGER follow
the same tables. They differ only in when the triggers fire, which their window buffers define
(`is_update`, `should_promote`, `is_available`).

`diagram` draws the diagram in DESIGN.md from these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class KeyState(StrEnum):
    """The states of a key. Each table has two or three of them."""

    ENQ = "ENQ"
    """Tuples may accumulate, but no window of the key waits."""
    WAIT = "WAIT"
    """A window of the key waits for the operator: the key is among the `waiting_keys`."""
    DONE = "DONE"
    """No window of the key is under processing."""
    READY = "READY"
    """The operator is committed to a window: the key is among the `keys_under_processing`."""
    IDLE = "IDLE"
    """Like READY, but the next tuple has not arrived: the key is among the `idle_keys`."""


class KeyEvent(StrEnum):
    """The events that change the state of a key."""

    UPDATE = "is_update"
    """A tuple made another window the most recent one."""
    WITHDRAW = "the window is rejected"
    """Memory had no room for a tuple of the waiting window, or the key was forgotten."""
    COMMIT = "commit"
    """The operator commits to the key's most recent window."""
    GAP = "not is_available"
    """The operator asks for a tuple of the committed window that has not arrived."""
    PROMOTE = "should_promote"
    """That tuple has arrived, or the window was closed."""
    FINISH = "the window has left"
    """All of the committed window has left."""


Transitions = Mapping[KeyEvent, Mapping[KeyState, KeyState]]

_ENQ, _WAIT = KeyState.ENQ, KeyState.WAIT
_DONE, _READY, _IDLE = KeyState.DONE, KeyState.READY, KeyState.IDLE

WAITING: Final[Transitions] = {
    KeyEvent.UPDATE: {_ENQ: _WAIT, _WAIT: _WAIT},
    KeyEvent.WITHDRAW: {_WAIT: _ENQ},
    KeyEvent.COMMIT: {_WAIT: _ENQ},
}
"""Whether a window of the key waits. The first state is ENQ."""

PROCESSING: Final[Transitions] = {
    KeyEvent.COMMIT: {_DONE: _READY},
    KeyEvent.GAP: {_READY: _IDLE},
    KeyEvent.PROMOTE: {_IDLE: _READY},
    KeyEvent.FINISH: {_READY: _DONE},
}
"""Whether a window of the key is under processing. The first state is DONE."""

IS_UPDATE: Final = 1
"""Trigger: another window is the most recent one and waits now."""
CLOSES: Final = 2
"""Trigger: a window was closed, so the application is stale unless it has a newer one."""
SHOULD_PROMOTE: Final = 4
"""Trigger: the committed window has more tuples, so an IDLE key is READY again."""
WITHDRAWS: Final = 8
"""Trigger: the waiting window was rejected, so no window waits."""
REFUSED: Final = 16
"""Trigger: memory had no room for the tuple."""
OUTSIDE: Final = 32
"""Trigger: the tuple is in no open window."""

UNUSUAL: Final = SHOULD_PROMOTE | WITHDRAWS | REFUSED | OUTSIDE
"""The rare triggers. Most tuples that start or close a window have none of them."""


def diagram() -> str:
    """Return both tables as one Mermaid state diagram, side by side."""
    lines = ["stateDiagram-v2", "    state key {"]
    for begin, table in ((KeyState.ENQ, WAITING), (KeyState.DONE, PROCESSING)):
        if begin is KeyState.DONE:
            lines.append("        --")
        lines.append(f"        [*] --> {begin}")
        lines += [
            f"        {state} --> {following} : {event}"
            for event, step in table.items()
            for state, following in step.items()
        ]
    return "\n".join([*lines, "    }"])
