"""DuckDB's SQL as it was written: sqlglot's dialect without its translations.

sqlglot knows hundreds of functions of other databases. It reads a call as what the function means,
writes the nearest function of DuckDB, and leaves out what does not fit. Here a call stays a name
with its arguments. So DuckDB sees what the user wrote, and refuses what it does not have.
`same_reading` finds anything that is still read differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import UnsupportedError
from sqlglot.generator import Generator
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.parsers.duckdb import DuckDBParser

ITEM: Final = "item"
"""The key under which a select item keeps the numbers of its first token and of the token after
it."""
_PERCENTILES: Final = {"percentile_cont": "quantile_cont", "percentile_disc": "quantile_disc"}


class WrittenParser(DuckDBParser):
    """DuckDB's parser, which keeps calls, intervals and types as they are, and logs nothing.

    `place` is where its last error was. Two functions keep a node of their own: COLUMNS, which
    stands for several columns, and GROUPING, which has no meaning outside its query. Calls whose
    arguments are separated by words (`substring(a FROM 2)`) are read like all other calls.
    """

    FUNCTIONS: ClassVar = {name: DuckDBParser.FUNCTIONS[name] for name in ("COLUMNS", "GROUPING")}
    FUNCTION_PARSERS: ClassVar = {
        **{name: DuckDBParser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST")},
        "EXTRACT": lambda self: self._parse_extract(),
        "OVERLAY": lambda self: self._overlay_call(),
        "POSITION": lambda self: self._position_call(),
        "SUBSTRING": lambda self: self._substring_call(),
        "TRIM": lambda self: self._trim_call(),
    }
    # Arguments with an operator of their own: here, too, `->` takes a value out of JSON.
    LAMBDAS: ClassVar = {TokenType.FARROW: DuckDBParser.LAMBDAS[TokenType.FARROW]}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {
        name: DuckDBParser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("ANY", "CASE", "MAP", "@")
    }
    NO_PAREN_FUNCTIONS: ClassVar = {
        token: DuckDBParser.NO_PAREN_FUNCTIONS[token]
        for token in (
            *(TokenType.CURRENT_DATE, TokenType.CURRENT_TIME, TokenType.CURRENT_TIMESTAMP),
            *(TokenType.LOCALTIME, TokenType.LOCALTIMESTAMP),
        )
    }
    FUNC_TOKENS = DuckDBParser.FUNC_TOKENS | {TokenType.APPLY}
    UNARY_PARSERS: ClassVar = {
        **DuckDBParser.UNARY_PARSERS,
        TokenType.PLUS: lambda self: _operator("+", self._parse_unary()),
    }
    TYPE_LITERAL_PARSERS: ClassVar = {}
    TYPE_CONVERTERS: ClassVar = {}

    place: int | None = None

    def raise_error(self, message: str, token: Token | None = None) -> None:
        """Raise an error, and keep its place."""
        found = token or self._curr
        if found:
            self.place = found.start
        elif self._prev:
            self.place = self._prev.end + 1
        super().raise_error(message, *([token] if token else []))

    def _warn_unsupported(self) -> None:
        """Log nothing: a statement that sqlglot does not know stays as it is, for DuckDB."""

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        """Parse a select list, and store for each item the tokens that it was read from."""

        def item() -> exp.Expr | None:
            first = self._index
            found = self._parse_expression()
            if found is not None:
                found.meta[ITEM] = first, self._index
            return found

        return self._parse_csv(item), None

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        """Parse what follows a call; DuckDB reads WITHIN GROUP of percentiles like this."""
        name = _PERCENTILES.get(this.name.lower()) if isinstance(this, exp.Anonymous) else None
        if this is not None and name and self._match_text_seq("WITHIN", "GROUP"):
            order = self._parse_wrapped(self._parse_order)
            if order is not None and this.expressions:
                order.set("this", this.expressions[-1])
                this.set("this", name)
                this.set("expressions", [*this.expressions[:-1], order])
        return super()._parse_window(this, alias)

    def _parse_ordered(
        self, parse_method: Callable[[], exp.Expr | None] | None = None
    ) -> exp.Ordered | None:
        """Parse an ORDER BY item.

        NULLS LAST is kept, since a setting can make FIRST the default.
        """
        ordered = super()._parse_ordered(parse_method)
        words = [token.text.upper() for token in self._tokens[self._index - 2 : self._index]]
        if ordered is not None and words == ["NULLS", "LAST"]:
            ordered.set("nulls_last", True)
        return ordered

    def _parse_interval_span(
        self, this: exp.Expr | None, parse_function_unit: bool = True
    ) -> exp.Interval:
        """Parse an interval; one in a text, such as `'1 day 02:00:00'`, is not split."""
        # the parser passes None for a missing argument
        interval = super()._parse_interval_span(this, parse_function_unit)  # type: ignore[arg-type]
        has_unit = this is not None and this.is_string and exp.INTERVAL_STRING_RE.search(this.name)
        return exp.Interval(this=this, unit=None if has_unit else interval.args.get("unit"))

    def _parse_interval(
        self, require_interval: bool = True, parse_function_unit: bool = True
    ) -> exp.Add | exp.Interval | None:
        """Parse an interval, and store where it begins."""
        first = self._curr
        interval = super()._parse_interval(require_interval, parse_function_unit)
        if interval is not None and first is not None:
            interval.update_positions(first)
        return interval

    def _parse_unary(self) -> exp.Expr | None:
        """Parse an operand, and the `!` of a factorial after it, unless it begins `!~`."""
        operand = super()._parse_unary()
        while operand is not None and self._curr and self._curr.text == "!":
            following = self._next
            if following and following.text[0] == "~" and following.start == self._curr.end + 1:
                break
            self._advance()
            operand = _operator("!__postfix", operand)
        return operand

    def _parse_primary(self) -> exp.Expr | None:
        """Parse a literal or a name; `.5` is another type of number than `0.5`."""
        if self._match_pair(TokenType.DOT, TokenType.NUMBER):
            return exp.Literal.number(f".{self._prev.text}")
        return super()._parse_primary()

    def _parse_in(self, this: exp.Expr | None, alias: bool = False) -> exp.In:
        """Parse what follows IN: a list in square brackets is one value, not several."""
        if self._curr and self._curr.token_type == TokenType.L_BRACKET:
            return exp.In(this=this, field=self._parse_bitwise())
        return super()._parse_in(this, alias)

    # Arguments with words between them

    def _parse_extract(self) -> exp.Extract:
        part = self._parse_string() or self._parse_var(any_token=True)
        if not self._match(TokenType.FROM):
            self.raise_error("Expected FROM")
        return exp.Extract(this=part, expression=self._parse_bitwise())

    def _overlay_call(self) -> exp.Expr:
        return self._worded_call("overlay", self._parse_bitwise(), "PLACING", "FROM", "FOR")

    def _position_call(self) -> exp.Expr:
        sought = self._parse_bitwise()
        if not self._match(TokenType.IN):
            self.raise_error("Expected IN")
        arguments = [self._parse_bitwise(), sought]
        return exp.Anonymous(this=_quoted("position"), expressions=arguments)

    def _substring_call(self) -> exp.Expr:
        text = self._parse_bitwise()
        if not self._match(TokenType.FOR):
            return self._worded_call("substring", text, "FROM", "FOR")
        arguments = [text, exp.Literal.number(1), self._parse_bitwise()]
        return exp.Anonymous(this="substring", expressions=arguments)

    def _trim_call(self) -> exp.Expr:
        name = "trim"
        if self._match_texts(("BOTH", "LEADING", "TRAILING")):
            name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(self._prev.text.upper(), name)
        if self._match(TokenType.FROM):
            return exp.Anonymous(this=name, expressions=[self._parse_bitwise()])
        first = self._parse_bitwise()
        if self._match(TokenType.FROM):
            return exp.Anonymous(this=name, expressions=[self._parse_bitwise(), first])
        return self._worded_call(name, first)

    def _worded_call(self, name: str, first: exp.Expr | None, *words: str) -> exp.Anonymous:
        """Return a call whose further arguments follow these words, or commas."""
        arguments = [first]
        waiting = [*words]
        while self._match(TokenType.COMMA) or (waiting and self._match_text_seq(waiting[0])):
            waiting = waiting[1:]
            arguments.append(self._parse_bitwise())
        return exp.Anonymous(this=name, expressions=arguments)


class WrittenGenerator(DuckDBGenerator):
    """Writes what `WrittenParser` has read; what DuckDB lacks is an error and not a warning."""

    MULTI_ARG_DISTINCT = True
    TRANSFORMS: ClassVar = {
        **DuckDBGenerator.TRANSFORMS,
        exp.Pow: lambda self, node: self.binary(node, "**"),
    }

    def unsupported(self, message: str) -> None:
        """Refuse what DuckDB lacks, where sqlglot would warn and continue."""
        raise UnsupportedError(message)

    def extract_sql(self, expression: exp.Extract) -> str:
        """Write the part of the date as the user wrote it; sqlglot has one name for each part."""
        return f"EXTRACT({self.sql(expression, 'this')} FROM {self.sql(expression, 'expression')})"

    def ordered_sql(self, expression: exp.Ordered) -> str:
        """Write NULLS LAST where it was written."""
        last = " NULLS LAST" if expression.args.get("nulls_last") else ""
        return super().ordered_sql(expression) + last

    def ignorenulls_sql(self, expression: exp.IgnoreNulls) -> str:
        """Write IGNORE NULLS in its original position."""
        return f"{self.sql(expression, 'this')} IGNORE NULLS"

    def respectnulls_sql(self, expression: exp.RespectNulls) -> str:
        """Write RESPECT NULLS in its original position."""
        return f"{self.sql(expression, 'this')} RESPECT NULLS"

    def withingroup_sql(self, expression: exp.WithinGroup) -> str:
        """Write the order in its original position."""
        return Generator.withingroup_sql(self, expression)


class WrittenDuckDB(DuckDB):
    """DuckDB's dialect, which keeps what the user wrote.

    JSON paths are kept, too: sqlglot reads `'a.b'` as a path of two steps, and DuckDB as one name.
    """

    Parser = WrittenParser
    Generator = WrittenGenerator

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """Return the path as it is."""
        return path


DIALECT: Final = WrittenDuckDB
"""The dialect in which statements are read and written."""


def _operator(name: str, *operands: exp.Expr | None) -> exp.Anonymous:
    """Return the call of an operator without a node; in DuckDB it is a function."""
    return exp.Anonymous(this=_quoted(name), expressions=[*operands])


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
