"""Rewrites a query over a join of inputs into the pairs of their rows, and the query over these.

    SELECT x.v, y.w FROM chunk_0 AS x LEFT JOIN chunk_1 AS y ON x.k = y.k

becomes the pairs, which are found as the rows come, and the whole, which runs over the rows of the
pairs that are due:

    SELECT x.__row AS __row_0, y.__row AS __row_1 FROM chunk_0 AS x, chunk_1 AS y WHERE x.k = y.k
    SELECT x.v, y.w FROM chunk_0 AS x LEFT JOIN chunk_1 AS y ON x.__pair = y.__pair

Rows of one pair have the same `__pair`. A row without a partner has a number that no other row has,
so DuckDB's own outer join fills in the NULLs.

The pairs of an inner join may be more than those of the query: conditions that read other tables as
well are left to the whole, which has all conditions. In the other joins the pairs decide which rows
have a partner, so they have the whole condition, and the query over them need not check it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import pyarrow as pa
from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.functions import functions_of
from ..sql.names import PAIR, ROW, found
from ..sql.stars import hide_columns
from ..sql.trees import chunk_index, chunk_tables, chunks_in, column, conjuncts, named
from .block import Block, conditions_of, read_block, source_nodes
from .collations import may_collate
from .not_incremental import NotIncrementalError
from .paired_blocks import flatten, joining_block
from .resolution import resolved, without_common_tables
from .split import prepared
from .trial import Trial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...database.duck import Duck
    from ..sql.functions import Functions
    from .block import Source

PairKind = Literal["inner", "left", "right", "full", "semi", "anti"]
_KINDS: Final[dict[str, PairKind]] = {
    "": "inner",
    "INNER": "inner",
    "CROSS": "inner",
    "LEFT": "left",
    "RIGHT": "right",
    "FULL": "full",
    "SEMI": "semi",
    "ANTI": "anti",
}
_OF_TABLES: Final = frozenset({"inner", "left", "semi", "anti"})
"""The joins by which a table may follow: each row of the result comes from one pair."""


@dataclass(frozen=True, slots=True)
class PairedQuery:
    """A query over the pairs of rows of its inputs.

    `windows` are the numbers of the inputs in the order of FROM; all kinds except `inner` have two.
    `pairs` reads the relations `chunk_i` with a column `__row`, and returns the rows that meet, as
    `__row_i`. `whole` reads the relations with a column `__pair`. `reads` are the columns of each
    input that `pairs` reads.
    """

    kind: PairKind
    windows: tuple[int, ...]
    pairs: exp.Select
    whole: exp.Query
    reads: Mapping[int, tuple[str, ...]]

    @property
    def preserved(self) -> tuple[int, ...]:
        """The inputs whose rows are in the result even if they have no partner."""
        left, right = self.windows[0], self.windows[-1]
        sides = {"left": (left,), "anti": (left,), "right": (right,), "full": (left, right)}
        return sides.get(self.kind, ())

    def read_schemas(self, schemas: Mapping[str, pa.Schema]) -> dict[str, pa.Schema]:
        """Return the columns of the relations that `pairs` reads, by their names."""
        return {
            name: pa.schema([*(schemas[name].field(each) for each in columns), _field(ROW)])
            for name, columns in ((f"chunk_{i}", each) for i, each in self.reads.items())
        }

    def pairs_of(self, number: int) -> exp.Select:
        """Return `pairs` with one input last, which is best if that input has the fewest rows.

        DuckDB does not know the number of rows of a lent relation. It builds its hash table from
        the last table in FROM.
        """
        pairs = self.pairs.copy()
        tables = [pairs.args["from_"].this, *(join.this for join in pairs.args["joins"])]
        tables.sort(key=lambda table: chunks_in(table) == (number,))
        return _from(pairs, [table.copy() for table in tables])


def paired(
    query: exp.Query, windows: Sequence[int], schemas: Mapping[str, pa.Schema], duck: Duck
) -> PairedQuery:
    """Rewrite a query whose inputs with these numbers are joined.

    Raises NotIncrementalError with the reason if it cannot be rewritten.
    """
    functions = functions_of(duck)
    if volatile := functions.volatile_in(query):
        what = "a sample" if volatile == "tablesample" else f"{volatile}()"
        raise NotIncrementalError(f"{what} returns another value each time")
    trial = Trial(duck, schemas, collates=may_collate(query, duck))
    with duck.keeping():
        try:
            query = prepared(query)
            whole = query.copy()
            for select in list(whole.find_all(exp.Select)):
                flatten(select)
            whole = without_common_tables(whole)
            joining = joining_block(whole, frozenset(windows), trial, functions)
            block = read_block(joining, trial)
            rewriting = _Rewriting(block, frozenset(windows), trial, functions)
            result = rewriting.result(whole)
            _check(result, query, trial)
        except DatabaseError as error:
            first = str(error).strip().splitlines()[0]
            raise NotIncrementalError(f"DuckDB rejects the rewritten query ({first})") from error
    return result


def _check(result: PairedQuery, query: exp.Query, trial: Trial) -> None:
    """Raise unless DuckDB accepts both queries, and the columns of the result are the same."""
    names = [f"chunk_{number}" for number in result.windows]
    with_pairs = {name: trial.schemas[name].append(_field(PAIR)) for name in names}
    trial.lending(result.read_schemas(trial.schemas)).columns(result.pairs)
    if trial.lending(with_pairs).columns(result.whole) != trial.columns(query):
        raise NotIncrementalError("the query over pairs does not have the columns of the query")


def _field(name: str) -> pa.Field[pa.Int64Type]:
    return pa.field(name, pa.int64())


class _Rewriting:
    """Rewrites the block in which the inputs are joined."""

    def __init__(
        self,
        block: Block,
        windows: frozenset[int],
        trial: Trial,
        functions: Functions,
    ) -> None:
        self._block = block
        self._trial = trial
        self._functions = functions
        self._select = block.select
        self._joins: list[exp.Join] = self._select.args.get("joins") or []
        self._inputs = {
            source.windows[0]: source
            for source in block.sources
            if windows.intersection(source.windows)
        }
        """The inputs in the order of FROM."""
        self._check_names()
        self._kind = self._read_kind()

    def result(self, whole: exp.Query) -> PairedQuery:
        """Return the two queries; the block is a part of `whole`, and is changed in place."""
        conditions = self._conditions()
        reads = {
            number: self._read_by(conditions, source) for number, source in self._inputs.items()
        }
        items = [
            named(column(ROW, source.alias), f"{ROW}_{number}")
            for number, source in self._inputs.items()
        ]
        pairs = exp.Select(expressions=items)
        if conditions:
            pairs.where(*(each.copy() for each in conditions), copy=False)
        _from(pairs, [with_column(source.node, ROW) for source in self._inputs.values()])
        self._join_by_pair()
        self._hide_pair()
        for source in self._inputs.values():
            source.node.replace(with_column(source.node, PAIR))
        return PairedQuery(self._kind, tuple(self._inputs), pairs, whole, reads)

    # Reading

    def _check_names(self) -> None:
        for source in self._block.sources:
            for name in (PAIR, ROW):
                if found(name, source.columns):
                    raise NotIncrementalError(f"{source.alias} has a column {name}: rename it")

    def _read_kind(self) -> PairKind:
        """Return how the inputs are joined; raise unless the other joins can stay as they are."""
        kind: PairKind = "inner"
        for number, join in enumerate(self._joins):
            each = _kind_of(join)
            words = " ".join(word for word in (join.method, join.side, join.kind, "JOIN") if word)
            if not self._is_input(join.this):
                if each not in _OF_TABLES:
                    raise NotIncrementalError(f"{words} with a table keeps rows that are no pairs")
                continue
            if each == "inner":
                continue
            if len(self._inputs) > 2:
                raise NotIncrementalError(
                    f"{words}: three and more inputs can only be joined by inner joins"
                )
            if number or not self._is_input(self._block.sources[0].node):
                raise NotIncrementalError(
                    f"{words}: the two inputs must come first in FROM, and tables after them"
                )
            kind = each
        return kind

    def _is_input(self, node: exp.Expr) -> bool:
        return any(source.node is node for source in self._inputs.values())

    # The pairs

    def _conditions(self) -> list[exp.Expr]:
        """Return the conditions that the pairs must meet, with all columns qualified."""
        plain = exp.Select(expressions=[exp.Literal.number(1)])
        for name in ("from_", "where"):
            if clause := self._select.args.get(name):
                plain.set(name, clause.copy())
        plain.set("joins", [join.copy() for join in self._joins])
        plain = resolved(Block(plain, self._block.sources))
        if self._kind == "inner":
            conditions = [*conditions_of(plain), *self._equalities()]
            return [each for each in conditions if self._is_of_inputs(each)]
        [join, *_] = plain.args["joins"]
        conditions = [*conjuncts(join.args.get("on")), *self._equalities()]
        unknown = next((each for each in conditions if not self._is_of_inputs(each)), None)
        if unknown is not None:
            raise NotIncrementalError(
                "the condition of an outer, semi or anti join reads more than columns of its two"
                " inputs, or a subquery"
            )
        return conditions

    def _is_of_inputs(self, condition: exp.Expr) -> bool:
        """Tell whether a condition reads nothing but columns of the inputs."""
        if condition.find(exp.Query, exp.Lambda, exp.Columns, exp.Star):
            return False
        if self._functions.reading_in(condition):
            return False
        owners = {source.alias: source.columns for source in self._inputs.values()}
        return all(
            node.name in owners.get(node.table, ()) for node in condition.find_all(exp.Column)
        )

    def _equalities(self) -> list[exp.Expr]:
        """Return what USING and NATURAL compare, for the inputs and inner joins of tables."""
        result: list[exp.Expr] = []
        for place, join in enumerate(self._joins, 1):
            if not self._is_input(join.this):
                continue
            right = self._block.sources[place]
            left = [each for each in self._block.sources[:place] if each.is_visible]
            names = [name.name for name in join.args.get("using") or ()]
            if join.method == "NATURAL":
                of_left = {name.lower() for each in left for name in each.columns}
                names = [name for name in right.columns if name.lower() in of_left]
            result += [_equal(name, left, right) for name in names]
        return result

    def _read_by(self, conditions: list[exp.Expr], source: Source) -> tuple[str, ...]:
        """Return the columns of the stream that the pairs read; a subquery may read all."""
        if chunk_index(source.node) is None:
            [table] = chunk_tables(source.node)
            return tuple(self._trial.schemas[table.name].names)
        return tuple(
            name
            for name in source.columns
            if any(_reads(each, source, name) for each in conditions)
        )

    # The whole

    def _join_by_pair(self) -> None:
        """Let rows of one pair meet, and no others."""
        first, *others = self._inputs.values()
        if self._kind == "inner":
            self._select.where(*(_same_pair(first, other) for other in others), copy=False)
            return
        [join, *_] = self._joins
        using = join.args.get("using")
        if not using and join.method != "NATURAL":
            join.set("on", _same_pair(first, others[0]))
            return
        self._check_types()
        if using:
            join.set("using", [*using, exp.to_identifier(PAIR, quoted=True)])

    def _check_types(self) -> None:
        """Raise if USING may fail on a row without a partner, which the whole compares again."""
        sources = {each.alias: each.node for each in self._inputs.values()}
        for equality in self._equalities():
            is_text = {
                self._trial.columns(exp.select(node.copy()).from_(sources[node.table].copy())).types
                == ("VARCHAR",)
                for node in (equality.this, equality.expression)
            }
            if len(is_text) > 1:
                raise NotIncrementalError(
                    f"{equality.this.name} is a text in one input only: write ON instead of USING"
                )

    def _hide_pair(self) -> None:
        hidden = {each.alias: [PAIR] for each in self._inputs.values() if each.is_visible}
        known = {name.lower() for source in self._block.sources for name in source.columns}
        if reason := hide_columns(self._select, hidden, known):
            raise NotIncrementalError(reason)


def _kind_of(join: exp.Join) -> PairKind:
    words = {word for word in (join.side, join.kind) if word and word != "OUTER"}
    if join.method not in ("", "NATURAL") or isinstance(join.this, exp.Lateral):
        word = join.method or "LATERAL"
        raise NotIncrementalError(f"{word} joins are not made of pairs of rows")
    if len(words) > 1 or not words <= _KINDS.keys():
        raise NotIncrementalError(f"{' '.join(sorted(words))} JOIN is not made of pairs of rows")
    return _KINDS["".join(words)]


def _reads(condition: exp.Expr, source: Source, name: str) -> bool:
    return any(
        node.table == source.alias and node.name == name for node in condition.find_all(exp.Column)
    )


def _equal(name: str, left: list[Source], right: Source) -> exp.Expr:
    """Return what USING compares: the first relation that has the column stands for all of them."""
    owner = next(each for each in left if found(name, each.columns))
    mine, other = (column(found(name, each.columns) or name, each.alias) for each in (owner, right))
    return exp.EQ(this=mine, expression=other)


def _same_pair(one: Source, other: Source) -> exp.Expr:
    return exp.EQ(this=column(PAIR, one.alias), expression=column(PAIR, other.alias))


def _from(select: exp.Select, tables: list[exp.Expr]) -> exp.Select:
    """Set the tables of a SELECT, in place."""
    first, *others = tables
    select.set("from_", exp.From(this=first))
    select.set("joins", [exp.Join(this=each, kind="CROSS") for each in others])
    return select


def with_column(node: exp.Expr, name: str) -> exp.Expr:
    """Return a relation of FROM whose stream has one column more, which subqueries pass on."""
    copy = node.copy()
    if isinstance(copy, exp.Subquery):
        select = copy.this
        [inner] = source_nodes(select)
        alias = inner.alias_or_name
        if reason := hide_columns(select, {alias: [name]}, frozenset()):
            raise NotIncrementalError(reason)
        inner.replace(with_column(inner, name))
        select.set("expressions", [*select.expressions, column(name, alias)])
    return copy
