"""The plot has what the numbers say, for streams that are odd, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from datasets.profile.plot import draw, save_plot

from .test_report import ARRIVALS, KEYS, PROFILE


def test_both_panels_have_the_ranks_on_their_scales() -> None:
    log, linear, _ = draw(PROFILE).axes
    for panel, scale in ((log, "log"), (linear, "linear")):
        assert (panel.get_xscale(), panel.get_yscale()) == (scale, scale)
        line = panel.get_lines()[0]
        assert np.asarray(line.get_ydata()).tolist() == [4_305, 2_000, 1]


def test_the_fitted_line_has_the_slope_of_theta_where_it_was_fitted() -> None:
    fitted = draw(PROFILE).axes[0].get_lines()[1]
    ranks, updates = np.asarray(fitted.get_xdata()), np.asarray(fitted.get_ydata())
    assert ranks.max() <= 460
    slope = np.diff(np.log(updates)) / np.diff(np.log(ranks))
    assert slope.tolist() == pytest.approx([-1.045] * len(slope))


def test_the_rate_is_per_second_by_the_hours_of_the_day() -> None:
    panel = draw(PROFILE).axes[2]
    stairs = panel.patches[0].get_data()  # type: ignore[attr-defined]
    assert stairs.values.tolist() == pytest.approx([4_000 / 11_700, 6_000 / 11_700])
    assert stairs.edges.tolist() == [9.5, 12.75, 16.0]


def test_a_stream_without_a_fit_or_a_length_is_drawn_all_the_same(tmp_path: Path) -> None:
    keys = replace(KEYS, zipf=None, ranks=((1, 3),), keys=1)
    arrivals = replace(ARRIVALS, last_time=ARRIVALS.first_time, buckets=())
    path = tmp_path / "x.png"
    save_plot(replace(PROFILE, keys=keys, arrivals=arrivals), path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_plot_that_fails_half_way_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(b"the one before")

    def fill_the_disk(_: Figure, where: Path, **__: object) -> None:
        where.write_bytes(b"half")
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Figure, "savefig", fill_the_disk)
        with pytest.raises(OSError, match="No space left"):
            save_plot(PROFILE, path)
    assert path.read_bytes() == b"the one before"
    assert list(tmp_path.iterdir()) == [path]
    save_plot(PROFILE, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [path]
