"""Forms of other engines, and slips: what is wrong there, and what to write instead.

They are looked for only where a text does not parse, so nothing that DuckDB can read is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from sqlglot import Token

_BEGINNINGS: Final = (
    *("SELECT", "WITH", "FROM", "CREATE", "DROP", "INSERT", "UPDATE", "DELETE", "ALTER", "COPY"),
    *("DESCRIBE", "SUMMARIZE", "SHOW", "EXPLAIN", "PIVOT", "UNPIVOT"),
)


@dataclass(frozen=True, slots=True)
class ForeignForm:
    """Something in a text that is not written so here; `place` is where it begins."""

    place: int
    reason: str
    hint: str


def foreign_form(tokens: Sequence[Token]) -> ForeignForm | None:
    """Return the first form that a rule knows."""
    words = [token.text.upper() for token in tokens]
    for rule in _RULES:
        for i in range(len(tokens)):
            if (found := rule(tokens, words, i)) is not None:
                return found
    return None


def _misspelt(tokens: Sequence[Token], words: Sequence[str], i: int) -> ForeignForm | None:
    """Find a first word that is nearly one that begins statements."""
    near = get_close_matches(words[0], _BEGINNINGS, n=1, cutoff=0.75) if i == 0 else []
    if not near or near[0] == words[0]:
        return None
    reason = f"no statement begins with {tokens[0].text}"
    return ForeignForm(int(tokens[0].start), reason, f"did you mean {near[0]}?")


def _table_function(tokens: Sequence[Token], words: Sequence[str], i: int) -> ForeignForm | None:
    """Find Flink's `TUMBLE(TABLE trades, DESCRIPTOR(time), …)`, with `DATA =>` before it or not."""
    form = _FUNCTIONS.get(words[i])
    at = i + (4 if words[i + 1 : i + 4] == ["(", "DATA", "=>"] else 2)
    if form is None or words[i + 1 : i + 2] != ["("] or words[at : at + 1] != ["TABLE"]:
        return None
    if len(tokens) < at + 2:
        return None
    hint = f"write FROM {form.format(stream=tokens[at + 1].text)}"
    return ForeignForm(int(tokens[i].start), f"{words[i]}(TABLE …) is how Flink writes it", hint)


def _window_clause(tokens: Sequence[Token], words: Sequence[str], i: int) -> ForeignForm | None:
    """Find ksqlDB's `FROM trades WINDOW TUMBLING (SIZE 1 MINUTE)`."""
    form = _CLAUSES.get(words[i + 1]) if words[i] == "WINDOW" and i + 1 < len(words) else None
    if form is None:
        return None
    stream = tokens[i - 1].text if i else "stream"
    hint = f"write FROM {form.format(stream=stream)}"
    reason = f"WINDOW {words[i + 1]} is how ksqlDB writes it"
    return ForeignForm(int(tokens[i].start), reason, hint)


def _emit(tokens: Sequence[Token], words: Sequence[str], i: int) -> ForeignForm | None:
    """Find ksqlDB's `EMIT CHANGES` and `EMIT FINAL`."""
    if words[i] != "EMIT" or words[i + 1 : i + 2] not in (["CHANGES"], ["FINAL"]):
        return None
    reason = f"EMIT {words[i + 1]} is how ksqlDB writes it"
    hint = "leave it out, and use continuous_query(), whose argument emit says when results come"
    return ForeignForm(int(tokens[i].start), reason, hint)


_TUMBLE: Final = "tumble({stream}, INTERVAL '1 minute')"
_HOP: Final = "hop({stream}, INTERVAL '10 minutes', INTERVAL '1 minute')"
_SILENCE: Final = "tumble({stream}, INTERVAL '1 minute'): there are no sessions"
_FUNCTIONS: Final = {
    "TUMBLE": _TUMBLE,
    "HOP": _HOP,
    "CUMULATE": "landmark({stream}, INTERVAL '1 minute')",
    "SESSION": _SILENCE,
}
_CLAUSES: Final = {"TUMBLING": _TUMBLE, "HOPPING": _HOP, "SESSION": _SILENCE}
_RULES: Final[tuple[Callable[[Sequence[Token], Sequence[str], int], ForeignForm | None], ...]] = (
    _table_function,
    _window_clause,
    _emit,
    _misspelt,
)
