"""The one DuckDB of an engine, and statements that are prepared once and run on lent tables.

A standing query runs the same few statements again and again on tables that change. So a statement
is parsed once and reads *lent* relations: names for which DuckDB finds an object that returns the
Arrow table that it holds at the moment. Registering a table for each run would cost a quarter of a
millisecond, which is a third of what the whole statement takes.

Standing queries and our own statements are sqlglot trees, and sqlglot writes them as text. A
statement that runs once may run as the user wrote it. Text of a user is never inserted into other
text.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, cast

import duckdb

from ..clock import SystemClock
from ..errors import NameTakenError, ParameterError
from .arrow_results import run_once
from .engine_clock import EngineClock
from .lent import LentRelations
from .prepared import Prepared, Written
from .result_schema import ResultSchema
from .running import Running

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation, StatementType

    from ..clock import Clock
    from .arrow_results import Types
    from .lent import LentRelation
    from .prepared import Write

T = TypeVar("T")

_ALWAYS: Final = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}
"""Nothing is downloaded, and names refer to tables, never to Python variables."""
_LOCKED: Final = {"enable_external_access": "false", "lock_configuration": "true"}
"""These settings keep foreign SQL away from files, and from the settings themselves."""
_MEMORY: Final = ":memory:"
_MAY_DEFINE: Final = re.compile(
    r"\b(?:MACRO|FUNCTION|ATTACH|IMPORT|LOAD|PRAGMA|CALL|DATABASE)\b", re.IGNORECASE
)
"""A statement without any of these words adds and removes no function."""


_OF_RESULTS: Final = [
    *("TimeZone", "Calendar", "default_collation", "default_null_order", "default_order"),
    *("integer_division", "ieee_floating_point_ops", "error_on_division_by_zero"),
    *("disable_timestamptz_casts", "regex_match_operator_semantics", "binary_as_string"),
]
"""The settings on which the result of a query may depend."""
_READS: Final = ("SELECT ", "(")
"""How those of our own statements begin that change nothing."""


class Duck:
    """An embedded DuckDB, with one thread unless more are asked for.

    More threads slow down statements on fewer than some 10,000 rows. With Python in the scan they
    can block one another.
    """

    __slots__ = (
        "_clock",
        "_connection",
        "_has_own_functions",
        "_known",
        "_named",
        "_relations",
        "_running",
    )

    def __init__(
        self,
        database: str = _MEMORY,
        *,
        threads: int = 1,
        files: bool = True,
        clock: Clock | None = None,
    ) -> None:
        config: dict[str, str | bool | int | float | list[str]] = {"threads": threads, **_ALWAYS}
        self._connection: DuckDBPyConnection = duckdb.connect(database, config=config)
        self._silence()
        self._clock = EngineClock(self._connection, SystemClock() if clock is None else clock)
        if not files:
            for setting, value in _LOCKED.items():
                self._connection.execute(f"SET {setting} = {value}")
        self._relations = LentRelations(self._connection)
        self._running = Running(self._connection)
        self._has_own_functions = database != _MEMORY
        self._known: dict[Callable[[Duck], object], object] = {}
        self._named = 0

    def _silence(self) -> None:
        """Prevent DuckDB from printing.

        In a notebook without ipywidgets it prints no progress and rejects the setting.
        """
        [(prints,)] = self._connection.execute(
            "SELECT current_setting('enable_progress_bar')"
        ).fetchall()
        if prints:
            self._connection.execute("SET enable_progress_bar = false")

    @property
    def has_own_functions(self) -> bool:
        """Tell whether there may be functions that a new database in memory does not have.

        If not, the functions need not be listed, which takes 12 ms.
        """
        return self._has_own_functions

    def close(self) -> None:
        """Close the database; prepared statements cannot run any more."""
        self._connection.close()

    def keeping(self) -> AbstractContextManager[None]:
        """Keep shared relations lent until the end of a block in which many statements are tried.

        Until then DuckDB is asked only once about the same query, so nothing may be changed
        meanwhile.
        """
        return self._relations.keeping()

    def prepare(self, write: Write, lent: Collection[str]) -> Prepared:
        """Return a statement that can run again and again, on tables for these names.

        If it cannot be parsed, DatabaseError is raised when it is first needed.
        """
        name = self._new_name("prepared")
        return Prepared(self._connection, partial(self.written, write), frozenset(lent), name)

    def written(self, write: Write) -> Written:
        """Return a statement with the relations that are lent to it; the caller has to close it."""
        written = Written(self._connection, self._relations, self._clock, write)
        self._note(written.text)
        return written

    def known(self, ask: Callable[[Duck], T]) -> T:
        """Return the result of a question about the database, asked again after a change."""
        if ask not in self._known:
            self._known[ask] = ask(self)
        return cast("T", self._known[ask])

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[str, ...]]:
        """Run one of our own statements that returns texts, and return its rows."""
        self._forget_known(sql)
        with self._running:
            return self._connection.execute(sql, parameters).fetchall()

    def take_back(self, relation: LentRelation) -> None:
        """Remove a lent table from DuckDB."""
        self._relations.take_back(relation)

    def answer_as_written(self, text: str, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Run a user's statement as it is; raise QueryTypeError if the result does not fit.

        The result of RETURNING stays as it is, since an error would come after the change.
        """
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
        relations: list[LentRelation] = []
        try:
            for name, table in tables.items():
                relations.append(self._relations.lend(table.schema, name))
                relations[-1].hold(table)
            if self._clock.may_be_read(text) or self._clock.is_hidden:
                self._clock.tell()
            self._note(text)
            with self._running:
                [statement] = self._connection.extract_statements(text)
                return *run_once(self._connection, statement), statement.type
        finally:
            for relation in relations:
                self.take_back(relation)

    def _note(self, sql: str) -> None:
        """Note that a statement is about to run that may change the database."""
        if _MAY_DEFINE.search(sql):
            self._has_own_functions = True
        self._forget_known(sql)

    def _forget_known(self, sql: str) -> None:
        if not sql.lstrip().startswith(_READS):
            self._known.clear()

    def statement_type(self, text: str) -> str:
        """Return the kind of the one statement in a text, such as SELECT; "" if it is not one."""
        try:
            statements = self._connection.extract_statements(text)
        except duckdb.Error:
            return ""
        try:
            return str(statements[0].type.name) if len(statements) == 1 else ""
        except ValueError:  # DuckDB's Python package does not know all kinds that DuckDB has
            return ""

    def has_table(self, name: str) -> bool:
        """Tell whether there is a table or view of this name."""
        try:
            self._connection.table(_quoted(name))
        except duckdb.Error:
            return False
        return True

    def create_table(self, name: str, data: pa.Table | str | Path) -> None:
        """Create a table from rows or from a file; raise NameTakenError if the name is taken."""
        if self.has_table(name):
            raise NameTakenError("table", name)
        self._known.clear()
        with self._running:
            self._relation(data).create(_quoted(name))

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

    def new_name(self) -> str:
        """Return a name that no table has, for a table of our own."""
        return self._new_name("static")

    def _new_name(self, kind: str) -> str:
        self._named += 1
        return f"__{kind}_{self._named}"

    def drop_own_table(self, name: str) -> None:
        """Drop a temporary table of our own; do nothing if it does not exist."""
        with self._running:
            self._connection.execute(f"DROP TABLE IF EXISTS temp.{_quoted(name)}")

    def checksum(self, name: str) -> tuple[str, ...]:
        """Return the number of rows of a temporary table of our own, and a sum of their hashes."""
        texts = "count(*)::VARCHAR, coalesce(sum(hash(part)::HUGEINT), 0)::VARCHAR"
        with self._running:
            part = self._connection.table(_quoted(name)).set_alias("part")
            [found] = part.aggregate(texts).fetchall()
        return tuple(map(str, found))

    def own_types(self) -> frozenset[str]:
        """Return the names of the types that the user has defined, in lower case."""
        rows = self.rows("SELECT lower(type_name) FROM duckdb_types() WHERE NOT internal")
        return frozenset(name for (name,) in rows)

    def environment(self) -> dict[str, str]:
        """Return the version of DuckDB, and the settings that results may depend on."""
        found = self.rows(
            "SELECT name, coalesce(value, '') FROM duckdb_settings()"
            " WHERE list_contains(?, name) ORDER BY name",
            [_OF_RESULTS],
        )
        return {"DuckDB": duckdb.__version__} | {each[0]: each[1] for each in found}

    def lend(self, schema: pa.Schema) -> LentRelation:
        """Lend DuckDB a table that can be exchanged at any time, under a name of its own."""
        return self._relations.lend(schema)


def _quoted(name: str) -> str:
    """Return a quoted name, which DuckDB would otherwise split at its dots."""
    return '"' + name.replace('"', '""') + '"'
