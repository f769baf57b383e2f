"""The one DuckDB of an engine, and statements that are prepared once and run on lent tables.

A continuous query runs the same few statements again and again on tables that change, so a
statement is parsed once, and reads *lent* relations: names under which DuckDB finds an object that
hands out whichever Arrow table it holds at the moment. Registering a table anew for each run costs
a quarter of a millisecond, which is a third of what the whole statement takes.

Standing queries and our own statements come as sqlglot trees and are written out by it; a statement
that runs once may run as it was written. No text of a user is ever pasted into another.
"""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..clock import SystemClock
from ..errors import NameTakenError, ParameterError, QueryError
from ..rows.arrow_data import empty_table, no_rows
from .engine_clock import EngineClock, words_for_calls, write_as_call
from .result_schema import ResultSchema
from .short_results import SHORT_ROWS, has_plain_types, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation, Statement, StatementType
    from duckdb.sqltypes import DuckDBPyType
    from sqlglot import exp

    from ..clock import Clock

    Types = Sequence[DuckDBPyType]

_ALWAYS: Final = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}
"""Nothing is downloaded, and names are those of tables, never of Python variables."""
_INTERRUPTED: Final = "Query interrupted"
"""What DuckDB says, in a bare RuntimeError, when Ctrl-C has ended a statement."""
_LOCKED: Final = {"enable_external_access": "false", "lock_configuration": "true"}
"""What keeps SQL of others away from files, and from these settings."""
_MEMORY: Final = ":memory:"
_MAY_DEFINE: Final = re.compile(
    r"\b(?:MACRO|FUNCTION|ATTACH|IMPORT|LOAD|PRAGMA|CALL|DATABASE)\b", re.IGNORECASE
)
"""A statement without any of these words brings in no function, and takes none away."""


