"""How keys and values on the command line are read."""

from __future__ import annotations

import math

import msgspec
import pytest
import typer

from upstream.cli.arguments import key_of, positive, value_of
from upstream.client import Key


def test_a_key_is_a_string_as_it_is() -> None:
    assert key_of("7", is_json=False) == "7"
    assert key_of('["a"]', is_json=False) == '["a"]'


@pytest.mark.parametrize(("text", "key"), [("7", 7), ('"7"', "7"), ('["a", 7]', ("a", 7))])
def test_a_key_may_be_given_as_json(text: str, key: Key) -> None:
    assert key_of(text, is_json=True) == key


@pytest.mark.parametrize("text", ["a", "1.5", "null", "[[1]]", "{}", "", '"\udcff"'])
def test_what_is_no_key_in_json_is_a_usage_error(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="--json-key"):
        key_of(text, is_json=True)


@pytest.mark.parametrize("text", ["24.50", "null", '{"a": [1, 2]}', '"x"', "1e3"])
def test_json_goes_as_it_was_typed(text: str) -> None:
    value = value_of(text, is_raw=False)
    assert isinstance(value, msgspec.Raw)
    assert bytes(value) == text.encode()


@pytest.mark.parametrize("text", ["up", "", "1 2", "NaN", "{a: 1}", "01", "'x'", "\udcff"])
def test_what_is_not_json_is_a_string(text: str) -> None:
    assert value_of(text, is_raw=False) == text


def test_raw_is_a_string_in_any_case() -> None:
    assert value_of("24.5", is_raw=True) == "24.5"


def test_a_number_that_must_be_above_zero_is() -> None:
    assert positive(None) is None
    assert positive(0.5) == 0.5
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(typer.BadParameter, match="above zero"):
            positive(bad)
