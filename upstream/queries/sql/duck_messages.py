"""Interprets DuckDB's messages: the condition, the name involved, and the essential sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ...errors import (
    QueryError,
    QuerySyntaxError,
    QueryTypeError,
    UnknownColumnError,
    UnknownFunctionError,
    UnknownTableError,
)
from .names import did_you_mean
from .source_text import SourceText, lowered
from .window_bounds import HIDDEN

_FEW_SIGNATURES: Final = 4


def error_of(message: str, text: str, known: Iterable[str] = ()) -> QueryError:
    """Return the error for a statement that DuckDB refused; its place is that of the name.

    `known` are the tables and streams that may have been meant. This is for statements about
    tables; `checking` can say more about queries over streams.
    """
    kind, name = kind_of(message)
    if kind is QuerySyntaxError and (error := SourceText(text).foreign_form()) is not None:
        return error
    plain = re.escape(name.rpartition(".")[2].strip('"'))
    found = re.search(rf"(?i)\b{plain}\b", text) if name else None
    place = found.start() if found else place_of_caret(message, text)
    if kind is UnknownTableError:  # DuckDB means its own tables, and knows no streams
        name = name.strip('"')
        reason = f"there is no stream or table named {name}"
        return kind(reason, text, place, did_you_mean(name, known))
    if kind is UnknownFunctionError:
        return kind(f"there is no function named {name}", text, place, duckdb_hint(message))
    if kind is UnknownColumnError:
        plain = name.rpartition(".")[2]
        hint = did_you_mean(plain, candidates(message)) or duckdb_hint(message)
        hint = quoted_text(text, None if place is None else place - 1) or hint
        return kind(f"there is no column named {plain}", text, place, hint)
    return kind(headline_of(message), text, place, duckdb_hint(message) or signatures_hint(message))


def place_of_caret(message: str, text: str) -> int | None:
    """Return the place in a text that DuckDB points at, if it shows a line of this text."""
    shown = re.search(r"\n\nLINE (\d+): (.*)\n( *)\^", message)
    lines = text.split("\n")
    if shown is None or int(shown[1]) > len(lines):
        return None
    *before, line = lines[: int(shown[1])]
    part = shown[2].removeprefix("...").removesuffix("...")
    start = line.find(part)
    if start < 0 or not line.isascii():  # other characters may be displayed wider
        return None
    left_out = len("...") if shown[2].startswith("...") else 0
    column = start + len(shown[3]) - len(f"LINE {shown[1]}: ") - left_out
    return sum(len(each) + 1 for each in before) + column


def quoted_text(text: str, place: int | None) -> str:
    """Return a hint if an unknown column is in double quotes, as texts are in other languages."""
    quoted = re.match(r'"((?:[^"]|"")*)"', text[place:]) if place is not None else None
    if quoted is None:
        return ""
    return f"a text is in single quotes: '{quoted[1]}'; double quotes are for names"


def candidates(message: str) -> list[str]:
    """Return the columns that DuckDB suggests."""
    listed = message.partition("Candidate bindings")[2].partition("\n")[0]
    return [name.rpartition(".")[2] for name in re.findall(r'"([^"\n]+)"', _shown(listed))]


def duckdb_hint(message: str) -> str:
    """Return DuckDB's suggestion, if it has one."""
    if "Did you mean" not in message:
        return ""
    return "did you mean" + _shown(message.partition("Did you mean")[2].partition("\n")[0])


def signatures_hint(message: str) -> str:
    """Return the arguments that a function takes, unless it can be called in many ways."""
    listed = re.findall(r"^\t(\S.*\)) ->", message, re.MULTILINE)
    return f"there is {', '.join(listed)}" if 0 < len(listed) <= _FEW_SIGNATURES else ""


def headline_of(message: str) -> str:
    """Return DuckDB's sentence, without the kind of error and the list of alternatives."""
    headline = message.partition("\n")[0]
    headline = re.sub(r"^[A-Z][A-Za-z -]* Error: ", "", headline)
    headline = headline.replace(" You might need to add explicit type casts.", "")
    return lowered(_shown(headline)).rstrip(". !")


def _shown(message: str) -> str:
    """Return a message with the users' names of hidden columns."""
    for name, hidden in HIDDEN.items():
        message = re.sub(rf"\b{hidden}\b", name, message)
    return message


_KINDS: tuple[tuple[str, type[QueryError]], ...] = (
    (r"Table with name (\S+) does not exist", UnknownTableError),
    (r'Referenced table "([^"]+)" not found', UnknownTableError),
    (r'Referenced column "([^"]+)" (?:not found|was not found)', UnknownColumnError),
    (r'does not have a column named "([^"]+)"', UnknownColumnError),
    (r'[Cc]olumn "?([^" ]+)"? (?:does not exist|not found)', UnknownColumnError),
    (r'column "([^"]+)" must appear in the GROUP BY', QueryError),
    (r'Ambiguous reference to column name "([^"]+)"', QueryError),
    (r"Function with name \"?([^\" ]+)\"? does not exist", UnknownFunctionError),
    (r"No function matches the given name and argument types", QueryTypeError),
    (r"^Conversion Error", QueryTypeError),
    (r"Cannot (?:compare|mix) values", QueryTypeError),
    (r"^Mismatch Type Error", QueryTypeError),
    (r"^Parser Error", QuerySyntaxError),
)


def kind_of(message: str) -> tuple[type[QueryError], str]:
    """Return the condition that a message is about, and the name in it if there is one."""
    for pattern, kind in _KINDS:
        if (match := re.search(pattern, message)) is not None:
            return kind, match.group(1) if match.groups() else ""
    return QueryError, ""
