"""The fixture files: queries, each with the parts it is split into. Run to write the parts anew.

python -m tests.queries.rewriting.fixture_files
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from upstream.database.duck import Duck
from upstream.queries.rewriting.explain import parts
from upstream.queries.rewriting.split import split
from upstream.queries.rewriting.split_query import SplitQuery
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from ..parsed import query_of
from .random_steps import SCHEMAS, TABLES

LASTING = (WindowClause(WindowKind.LANDMARK, "s"),)
_LASTING_RULES = {"bounded_rows"}
"""The rules that apply only to streams that nothing leaves."""
FOLDER = Path(__file__).parent / "fixtures"
LANDMARKS = tuple(WindowClause(WindowKind.LANDMARK, stream) for stream in ("a", "b"))
"""The windows of queries in the folder `lasting`; the others are split as over sliding windows."""
_MARK = "--> "


@dataclass(frozen=True, slots=True)
class Fixture:
    """One query of a file: its title, its text, and how it should be split."""

    title: str
    sql: str
    parts: str

    def text(self) -> str:
        """Return it as it stands in the file."""
        parts = "".join(f"\n{(_MARK + line).rstrip()}" for line in self.parts.splitlines())
        return f"-- {self.title}\n{self.sql};{parts}\n"


def fixtures(rule: str) -> list[Fixture]:
    """Read the file of a rule."""
    text = (FOLDER / f"{rule}.sql").read_text(encoding="utf-8")
    return [_fixture(block) for block in text.strip().split("\n\n")]


def _fixture(block: str) -> Fixture:
    title, *lines = block.splitlines()
    sql = [line for line in lines if not line.startswith(_MARK.rstrip())]
    parts = [line[len(_MARK) :] for line in lines if line.startswith(_MARK.rstrip())]
    return Fixture(title.removeprefix("-- "), "\n".join(sql).removesuffix(";"), "\n".join(parts))


def rules() -> list[str]:
    """Return the rules that have a file."""
    paths = FOLDER.glob("**/*.sql")
    return sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in paths)


def windows_of(rule: str) -> tuple[WindowClause, ...]:
    """Return the windows that the queries in the file of a rule are split for."""
    if rule in _LASTING_RULES:
        return LASTING
    return LANDMARKS if rule.startswith("lasting/") else ()


def new_duck() -> Duck:
    """Return a DuckDB with the tables that the queries read."""
    duck = Duck()
    for statement in TABLES:
        duck.rows(statement)
    return duck


def split_of(sql: str, duck: Duck, windows: tuple[WindowClause, ...] = ()) -> SplitQuery:
    """Split a query."""
    return split(query_of(sql, DIALECT), windows, SCHEMAS, duck)


def parts_of(sql: str, duck: Duck, windows: tuple[WindowClause, ...] = ()) -> str:
    """Return how a query is split."""
    return parts(split_of(sql, duck, windows))


def _rewrite(rule: str, duck: Duck) -> None:
    windows = windows_of(rule)
    new = [
        Fixture(old.title, old.sql, parts_of(old.sql, duck, windows)).text()
        for old in fixtures(rule)
    ]
    (FOLDER / f"{rule}.sql").write_text("\n".join(new), encoding="utf-8")


if __name__ == "__main__":
    database = new_duck()
    for name in rules():
        _rewrite(name, database)
    database.close()
