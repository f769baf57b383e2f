"""A view takes rows in when they are there, and answers when it is asked and something is new."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.queries.setting import append
from upstream import Engine, ManualClock
from upstream.errors import QueryError
from upstream.queries.evaluation import stream_state as module
from upstream.queries.evaluation.finish import Finish
from upstream.queries.evaluation.increments import ChunkLeaf
from upstream.queries.evaluation.view import ViewEvaluation

SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"


def evaluation(engine: Engine, query: str) -> ViewEvaluation:
    """Create the view `v`, and return what evaluates it."""
    engine.sql(f"CREATE VIEW v AS {query}")
    found = engine._catalogue.views["v"]._view_plan.evaluation
    assert found is not None
    return found


def counted(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> tuple[list[tuple[object, ...]], Callable[[], None]]:
    """Count the calls of a method."""
    calls: list[tuple[object, ...]] = []
    method = getattr(owner, name)

    def called(self: object, *given: object, **named: object) -> object:
        calls.append(given)
        return method(self, *given, **named)

    monkeypatch.setattr(owner, name, called)
    return calls, calls.clear


def test_the_finish_runs_only_if_something_came(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, forget = counted(monkeypatch, Finish, "run")
    each = evaluation(engine, f"SELECT n, k FROM ({SUMS}) ORDER BY n")
    append(engine, "bids", (1, 5))
    each.take_in(0.0)
    first = each.current(0.0)
    assert each.current(9.0) is first
    assert each.is_current(first)
    assert len(runs) == 1
    append(engine, "bids", (2, 7))
    assert each.is_current(first)  # as far as rows were taken in
    each.take_in(0.0)
    assert not each.is_current(first)
    forget()
    assert each.current(0.0).table.to_pylist() == [{"n": 12, "k": "a"}]
    assert len(runs) == 1


def test_only_news_is_grouped(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    fed, _ = counted(monkeypatch, ChunkLeaf, "feed")
    evaluation(engine, SUMS)
    for number in range(4):
        append(engine, "bids", *[(number, 1)] * (number + 1))
        engine.view("v").table()
    assert [pieces[0][1].num_rows for _, pieces, _ in fed] == [1, 2, 3, 4]  # type: ignore[index]


def test_batches_are_taken_together_up_to_a_size(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TOGETHER", 5)
    fed, _ = counted(monkeypatch, ChunkLeaf, "feed")
    each = evaluation(engine, SUMS)
    for count in (2, 3, 1, 9, 1, 1):
        append(engine, "bids", *[(0, 1)] * count)
    each.take_in(0.0)
    assert [pieces[0][1].num_rows for _, pieces, _ in fed] == [5, 1, 9, 2]  # type: ignore[index]
    assert each.current(0.0).table.to_pylist() == [{"k": "a", "n": 17}]


def test_each_stream_is_taken_in_for_itself(engine: Engine) -> None:
    each = evaluation(
        engine, "SELECT (SELECT sum(x) FROM bids) AS b, (SELECT sum(x) FROM asks) AS a"
    )
    append(engine, "bids", (1, 5))
    each.take_in(0.0)
    assert each.current(0.0).table.to_pylist() == [{"b": 5, "a": None}]
    append(engine, "asks", (1, 7))
    each.take_in(0.0)
    assert each.current(0.0).table.to_pylist() == [{"b": 5, "a": 7}]


def test_an_answer_is_due_since_the_first_row_that_is_new_in_it(
    clock: ManualClock, engine: Engine
) -> None:
    each = evaluation(engine, SUMS)
    assert each.current(3.0).due == 3.0
    clock.advance(5.0)
    append(engine, "bids", (1, 5))
    clock.advance(5.0)
    append(engine, "bids", (2, 5))
    each.take_in(10.0)
    assert each.current(11.0).due == 5.0
    assert each.due_at() is None
    assert each.answers(11.0, 5).answers == ()


def test_a_finish_that_fails_is_tried_again_when_something_is_new(engine: Engine) -> None:
    engine.sql("CREATE TABLE notes AS SELECT 'x' AS note")
    each = evaluation(
        engine,
        "SELECT n, (SELECT max(note::INT) FROM notes) AS m FROM (SELECT count(*) AS n FROM bids)",
    )
    failed = each.current(0.0)
    assert "Could not convert" in str(failed.error)
    assert each.current(0.0) is failed
    engine.sql("UPDATE notes SET note = '4'")
    assert each.current(0.0).table.to_pylist() == [{"n": 0, "m": 4}]


def test_a_change_of_tables_is_news_only_for_views_that_read_tables(engine: Engine) -> None:
    engine.sql("CREATE TABLE names AS SELECT 'a' AS k, 1 AS v")
    engine.sql(f"CREATE VIEW upper AS SELECT k, n, v FROM ({SUMS}) JOIN names USING (k)")
    engine.sql(f"CREATE VIEW other AS {SUMS}")
    upper, other = engine.view("upper"), engine.view("other")
    append(engine, "bids", (1, 5))
    first, same = upper.table(), other.table()
    engine.sql("UPDATE names SET v = 2")
    assert upper.table().to_pylist() == [{"k": "a", "n": 5, "v": 2}]
    assert not upper._view.is_current(first)
    assert other.table() is same


def test_a_file_and_the_clock_are_read_whenever_a_view_is(
    engine: Engine, clock: ManualClock, tmp_path: Path
) -> None:
    file = tmp_path / "rates.csv"
    for number in (1, 20):  # a file of another size, by which DuckDB knows that it has changed
        file.write_text(f"k,rate\na,{number}\n")
        if number == 1:
            for name, source in (("called", f"read_csv('{file}')"), ("named", f"'{file}'")):
                text = f"SELECT k, rate FROM ({SUMS}) JOIN {source} AS r USING (k)"
                engine.sql(f"CREATE VIEW {name} AS {text}")
            engine.sql("CREATE VIEW aged AS SELECT k, epoch(now()) AS t FROM latest(bids) AS b")
            engine.sql("CREATE VIEW above AS SELECT max(t) AS t FROM aged")
            append(engine, "bids", (1, 5))
        clock.advance(number * 100.0 - clock.now())
        for name in ("called", "named"):
            assert engine.sql(f"SELECT rate FROM {name}").to_pylist() == [{"rate": number}]
        for name in ("aged", "above"):
            assert engine.sql(f"SELECT t FROM {name}").to_pylist() == [{"t": 100.0 * number}]


HIDING = {
    "a view": ("CREATE VIEW hidden AS FROM '{file}'", "hidden"),
    "a view over a view": (
        "CREATE VIEW below AS FROM '{file}'; CREATE VIEW hidden AS SELECT * FROM below",
        "hidden",
    ),
    "a macro in FROM": ("CREATE MACRO hidden() AS TABLE FROM '{file}'", "hidden() AS h"),
    "a macro": (
        "CREATE MACRO hidden() AS (SELECT any_value(rate) FROM '{file}')",
        "(SELECT 'a' AS k, hidden() AS rate)",
    ),
    "LATERAL": ("", "(SELECT 'a' AS k), LATERAL (FROM read_csv('{file}')) AS l(other, rate)"),
    "LATERAL alone": ("", "(SELECT 'a' AS k), LATERAL read_csv('{file}') AS l(other, rate)"),
}


@pytest.mark.parametrize("hiding", HIDING)
@pytest.mark.parametrize(
    "query",
    [
        f"SELECT k, rate FROM ({SUMS}) JOIN (SELECT k, rate FROM {{}}) USING (k)",
        "SELECT rate, sum(x) AS n FROM latest(bids) JOIN (SELECT * FROM {}) USING (k) GROUP BY 1",
        "SELECT rate, max(x) AS n FROM latest(bids) JOIN (SELECT * FROM {}) USING (k) GROUP BY 1",
    ],
    ids=["grouped", "following", "present"],
)
def test_a_file_is_read_whenever_a_view_is_though_a_definition_hides_it(
    engine: Engine, tmp_path: Path, hiding: str, query: str
) -> None:
    file = tmp_path / "rates.csv"
    definitions, source = (text.format(file=file) for text in HIDING[hiding])
    file.write_text("k,rate\na,1\n")
    for definition in filter(None, definitions.split("; ")):
        engine.sql(definition)
    engine.sql(f"CREATE VIEW v AS {query.format(source)}")
    append(engine, "bids", (1, 5))
    for rows, rate in (("k,rate\na,1", 1), ("k,rate\na,22", 22), ("k;rate\na;333", 333)):
        file.write_text(f"{rows}\n")
        for _ in range(3):
            assert engine.sql("SELECT rate FROM v").to_pylist() == [{"rate": rate}]


@pytest.mark.parametrize(
    "change",
    [
        "CREATE OR REPLACE VIEW below AS FROM '{file}'",
        "CREATE TEMP VIEW names AS FROM '{file}'",
    ],
)
def test_a_definition_may_hide_a_file_later(engine: Engine, tmp_path: Path, change: str) -> None:
    file = tmp_path / "rates.csv"
    file.write_text("k,rate\na,1\n")
    engine.sql("CREATE TABLE names AS SELECT 'a' AS k, 0::BIGINT AS rate")
    engine.sql("CREATE VIEW below AS FROM names")
    engine.sql("CREATE VIEW above AS FROM below")
    text = "SELECT r.rate + s.rate AS rate FROM ({}) JOIN above AS r USING (k) JOIN names AS s"
    engine.sql(f"CREATE VIEW v AS {text.format(SUMS)} USING (k)")
    append(engine, "bids", (1, 5))
    assert engine.sql("FROM v").to_pylist() == [{"rate": 0}]
    engine.sql(change.format(file=file))
    for number in (1, 22, 333):
        file.write_text(f"k,rate\na,{number}\n")
        expected = engine.sql("SELECT r.rate + s.rate AS rate FROM above r JOIN names s USING (k)")
        assert engine.sql("FROM v").equals(expected)
        assert expected["rate"].to_pylist() in ([number], [2 * number])


def test_a_view_of_tables_is_read_only_if_a_statement_ran(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.sql("CREATE TABLE names AS SELECT 'a' AS k, 1 AS v")
    engine.sql("CREATE VIEW hidden AS FROM names")
    runs, forget = counted(monkeypatch, Finish, "run")
    engine.sql(f"CREATE VIEW v AS SELECT v, n FROM ({SUMS}) JOIN hidden USING (k)")
    append(engine, "bids", (1, 5))
    for v in (1, 2):
        engine.sql(f"UPDATE names SET v = {v}")
        forget()
        for _ in range(3):
            assert engine.sql("FROM v").to_pylist() == [{"v": v, "n": 5}]
        assert len(runs) == 1


def test_the_clock_is_read_whenever_a_view_is_though_a_definition_hides_it(
    engine: Engine, clock: ManualClock
) -> None:
    engine.sql("CREATE VIEW hidden AS SELECT 'a' AS k, epoch(now()) AS t")
    engine.sql(f"CREATE VIEW v AS SELECT t FROM ({SUMS}) JOIN hidden USING (k)")
    append(engine, "bids", (1, 5))
    for moment in (0.0, 5.0, 10.0):
        assert engine.sql("FROM v").to_pylist() == [{"t": moment}]
        clock.advance(5.0)


def test_a_failure_while_rows_are_taken_in_changes_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = evaluation(engine, SUMS)
    append(engine, "bids", (1, 5))
    each.take_in(0.0)
    answer = each.current(0.0)
    append(engine, "bids", (2, 7))

    def fails(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(pa, "concat_tables", fails)
        with pytest.raises(MemoryError):
            each.take_in(0.0)
    assert each.current(0.0) is answer
    each.take_in(0.0)
    assert each.current(0.0).table.to_pylist() == [{"k": "a", "n": 12}]
    assert each.counts().held == 1
    assert "rows are added" in each.describe().now


def test_a_view_of_too_large_sums_answers_again_when_they_fit(engine: Engine) -> None:
    evaluation(engine, SUMS)
    append(engine, "bids", (1, 2**63 - 1), (2, 1))
    with pytest.raises(QueryError, match="64 bits"):
        engine.view("v").table()
    append(engine, "bids", (3, -1))
    assert engine.view("v").table().to_pylist() == [{"k": "a", "n": 2**63 - 1}]


def test_files_are_listed_anew_whenever_the_view_is_read(tmp_path: Path) -> None:
    listed = f"(SELECT count(*) FROM glob('{tmp_path}/*.csv') AS g) AS files"
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM ticks (n BIGINT)")
        engine.sql(f"CREATE VIEW counts AS SELECT (SELECT count(*) FROM ticks) AS n, {listed}")
        for count in range(4):
            assert engine.view("counts").table().to_pylist() == [{"n": 0, "files": count}]
            (tmp_path / f"{count}.csv").write_text("n\n1\n")
