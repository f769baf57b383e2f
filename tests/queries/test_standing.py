"""Standing queries and their streams are created completely or not at all."""

from __future__ import annotations

import pytest

from tests.interrupted import Held, interrupt_everywhere
from tests.queries.setting import append
from upstream import Engine, ManualClock
from upstream.errors import (
    NameTakenError,
    ParameterError,
    QueryError,
    StatementError,
    UnboundedQueryError,
    UnknownColumnError,
    UnknownFunctionError,
    UnknownTableError,
)
from upstream.queries import standing

from .setting import make_streams

SUMS = "SELECT k, sum(x) AS x FROM tumble(bids, 10) GROUP BY k"


def test_arguments_create_the_stream_that_a_statement_creates(engine: Engine) -> None:
    query = engine.continuous_query(SUMS, into="sums", key=("K",))
    engine.sql(f"CREATE STREAM more KEY (k) AS {SUMS}")
    sums, more = engine.streams["sums"], engine.streams["more"]
    assert (query.name, query.into) == ("sums", "sums")
    assert (sums.schema, sums.key, sums.time) == (more.schema, more.key, more.time)
    assert engine.query("more").text == SUMS
    assert engine.query("more").into == "more"


def test_the_options_of_a_statement_are_those_of_the_query(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) WITH (semantics = 'update', weight = 3) AS {SUMS}")
    query = engine.query("sums")
    assert (query.semantics, query.weight) == ("update", 3)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"into": "sums", "name": "other"}, "name"),
        ({"into": "sums", "callback": print}, "callback"),
        ({"into": "sums", "key": "k"}, "key"),
        ({"callback": 5}, "callback"),
        ({"deletes": True}, "into"),
    ],
    ids=["another name", "a callback", "a key that is a text", "no callback", "no stream"],
)
def test_arguments_that_do_not_fit_together_are_refused(
    engine: Engine, given: dict[str, object], wrong: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        engine.continuous_query(SUMS, **given)  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.name == wrong
    assert not engine.queries


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        pytest.param(
            f"CREATE STREAM sums KEY (j) AS {SUMS}", UnknownColumnError, "named j", id="key"
        ),
        pytest.param(
            "CREATE STREAM sums AS\nSELECT j FROM bids", UnknownColumnError, "named j", id="column"
        ),
        pytest.param(
            "CREATE STREAM sums AS\nSELECT f(k) FROM bids",
            *(UnknownFunctionError, "named f"),
            id="function",
        ),
        pytest.param(
            "CREATE STREAM sums AS\nSELECT sum(x) AS x FROM bids",
            *(UnboundedQueryError, "keep all rows"),
            id="all rows",
        ),
        pytest.param(
            "CREATE STREAM sums AS SELECT 1", StatementError, "must read a stream", id="no stream"
        ),
        pytest.param(
            "CREATE STREAM sums AS DROP TABLE t", StatementError, "not a query", id="no query"
        ),
        pytest.param(
            f"CREATE STREAM sums KEY (k) WITH (emit = 'asked') AS {SUMS}",
            *(StatementError, "no results"),
            id="asked",
        ),
        pytest.param(
            f"CREATE STREAM sums WITH (deletes = true) AS {SUMS}",
            *(StatementError, "with a key"),
            id="deletes without a key",
        ),
        pytest.param(
            f"CREATE STREAM sums KEY (k) WITH (deletes = true, allowed_lateness = 5) AS {SUMS}",
            *(StatementError, "an older result can come after"),
            id="deletes with late rows",
        ),
        pytest.param(
            "CREATE STREAM sums KEY (k) WITH (deletes = true) AS SELECT k FROM bids",
            *(StatementError, "only new rows"),
            id="deletes row by row",
        ),
        pytest.param(
            "CREATE STREAM sums KEY (k) WITH (deletes = true, semantics = 'update') AS"
            " SELECT k FROM bids",
            *(StatementError, "only news"),
            id="deletes by news",
        ),
        pytest.param(
            "CREATE STREAM sums KEY (k) WITH (deletes = true) AS"
            " SELECT k, count(*) AS n FROM session(bids, 5) GROUP BY k",
            *(StatementError, "one session"),
            id="deletes by session",
        ),
        pytest.param(
            "CREATE STREAM sums AS SELECT x FROM nothing", UnknownTableError, "nothing", id="table"
        ),
    ],
)
def test_a_query_that_is_refused_leaves_nothing(
    engine: Engine, text: str, kind: type[QueryError], reason: str
) -> None:
    with pytest.raises(kind, match=reason) as caught:
        engine.sql(text)
    assert caught.value.text == text
    assert set(engine.streams) == {"bids", "asks"}
    assert not engine.queries
    append(engine, "bids", (1, 1))
    assert engine.sql("SELECT x FROM bids").num_rows == 1
    assert engine._catalogue.streams["bids"].log.stored_rows == 0


