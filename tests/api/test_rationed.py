"""A costly result is made again only for its share of the time."""

from __future__ import annotations

import pytest

from api.rationed import Rationed
from upstream import ManualClock


class Maker:
    """Counts how often it is asked; each time takes so many seconds."""

    def __init__(self, *, seconds: float) -> None:
        self.clock = ManualClock()
        self.seconds = seconds
        self.calls = 0

    def __call__(self) -> int:
        self.clock.advance(self.seconds)
        self.calls += 1
        return self.calls


def test_the_first_result_is_made_at_once() -> None:
    maker = Maker(seconds=1)
    rationed = Rationed(maker, clock=maker.clock.now)
    assert rationed.is_due
    assert rationed.get() == 1


@pytest.mark.parametrize(("seconds", "is_due"), [(8.9, False), (9.0, True)])
def test_a_result_is_made_again_once_its_share_allows(seconds: float, is_due: bool) -> None:
    maker = Maker(seconds=1)
    rationed = Rationed(maker, share=0.1, clock=maker.clock.now)
    rationed.get()
    maker.clock.advance(seconds)
    assert rationed.is_due == is_due
    assert rationed.get() == 1 + is_due


def test_a_result_that_takes_no_time_is_always_made_again() -> None:
    maker = Maker(seconds=0)
    rationed = Rationed(maker, clock=maker.clock.now)
    assert [rationed.get() for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 1.0])
def test_making_takes_its_share_of_the_time_at_most(share: float) -> None:
    maker = Maker(seconds=0.25)
    rationed = Rationed(maker, share=share, clock=maker.clock.now)
    while maker.clock.now() < 1_000:
        rationed.get()
        maker.clock.advance(0.125)
    spent = maker.calls * maker.seconds
    assert spent <= share * 1_000 + maker.seconds
    assert spent >= 0.4 * share * 1_000


def test_the_share_can_be_changed_later() -> None:
    maker = Maker(seconds=1)
    rationed = Rationed(maker, share=0.1, clock=maker.clock.now)
    rationed.get()
    maker.clock.advance(9)
    rationed.share = 0.05
    assert rationed.get() == 1
    maker.clock.advance(10)
    assert rationed.get() == 2


def test_none_is_a_result_too() -> None:
    maker = Maker(seconds=1)

    def make() -> None:
        maker()

    rationed = Rationed(make, clock=maker.clock.now)
    rationed.get()
    rationed.get()
    assert maker.calls == 1


def test_a_failure_leaves_the_last_result() -> None:
    maker = Maker(seconds=1)

    def make() -> None:
        if maker() == 2:
            raise ZeroDivisionError

    rationed = Rationed(make, clock=maker.clock.now)
    rationed.get()
    maker.clock.advance(20)
    with pytest.raises(ZeroDivisionError):
        rationed.get()
    assert rationed.is_due


@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan")])
def test_a_share_outside_of_0_to_1_is_a_bug(share: float) -> None:
    with pytest.raises(AssertionError, match="share"):
        Rationed(lambda: 0, share=share)
