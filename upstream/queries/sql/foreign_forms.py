"""The window syntax of other engines, and slips: what is read as it is, and what to write instead.

`in_words_of_duckdb` makes a text readable that differs from DuckDB's SQL only in words.
`window_arguments` knows what the arguments of such a call mean. Forms that cannot be read are
searched for only in texts that do not parse, so nothing that DuckDB can read is refused.

Arroyo's windows stand in the select list: `SELECT tumble(INTERVAL '1 minute') AS window`. They
apply to the stream in FROM. Here that stream gets the window, and the value is a struct of its
bounds, with the parts `window.start` and `window.end`. Where Arroyo has a slide and a width, `hop`
has a size and a slide. A session is defined by the columns that are grouped by.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Never

from sqlglot import Token, TokenType, exp

from ...errors import WindowError
from ...rows.stream_definition import StreamDefinition
from .trees import column, item_meant, key, place_of, stream_read
from .window_bounds import WINDOW_END, WINDOW_START

if TYPE_CHECKING:
    from .source_text import SourceText

_BEGINNINGS: Final = (
    *("SELECT", "WITH", "FROM", "CREATE", "DROP", "INSERT", "UPDATE", "DELETE", "ALTER", "COPY"),
    *("DESCRIBE", "SUMMARIZE", "SHOW", "EXPLAIN", "PIVOT", "UNPIVOT"),
)


OFFSET_ARGUMENT: Final = "offse_"
"""Replaces `offset` in the argument `offset => …` for DuckDB, which allows no keyword there."""
_WINDOW_NAME: Final = "windo_"
"""Replaces a column name `window` for DuckDB, where it is a keyword."""
_WINDOWS: Final = {"TUMBLE", "HOP", "SESSION"}
_OF_INTERVAL: Final = [TokenType.L_PAREN, TokenType.INTERVAL]
_PER: Final = ", per =>"
"""Replaces Flink's PARTITION BY."""


def in_words_of_duckdb(text: str, tokens: Sequence[Token]) -> str:
    """Return a text that DuckDB can read, with every other character in its place.

    Replaces Flink's `TABLE` and `PARTITION BY` in the arguments of a window, and the names `offset`
    and `window`.
    """
    kinds = [token.token_type for token in tokens]
    calls = [i for i, token in enumerate(tokens) if token.text.upper() in _WINDOWS]
    changes: dict[int, str] = {}
    for i in calls:
        changes |= _in_arguments(tokens, kinds, i)
    if any(kinds[i + 1 : i + 3] == _OF_INTERVAL for i in calls):
        names = (i for i, kind in enumerate(kinds) if kind == TokenType.WINDOW)
        changes |= {i: _WINDOW_NAME for i in names if kinds[i + 2 : i + 3] != [TokenType.ALIAS]}
    for i, kind in enumerate(kinds):
        if kind == TokenType.OFFSET and tokens[min(i + 1, len(tokens) - 1)].text in {"=>", ":="}:
            changes[i] = OFFSET_ARGUMENT
    return _changed(text, tokens, changes | dict.fromkeys(_closing(kinds, changes), ""))


def _in_arguments(
    tokens: Sequence[Token], kinds: Sequence[TokenType], call: int
) -> Mapping[int, str]:
    """Replace the words in `TABLE(SESSION(TABLE trades PARTITION BY symbol, …))`."""
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
    """Return the words that close these brackets."""
    open_ones: list[int] = []
    found: set[int] = set()
    for i, kind in enumerate(kinds):
        if kind == TokenType.L_PAREN:
            open_ones.append(i)
        elif kind == TokenType.R_PAREN and open_ones and open_ones.pop() in opening:
            found.add(i)
    return found


def _changed(text: str, tokens: Sequence[Token], changes: Mapping[int, str]) -> str:
    """Return a text with other words, each padded with blanks to the length of the old word."""
    parts: list[str] = []
    end = 0
    for i in sorted(changes):
        token = tokens[i]
        parts += [text[end : token.start], changes[i].ljust(token.end + 1 - token.start)]
        end = token.end + 1
    return "".join([*parts, text[end:]])


