"""The reference against examples that were worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import duckdb
import pyarrow as pa
import pytest

from .arrivals import Standing, StreamOf, Window
from .reference import Answer, Reference

TICKS = StreamOf("ticks", pa.schema([("time", pa.int64()), ("x", pa.int64())]), "time", ("x",))
DEALS = StreamOf("deals", pa.schema([("time", pa.int64()), ("x", pa.int64())]), "time", ("x",))
STREAMS = {"ticks": TICKS, "deals": DEALS}
TUMBLE = Window("tumble", "ticks", 10, 10)
HOP = Window("hop", "ticks", 10, 5)
SUM = "SELECT sum(x)::INTEGER AS total FROM {0} AS t"
LIST = "SELECT x FROM {0} AS t"
FAILS = "SELECT sum(CASE WHEN x < 0 THEN error('negative') ELSE x END)::INTEGER FROM {0} AS t"

Make = Callable[[Standing], Reference]


@pytest.fixture
def reference() -> Iterator[Make]:
    with duckdb.connect() as connection:
        yield lambda standing: Reference(standing, STREAMS, connection)


def rows(*pairs: tuple[int, int | None]) -> pa.Table:
    times, values = zip(*pairs, strict=True)
    return pa.table({"time": pa.array(times, pa.int64()), "x": pa.array(values, pa.int64())})


def found(answers: list[Answer]) -> list[tuple[int | None, int | None, int, object]]:
    """Return bounds, revision and values, of a single value without a list."""
    return [(answer.start, answer.end, answer.revision, values(answer)) for answer in answers]


def polled(reference: Reference, *pairs: tuple[int, int | None], now: float = 0.0) -> list[object]:
    """Append ticks, and return the answers that are due then."""
    reference.append("ticks", rows(*pairs), now)
    return [*found(reference.poll(now))]


def values(answer: Answer) -> object:
    if answer.table is None:
        return "failed"
    column = answer.table.column(0).to_pylist()
    return column[0] if len(column) == 1 else column


def test_a_window_is_answered_once_when_time_has_passed_its_end(reference: Make) -> None:
    each = reference(Standing(SUM, (TUMBLE,)))
    assert polled(each, (1, 1), (5, 2), (9, 4)) == []
    assert polled(each, (10, 8)) == [(0, 10, 0, 7)]
    assert each.poll(0.0) == []


def test_overlapping_windows_share_rows_and_only_the_first_empty_one_has_a_result(
    reference: Make,
) -> None:
    #   time    0    5    10   15   20   25   30   35
    #   rows      1    2                        4    8
    each = reference(Standing(SUM, (HOP,)))
    assert polled(each, (1, 1), (5, 2), (30, 4), (35, 8), (40, 16)) == [
        (-5, 5, 0, 1),
        (0, 10, 0, 3),
        (5, 15, 0, 2),
        (10, 20, 0, None),
        (25, 35, 0, 4),
        (30, 40, 0, 12),
    ]


def test_a_window_whose_rows_are_all_filtered_is_answered(reference: Make) -> None:
    each = reference(Standing(f"{SUM} WHERE x > 100", (TUMBLE,)))
    assert polled(each, (1, 1), (10, 8)) == [(0, 10, 0, None)]


def test_a_row_of_an_older_step_is_late_and_one_of_the_same_step_is_not(reference: Make) -> None:
    each = reference(Standing(SUM, (HOP,)))  # steps of 5
    assert polled(each, (7, 1), (5, 2), (4, 4), (20, 8)) == [
        (0, 10, 0, 3),
        (5, 15, 0, 3),
        (10, 20, 0, None),
    ]
    assert each.late == 1


def test_lateness_is_told_row_by_row_within_a_batch(reference: Make) -> None:
    each = reference(Standing(SUM, (TUMBLE,)))
    assert polled(each, (4, 1), (12, 2), (5, 4), (13, 8), (20, 16)) == [
        (0, 10, 0, 1),
        (10, 20, 0, 10),
    ]
    assert each.late == 1


def test_a_late_row_that_is_allowed_revises_the_windows_that_cover_it(reference: Make) -> None:
    each = reference(Standing(SUM, (HOP,), allowed_lateness=12))
    assert polled(each, (1, 1), (6, 2), (15, 4)) == [(-5, 5, 0, 1), (0, 10, 0, 3), (5, 15, 0, 2)]
    each.append("ticks", rows((3, 8), (2, 16)), 0.0)  # the second is 13 behind
    assert found(each.poll(0.0)) == [(-5, 5, 1, 9), (0, 10, 1, 11)]
    assert each.late == 1
    each.append("ticks", rows((4, 32)), 0.0)
    assert [answer.revision for answer in each.poll(0.0)] == [2, 2]


def test_late_rows_revise_an_empty_result_or_give_a_first_one(
    reference: Make,
) -> None:
    each = reference(Standing(SUM, (TUMBLE,), allowed_lateness=100))
    assert polled(each, (1, 1), (60, 2)) == [(0, 10, 0, 1), (10, 20, 0, None)]
    assert polled(each, (15, 4), (35, 8)) == [
        (10, 20, 1, 4),
        (20, 30, 0, None),
        (30, 40, 0, 8),
        (40, 50, 0, None),
    ]


def test_ask_returns_the_newest_closed_window_with_rows_or_without(
    reference: Make,
) -> None:
    each = reference(Standing(SUM, (TUMBLE,)))
    assert found([each.ask(0.0)]) == [(None, None, 0, None)]
    each.append("ticks", rows((1, 1), (12, 2)), 0.0)
    assert found([each.ask(0.0)]) == [(0, 10, 0, 1)]
    each.append("ticks", rows((45, 4)), 0.0)
    assert found([each.ask(0.0)]) == [(30, 40, 0, None)]


def test_rows_that_come_late_take_their_place_in_the_order_of_steps(reference: Make) -> None:
    each = reference(Standing(LIST, (HOP,), allowed_lateness=100))
    each.append("ticks", rows((6, 1), (7, 2), (1, 4), (6, 8), (10, 16)), 0.0)
    assert (0, 10, 0, [4, 1, 2, 8]) in found(each.poll(0.0))


def test_update_semantics_skip_older_windows_and_never_rows(reference: Make) -> None:
    each = reference(Standing(SUM, (TUMBLE,), semantics="update"))
    assert polled(each, (1, 1), (11, 2), (21, 4), (22, 8), (30, 16)) == [(20, 30, 0, 12)]
    assert each.skipped == 2
    assert each.poll(0.0) == []


def test_windows_of_rows_are_answered_when_they_are_full(reference: Make) -> None:
    each = reference(Standing(SUM, (Window("rows", "ticks", 3, 2),)))
    assert polled(each, (9, 1), (8, 2), (7, 4), (6, 8)) == [(0, 3, 0, 7)]
    assert polled(each, (5, 16)) == [(2, 5, 0, 28)]


def test_windows_over_arrival_close_by_the_clock(reference: Make) -> None:
    arrival = Window("tumble", "ticks", 2_000_000, 2_000_000, by_arrival=True)
    each = reference(Standing(SUM, (arrival,)))
    each.append("ticks", rows((900, 1), (100, 2)), 1.5)
    assert polled(each, (500, 4), now=2.0) == [(0, 2_000_000, 0, 3)]
    assert each.poll(3.9) == []
    assert found(each.poll(4.0)) == [(2_000_000, 4_000_000, 0, 4)]
    assert each.late == 0


def test_a_landmark_answers_about_everything_when_there_is_something_new(reference: Make) -> None:
    each = reference(Standing(SUM, (Window("landmark", "ticks"),)))
    assert each.poll(0.0) == []
    assert polled(each, (9, 1), (3, 2)) == [(3, 9, 0, 3)]
    assert each.poll(0.0) == []
    assert polled(each, (1, 4)) == [(1, 9, 0, 7)]


def test_a_landmark_with_a_slide_answers_at_the_end_of_each_slide_that_has_rows(
    reference: Make,
) -> None:
    each = reference(Standing(SUM, (Window("landmark", "ticks", slide=10),)))
    assert polled(each, (3, 1), (14, 2), (35, 4), (12, 8)) == [(3, 10, 0, 1), (3, 20, 0, 11)]
    assert polled(each, (25, 16), (40, 32), (2, 64)) == [(2, 30, 0, 91), (2, 40, 0, 95)]
    assert polled(each, (1, 128)) == []


def test_a_landmark_that_is_reset_forgets_earlier_rows(reference: Make) -> None:
    each = reference(Standing(SUM, (Window("landmark", "ticks"),)))
    each.append("ticks", rows((9, 1), (3, 2)), 0.0)
    each.poll(0.0)
    each.reset()
    assert each.poll(0.0) == []
    assert polled(each, (4, 4), (5, 8)) == [(4, 5, 0, 12)]


def test_the_latest_rows_are_so_many_for_each_key_and_of_equal_times_the_last(
    reference: Make,
) -> None:
    each = reference(
        Standing("SELECT time FROM {0} AS t", (Window("latest", "ticks", rows=2, per=("x",)),))
    )
    each.append("ticks", rows((5, 1), (3, 1), (9, 2), (4, 1), (2, 1), (1, None)), 0.0)
    [answer] = each.poll(0.0)
    assert values(answer) == [5, 9, 4, 1]
    each = reference(Standing(LIST, (Window("latest", "ticks", rows=2, per=("time",)),)))
    each.append("ticks", rows((5, 1), (5, 2), (5, 3)), 0.0)
    [answer] = each.poll(0.0)
    assert values(answer) == [2, 3]


def test_without_a_window_each_new_row_is_answered_once(reference: Make) -> None:
    each = reference(Standing(LIST, (Window("stream", "ticks"),), is_row_wise=True))
    each.append("ticks", rows((5, 1), (4, 2)), 0.0)
    assert [values(answer) for answer in each.poll(0.0)] == [[1, 2]]
    each.append("ticks", rows((9, 4)), 0.0)
    assert [values(answer) for answer in each.poll(0.0)] == [4]


def test_without_a_window_an_update_query_sees_the_newest_value_of_each_key(
    reference: Make,
) -> None:
    each = reference(
        Standing("SELECT sum(time) FROM {0} AS t", (Window("stream", "ticks"),), "update")
    )
    each.append("ticks", rows((5, 1), (4, 1), (7, 2)), 0.0)
    assert [values(answer) for answer in each.poll(0.0)] == [12]
    each.append("ticks", rows((8, 1)), 0.0)
    assert [values(answer) for answer in each.poll(0.0)] == [15]


def test_a_join_answers_when_time_has_passed_in_both_streams(reference: Make) -> None:
    text = "SELECT sum(t.x * d.x)::INTEGER FROM {0} AS t JOIN {1} AS d ON t.time <= d.time"
    each = reference(Standing(text, (TUMBLE, Window("tumble", "deals", 10, 10))))
    assert polled(each, (1, 1), (5, 10), (12, 100)) == []
    each.append("deals", rows((4, 2), (6, 3), (10, 4)), 0.0)
    assert found(each.poll(0.0)) == [(0, 10, 0, 1 * 2 + 1 * 3 + 10 * 3)]


def test_windows_that_differ_are_answered_at_each_end_of_either(reference: Make) -> None:
    #   time     0    5    10   15   20
    #   ticks     1    2    4    8    |     windows of 5: the newest one at each end
    #   deals     3         5         |     windows of 10: that from -10, then from 0, from 10
    text = "SELECT [(SELECT sum(x)::INT FROM {0}), (SELECT sum(x)::INT FROM {1})]"
    windows = (Window("tumble", "ticks", 5, 5), Window("tumble", "deals", 10, 10))
    each = reference(Standing(text, windows))
    each.append("ticks", rows((1, 1), (6, 2), (11, 4), (16, 8), (20, 0)), 0.0)
    each.append("deals", rows((1, 3), (11, 5), (20, 0)), 0.0)
    assert found(each.poll(0.0)) == [
        (-10, 5, 0, [1, None]),
        (0, 10, 0, [2, 3]),
        (0, 15, 0, [4, 3]),
        (10, 20, 0, [8, 5]),
    ]


def test_windows_begin_an_offset_later_and_some_times_may_be_in_none(reference: Make) -> None:
    #   time     0    5    10   15
    #   windows     [--)      [--)        at 3 and 10, three long
    #   rows      1  2    4    8    |
    sparse = Window("hop", "ticks", 3, 7, offset=3)
    each = reference(Standing(SUM, (sparse,)))
    assert polled(each, (1, 1), (4, 2), (8, 4), (12, 8), (20, 0)) == [
        (3, 6, 0, 2),
        (10, 13, 0, 8),
        (17, 20, 0, None),
    ]


def test_windows_over_rows_are_answered_once_the_largest_is_full(reference: Make) -> None:
    text = "SELECT [(SELECT sum(x)::INT FROM {0}), (SELECT sum(x)::INT FROM {1})]"
    windows = (Window("rows", "ticks", 2, 2), Window("rows", "ticks", 5, 1))
    each = reference(Standing(text, windows))
    assert polled(each, *((0, 2**n) for n in range(7))) == [
        (0, 5, 0, [12, 31]),
        (1, 6, 0, [48, 62]),
        (2, 7, 0, [48, 124]),
    ]


def test_a_late_row_revises_every_end_at_which_its_window_counts(reference: Make) -> None:
    text = "SELECT [(SELECT sum(x)::INT FROM {0}), (SELECT sum(x)::INT FROM {1})]"
    windows = (Window("tumble", "ticks", 10, 10), Window("tumble", "deals", 4, 4))
    each = reference(Standing(text, windows, allowed_lateness=100))
    each.append("ticks", rows((1, 1), (18, 2)), 0.0)
    each.append("deals", rows((9, 3), (18, 4)), 0.0)
    first = found(each.poll(0.0))
    assert [(end, values) for _, end, _, values in first] == [
        (10, [1, None]),
        (12, [1, 3]),
        (16, [1, None]),
    ]
    each.append("ticks", rows((2, 8)), 0.0)
    again = [(end, revision, values) for _, end, revision, values in found(each.poll(0.0))]
    assert again == [(10, 1, [9, None]), (12, 1, [9, 3]), (16, 1, [9, None])]


def test_a_window_that_fails_stops_no_other(reference: Make) -> None:
    each = reference(Standing(FAILS, (TUMBLE,)))
    each.append("ticks", rows((1, 1), (11, -1), (12, 2), (12, 3), (21, 4), (30, 0)), 0.0)
    answers = each.poll(0.0)
    assert [values(answer) for answer in answers] == [1, "failed", 4]
    assert answers[1].spared is not None
    assert answers[1].spared.column(0).to_pylist() == [5]


def test_silence_closes_the_open_slide_and_then_time_goes_on_as_the_clock(reference: Make) -> None:
    #   time     0    5    10   15        steps of 5, windows of 10; rows at 2 and 7
    seconds = 1_000_000
    hop = Window("hop", "ticks", 10 * seconds, 5 * seconds)
    each = reference(Standing(SUM, (hop,), close_after=2.0))
    each.append("ticks", rows((2 * seconds, 1), (7 * seconds, 2)), 100.0)
    assert [answer.end for answer in each.poll(101.0)] == [5 * seconds]
    assert [answer.end for answer in each.poll(102.0)] == [10 * seconds]
    assert each.poll(107.0) == []  # time is 14
    assert [answer.end for answer in each.poll(108.0)] == [15 * seconds]


def test_a_row_of_a_slide_that_silence_has_closed_is_late(reference: Make) -> None:
    each = reference(Standing(SUM, (TUMBLE,), close_after=2.0))
    each.append("ticks", rows((3, 1)), 100.0)
    each.append("ticks", rows((4, 2)), 101.0)
    assert polled(each, (5, 4), now=103.0) == [(0, 10, 0, 3), (10, 20, 0, None)]
    assert each.late == 1


def test_rows_that_are_too_late_do_not_end_a_silence(reference: Make) -> None:
    each = reference(Standing(SUM, (TUMBLE,), close_after=2.0))
    each.append("ticks", rows((13, 1)), 100.0)
    each.append("ticks", rows((4, 2)), 101.5)
    assert found(each.poll(102.0)) == [(10, 20, 0, 1), (20, 30, 0, None)]
