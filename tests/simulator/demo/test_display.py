"""What the demo prints: it fits 80 columns, it is ASCII where it has to be, it says what was."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from simulator.demo.demo import SHOWN_POLICIES, Demo, DemoReport, DemoSettings
from simulator.demo.display import (
    DemoView,
    as_json,
    duration,
    introduction,
    plain_line,
    plain_table,
    ratio,
    summary,
)
from upstream import ManualClock
from upstream.staleness import AgainstBound

SETTINGS = DemoSettings()


@pytest.fixture(scope="module")
def report() -> DemoReport:
    clock = ManualClock()
    demo = Demo(SETTINGS, clock)
    while demo.next_due() <= 2.0:
        clock.set(demo.next_due())
        demo.catch_up()
    return demo.report()


def draw(report: DemoReport, *, width: int, settings: DemoSettings = SETTINGS) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(DemoView(settings, report, seconds=15.0))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 us"),
        (0.00045, "450 us"),
        (0.0009996, "1.0 ms"),
        (0.0123, "12.3 ms"),
        (0.0999, "99.9 ms"),
        (0.123, "123 ms"),
        (0.9996, "1.00 s"),
        (9.99, "9.99 s"),
        (12.34, "12.3 s"),
        (1234.5, "1,234.5 s"),
    ],
)
def test_a_duration_is_written_in_the_unit_that_suits_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_ratio_has_two_digits_while_they_mean_something() -> None:
    found = [AgainstBound(times, False) for times in (1.0, 9.991, 9.996, 1234.0, None)]
    assert [ratio(each) for each in found] == ["1.00", "9.99", "10", "1,234", "-"]
    assert ratio(AgainstBound(None, is_warming_up=True)) == "warming up"


@pytest.mark.parametrize("width", range(79, 130))
def test_the_table_fits_and_nothing_in_it_is_cut_off(report: DemoReport, width: int) -> None:
    lines = draw(report, width=width)
    assert max(map(len, lines)) <= width
    assert len(lines) < 23, "a terminal of 24 lines shows all of it"
    assert "\N{HORIZONTAL ELLIPSIS}" not in "".join(lines)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_every_policy_has_its_row(report: DemoReport, width: int) -> None:
    lines = draw(report, width=width)
    for policy in SHOWN_POLICIES:
        assert any(line.startswith(policy[:4]) for line in lines)


def test_a_wide_terminal_shows_every_counter(report: DemoReport) -> None:
    text = "\n".join(draw(report, width=120))
    for name in ("arrived", "waiting", "skipped", "served"):
        assert name in text
    assert f"{report.of('append').statistics.waiting:,}" in text


def test_a_bar_that_is_off_the_scale_ends_in_an_arrow(report: DemoReport) -> None:
    (append,) = (line for line in draw(report, width=80) if line.startswith("append"))
    (index,) = (line for line in draw(report, width=80) if line.startswith("index"))
    assert append.rstrip().endswith(">")
    assert not index.rstrip().endswith(">")


def test_progress_says_how_much_of_the_time_is_over(report: DemoReport) -> None:
    assert "2.0 of 15 s" in draw(report, width=80)[-1]


def test_a_load_without_waiting_is_explained(report: DemoReport) -> None:
    assert "lower bound is 0" not in "\n".join(draw(report, width=80))
    settings = DemoSettings(load=0.5)
    assert "lower bound is 0" in "\n".join(draw(report, width=80, settings=settings))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("width", [40, 80, 100, 120])
def test_a_terminal_without_block_characters_shows_the_table(
    report: DemoReport, width: int, encoding: str
) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=file, width=width, force_terminal=True)
    console.print(DemoView(SETTINGS, report, seconds=15.0))
    file.flush()
    assert "append" in file.buffer.getvalue().decode(encoding)


def test_before_the_first_update_the_table_can_be_drawn() -> None:
    empty = Demo(SETTINGS, ManualClock()).report()
    assert draw(empty, width=80)
    assert plain_table(empty)
    assert "After 0.0 s" in summary(empty, is_stopped=False)


def test_the_plain_forms_are_ascii_and_the_plain_table_fits_80_columns(report: DemoReport) -> None:
    lines = [introduction(SETTINGS), plain_line(report), *plain_table(report)]
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert max(map(len, plain_table(report))) <= 80
    assert len(plain_table(report)) == 2 + len(SHOWN_POLICIES)


def test_the_introduction_says_how_fast_everything_is() -> None:
    text = introduction(DemoSettings(keys=1, load=4.0))
    assert "1 key " in text
    assert "2,000 updates a second, 4 times what a consumer can process (500 a second)" in text


def test_the_summary_has_the_measured_numbers_and_where_to_look_next(report: DemoReport) -> None:
    text = summary(report, is_stopped=False)
    assert duration(report.of("append").queue.mean) in text
    assert duration(report.of("index").queue.mean) in text
    assert f"{ratio(report.of('index').queue.against_bound)} times the lower bound expected" in text
    assert "Every update is accounted for" in text
    assert "README.md" in text
    assert "python -m simulator demo --help" in text
    assert summary(report, is_stopped=True).startswith("Stopped after 2.0 s")


def test_the_json_has_everything_a_program_may_want(report: DemoReport) -> None:
    written = json.dumps(as_json(report, SETTINGS, seconds=2.0, is_stopped=False))
    found = json.loads(written)
    assert found["settings"]["seconds"] == 2.0
    assert list(found["policies"]) == list(SHOWN_POLICIES)
    index = found["policies"]["index"]
    assert index["queue_staleness_seconds"] == report.of("index").queue.mean
    assert index["statistics"]["arrived"] == found["arrived"]
