"""The file of a saved view: what is in it, how it replaces another one, how damage is found."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import ClosedError, Engine
from upstream.errors import QueryError
from upstream.queries import saved_view
from upstream.queries.evaluation.view_state import SavedState
from upstream.queries.saved_view import SavedView, read_view, write_view
from upstream.tables.resuming import Position

from .saving import answer, feed, saved

TABLES = {
    "merged_0": pa.table({"k": ["a", "b"], "n": [1, None]}).replace_schema_metadata({b"of": b"x"}),
    "merged_1": pa.table({"e": pa.array(["a", "b", "a"]).dictionary_encode()}),
    "latest": pa.table({"x": pa.array([], pa.decimal128(38, 0))}),
}
VIEW = SavedView(
    name="sums ü",
    text='SELECT "k\n" FROM bids',
    columns=("k", "n"),
    max_staleness=2.5,
    on_error="skip",
    sign="op",
    state=SavedState(
        moment=7.25,
        form={"sources": {"bids": {"key": ["k"]}}},
        positions={"bids": Position("log", 5, 1, 105)},
        failed=(2, "bad", [([(0, 0)], 2, "bad")]),
        tables=TABLES,
    ),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_view(tmp_path / "v", VIEW)
    return tmp_path / "v"


def test_what_was_written_is_read(path: Path) -> None:
    found = read_view(path)
    plain = (found.name, found.text, found.columns, found.max_staleness, found.on_error)
    assert plain == (VIEW.name, VIEW.text, VIEW.columns, 2.5, "skip")
    assert found.sign == "op"
    state = found.state
    assert (state.moment, state.form, state.positions) == (
        7.25,
        VIEW.state.form,
        VIEW.state.positions,
    )
    assert [*state.failed] == [2, "bad", [[[[0, 0]], 2, "bad"]]]
    assert found.sources == {"bids": {"key": ["k"]}}
    assert [*state.tables] == [*TABLES]
    for name, table in TABLES.items():
        assert state.tables[name].equals(table)
        assert state.tables[name].schema.equals(table.schema, check_metadata=True)


def test_a_file_that_names_no_signs_is_that_of_a_view_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = tuple(name for name in saved_view._PLAIN if name != "sign")
    monkeypatch.setattr(saved_view, "_PLAIN", names)
    write_view(tmp_path / "v", VIEW)
    monkeypatch.undo()
    assert read_view(tmp_path / "v").sign is None


def test_an_older_file_is_replaced_and_nothing_else_is_left(path: Path) -> None:
    before = path.read_bytes()
    write_view(path, VIEW)
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_file_that_cannot_be_written_leaves_the_older_one(
    fails: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on the disk")

    monkeypatch.setattr(os if fails == "fsync" else Path, fails, full)
    with pytest.raises(OSError, match="no space left"):
        write_view(path, VIEW)
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


def test_a_folder_that_is_missing_is_an_error_of_the_system(tmp_path: Path, path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_view(tmp_path / "missing" / "v", VIEW)
    with pytest.raises(FileNotFoundError):
        read_view(tmp_path / "missing" / "v")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"UpStream", id="a part of the first word"),
        pytest.param(b"PAR1\x00\x01", id="Parquet"),
        pytest.param(b"\n\n", id="empty lines"),
    ],
)
def test_another_kind_of_file_is_refused(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(QueryError, match="is not the file of a saved view"):
        read_view(path)


def test_another_version_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"view 1 ", b"view 12 ", 1))
    with pytest.raises(QueryError, match="has version 12; this version of the library reads"):
        read_view(path)


@given(seed=st.integers(0, 1 << 32))
def test_a_file_with_other_bits_is_refused(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "flipped"
    write_view(path, VIEW)
    content, random = bytearray(path.read_bytes()), Random(seed)
    for _ in range(random.choice([1, 1, 2, 9])):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    if content == path.read_bytes():
        return  # two flips of one bit
    path.write_bytes(content)
    with pytest.raises(QueryError):
        read_view(path)


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_that_is_cut_is_refused(
    share: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "cut"
    write_view(path, VIEW)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(QueryError):
        read_view(path)


def test_a_damaged_file_changes_nothing_in_an_engine(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    saved(saving, tmp_path)
    content = (tmp_path / "v").read_bytes()
    (tmp_path / "v").write_bytes(content[:-1])
    with pytest.raises(QueryError, match="is damaged"):
        restoring.restore_view(tmp_path / "v")
    assert not restoring.views
    (tmp_path / "v").write_bytes(content)
    restoring.restore_view(tmp_path / "v")
    assert answer(restoring) == answer(saving)


def test_a_closed_view_and_a_closed_engine_are_refused(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    view = saved(saving, tmp_path)
    saving.sql("DROP VIEW v")
    with pytest.raises(ClosedError, match="view"):
        view.save(tmp_path / "w")
    restoring.close()
    with pytest.raises(ClosedError, match="engine"):
        restoring.restore_view(tmp_path / "v")


def test_a_file_takes_a_few_bytes_for_each_group(saving: Engine, tmp_path: Path) -> None:
    saving.sql("CREATE VIEW v AS SELECT x, count(*) AS n, sum(x) AS s FROM bids GROUP BY x")
    feed(saving, *[("a", number) for number in range(20_000)])
    saving.view("v").save(tmp_path / "v")
    assert (tmp_path / "v").stat().st_size < 45 * 20_000
