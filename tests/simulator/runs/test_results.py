"""The files of a result: written whole, read back, and not taken for whole when one is missing."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from simulator.experiments.experiment import Scale
from simulator.runs import results
from simulator.runs.results import (
    Result,
    read_result,
    summary_page,
    write_result,
    write_summary_page,
)

from .coin_experiment import Coins

QUICK = Scale(seed=7, is_quick=True)


def write(out: Path, name: str = "9", scale: Scale = QUICK) -> Result:
    experiment = Coins(name).experiment
    return write_result(experiment, experiment.table(scale), scale, out=out, fingerprint="code")


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    result = write(tmp_path / "new" / "folder")
    assert read_result(Coins().experiment, tmp_path / "new" / "folder") == result
    assert (result.seed, result.is_quick, result.rows, result.held) == (7, True, 3, True)
    assert (result.table, result.plot) == ("figure_9.csv", "figure_9.png")


def test_nothing_unfinished_is_left(tmp_path: Path) -> None:
    write(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["figure_9.csv", "figure_9.json", "figure_9.png"]


@pytest.mark.parametrize("name", ["figure_9.csv", "figure_9.json", "figure_9.png"])
def test_without_one_of_its_files_there_is_no_result(name: str, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / name).unlink()
    assert read_result(Coins().experiment, tmp_path) is None


def test_a_run_that_is_killed_while_it_writes_leaves_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    write(tmp_path)
    monkeypatch.setattr(results, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path)
    assert read_result(Coins().experiment, tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "9"}'])
def test_a_broken_file_is_no_result(text: str, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "figure_9.json").write_text(text)
    assert read_result(Coins().experiment, tmp_path) is None


# The page of all results.


class Links(HTMLParser):
    """Collect what a page links to, and check that every tag is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attributes if name in ("href", "src")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_it_shows_each_result_with_its_plot_and_table(tmp_path: Path) -> None:
    write(tmp_path, "weights")
    write(tmp_path, "9")
    path = write_summary_page(tmp_path)
    links = Links(path.read_text(encoding="utf-8"))
    assert links.open == []
    assert links.found == [
        *("#9", "#weights"),
        *("figure_9.png", "figure_9.csv", "weights.png", "weights.csv"),
    ]
    assert all((tmp_path / link).exists() for link in links.found if not link.startswith("#"))


def test_it_says_what_held_and_from_which_seed(tmp_path: Path) -> None:
    page = summary_page([write(tmp_path, "9"), write(tmp_path, "2", Scale(seed=3))])
    assert "2 experiments: 2 claims held, 0 did not" in page
    assert "seed 3, full scale; with seed 7, quick scale" in page


def test_texts_are_escaped(tmp_path: Path) -> None:
    page = summary_page([write(tmp_path, "9")])
    assert "Coins &lt;tossed&gt;" in page
    assert "heads &amp; more" in page
    assert "<tossed>" not in page


def test_without_results_it_is_a_page_all_the_same() -> None:
    assert Links(summary_page([])).found == []
