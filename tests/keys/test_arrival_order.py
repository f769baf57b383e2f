"""One list by last arrival serves any number of readers."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from upstream.keys import ArrivalOrder, KeyCell, Link, Marker

from .owner import SHORT_RUNS, make_cell


def make_order(keys: str) -> tuple[ArrivalOrder, dict[str, KeyCell]]:
    """Return an order of keys that arrived a second apart, and their cells."""
    order = ArrivalOrder()
    cells = {key: make_cell(key, arrival=float(at)) for at, key in enumerate(keys)}
    for cell in cells.values():
        order.append(cell)
    return order, cells


def names(order: ArrivalOrder) -> str:
    return "".join(str(cell.key) for cell in order)


def read_all(order: ArrivalOrder, marker: Marker) -> str:
    """Move `marker` to the newest end, and return the keys that it passed."""
    passed = ""
    while (cell := order.next_cell(marker)) is not None:
        order.move_past(marker, cell)
        passed += str(cell.key)
    return passed


def test_a_key_that_arrives_again_is_the_newest() -> None:
    order, cells = make_order("ABC")
    for key, expected in (("A", "BCA"), ("A", "BCA"), ("C", "BAC"), ("B", "ACB")):
        cells[key].arrival = 9.0
        order.move_to_newest(cells[key])
        assert names(order) == expected


def test_an_empty_order_has_nothing_to_read() -> None:
    order = ArrivalOrder()
    marker = Marker()
    order.append(marker)
    assert order.next_cell(marker) is None
    assert list(order) == []
    order._check()


def test_a_marker_reads_each_arrival_once_and_repeated_ones_last() -> None:
    order, cells = make_order("ABC")
    marker = Marker()
    order.prepend(marker)
    assert read_all(order, marker) == "ABC"
    assert read_all(order, marker) == ""
    for key in "BAB":
        order.move_to_newest(cells[key])
    assert read_all(order, marker) == "AB"


def test_the_newest_key_arrives_again_in_front_of_a_marker_that_has_passed_it() -> None:
    order, cells = make_order("A")
    markers = [Marker(), Marker()]
    for marker in markers:
        order.append(marker)
    order.move_to_newest(cells["A"])
    assert [read_all(order, marker) for marker in markers] == ["A", "A"]


def test_markers_do_not_disturb_one_another() -> None:
    order, cells = make_order("ABC")
    early, late, other = Marker(), Marker(), Marker()
    order.prepend(early)
    order.prepend(other)
    order.append(late)
    order.move_past(early, cells["B"])
    cells["A"].arrival = 3.0
    order.move_to_newest(cells["A"])
    assert names(order) == "BCA"
    assert read_all(order, other) == "BCA"
    assert read_all(order, early) == "CA"
    assert read_all(order, late) == "A"
    order._check()


def test_no_marker_reads_a_forgotten_key() -> None:
    order, cells = make_order("ABC")
    marker = Marker()
    order.prepend(marker)
    order.remove(cells["A"])
    order.move_past(marker, cells["B"])
    order.remove(cells["B"])
    assert read_all(order, marker) == "C"
    order._check()


def test_a_key_out_of_arrival_order_is_noticed() -> None:
    order, cells = make_order("AB")
    order._check()
    cells["A"].arrival = 5.0
    with pytest.raises(AssertionError, match="arrival"):
        order._check()


class ArrivalOrderMachine(RuleBasedStateMachine):
    """Cells and markers against a plain list of both."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.order = ArrivalOrder()
        self.expected: list[Link] = []
        self.made = 0

    @property
    def cells(self) -> list[KeyCell]:
        return [link for link in self.expected if isinstance(link, KeyCell)]

    @property
    def markers(self) -> list[Marker]:
        return [link for link in self.expected if isinstance(link, Marker)]

    def next_of(self, link: Link) -> KeyCell | None:
        after = self.expected[self.expected.index(link) + 1 :]
        return next((link for link in after if isinstance(link, KeyCell)), None)

    @rule(seconds=st.sampled_from([0.0, 1.0]))
    def a_key_arrives_first(self, seconds: float) -> None:
        self.now += seconds
        cell = make_cell(self.made, index=self.made, arrival=self.now)
        self.made += 1
        self.order.append(cell)
        self.expected.append(cell)

    @precondition(lambda self: self.cells)
    @rule(data=st.data(), seconds=st.sampled_from([0.0, 1.0]))
    def a_key_arrives_again(self, data: st.DataObject, seconds: float) -> None:
        self.now += seconds
        cell = data.draw(st.sampled_from(self.cells))
        cell.arrival = self.now
        self.order.move_to_newest(cell)
        self.expected.remove(cell)
        self.expected.append(cell)

    @precondition(lambda self: self.cells)
    @rule(data=st.data())
    def a_key_is_forgotten(self, data: st.DataObject) -> None:
        cell = data.draw(st.sampled_from(self.cells))
        self.order.remove(cell)
        self.expected.remove(cell)

    @precondition(lambda self: len(self.markers) < 4)
    @rule(from_oldest=st.booleans())
    def a_reader_comes(self, from_oldest: bool) -> None:
        marker = Marker()
        if from_oldest:
            self.order.prepend(marker)
            self.expected.insert(0, marker)
        else:
            self.order.append(marker)
            self.expected.append(marker)

    @precondition(lambda self: self.markers)
    @rule(data=st.data())
    def a_reader_goes(self, data: st.DataObject) -> None:
        marker = data.draw(st.sampled_from(self.markers))
        self.order.remove(marker)
        self.expected.remove(marker)

    @precondition(lambda self: self.markers)
    @rule(data=st.data())
    def a_reader_passes_a_key(self, data: st.DataObject) -> None:
        marker = data.draw(st.sampled_from(self.markers))
        cell = self.next_of(marker)
        assert self.order.next_cell(marker) is cell
        if cell is not None:
            self.order.move_past(marker, cell)
            self.expected.remove(marker)
            self.expected.insert(self.expected.index(cell) + 1, marker)

    @invariant()
    def every_reader_sees_the_same_order_from_its_place(self) -> None:
        self.order._check()
        assert list(self.order) == self.cells
        for link in self.expected:
            assert self.order.next_cell(link) is self.next_of(link)


TestArrivalOrder = ArrivalOrderMachine.TestCase
TestArrivalOrder.settings = SHORT_RUNS
