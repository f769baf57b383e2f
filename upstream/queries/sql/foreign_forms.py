"""Forms of other engines, and slips: those that are read, and what to write instead of others.

`in_words_of_duckdb` makes a text readable that differs from DuckDB's SQL in words only; what such
a call then means, `window_arguments` and `windows_as_values` know. The others are looked for only
where a text does not parse, so nothing that DuckDB can read is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from sqlglot import Token, TokenType

_BEGINNINGS: Final = (
    *("SELECT", "WITH", "FROM", "CREATE", "DROP", "INSERT", "UPDATE", "DELETE", "ALTER", "COPY"),
    *("DESCRIBE", "SUMMARIZE", "SHOW", "EXPLAIN", "PIVOT", "UNPIVOT"),
)


OFFSET_ARGUMENT: Final = "offse_"
"""How a text calls the argument `offset => …` to DuckDB, which allows no keyword there."""
WINDOW_NAME: Final = "windo_"
"""How a text calls a column `window` to DuckDB, for which that is a keyword."""
_WINDOWS: Final = {"TUMBLE", "HOP", "SESSION"}
_OF_INTERVAL: Final = [TokenType.L_PAREN, TokenType.INTERVAL]
_PER: Final = ", per =>"
"""How Flink's PARTITION BY is written here."""


def in_words_of_duckdb(text: str, tokens: Sequence[Token]) -> str:
    """Return a text that DuckDB can read, with every other character in its place.

    Flink's `TABLE` and `PARTITION BY` in the arguments of a window, and `offset` and `window` as
    names, are other words there.
    """
    kinds = [token.token_type for token in tokens]
    calls = [i for i, token in enumerate(tokens) if token.text.upper() in _WINDOWS]
    changes: dict[int, str] = {}
    for i in calls:
        changes |= _in_arguments(tokens, kinds, i)
    if any(kinds[i + 1 : i + 3] == _OF_INTERVAL for i in calls):
        names = (i for i, kind in enumerate(kinds) if kind == TokenType.WINDOW)
        changes |= {i: WINDOW_NAME for i in names if kinds[i + 2 : i + 3] != [TokenType.ALIAS]}
    for i, kind in enumerate(kinds):
        if kind == TokenType.OFFSET and tokens[min(i + 1, len(tokens) - 1)].text in {"=>", ":="}:
            changes[i] = OFFSET_ARGUMENT
    return _changed(text, tokens, changes | dict.fromkeys(_closing(kinds, changes), ""))


def _in_arguments(
    tokens: Sequence[Token], kinds: Sequence[TokenType], call: int
) -> Mapping[int, str]:
    """Read `TABLE(SESSION(TABLE trades PARTITION BY symbol, …))` as a call with plain arguments."""
    words = [token.text.upper() for token in tokens[call + 2 : call + 4]]
    at = call + (4 if words == ["DATA", "=>"] else 2)
    if kinds[call + 1 : call + 2] != [TokenType.L_PAREN] or kinds[at : at + 1] != [TokenType.TABLE]:
        return {}
    changes = {at: ""}
    is_session = tokens[call].text.upper() == "SESSION"
    if is_session and kinds[at + 2 : at + 3] == [TokenType.PARTITION_BY]:
        changes[at + 2] = _PER
    if call > 1 and kinds[call - 2 : call] == [TokenType.TABLE, TokenType.L_PAREN]:
        changes |= {call - 2: "", call - 1: ""}
    return changes


def _closing(kinds: Sequence[TokenType], opening: Container[int]) -> set[int]:
    """Return which words close these brackets."""
    open_ones: list[int] = []
    found: set[int] = set()
    for i, kind in enumerate(kinds):
        if kind == TokenType.L_PAREN:
            open_ones.append(i)
        elif kind == TokenType.R_PAREN and open_ones and open_ones.pop() in opening:
            found.add(i)
    return found


def _changed(text: str, tokens: Sequence[Token], changes: Mapping[int, str]) -> str:
    """Return a text with other words, each filled up with blanks to the length of the old one."""
    parts: list[str] = []
    end = 0
    for i in sorted(changes):
        token = tokens[i]
        parts += [text[end : token.start], changes[i].ljust(token.end + 1 - token.start)]
        end = token.end + 1
    return "".join([*parts, text[end:]])


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
    """Find Flink's `CUMULATE(TABLE trades, …)`, with `DATA =>` before it or not."""
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
_SESSION: Final = "session({stream}, INTERVAL '5 minutes')"
_FUNCTIONS: Final = {"CUMULATE": "landmark({stream}, INTERVAL '1 minute')"}
_CLAUSES: Final = {"TUMBLING": _TUMBLE, "HOPPING": _HOP, "SESSION": _SESSION}
_RULES: Final[tuple[Callable[[Sequence[Token], Sequence[str], int], ForeignForm | None], ...]] = (
    _table_function,
    _window_clause,
    _emit,
    _misspelt,
)
