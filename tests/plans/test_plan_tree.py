"""A plan is a tree of operators with a queue on each arc."""

from __future__ import annotations

import pytest

from upstream import POLICIES, ParameterError, UnknownPolicyError
from upstream.plans import Arc, Filter, Source
from upstream.plans.plan_tree import arc_from, check_function, name_of_function

from .setting import Streams, number_of


@pytest.mark.parametrize("policy", [None, *POLICIES])
def test_an_arc_may_have_any_policy(policy: str | None) -> None:
    arc = Arc(Source(Streams().left), policy)
    assert Filter(arc, number_of).arcs == (arc,)


def test_an_operator_stands_for_an_arc_of_the_default_policy() -> None:
    source = Source(Streams().left)
    assert arc_from(source) == Arc(source, None, None)


def test_an_arc_of_no_known_policy_is_refused() -> None:
    with pytest.raises(UnknownPolicyError, match="in-place"):
        Arc(Source(Streams().left), "newest")


def test_an_arc_comes_from_an_operator() -> None:
    with pytest.raises(ParameterError, match=r"Source\(stream\)"):
        Arc(Streams().left)  # type: ignore[arg-type]  # wrong on purpose


def test_a_capacity_is_a_count() -> None:
    with pytest.raises(ParameterError, match="capacity"):
        Arc(Source(Streams().left), capacity=0)


def test_functions_are_told_by_their_names() -> None:
    class Rule:
        def __call__(self) -> None: ...

    assert name_of_function(number_of) == "number_of"
    assert name_of_function(Rule()) == "Rule"


def test_what_cannot_be_called_is_no_function() -> None:
    check_function("rule", number_of, "a function")
    check_function("rule", None, "a function", or_none=True)
    with pytest.raises(ParameterError, match="rule must be a function"):
        check_function("rule", None, "a function")
