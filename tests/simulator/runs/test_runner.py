"""Running experiments: into files, in parallel, and on from where a run was stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.experiments.experiment import Scale, read_csv
from simulator.experiments.registry import EXPERIMENTS
from simulator.runs import runner
from simulator.runs.results import Result
from simulator.runs.runner import run_experiments

from .coin_experiment import Coins, Heard

QUICK = Scale(seed=1, is_quick=True)


def run(
    coins: Coins,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    scale: Scale = QUICK,
    is_fresh: bool = False,
    heard: Heard | None = None,
) -> list[Result]:
    monkeypatch.setattr(runner, "EXPERIMENTS", {coins.name: coins.experiment})
    progress = heard if heard is not None else Heard()
    return list(
        run_experiments([coins.name], scale, out=out, jobs=1, progress=progress, is_fresh=is_fresh)
    )


def test_the_table_of_all_points_is_written_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coins, heard = Coins(), Heard()
    [result] = run(coins, tmp_path, monkeypatch, heard=heard)
    assert read_csv(tmp_path / result.table) == coins.experiment.table(QUICK)
    assert (tmp_path / result.plot).read_bytes().startswith(b"\x89PNG")
    assert (heard.expected, heard.advanced) == ({"9": (3, 0)}, ["9"] * 3)
    assert not (tmp_path / ".unfinished").exists()


def test_a_finished_experiment_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(Coins(), tmp_path, monkeypatch)
    coins = Coins()
    assert run(coins, tmp_path, monkeypatch) == first
    assert coins.measured == []


@pytest.mark.parametrize("scale", [Scale(seed=2, is_quick=True), Scale(seed=1)])
def test_another_seed_or_scale_is_measured_anew(
    scale: Scale, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(Coins(), tmp_path, monkeypatch)
    coins = Coins()
    [result] = run(coins, tmp_path, monkeypatch, scale=scale)
    assert coins.measured
    assert (result.seed, result.is_quick) == (scale.seed, scale.is_quick)


def test_a_fresh_run_measures_all_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(Coins(), tmp_path, monkeypatch)
    coins = Coins()
    run(coins, tmp_path, monkeypatch, is_fresh=True)
    assert coins.measured == [1, 2, 3]


def test_a_lost_plot_is_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [result] = run(Coins(), tmp_path, monkeypatch)
    (tmp_path / result.plot).unlink()
    run(Coins(), tmp_path, monkeypatch)
    assert (tmp_path / result.plot).exists()


def test_a_stopped_run_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = Coins(fails_at=3)
    with pytest.raises(KeyboardInterrupt):
        run(stopped, tmp_path, monkeypatch)
    assert stopped.measured == [1, 2]
    assert not list(tmp_path.glob("*.csv"))
    coins, heard = Coins(), Heard()
    [result] = run(coins, tmp_path, monkeypatch, heard=heard)
    assert coins.measured == [3]
    assert heard.expected == {"9": (3, 2)}
    assert read_csv(tmp_path / result.table) == Coins().experiment.table(QUICK)


@pytest.mark.slow
def test_processes_measure_what_one_process_measures(tmp_path: Path) -> None:
    names = ["4", "5a"]
    for name, jobs in (("one", 1), ("two", 2)):
        heard = Heard()
        results = list(
            run_experiments(names, QUICK, out=tmp_path / name, jobs=jobs, progress=heard)
        )
        assert {result.name for result in results} == set(names)
    for name in names:
        file_name = EXPERIMENTS[name].file_name + ".csv"
        one, two = (tmp_path / folder / file_name for folder in ("one", "two"))
        assert one.read_text() == two.read_text()
