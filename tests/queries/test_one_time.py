"""One-time SQL over relations scans only what a query reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.errors import QueryError, StatementError
from upstream.queries.one_time import OneTimeSql
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables.relation import Condition, TimeRange

SCHEMA = pa.schema([("time", pa.int64()), ("k", pa.string()), ("x", pa.int64())])
ROWS = pa.table({"time": [1, 2], "k": ["a", "b"], "x": [10, 20]}, SCHEMA)


class Noted:
    """A relation that notes which columns it is asked for."""

    def __init__(self, name: str) -> None:
        self.definition = StreamDefinition(name, SCHEMA, ("k",), "time")
        self.scanned: list[list[str] | None] = []

    def scan(
        self,
        columns: Sequence[str] | None = None,
        conditions: Sequence[Condition] = (),
        between: TimeRange | None = None,
    ) -> pa.Table:
        """Return the rows, and note the columns."""
        self.scanned.append(None if columns is None else sorted(columns))
        return ROWS if columns is None else ROWS.select(list(columns))


class Setting:
    """Two relations, and what answers over them."""

    def __init__(self, duck: Duck) -> None:
        self.bids, self.asks = Noted("bids"), Noted("asks")
        self._sql = OneTimeSql(duck, {"bids": self.bids, "asks": self.asks})

    def answer(self, text: str) -> pa.Table:
        """Read a query, and run it."""
        return self._sql.ready(text).answer()


@pytest.fixture
def setting() -> Iterator[Setting]:
    duck = Duck()
    yield Setting(duck)
    duck.close()


def test_a_query_scans_what_it_names_and_the_columns_that_it_reads(setting: Setting) -> None:
    assert setting.answer("SELECT sum(x) AS x FROM bids").to_pylist() == [{"x": 30}]
    assert setting.asks.scanned == []
    [columns] = setting.bids.scanned
    assert columns is not None
    assert "x" in columns
    assert "time" not in columns


def test_streams_are_joined_as_they_are(setting: Setting) -> None:
    text = "SELECT b.x + a.x AS x FROM bids b JOIN asks a USING (k) ORDER BY x"
    assert setting.answer(text)["x"].to_pylist() == [20, 40]
    assert len(setting.bids.scanned) == len(setting.asks.scanned) == 1


@pytest.mark.parametrize("text", ["FROM latest(bids)", "SELECT * FROM latest(bids, per => k)"])
def test_the_newest_row_of_each_key_is_what_a_stream_is(setting: Setting, text: str) -> None:
    assert setting.answer(text).num_rows == 2


@pytest.mark.parametrize(
    "window",
    [
        "tumble(bids, 10)",
        "epochs(bids, rows => 3)",
        "epochs(bids, punctuation => true)",
        "latest(bids, rows => 2)",
        "latest(bids, per => x)",
        "latest(bids, expire_after => INTERVAL '1 minute')",
    ],
)
def test_windows_are_for_standing_queries(setting: Setting, window: str) -> None:
    with pytest.raises(StatementError, match="standing queries") as caught:
        setting.answer(f"SELECT count(*) AS n FROM {window}")
    assert "FROM bids" in caught.value.hint
    assert setting.bids.scanned == []


def test_a_query_that_fails_is_an_error_of_queries(setting: Setting) -> None:
    with pytest.raises(QueryError):
        setting.answer("SELECT CAST(k AS INT) FROM bids")
    with pytest.raises(QueryError):
        setting.answer("SELECT nothing FROM bids")
