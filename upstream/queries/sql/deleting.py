"""DELETE FROM and TRUNCATE of a stream: which keys they delete.

`DELETE FROM trades WHERE …` deletes the keys whose newest row meets the condition. Without the word
DELETE it is a query over these rows, in DuckDB's own grammar. So DuckDB reads the condition of the
query exactly as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sqlglot import TokenType, exp

from ...database.duck import Duck
from ...errors import QueryError, StatementError
from .names import found
from .source_text import SourceText
from .statement import OtherStatement
from .trees import place_of

_UNDERSTOOD: Final = {"this", "where", "with_"}
_FORM: Final = "write DELETE FROM {0}, or DELETE FROM {0} WHERE …"
_HINTS: Final = {
    "using": "write DELETE FROM {0} WHERE … IN (SELECT …), or WHERE EXISTS (SELECT …)",
    "returning": "run SELECT … FROM {0} WHERE … first, and then DELETE",
}


@dataclass(frozen=True, slots=True)
class DeleteFrom:
    """`DELETE FROM trades WHERE …`; `query` is the query for the rows, or None for all rows."""

    stream: str
    query: str | None
    text: str
    place: int


def deletion_in(statement: OtherStatement, streams: Iterable[str], duck: Duck) -> DeleteFrom | None:
    """Return what a statement deletes from a stream; None if it is another statement.

    Raises StatementError for forms of DELETE that only tables have.
    """
    tree, text = statement.tree, statement.text
    if not isinstance(tree, exp.Delete | exp.TruncateTable):
        return None
    target = tree.this if isinstance(tree, exp.Delete) else tree.expressions[0]
    if not isinstance(target, exp.Table) or target.args.get("db"):
        return None
    name = found(target.name, streams)
    if name is None or duck.statement_type(text) != "DELETE":
        return None
    place = place_of(target) or 0
    if isinstance(tree, exp.TruncateTable):
        if len(tree.expressions) > 1 or _parts(tree) != {"expressions"}:
            raise StatementError("this form of TRUNCATE is for tables", text, place, _form(name))
        return DeleteFrom(name, None, text, place)
    for part in sorted(_parts(tree) - _UNDERSTOOD):
        reason = f"DELETE … {part.rstrip('_').upper()} is not supported for streams"
        raise StatementError(reason, text, place, _HINTS.get(part, _form(name)).format(name))
    names = tree.args.get("with_")
    if names is not None and found(name, [each.alias for each in names.expressions]):
        reason = f"{name} is the name of a query here, and of the stream that is to be emptied"
        raise StatementError(reason, text, place, "give the query another name")
    return DeleteFrom(name, _as_query(text), text, place)


def _form(name: str) -> str:
    return _FORM.format(name)


def in_statement(error: QueryError, deletion: DeleteFrom) -> QueryError:
    """Return an error of the query as an error of the statement, where the places are the same."""
    place = None
    if error.line is not None and error.column is not None:
        lines = deletion.text.split("\n")[: error.line - 1]
        place = sum(len(line) + 1 for line in lines) + error.column - 1
    return type(error)(error.reason, deletion.text, place, error.hint)


def _parts(tree: exp.Expr) -> set[str]:
    return {part for part, value in tree.args.items() if value}


def _as_query(text: str) -> str | None:
    """Return the text without the word DELETE, and everything else in its place.

    Return None if there is no condition.
    """
    tokens = SourceText(text).tokens
    if not any(each.token_type == TokenType.WHERE for each in tokens):
        return None
    deletes = [each for each in tokens if each.token_type == TokenType.DELETE]
    if len(deletes) != 1:
        hint = "put column names such as delete in double quotes"
        raise StatementError("the word DELETE occurs twice", text, deletes[-1].start, hint)
    [word] = deletes
    return text[: word.start] + " " * len("DELETE") + text[word.end + 1 :]
