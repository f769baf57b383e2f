"""The options of a standing query in SQL: `WITH (semantics = 'update', deletes = true)`.

They have the names and meanings of the arguments of `Engine.continuous_query`. Durations are
intervals, or numbers of seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlglot import Token, TokenType, exp

from ...errors import ParameterError, QuerySyntaxError, StatementError
from ..choices import Choices, seconds_of
from ..into import NamedAt
from .names import did_you_mean
from .source_text import SourceText
from .window_size import NotConstantError, constant_size

Value = str | float | bool
Options = tuple[tuple[NamedAt, Value], ...]

DELETES: Final = "deletes"
_DURATIONS: Final = ("emit_every", "allowed_lateness", "close_after")
_NAMES: Final = (
    *("semantics", "evaluation", "emit", "on_error", "keep", "weight"),
    *(*_DURATIONS, DELETES),
)
_FORM: Final = "write WITH (semantics = 'update', emit_every = INTERVAL '5 seconds')"


def options_in(source: SourceText, tokens: Sequence[Token]) -> Options:
    """Return the options that are written in brackets, each with its place."""
    options: list[tuple[NamedAt, Value]] = []
    for part in _parts(tokens):
        name, *rest = part
        at = NamedAt(name.text.lower(), name.start)
        if len(rest) < 2 or rest[0].token_type != TokenType.EQ:
            source.refuse(QuerySyntaxError, "expected an option with its value", at.place, _FORM)
        if at.name not in _NAMES:
            reason = f"there is no option named {name.text}"
            source.refuse(StatementError, reason, at.place, did_you_mean(at.name, _NAMES))
        if any(other.name == at.name for other, _ in options):
            source.refuse(QuerySyntaxError, f"{at.name} is named twice", at.place, _FORM)
        options.append((at, _value(source, at, rest[1:])))
    if not options:
        source.refuse(QuerySyntaxError, "expected options in the brackets", tokens[0].start, _FORM)
    return tuple(options)


def choices_of(options: Options, text: str) -> tuple[Choices, bool]:
    """Return the options, and whether keys are to be deleted.

    Raise StatementError at the place of an option whose value is not allowed.
    """
    choices, deletes = Choices(), False
    for at, value in options:
        try:
            if at.name == DELETES:
                deletes = _truth(value)
                continue
            given = _seconds(at.name, value) if at.name in _DURATIONS else value
            # mypy: the values are of any type, and Choices checks them
            choices = replace(choices, **{at.name: given})  # type: ignore[arg-type]
        except ParameterError as error:
            raise StatementError(str(error), text, at.place) from None
    return choices, deletes


def _truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise ParameterError(DELETES, value, "true or false")
    return value


def _seconds(name: str, value: Value) -> float:
    if isinstance(value, str):
        raise ParameterError(name, value, "a number of seconds, or an INTERVAL")
    return seconds_of(name, value)


def _parts(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the tokens between brackets, divided at the commas that are in no further brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[1:-1]:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if token.token_type == TokenType.COMMA and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _value(source: SourceText, at: NamedAt, tokens: list[Token]) -> Value:
    node = source.parse(tokens)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal) and node.is_string:
        return str(node.this)
    try:
        size = constant_size(node)
    except NotConstantError:
        hint = "write a text in quotes, a number, true, false, or an INTERVAL"
        source.refuse(StatementError, f"{at.name} needs a constant", tokens[0].start, hint)
    if size.is_months:
        reason = f"{at.name} cannot be in months, which have no fixed length"
        source.refuse(StatementError, reason, tokens[0].start, "write it in days")
    if size.is_interval and at.name not in _DURATIONS:
        source.refuse(StatementError, f"{at.name} is not a duration", tokens[0].start)
    whole = size.amount.denominator == 1 and not size.is_interval
    return int(size.amount) if whole else float(size.amount)
