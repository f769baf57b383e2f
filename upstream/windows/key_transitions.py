"""The key transition graph of windows, as tables (report, section 6.2 and Figure 10).

A key may wait and be under processing at once: a newer window may have come while the operator is
still busy with an older one. So the graph is two small tables side by side. LAZY and EAGER follow
the same tables; they differ only in when the triggers fire, which is what their window buffers
define (`is_update`, `should_promote`, `is_available`).

The diagram in DESIGN.md is drawn from these tables by `diagram`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class KeyState(StrEnum):
    """Where a key is. Each table has two or three of these."""

    ENQ = "ENQ"
    """Tuples may accumulate, but no window of the key waits."""
    WAIT = "WAIT"
    """A window of the key waits for the operator: the key is among the `waiting_keys`."""
    DONE = "DONE"
    """No window of the key is under processing."""
    READY = "READY"
    """The operator is committed to a window: the key is among the `keys_under_processing`."""
    IDLE = "IDLE"
    """The same, but tuples of the window are missing: the key is among the `idle_keys`."""


class KeyEvent(StrEnum):
    """What moves a key from state to state."""

    UPDATE = "is_update"
    """A tuple made another window the most recent one."""
    WITHDRAW = "the window is rejected"
    """Memory refused a tuple of the window that waits, or the key was forgotten."""
    COMMIT = "commit"
    """The operator takes the key's most recent window."""
    GAP = "not is_available"
    """The operator asks for a tuple of the committed window that has not come yet."""
    PROMOTE = "should_promote"
    """That tuple has come, or the window was closed."""
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
"""Whether a window of the key waits; it begins in ENQ."""

PROCESSING: Final[Transitions] = {
    KeyEvent.COMMIT: {_DONE: _READY},
    KeyEvent.GAP: {_READY: _IDLE},
    KeyEvent.PROMOTE: {_IDLE: _READY},
    KeyEvent.FINISH: {_READY: _DONE},
}
"""Whether a window of the key is under processing; it begins in DONE."""

IS_UPDATE: Final = 1
"""Trigger: another window is the most recent one, and waits from now on."""
CLOSES: Final = 2
"""Trigger: a window was closed, so the application is stale if it has none newer."""
SHOULD_PROMOTE: Final = 4
"""Trigger: the committed window has more to give, so a key that is IDLE is READY again."""
WITHDRAWS: Final = 8
"""Trigger: the window that waited was rejected, and nothing waits."""
REFUSED: Final = 16
"""Trigger: memory had no room for the tuple."""
OUTSIDE: Final = 32
"""Trigger: the tuple is in no window that is open."""

UNUSUAL: Final = SHOULD_PROMOTE | WITHDRAWS | REFUSED | OUTSIDE
"""What most tuples, and most that start or close a window, do not mean."""


def diagram() -> str:
    """Return both tables as one Mermaid state diagram, the two halves of a key side by side."""
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