def foreign_form(tokens: Sequence[Token]) -> tuple[str, int, str] | None:
    """Return the error, its place and what to write instead, if a rule knows the syntax."""
    words = [token.text.upper() for token in tokens]
    for rule in _RULES:
        for i, token in enumerate(tokens):
            if (found := rule(tokens, words, i)) is not None:
                reason, hint = found
                return reason, int(token.start), hint
    return None


def _misspelt(tokens: Sequence[Token], words: Sequence[str], i: int) -> tuple[str, str] | None:
    """Find a first word that is similar to one that begins statements."""
    near = get_close_matches(words[0], _BEGINNINGS, n=1, cutoff=0.75) if i == 0 else []
    if not near or near[0] == words[0]:
        return None
    return f"no statement begins with {tokens[0].text}", f"did you mean {near[0]}?"


def _cumulate(tokens: Sequence[Token], words: Sequence[str], i: int) -> tuple[str, str] | None:
    """Find Flink's `CUMULATE(TABLE trades, …)`, with or without `DATA =>`."""
    at = i + (4 if words[i + 1 : i + 4] == ["(", "DATA", "=>"] else 2)
    is_call = words[i : i + 2] == ["CUMULATE", "("] and words[at : at + 1] == ["TABLE"]
    if not is_call or len(tokens) < at + 2:
        return None
    hint = f"write FROM landmark({tokens[at + 1].text}, INTERVAL '1 minute')"
    return f"{words[i]}(TABLE …) is how Flink writes it", hint


def _window_clause(tokens: Sequence[Token], words: Sequence[str], i: int) -> tuple[str, str] | None:
    """Find ksqlDB's `FROM trades WINDOW TUMBLING (SIZE 1 MINUTE)`."""
    form = _CLAUSES.get(words[i + 1]) if words[i] == "WINDOW" and i + 1 < len(words) else None
    if form is None:
        return None
    hint = f"write FROM {form.format(stream=tokens[i - 1].text if i else 'stream')}"
    return f"WINDOW {words[i + 1]} is how ksqlDB writes it", hint


def _emit(_: Sequence[Token], words: Sequence[str], i: int) -> tuple[str, str] | None:
    """Find ksqlDB's `EMIT CHANGES` and `EMIT FINAL`."""
    if words[i] != "EMIT" or words[i + 1 : i + 2] not in (["CHANGES"], ["FINAL"]):
        return None
    hint = "leave it out, and use continuous_query(), whose argument emit says when results come"
    return f"EMIT {words[i + 1]} is how ksqlDB writes it", hint


_CLAUSES: Final = {
    "TUMBLING": "tumble({stream}, INTERVAL '1 minute')",
    "HOPPING": "hop({stream}, INTERVAL '10 minutes', INTERVAL '1 minute')",
    "SESSION": "session({stream}, INTERVAL '5 minutes')",
}
_Rule = Callable[[Sequence[Token], Sequence[str], int], tuple[str, str] | None]
_RULES: Final[tuple[_Rule, ...]] = (_cumulate, _window_clause, _emit, _misspelt)


# Windows in the select list


_ARGUMENTS: Final = {"tumble": 1, "hop": 2, "session": 1}
"""The functions, with how many intervals they take."""
_PARTS: Final = {"start": WINDOW_START, "end": WINDOW_END}


def read_windows_as_values(
    source: SourceText, query: exp.Query, streams: Mapping[str, StreamDefinition]
) -> None:
    """Give streams the windows in the select list, in place; raise WindowError if unclear.

    To be called before streams become chunks.
    """
    for select in list(query.find_all(exp.Select)):
        calls = [
            call
            for call in select.find_all(exp.Anonymous)
            if call.parent_select is select and _is_window(call)
        ]
        if calls:
            _Windowed(source, select, calls, streams).exchange()
    is_renamed = source.for_duckdb != source.text
    for name in query.find_all(exp.Identifier) if is_renamed else ():
        if name.name == _WINDOW_NAME:
            name.set("this", "window")
            name.set("quoted", True)