class Duck:
    """An embedded DuckDB with one thread of its own making: ours.

    More threads slow statements on fewer than some 10,000 rows down, and with Python in the scan
    they can block one another.
    """

    __slots__ = (
        "_clock",
        "_connection",
        "_has_own_functions",
        "_lent_count",
        "_prepared_count",
    )

    def __init__(
        self,
        database: str = _MEMORY,
        *,
        threads: int = 1,
        files: bool = True,
        clock: Clock | None = None,
    ) -> None:
        import duckdb

        config: dict[str, str | bool | int | float | list[str]] = {"threads": threads, **_ALWAYS}
        self._connection: DuckDBPyConnection = duckdb.connect(database, config=config)
        self._silence()
        self._clock = EngineClock(self._connection, SystemClock() if clock is None else clock)
        if not files:
            for setting, value in _LOCKED.items():
                self._connection.execute(f"SET {setting} = {value}")
        self._has_own_functions = database != _MEMORY
        self._lent_count = self._prepared_count = 0

    def _silence(self) -> None:
        """Let DuckDB print nothing by itself.

        In a notebook without ipywidgets it prints no progress and refuses to be told so.
        """
        [(prints,)] = self._connection.execute(
            "SELECT current_setting('enable_progress_bar')"
        ).fetchall()
        if prints:
            self._connection.execute("SET enable_progress_bar = false")

    @property
    def has_own_functions(self) -> bool:
        """Tell whether there may be functions that a new database in memory does not have.

        A new one need not be asked, which is worth knowing: listing all functions takes 12 ms.
        """
        return self._has_own_functions

    @property
    def connection(self) -> DuckDBPyConnection:
        """The connection, for what is not a query over lent tables (DDL, files)."""
        return self._connection

    def close(self) -> None:
        """Close the database; what was prepared cannot run any more."""
        self._connection.close()

    def prepare(
        self, query: exp.Expr, lent: Mapping[str, pa.Schema], *, describe: bool = False
    ) -> Prepared:
        """Prepare a query in which the tables of these names are lent for each run.

        With `describe`, it answers with DuckDB's description of the query's columns instead.
        """
        from sqlglot import exp

        from ..queries.sql.dialect import DIALECT

        query = query.copy()
        relations = self._lend_each(query, lent)
        if describe:
            rows = exp.Subquery(this=exp.Describe(this=query))
            query = exp.select("*").from_(rows, copy=False)
        try:
            sql = query.sql(DIALECT, copy=False)
            [statement] = self._connection.extract_statements(sql)
            self._note_functions(sql)
        except Exception:
            for relation in relations.values():
                self.take_back(relation)
            raise
        self._prepared_count += 1
        name = f"__prepared_{self._prepared_count}"
        return Prepared(
            self._connection,
            statement,
            relations,
            name,
            clock=self._clock,
            reads_clock=self._clock.may_be_read(sql),
        )

    def _lend_each(self, query: exp.Expr, lent: Mapping[str, pa.Schema]) -> dict[str, LentRelation]:
        """Make a query read tables that are lent to it, and the clock by calls."""
        from sqlglot import exp

        relations: dict[str, LentRelation] = {}
        for node in list(query.find_all(exp.Table, *words_for_calls())):
            name = node.name
            if not isinstance(node, exp.Table):
                write_as_call(node)
            elif name in lent and not node.db and isinstance(node.this, exp.Identifier):
                if name not in relations:
                    relations[name] = self.lend(lent[name])
                if not node.alias:
                    node.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
                node.set("this", exp.to_identifier(relations[name].name, quoted=True))
        for name in lent:
            if name not in relations:  # not read by the query; it may be lent all the same
                relations[name] = LentRelation("", lent[name])
        return relations

    def take_back(self, relation: LentRelation) -> None:
        """Let DuckDB know a table that was lent no more."""
        relation.clear()
        if relation.name:
            self._connection.unregister(relation.name)

    def run_once(self, statement: exp.Expr, text: str, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Run a statement that reads these tables beside those of the database, for a user.

        QueryError if it fails; `text` is what the user wrote.
        """
        import duckdb

        from ..queries.sql import error_of

        schemas = {name: each.schema for name, each in tables.items()}
        try:
            prepared = self.prepare(statement, schemas)
            try:
                table = prepared.run(**tables)
            finally:
                prepared.close()
        except duckdb.Error as error:
            raise error_of(str(error), text) from error
        return ResultSchema.of(table.schema, prepared.types).handed_out(table, text)

    def answer_as_written(self, text: str, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Run the text of a statement for a user; QueryTypeError if the answer does not fit.

        What RETURNING gives stays as it is, since an error would come after the change.
        """
        import duckdb

        kinds = duckdb.StatementType.SELECT, duckdb.StatementType.MULTI
        table, types, kind = self._run_as_written(text, tables)
        if kind not in kinds:
            return table
        return ResultSchema.of(table.schema, types).handed_out(table, text)

    def run_as_written(self, text: str, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Run the text of a statement, which finds these tables under their names."""
        return self._run_as_written(text, tables)[0]

    def _run_as_written(
        self, text: str, tables: Mapping[str, pa.Table]
    ) -> tuple[pa.Table, Types, StatementType]:
        relations = [LentRelation(name, each.schema) for name, each in tables.items()]
        try:
            for relation in relations:
                relation.table = tables[relation.name]
                self._connection.register(relation.name, relation)
            self._clock.tell_if_read(is_named=self._clock.may_be_read(text))
            self._note_functions(text)
            [statement] = self._connection.extract_statements(text)
            with _interruptible():
                return *_run(self._connection, statement), statement.type
        finally:
            for relation in relations:
                self.take_back(relation)

    def _note_functions(self, sql: str) -> None:
        """Take note of a statement that is about to run if it may define a function."""
        if _MAY_DEFINE.search(sql):
            self._has_own_functions = True

    def statement_type(self, text: str) -> str:
        """Return the kind of the only statement in a text, such as SELECT; "" if it is none."""
        import duckdb

        try:
            statements = self._connection.extract_statements(text)
        except duckdb.Error:
            return ""
        try:
            return str(statements[0].type.name) if len(statements) == 1 else ""
        except ValueError:  # DuckDB's Python does not know all kinds that DuckDB does
            return ""

    def has_table(self, name: str) -> bool:
        """Tell whether there is a table or view of this name."""
        import duckdb

        try:
            self._connection.table(_quoted(name))
        except duckdb.Error:
            return False
        return True

    def create_table(self, name: str, data: pa.Table | str | Path) -> None:
        """Make a table of rows, or of a file by its ending; NameTakenError if there is one."""
        import duckdb

        if self.has_table(name):
            raise NameTakenError("table", name)
        try:
            relation = self._relation(data)
            relation.create(_quoted(name))
        except duckdb.Error as error:
            from ..queries.sql.duck_messages import headline_of

            reason = f"the table {name} cannot be made: {headline_of(str(error))}"
            raise QueryError(reason) from error

    def _relation(self, data: pa.Table | str | Path) -> DuckDBPyRelation:
        if not isinstance(data, str | Path):
            return self._connection.from_arrow(data)
        path = str(data)
        stem = path.lower().removesuffix(".gz")
        if stem.endswith(".parquet"):
            return self._connection.read_parquet(path)
        if stem.endswith((".csv", ".tsv", ".txt")):
            return self._connection.read_csv(path)
        if stem.endswith((".json", ".ndjson", ".jsonl")):
            return self._connection.read_json(path)
        endings = ".parquet, .csv, .tsv, .txt, .json, .jsonl or .ndjson (or that and .gz)"
        raise ParameterError("data", path, f"rows, or the path of a file that ends with {endings}")

    def lend(self, schema: pa.Schema) -> LentRelation:
        """Give DuckDB a table that can be changed at any time, under a name of its own."""
        self._lent_count += 1
        relation = LentRelation(f"__lent_{self._lent_count}", schema)
        self._connection.register(relation.name, relation)
        return relation


def _quoted(name: str) -> str:
    """Return a name as DuckDB reads it where it would else take it apart."""
    return '"' + name.replace('"', '""') + '"'


class LentRelation:
    """What DuckDB reads under a name: whichever table it holds."""

    __slots__ = ("_nothing", "name", "table")

    def __init__(self, name: str, schema: pa.Schema) -> None:
        self.name = name
        self._nothing = empty_table(schema)
        self.table = self._nothing

    def clear(self) -> None:
        """Hold no rows, so that nothing stays in memory for our sake."""
        self.table = self._nothing

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table out by Arrow's C stream protocol."""
        return self.table.__arrow_c_stream__(requested_schema)


class Prepared:
    """A statement that runs on the tables it is lent, as often as one likes.

    A statement that runs a second time is prepared in DuckDB, which then need not plan it each
    time: that is half of what a small statement costs. What runs once is not worth it.
    """

    __slots__ = (
        "_clock",
        "_connection",
        "_execute",
        "_is_plain",
        "_is_short",
        "_name",
        "_reads_clock",
        "_relations",
        "_schema",
        "_statement",
        "_types",
        "types",
    )

    def __init__(
        self,
        connection: DuckDBPyConnection,
        statement: Statement,
        relations: dict[str, LentRelation],
        name: str,
        *,
        clock: EngineClock,
        reads_clock: bool,
    ) -> None:
        self._connection = connection
        self._statement = statement
        self._relations = relations
        self._name = name
        self._clock = clock
        self._reads_clock = reads_clock
        self._schema: pa.Schema | None = None
        """Of the first result, and since then of all."""
        self.types: Types = ()
        """What DuckDB calls the types of the columns, from the first run on."""
        self._is_plain = self._is_short = False
        """Whether results are of plain types, and whether the last result had a few rows."""
        self._types: list[object] = []
        self._execute: Statement | None = None

    def run(self, **tables: pa.Table) -> pa.Table:
        """Run on these tables, one for each lent name; what is not given is empty."""
        for name, table in tables.items():
            self._relations[name].table = table
        try:
            self._clock.tell_if_read(is_named=self._reads_clock)
            with _interruptible():
                return self._run_first() if self._schema is None else self._run_again(self._schema)
        finally:
            for relation in self._relations.values():
                relation.clear()

    def close(self) -> None:
        """Take the lent names back."""
        if self._execute is not None:
            self._connection.execute(f"DEALLOCATE {self._name}")
        for relation in self._relations.values():
            if relation.name:
                self._connection.unregister(relation.name)

    def _run_first(self) -> pa.Table:
        table, self.types = _run(self._connection, self._statement)
        if not table.num_columns:  # no query
            return table
        self._schema = table.schema
        self._is_plain = self._is_short = has_plain_types(table.schema)
        return table

    def _run_again(self, schema: pa.Schema) -> pa.Table:
        if self._execute is None:
            # Both parts are ours: the statement's text was written out by sqlglot.
            self._connection.execute(f"PREPARE {self._name} AS {self._statement.query}").fetchall()
            [self._execute] = self._connection.extract_statements(f"EXECUTE {self._name}")
        self._connection.execute(self._execute)
        if self._is_short and self._types == self._types_now():
            return self._short(schema)
        table = self._as_arrow()
        self._types = self._types_now()
        if not table.schema.equals(schema):  # a table was made anew, with other types
            import duckdb

            raise duckdb.BinderException(f"the result was {schema}, and is {table.schema}")
        self._is_short = self._is_plain and table.num_rows < SHORT_ROWS
        return table

    def _short(self, schema: pa.Schema) -> pa.Table:
        """Return a result that was short last time; the rest of it by Arrow, if it is longer."""
        import pyarrow as pa

        rows = self._connection.fetchmany(SHORT_ROWS)
        try:
            if len(rows) < SHORT_ROWS:
                return table_of(rows, schema)
            self._is_short = False
            return pa.concat_tables([table_of(rows, schema), self._as_arrow()])
        except pa.ArrowException:  # a type that Python has another for, or a value too large
            assert self._execute is not None
            self._is_plain = self._is_short = False
            self._connection.execute(self._execute)
            return self._as_arrow()

    def _types_now(self) -> list[object]:
        """Return the types of the result that is there."""
        return [column[1] for column in self._connection.description or ()]

    def _as_arrow(self) -> pa.Table:
        """Return what is left of the result."""
        return _as_arrow(self._connection)


def _run(connection: DuckDBPyConnection, statement: Statement) -> tuple[pa.Table, Types]:
    """Run a statement, and return what types its columns are of in DuckDB as well.

    A table without columns if it has no result.
    """
    import duckdb

    if statement.type == duckdb.StatementType.SELECT:
        connection.execute(statement)  # a relation would not heed Ctrl-C
        types = [column[1] for column in connection.description or ()]
        return _as_arrow(connection), types
    result = connection.sql(statement)
    return (no_rows(), ()) if result is None else (result.to_arrow_table(), result.types)


def _as_arrow(connection: DuckDBPyConnection) -> pa.Table:
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # DuckDB warns that this copies the rows; a relation, which it would rather have, costs
        # more than the copy, since it cannot be prepared.
        return connection.to_arrow_table()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt where DuckDB says in its own words that Ctrl-C ended a statement."""
    import duckdb

    try:
        yield
    except (RuntimeError, duckdb.InterruptException) as error:
        if isinstance(error, duckdb.InterruptException) or str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise
