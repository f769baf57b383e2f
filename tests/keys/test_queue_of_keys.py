"""The queue of keys is a list that is served from its head."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from upstream.keys import NOBODY, Place, QueueOfKeys, queue_of_keys

from .owner import SHORT_RUNS, make_cell, make_place


def names(line: QueueOfKeys) -> str:
    return "".join(str(place.cell.key) for place in line)


def make_line(keys: Sequence[str]) -> tuple[QueueOfKeys, dict[str, Place]]:
    """Return a line in which each key waits since its position, and the places."""
    line = QueueOfKeys()
    places = {key: make_place(key, waiting_since=float(at)) for at, key in enumerate(keys)}
    for place in places.values():
        line.append(place)
    return line, places


def serve(line: QueueOfKeys) -> Place | None:
    """Take out the head, as schedulers do."""
    place = line.head()
    if place is not None:
        line.remove(place)
    return place


def test_an_empty_line_has_no_head() -> None:
    line = QueueOfKeys()
    assert line.head() is None
    assert list(line) == []
    line._check()


def test_keys_are_served_from_the_head() -> None:
    line, places = make_line("ABC")
    assert line.head() is places["A"]
    assert serve(line) is places["A"]
    assert names(line) == "BC"
    line.prepend(places["A"])
    assert names(line) == "ABC"
    line.remove(places["B"])
    assert names(line) == "AC"


def test_a_key_that_is_in_no_line_cannot_be_removed() -> None:
    with pytest.raises(AssertionError):
        QueueOfKeys().remove(make_place("A", waiting_since=0.0))


def test_a_key_given_back_stands_behind_those_that_have_waited_as_long() -> None:
    line, _ = make_line("ABCD")
    line.insert_by_wait(make_place("x", waiting_since=1.0))
    line.insert_by_wait(make_place("y", waiting_since=1.0))
    line.insert_by_wait(make_place("z", waiting_since=-1.0))
    line.insert_by_wait(make_place("t", waiting_since=9.0))
    assert names(line) == "zABxyCDt"
    line._check()


class RankedPlace(Place):
    """A place as queues of windows have them."""

    __slots__ = ("waiting_rank",)

    def __init__(self, key: str, *, waiting_since: float, rank: int) -> None:
        super().__init__(make_cell(key), NOBODY)
        self.waiting_since = waiting_since
        self.waiting_rank = rank


def test_the_rank_decides_between_keys_that_have_waited_equally_long() -> None:
    line = QueueOfKeys()
    for rank, key in enumerate("ABCD"):
        line.append(RankedPlace(key, waiting_since=float(rank), rank=10 * rank))
    for key, rank in (("x", 5), ("y", 15), ("z", 4), ("t", 6)):
        line.insert_by_wait(RankedPlace(key, waiting_since=1.0, rank=rank))
        line._check()
    assert names(line) == "AzxtByCD"


@given(order=st.permutations("ABCDEF"), waiting=st.sets(st.sampled_from("ABCDEF")))
def test_keys_given_back_in_any_order_stand_as_they_did(
    order: Sequence[str], waiting: set[str]
) -> None:
    line, places = make_line("ABCDEF")
    for key in order:
        if key not in waiting:
            line.remove(places[key])
    for key in order:
        if key not in waiting:
            line.insert_by_wait(places[key])
            line._check()
    assert names(line) == "ABCDEF"


@pytest.mark.parametrize("gone", ["x", "y", "z", "xy", "yx", "xyz", "zyx", "zx", "xAyBz"])
def test_the_search_stays_correct_when_a_remembered_key_leaves(gone: str) -> None:
    line, places = make_line("ABC")
    for key in "xyz":
        places[key] = make_place(key, waiting_since=0.5)
        line.insert_by_wait(places[key])
    for key in gone:
        line.remove(places[key])
        line._check()
    for key, since in (("u", 0.25), ("v", 1.5)):
        line.insert_by_wait(make_place(key, waiting_since=since))
        line._check()
    left = [key for key in "xyz" if key not in gone]
    tail = [key for key in "BuvC" if key not in gone]
    order = ([] if "A" in gone else ["A"]) + ["u"] + left + [key for key in tail if key != "u"]
    assert names(line) == "".join(order)


def test_a_remembered_key_that_is_served_and_waits_again_is_not_remembered() -> None:
    line, _ = make_line("AB")
    returned = make_place("x", waiting_since=-1.0)
    line.insert_by_wait(returned)
    assert serve(line) is returned
    returned.waiting_since = 5.0
    line.append(returned)
    line.insert_by_wait(make_place("y", waiting_since=5.0))
    line.insert_by_wait(make_place("z", waiting_since=0.5))
    assert names(line) == "AzBxy"


def test_a_key_given_back_goes_to_the_head_if_the_key_there_waited_for_less() -> None:
    """Where slow keys cut the line, the keys in it are not in the order of their waits."""
    line = QueueOfKeys()
    line.insert_by_wait(make_place("x", waiting_since=1.0))
    line.prepend(make_place("S", waiting_since=10.0))
    line.insert_by_wait(make_place("y", waiting_since=2.0))
    assert names(line) == "ySx"


class QueueOfKeysMachine(RuleBasedStateMachine):
    """A queue of keys against a plain list; time goes on by itself or stands."""

    may_prepend = True

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.line = QueueOfKeys()
        self.expected: list[Place] = []
        self.gone: list[Place] = []
        self.made = 0

    def make(self, since: float) -> Place:
        self.made += 1
        return make_place(self.made, waiting_since=since)

    @rule(seconds=st.sampled_from([0.5, 1.0, 3.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def a_key_is_appended(self) -> None:
        place = self.make(self.now)
        self.line.append(place)
        self.expected.append(place)

    @precondition(lambda self: self.may_prepend)
    @rule()
    def a_key_is_prepended(self) -> None:
        place = self.make(self.now)
        self.line.prepend(place)
        self.expected.insert(0, place)

    @rule()
    def the_head_is_served(self) -> None:
        place = serve(self.line)
        assert place is (self.expected.pop(0) if self.expected else None)
        if place is not None:
            self.gone.append(place)

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def a_key_is_removed(self, data: st.DataObject) -> None:
        place = self.expected.pop(data.draw(st.integers(0, len(self.expected) - 1)))
        self.line.remove(place)
        self.gone.append(place)

    @precondition(lambda self: self.gone)
    @rule(data=st.data())
    def a_key_is_given_back(self, data: st.DataObject) -> None:
        self.give_back(self.gone.pop(data.draw(st.integers(0, len(self.gone) - 1))))

    @rule(seconds=st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]))
    def a_key_that_has_waited_before_is_given_back(self, seconds: float) -> None:
        self.give_back(self.make(self.now - seconds))

    def give_back(self, place: Place) -> None:
        position = 0
        while position < len(self.expected) and _waits_as_long(self.expected[position], place):
            position += 1
        self.expected.insert(position, place)
        self.line.insert_by_wait(place)

    @precondition(lambda self: self.gone)
    @rule(data=st.data())
    def a_key_that_was_served_waits_again(self, data: st.DataObject) -> None:
        place = self.gone.pop(data.draw(st.integers(0, len(self.gone) - 1)))
        place.waiting_since = self.now
        self.line.append(place)
        self.expected.append(place)

    @invariant()
    def the_line_is_as_expected(self) -> None:
        self.line._check()
        assert list(self.line) == self.expected
        assert self.line.head() is (self.expected[0] if self.expected else None)


class InPlaceLineMachine(QueueOfKeysMachine):
    """Without keys that cut the line, it is always in the order of waits."""

    may_prepend = False

    @invariant()
    def no_key_stands_behind_one_that_waited_for_less(self) -> None:
        waits = [place.waiting_since or 0.0 for place in self.line]
        assert waits == sorted(waits)


def _waits_as_long(one: Place, other: Place) -> bool:
    assert one.waiting_since is not None
    assert other.waiting_since is not None
    return one.waiting_since <= other.waiting_since


TestQueueOfKeys = QueueOfKeysMachine.TestCase
TestInPlaceLine = InPlaceLineMachine.TestCase
TestQueueOfKeys.settings = SHORT_RUNS
TestInPlaceLine.settings = SHORT_RUNS


def test_keys_given_back_in_turn_need_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    line = QueueOfKeys()
    for at in range(200):
        line.append(make_place(f"waiting {at}", waiting_since=float(at // 100)))
    looks = 0
    is_before = queue_of_keys._is_before

    def counted(other: Place, since: float, rank: int) -> bool:
        nonlocal looks
        looks += 1
        return is_before(other, since, rank)

    for at in range(2):
        line.insert_by_wait(make_place(f"first {at}", waiting_since=float(at)))
    monkeypatch.setattr(queue_of_keys, "_is_before", counted)
    for at in range(50):
        line.insert_by_wait(make_place(f"given back {at}", waiting_since=float(at % 2)))
    assert looks <= 2 * 50, "where keys of the same time were put in is known"
    monkeypatch.undo()
    line._check()