def _is_window(call: exp.Anonymous) -> bool:
    number = _ARGUMENTS.get(call.name.lower())
    are_intervals = all(isinstance(each, exp.Interval) for each in call.expressions)
    return number == len(call.expressions) and are_intervals


class _Windowed:
    """A SELECT with a window in its select list."""

    def __init__(
        self,
        source: SourceText,
        select: exp.Select,
        calls: list[exp.Anonymous],
        streams: Mapping[str, StreamDefinition],
    ) -> None:
        self._source = source
        self._select = select
        self._calls = calls
        self._streams = streams

    def exchange(self) -> None:
        """Give the stream in FROM the window, and read its bounds where the window was."""
        first = self._calls[0]
        if any(key(call) != key(first) for call in self._calls):
            self._refuse("a SELECT can have only one window", self._calls[1], "write two queries")
        stream = self._stream()
        alias = stream.alias_or_name
        window = first.copy()
        sizes = window.expressions if window.name.lower() != "hop" else window.expressions[::-1]
        per = [self._per()] if window.name.lower() == "session" else []
        window.set("expressions", [exp.Column(this=stream.this.copy()), *sizes, *per])
        self._exchange_parts(alias)
        for call in self._calls:
            call.replace(_struct(alias))
        stream.set("this", window)

    def _stream(self) -> exp.Table:
        """Return the only stream in FROM."""
        read = self._select.args.get("from_")
        nodes = [read.this] if read is not None else []
        nodes += [join.this for join in self._select.args.get("joins") or ()]
        tables = [each for each in nodes if isinstance(each, exp.Table)]
        streams = [each for each in tables if stream_read(each, self._streams) is not None]
        if len(streams) != 1:
            name = self._calls[0].name.lower()
            reason = f"{name}(INTERVAL …) applies to the one stream in FROM, and here "
            reason += "there is none" if not streams else f"there are {len(streams)}"
            hint = f"write FROM {name}(stream, INTERVAL …), and window_start for its bound"
            self._refuse(reason, self._calls[0], hint)
        return streams[0]

    def _exchange_parts(self, alias: str) -> None:
        """Replace `window.start` where a select item names the window so."""
        names = {
            item.alias.lower() for item in self._select.expressions if item.this in self._calls
        }
        for reference in list(self._select.find_all(exp.Column)):
            bound = _PARTS.get(reference.name.lower())
            if bound is None or reference.table.lower() not in names:
                continue
            new: exp.Expr = exp.Column(this=reference.this.copy(), table=exp.to_identifier(alias))
            new.this.set("this", bound)
            if isinstance(reference.parent, exp.Select):
                new = exp.Alias(this=new, alias=exp.to_identifier(reference.name, quoted=True))
            reference.replace(new)

    def _per(self) -> exp.Expr:
        """Return the columns that are grouped by besides the window."""
        group = self._select.args.get("group")
        columns: list[exp.Expr] = []
        for item in group.expressions if group is not None else ():
            meant = (item_meant(self._select, item) or item).unalias()
            if meant in self._calls:
                continue
            if not isinstance(meant, exp.Column):
                hint = "group by columns, or write FROM session(stream, INTERVAL …, per => columns)"
                self._refuse("the columns in GROUP BY define the groups of a session", item, hint)
            columns.append(exp.Column(this=meant.this.copy()))
        if group is not None and group.args.get("all"):
            hint = "name the columns in GROUP BY"
            self._refuse(
                "the columns in GROUP BY define the groups of a session", self._calls[0], hint
            )
        return exp.Kwarg(this=exp.var("per"), expression=exp.Tuple(expressions=columns))

    def _refuse(self, reason: str, node: exp.Expr, hint: str) -> Never:
        self._source.refuse(WindowError, reason, place_of(node), hint)


def _struct(alias: str) -> exp.Expr:
    """Return a struct of the bounds of a window."""
    parts = [
        exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=column(bound, alias))
        for name, bound in _PARTS.items()
    ]
    return exp.Anonymous(this="struct_pack", expressions=parts)
