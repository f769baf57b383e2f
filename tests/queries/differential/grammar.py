"""A grammar of random queries over streams, with {0}, {1}, … where their windows go.

What a query is made of is drawn from a seeded `random.Random`, so that a seed is all that it takes
to see a query again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from .aggregates import Aggregate, Aggregates
from .expressions import Expressions, Scope

TRADES, QUOTES = "trades", "quotes"


@dataclass(frozen=True, slots=True)
class Query:
    """A query: `streams` are those that its windows are over, in the order of their numbers.

    `is_merged` says that no part of it needs every row that came; `is_row_wise` that each row of
    its result comes from one row of the stream; `has_key` that the result of such a query has the
    keys of its streams. The order of its result counts if `is_ordered`.
    """

    template: str
    streams: tuple[str, ...]
    shape: str
    is_merged: bool = False
    is_row_wise: bool = False
    has_key: bool = True
    is_ordered: bool = False


def trades(alias: str = "") -> Scope:
    """Return the columns of the stream of trades."""
    whole, real, decimal, symbol, note, flag, time = (
        f"{alias}.{name}" if alias else name
        for name in ("size", "price", "amount", "symbol", "note", "flag", "time")
    )
    return Scope((whole,), (real,), (decimal,), (symbol, note), (flag,), (time,))


def quotes(alias: str = "") -> Scope:
    """Return the columns of the stream of quotes."""
    lots, bid, symbol, time = (
        f"{alias}.{name}" if alias else name for name in ("lots", "bid", "symbol", "time")
    )
    return Scope((lots,), (bid,), (), (symbol,), (), (time,))


def listed(alias: str) -> Scope:
    """Return the columns of the table of what is listed."""
    return Scope((f"{alias}.factor",), (), (), (f"{alias}.sector",))


SCOPES: dict[str, Callable[[str], Scope]] = {TRADES: trades, QUOTES: quotes}


class Grammar:
    """Writes random queries; aggregates that depend on the order of rows only if there is one."""

    def __init__(self, random: Random, *, has_order: bool = True) -> None:
        self.random = random
        self.has_order = has_order
        self.shapes: dict[str, tuple[int, Callable[[], Query]]] = {
            "aggregate": (34, self.aggregate),
            "rows": (10, self.rows),
            "nested": (9, self.nested),
            "union": (8, self.union),
            "ranked": (9, self.ranked),
            "subquery": (6, self.subquery),
            "table": (12, self.with_table),
            "join": (12, self.join),
            "paired": (5, self.paired),
            "share": (6, self.share),
        }

    def query(self) -> Query:
        """Return a query of any shape."""
        weights = [weight for weight, _ in self.shapes.values()]
        shape = self.random.choices(list(self.shapes), weights)[0]
        return self.shapes[shape][1]()

    def aggregate(self) -> Query:
        """Return an aggregate over one stream, in groups or not."""
        stream = self._stream()
        of = self._expressions(stream)
        of.can_fail = self.random.random() < 0.2
        body = self._aggregation(of, f"{{0}} AS {stream}", is_filtered=not of.can_fail)
        return Query(
            body.text, (stream,), "aggregate", is_merged=body.is_merged, is_ordered=body.is_ordered
        )

    def rows(self) -> Query:
        """Return rows as they are, computed with, or only those that differ."""
        stream = self._stream()
        of = self._expressions(stream)
        items = [of.any() for _ in range(self.random.randint(1, 3))]
        has_key = self.random.random() < 0.8
        if has_key:
            items.append(SCOPES[stream]("").text[0])
        text = f"{self._items(items)} FROM {{0}} AS {stream}{self._where(of)}"
        kind = self.random.choices(["plain", "distinct", "limit", "star"], [6, 2, 2, 1])[0]
        if kind == "star":
            form = self.random.choice(
                [
                    "SELECT * FROM {{0}} AS {0}",
                    "FROM {{0}} AS {0}",
                    "SELECT {0}.*, {1} AS more FROM {{0}} AS {0}",
                    "SELECT * EXCLUDE (time) FROM {{0}} AS {0} WHERE {1} IS NOT NULL",
                    "SELECT * REPLACE (upper({0}.symbol) AS symbol) FROM {{0}} AS {0}",
                ]
            )
            text = form.format(stream, f"({of.any()})")
            has_key = "REPLACE" not in text
            return Query(text, (stream,), "rows", is_row_wise=True, has_key=has_key)
        if kind == "distinct":
            return Query(f"SELECT DISTINCT {text}", (stream,), "rows", is_merged=True)
        if kind == "limit":
            numbers = ", ".join(f"{n + 1} {self._direction()}" for n in range(len(items)))
            order = self.random.choice([f"ALL {self._direction()}", numbers])
            text = f"SELECT {text} ORDER BY {order} LIMIT 5"
            return Query(text, (stream,), "rows", has_key=has_key, is_ordered=True)
        return Query(f"SELECT {text}", (stream,), "rows", is_row_wise=True, has_key=has_key)

    def nested(self) -> Query:
        """Return an aggregate of aggregates."""
        stream = self._stream()
        of = self._expressions(stream)
        kinds = Aggregates(of, has_order=self.has_order)
        value = kinds.any()
        inner = (
            f"SELECT {of.group()} AS g, {of.group()} AS h, {kinds.exact().sql} AS n,"
            f" {value.sql} AS v FROM {{0}} AS {stream}{self._where(of)} GROUP BY 1, 2"
        )
        outer = self.random.choice(
            [
                "count(*), count(DISTINCT g), max(n)",
                "g, count(*) AS groups, min(n) AS least, max(n) AS most",
                "h, count(v), any_value(1)",
                "count(*) FILTER (WHERE n IS NOT NULL) AS known, count(DISTINCT h)",
            ]
        )
        group = f" GROUP BY {outer[0]}" if outer[1] == "," else ""
        if self.random.random() < 0.5:
            text = f"WITH inside AS ({inner}) SELECT {outer} FROM inside{group}"
        else:
            text = f"SELECT {outer} FROM ({inner}) AS inside{group}"
        return Query(text, (stream,), "nested", is_merged=value.is_merged)

    def union(self) -> Query:
        """Return the results of two queries put together, or set against one another."""
        first, second = self._stream(), self._stream()
        words = self.random.choice(["UNION ALL"] * 3 + ["UNION", "EXCEPT", "INTERSECT"])
        parts = []
        for number, stream in enumerate((first, second)):
            of = self._expressions(stream)
            exact = Aggregates(of).simple().sql
            values = [f"{SCOPES[stream]('').text[0]} AS symbol", "count(*) AS n"]
            if words == "UNION ALL":
                values.append(f"sum({of.whole()})::DOUBLE AS total")
                values.append(f"{exact}::VARCHAR IS NULL AS is_missing")
            rows = f"FROM {{{number}}} AS {stream}{self._where(of)} GROUP BY 1"
            parts.append(f"SELECT {', '.join(values)} {rows}")
        both = f" {words} ".join(parts)
        if self.random.random() < 0.5:
            outer = "SELECT symbol, sum(n)::BIGINT AS n, count(*)"
            both = f"{outer} FROM ({both}) AS b GROUP BY symbol"
        return Query(both, (first, second), "union", is_merged=True)

    def paired(self) -> Query:
        """Return a query that reads the result of another one twice."""
        stream = self._stream()
        of = self._expressions(stream)
        value = Aggregates(of, has_order=self.has_order).any()
        inner = (
            f"SELECT {SCOPES[stream]('').text[0]} AS symbol, {Aggregates(of).exact().sql} AS n,"
            f" {value.sql} AS v FROM {{0}} AS {stream}{self._where(of)} GROUP BY 1"
        )
        outer = self.random.choice(
            [
                "SELECT a.symbol, a.n, b.n AS other FROM c AS a JOIN c AS b ON a.n <= b.n",
                "SELECT symbol, v FROM c WHERE n = (SELECT max(n) FROM c)",
                "SELECT a.*, b.symbol FROM c AS a LEFT JOIN c AS b ON a.n < b.n",
            ]
        )
        return Query(f"WITH c AS ({inner}) {outer}", (stream,), "paired", is_merged=value.is_merged)

    def share(self) -> Query:
        """Return groups, each beside a value for all, which has a window of its own."""
        stream, inner = self._stream(), self._stream()
        left, right = SCOPES[stream](stream), SCOPES[inner]("i")
        all_of = f"(SELECT sum({right.whole[0]}) FROM {{1}} AS i{self._where_of(right)})"
        share = f"sum({left.whole[0]})::DOUBLE / nullif({all_of}, 0)"
        text = f"SELECT {left.text[0]}, {share} AS share FROM {{0}} AS {stream}"
        return Query(f"{text} GROUP BY 1", (stream, inner), "share", is_merged=True)

    def ranked(self) -> Query:
        """Return a query with window functions of SQL's own."""
        stream = self._stream()
        of = self._expressions(stream)
        exact, other = Aggregates(of).exact().sql, Aggregates(of).exact().sql
        symbol = SCOPES[stream]("").text[0]
        rows = f"FROM {{0}} AS {stream}{self._where(of)}"
        over = self.random.choice(
            [f"rank() OVER (ORDER BY {exact})", f"lag({other}) OVER (ORDER BY {symbol})"]
        )
        grouped = f"SELECT {symbol}, {exact} AS n, {over} AS place {rows} GROUP BY {symbol}"
        counts = f"count(*) OVER (PARTITION BY {of.group()})"
        plain = f"SELECT {symbol}, {counts} AS n, {exact} OVER (PARTITION BY {symbol}) AS w {rows}"
        best = "QUALIFY dense_rank() OVER (ORDER BY n DESC NULLS LAST) <= 2"
        forms = [grouped, plain, f"SELECT * FROM ({grouped}) AS s {best}"]
        text = self.random.choice(forms)
        return Query(text, (stream,), "ranked", is_merged=text != plain)

    def subquery(self) -> Query:
        """Return a query with a query in its condition, over a window of its own."""
        stream, inner = self._stream(), self._stream()
        left, right = SCOPES[stream](stream), SCOPES[inner]("i")
        symbol, within, whole, other = left.text[0], right.text[0], left.whole[0], right.whole[0]
        inside = f"FROM {{1}} AS i WHERE {within} = {symbol}"
        condition = self.random.choice(
            [
                f"{whole} >= (SELECT avg({other}) FROM {{1}} AS i)",
                f"{symbol} IN (SELECT {within} FROM {{1}} AS i WHERE {other} > 2)",
                f"EXISTS (SELECT 1 {inside} AND {other} > {whole})",
                f"{whole} = (SELECT max({other}) {inside})",
            ]
        )
        of = Expressions(self.random, SCOPES[stream](stream))
        exact = Aggregates(of, has_order=False).exact().sql
        select = (
            f"{symbol}, {exact} AS n" if self.random.random() < 0.6 else f"{symbol}, {of.any()}"
        )
        group = f" GROUP BY {symbol}" if " AS n" in select else ""
        text = f"SELECT {select} FROM {{0}} AS {stream} WHERE {condition}{group}"
        has_aggregate = bool(group) or "avg(" in condition or "max(" in condition
        return Query(text, (stream, inner), "subquery", has_key=has_aggregate)

    def with_table(self) -> Query:
        """Return a join of a stream with a table."""
        stream = self._stream()
        kind = self.random.choice(["JOIN", "LEFT JOIN"])
        scope = SCOPES[stream](stream)
        of = Expressions(self.random, scope.and_also(listed("l")))
        rows = f"{{0}} AS {stream} {kind} listed AS l ON {scope.text[0]} = l.symbol"
        if self.random.random() < 0.3:
            items = [scope.text[0], of.any(), of.any(), "l.sector"]
            text = f"SELECT {self._items(items)} FROM {rows}{self._where(of)}"
            return Query(text, (stream,), "table", is_row_wise=True)
        body = self._aggregation(of, rows, is_filtered=True, has_order=False)
        return Query(
            body.text, (stream,), "table", is_merged=body.is_merged, is_ordered=body.is_ordered
        )

    def join(self) -> Query:
        """Return a join of two streams."""
        second = self.random.choice([QUOTES, QUOTES, TRADES])
        left, right = trades("t"), SCOPES[second]("u")
        of = Expressions(self.random, left.and_also(right))
        symbols = f"{left.text[0]} = {right.text[0]}"
        conditions = [
            symbols,
            f"{symbols} AND {left.whole[0]} = {right.whole[0]}",
            f"{symbols} AND {left.real[0]} > {right.real[0]}",
            f"{left.whole[0]} < {right.whole[0]} AND {left.time[0]} <= {right.time[0]}",
        ]
        kind = self.random.choices(["JOIN", "LEFT JOIN"], [6, 1])[0]
        on = self.random.choice(conditions)
        rows = f"{{0}} AS t {kind} {{1}} AS u ON {on}"
        streams: tuple[str, ...] = (TRADES, second)
        form = self.random.choices(["on", "where", "using", "third", "table"], [6, 2, 1, 1, 1])[0]
        if form == "where":
            rows, kind = f"{{0}} AS t, {{1}} AS u WHERE {on}", "WHERE"
        elif form == "using":
            rows = f"{{0}} AS t {kind} {{1}} AS u USING (symbol)"
        elif form == "table":
            rows += " JOIN listed AS l ON l.symbol = t.symbol"
        elif form == "third":
            rows += " JOIN {2} AS w ON w.symbol = t.symbol AND w.lots = t.size"
            streams = (TRADES, second, QUOTES)
        if self.random.random() < 0.25:
            items = [of.any(), of.any(), left.text[0], right.text[0]]
            where = "" if kind == "WHERE" else self._where(of)
            text = f"SELECT {self._items(items)} FROM {rows}{where}"
            return Query(text, streams, "join", has_key=form != "third")
        body = self._aggregation(of, rows, is_filtered=kind != "WHERE", has_order=False)
        return Query(
            body.text,
            streams,
            "join",
            is_merged=body.is_merged and kind != "LEFT JOIN",
            is_ordered=body.is_ordered,
        )

    def _aggregation(
        self, of: Expressions, rows: str, *, is_filtered: bool, has_order: bool = True
    ) -> Body:
        kinds = Aggregates(of, has_order=has_order and self.has_order)
        maker = kinds.simple if self.random.random() < 0.5 else kinds.any
        found = [maker() for _ in range(self.random.randint(1, 3))]
        groups = list(dict.fromkeys(of.group() for _ in range(self.random.choice((0, 1, 1, 2)))))
        having = kinds.exact() if self.random.random() < 0.15 else None
        where = self._where(of) if is_filtered else ""
        shown = self._aggregate_items(groups, found)
        if self.random.random() < 0.05:  # a name that is used beside where it is given
            shown += ", count(*) AS rows_there, rows_there * 2 AS twice"
        text = f"SELECT {shown} FROM {rows}{where}"
        if groups:
            text += f" GROUP BY {self._grouping(groups)}"
        if having:
            both, most = self.random.choice(["AND", "OR"]), self.random.randint(0, 3)
            text += f" HAVING {having.sql} IS NOT NULL {both} count(*) > {most}"
        is_ordered = bool(groups) and "ROLLUP" not in text and self.random.random() < 0.2
        if is_ordered:
            text += self._order(groups, kinds.exact())
        return Body(text, all(each.is_merged for each in found), is_ordered)

    def _grouping(self, groups: list[str]) -> str:
        kind = self.random.choices(["named", "numbered", "all", "rollup"], [5, 3, 2, 1])[0]
        if kind == "numbered":
            return ", ".join(str(number + 1) for number in range(len(groups)))
        if kind == "all":
            return "ALL"
        if kind == "rollup":  # in brackets, without which sqlglot does not parse all of them
            return f"ROLLUP ({', '.join(f'({group})' for group in groups)})"
        return ", ".join(groups)

    def _order(self, groups: list[str], exact: Aggregate) -> str:
        """Write an order that no two groups share a place in."""
        first = f"{exact.sql} {self._direction()}, " if self.random.random() < 0.6 else ""
        last = ", ".join(f"{group} {self._direction()}" for group in groups)
        limit = f" LIMIT {self.random.randint(1, 4)}" if self.random.random() < 0.6 else ""
        offset = " OFFSET 1" if limit and self.random.random() < 0.3 else ""
        return f" ORDER BY {first}{last}{limit}{offset}"

    def _direction(self) -> str:
        return self.random.choice(["ASC", "DESC", "DESC NULLS LAST", "ASC NULLS FIRST"])

    def _aggregate_items(self, groups: list[str], found: list[Aggregate]) -> str:
        shown = [*groups, *(each.sql for each in found)]
        return self._items(shown)

    def _items(self, items: list[str]) -> str:
        """Write what is selected, some of it with a name."""
        return ", ".join(
            f"{item} AS c{number}" if self.random.random() < 0.5 else item
            for number, item in enumerate(items)
        )

    def _where(self, of: Expressions) -> str:
        return f" WHERE {of.truth()}" if self.random.random() < 0.4 else ""

    def _where_of(self, scope: Scope) -> str:
        return self._where(Expressions(self.random, scope))

    def _stream(self) -> str:
        return self.random.choice([TRADES, TRADES, QUOTES])

    def _expressions(self, stream: str) -> Expressions:
        """Name the columns of a single stream, with its name or without."""
        return Expressions(self.random, SCOPES[stream](self.random.choice(["", "", stream])))


@dataclass(frozen=True, slots=True)
class Body:
    """An aggregation."""

    text: str
    is_merged: bool
    is_ordered: bool
