"""An interrupted save leaves the old file or the new one; an interrupted restore, all or nothing.

KeyboardInterrupt is raised at lines of the modules of views: at some of the lines, and at all of
them in `make differ`. Nothing is raised where Ctrl-C is held back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import pytest

from tests.interrupted import FOLDER, Interrupter, Moment, respect_held_interrupts
from upstream import Engine

from .saving import VIEWS, answer, feed, lent, made, saved

PLACES = int(os.environ.get("INTERRUPTED_LINES", "4" if os.environ.get("CI") else "2"))
"""At about how many moments each action is interrupted once."""
FILES = tuple(
    f"{FOLDER}/queries/{name}"
    for name in ("maintained_view", "saved_view", "view", "catalogue", "evaluation/view")
)


def interrupted(act: Callable[[], object]) -> Iterator[Moment]:
    """Do something, interrupted at one moment, then at a later one, and so on."""
    watcher = Interrupter("line", files=FILES)
    with watcher.watching():
        act()
    assert watcher.count > 50
    for number in range(0, watcher.count, max(1, watcher.count // PLACES)):
        is_due = partial(_is_number, number)
        once = Interrupter("line", is_due, files=FILES)
        with suppress(KeyboardInterrupt), once.watching():
            act()
        if once.raised:
            yield next(each for each in once.seen.values() if each.number == number)


def _is_number(number: int, moment: Moment) -> bool:
    return moment.number == number


two_kinds = pytest.mark.parametrize(
    "query", [VIEWS["joined"], VIEWS["roads"]], ids=["joined", "roads"]
)


@two_kinds
def test_an_interrupted_save_leaves_the_old_file_or_the_new_one(
    query: str, saving: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    respect_held_interrupts(monkeypatch)
    view = saved(saving, tmp_path, query)
    contents = [(tmp_path / "v").read_bytes()]

    def save() -> None:
        feed(saving, ("a", 1))
        view.save(tmp_path / "v")

    for place in interrupted(save):
        assert [path.name for path in tmp_path.iterdir()] == ["v"], f"interrupted at {place}"
        contents.append((tmp_path / "v").read_bytes())
        with ExitStack() as stack:
            again = made(stack).restore_view(tmp_path / "v")
            known = view.positions["bids"]
            assert again.positions["bids"] in range(2, known + 1), f"interrupted at {place}"
    assert 1 < len({*contents}) < len(contents), "some were interrupted before the end"
    view.save(tmp_path / "v")
    with ExitStack() as stack:
        other = made(stack)
        assert other.restore_view(tmp_path / "v").positions == view.positions
        assert answer(other) == answer(saving)


@two_kinds
def test_an_interrupted_restore_leaves_nothing_or_the_view(
    query: str,
    saving: Engine,
    restoring: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    respect_held_interrupts(monkeypatch)
    saved(saving, tmp_path, query)
    nothing = lent(restoring)

    def restore() -> None:
        restoring.sql("DROP VIEW IF EXISTS v")
        restoring.restore_view(tmp_path / "v")

    for place in interrupted(restore):
        if restoring.views:
            assert restoring._catalogue.streams["bids"].log.origin == 2
            assert answer(restoring) == answer(saving)
            restoring.sql("DROP VIEW v")
        assert lent(restoring) == nothing, f"interrupted at {place}"