def test_an_error_has_its_place_in_the_whole_statement(engine: Engine) -> None:
    text = "CREATE STREAM sums KEY (k) AS SELECT k,\n  sum(y) AS s FROM tumble(bids, 10)"
    with pytest.raises(UnknownColumnError) as caught:
        engine.sql(text)
    assert (caught.value.line, caught.value.column) == (2, 7)
    with pytest.raises(UnknownColumnError) as caught:
        engine.sql("CREATE STREAM sums AS SELECT y FROM bids")
    assert (caught.value.line, caught.value.column) == (1, 30)


@pytest.mark.parametrize("name", ["bids", "BIDS", "names", "busy"])
def test_a_name_that_is_taken_is_refused(engine: Engine, name: str) -> None:
    engine.sql("CREATE TABLE names AS SELECT 1 AS n")
    engine.continuous_query(SUMS, name="busy")
    with pytest.raises(NameTakenError):
        engine.sql(f"CREATE STREAM {name} KEY (k) AS {SUMS}")
    with pytest.raises(NameTakenError):
        engine.continuous_query(SUMS, into=name, key=("k",))
    engine.sql(f"CREATE STREAM IF NOT EXISTS bids KEY (k) AS {SUMS}")
    assert engine.streams["bids"].schema.names == ["time", "k", "x", "note"]


def test_a_stream_of_results_can_be_replaced_by_another(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    old = engine.query("sums")
    engine.sql(f"CREATE OR REPLACE STREAM Sums KEY (k) AS {SUMS.replace('sum(', 'max(')}")
    assert old.is_closed
    assert list(engine.streams) == ["bids", "asks", "Sums"]
    assert [query.name for query in engine.queries] == ["Sums"]
    engine.sql("CREATE OR REPLACE STREAM sums (n BIGINT)")
    assert not engine.queries
    assert engine.append("sums", {"n": [1]}) == 1


def test_a_stream_that_could_not_be_replaced_stays(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    reader = engine.continuous_query("SELECT k FROM sums", name="reader")
    with pytest.raises(StatementError, match="read the stream sums: reader"):
        engine.sql(f"CREATE OR REPLACE STREAM sums KEY (k) AS {SUMS}")
    reader.close()
    with pytest.raises(UnknownColumnError):
        engine.sql(f"CREATE OR REPLACE STREAM sums KEY (j) AS {SUMS}")
    assert not engine.query("sums").is_closed


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("CREATE STREAM s AS SELECT k FROM s", "s reads s", id="a new one"),
        pytest.param(
            "CREATE STREAM s AS SELECT count(*) AS n FROM tumble(S, 10)",
            *("s reads s",),
            id="in a window",
        ),
        pytest.param(
            "CREATE OR REPLACE STREAM bids AS SELECT k FROM bids", "bids reads bids", id="itself"
        ),
        pytest.param(
            "CREATE OR REPLACE STREAM bids AS SELECT k FROM most",
            *("bids reads most reads sums reads bids",),
            id="through others",
        ),
    ],
)
def test_a_stream_that_would_be_filled_from_itself_is_refused_with_the_path(
    engine: Engine, text: str, path: str
) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    engine.sql(
        "CREATE STREAM most KEY (k) AS SELECT k, max(x) AS x FROM tumble(sums, 20) GROUP BY k"
    )
    with pytest.raises(StatementError, match=f"filled from itself: {path} \\(line 1") as caught:
        engine.sql(text)
    assert caught.value.line == 1
    assert len(engine.streams) == 4


def test_dropping_the_stream_closes_its_query(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    query = engine.query("sums")
    reader = engine.continuous_query("SELECT k FROM sums", name="reader")
    with pytest.raises(StatementError, match="reader"):
        engine.sql("DROP STREAM sums")
    assert not query.is_closed
    reader.close()
    engine.sql("DROP STREAM SUMS")
    assert query.is_closed
    assert not engine.queries
    assert set(engine.streams) == {"bids", "asks"}
    engine.sql("DROP STREAM bids")


def test_an_interrupted_creation_leaves_a_stream_with_its_query_or_neither(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def check(engine: Engine) -> None:
        filled = {query.into for query in engine.queries}
        assert filled == set(engine.streams) - {"bids", "asks"}
        engine.sql("DROP STREAM IF EXISTS sums")
        engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
        append(engine, "bids", (1, 1), (11, 2))
        assert engine.sql("SELECT x FROM sums").to_pydict() == {"x": [1]}
        engine.close()

    def made() -> Engine:
        engine = Engine(clock=ManualClock())
        make_streams(engine)
        engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
        return engine

    def replace(engine: Engine) -> None:
        engine.sql(f"CREATE OR REPLACE STREAM sums KEY (k) AS {SUMS}")

    monkeypatch.setattr(standing, "HeldInterrupt", Held)
    moments = interrupt_everywhere(made, replace, check, event="line", files=standing.__file__)
    assert moments > 20
