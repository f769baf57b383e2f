"""Updates as bodies, and keys and names as parts of paths."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from collections import deque
from urllib.parse import unquote

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import ParameterError, ValueNotEncodableError
from upstream.client import Key
from upstream.client.encoding import (
    Row,
    encode_json,
    encode_row,
    encode_rows,
    encode_update,
    path_of_key,
    path_of_name,
)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.text(st.characters(codec="utf-8"))
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=10,
)


@dataclasses.dataclass
class Price:
    """A value with members."""

    price: float


class Tick(msgspec.Struct):
    """Another one."""

    prices: list[float]


ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)

NOT_IN_JSON = [
    *(math.nan, math.inf, -math.inf, [math.nan], {"a": {"b": (math.inf,)}}),
    *(np.float64("nan"), np.float32("inf"), [np.float64("inf")], {math.nan: math.nan}),
    *(Price(math.nan), [Tick([1.0, math.inf])], {math.nan}, frozenset([math.inf])),
    *(Price([{"a": Price(math.nan)}]), deque([math.nan])),  # type: ignore[arg-type]
    *(object(), {(1, 2): 3}, "\ud800", {"\udfff": 1}, np.array([1.0]), 1j, ENDLESS),
]


@given(st.lists(json_values, max_size=5))
def test_values_are_decoded_as_they_were_encoded(values: list[object]) -> None:
    rows: list[Row] = [("k", None, value) for value in values]
    decoded = msgspec.json.decode(encode_rows(rows))
    assert decoded == [["k", None, value] for value in values]


@pytest.mark.parametrize("value", NOT_IN_JSON)
def test_a_value_that_json_cannot_express_is_refused_with_its_row(value: object) -> None:
    with pytest.raises(ValueNotEncodableError) as caught:
        encode_rows([("a", None, 1), ("b", 2.0, value), ("c", None, 3)])
    assert caught.value.row == 1
    with pytest.raises(ValueNotEncodableError) as alone:
        encode_update("a", value, None)
    assert alone.value.row is None
    with pytest.raises(ValueNotEncodableError):
        encode_row("a", None, value)


@pytest.mark.parametrize("time", [math.nan, math.inf])
def test_a_time_that_is_not_finite_is_refused(time: float) -> None:
    with pytest.raises(ValueNotEncodableError, match="row 0"):
        encode_rows([("a", time, 1)])
    with pytest.raises(ValueNotEncodableError):
        encode_update("a", 1, time)


def test_a_batch_is_compact_rows() -> None:
    rows: list[Row] = [("a", None, 1), (7, 1.5, None), (("x", 1), 0.0, {"b": [True]})]
    assert encode_rows(rows) == b'[["a",null,1],[7,1.5,null],[["x",1],0.0,{"b":[true]}]]'


def test_one_update_is_an_object_without_a_time_it_does_not_have() -> None:
    assert encode_update("a", None, None) == b'{"key":"a","value":null}'
    assert encode_update(("a", 1), 2, 3.5) == b'{"key":["a",1],"value":2,"time":3.5}'


def test_an_element_of_a_body_is_a_row_of_it() -> None:
    row: Row = (("a", 1), 2.5, {"b": 1})
    assert b"[" + encode_row(*row) + b"]" == encode_rows([row])


def test_values_with_members_go_as_objects_and_sets_as_lists() -> None:
    rows: list[Row] = [("a", None, [Price(1.5), Tick([2.5]), {3.5}, {"b": Price(4.5)}])]
    expected = b'[["a",null,[{"price":1.5},{"prices":[2.5]},[3.5],{"b":{"price":4.5}}]]]'
    assert encode_rows(rows) == expected


def test_numbers_of_numpy_are_numbers() -> None:
    rows: list[Row] = [
        ("a", None, [np.int64(3), np.bool_(True), np.float32(0.5), np.float64(1.5), np.str_("b")])
    ]
    assert encode_rows(rows) == b'[["a",null,[3,true,0.5,1.5,"b"]]]'


def test_encoded_json_is_sent_unchanged() -> None:
    assert encode_update("a", msgspec.Raw(b"1.50e0"), None) == b'{"key":"a","value":1.50e0}'


def test_dates_go_as_text() -> None:
    day = dt.date(2009, 1, 2)
    assert encode_update("a", day, None) == b'{"key":"a","value":"2009-01-02"}'


def test_a_definition_that_json_cannot_express_is_an_invalid_parameter() -> None:
    assert encode_json({"weights": {"a": 1.5}}) == b'{"weights":{"a":1.5}}'
    for bad in ({"capacity": math.nan}, {"capacity": object()}):
        with pytest.raises(ParameterError, match="can be written as JSON"):
            encode_json(bad)


@given(st.text(st.characters(codec="utf-8")) | st.integers(-(2**63), 2**63 - 1))
def test_any_key_can_be_restored_from_its_path(key: Key) -> None:
    path, _, query = path_of_key(key).partition("?")
    assert "/" not in path
    assert path.strip(".")
    text = unquote(path)
    assert (msgspec.json.decode(text) if query == "json=1" else text) == key


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("IBM", "IBM"),
        ("7", "7"),
        (7, "7?json=1"),
        ("a/b?c#d%", "a%2Fb%3Fc%23d%25"),
        ("Zürich", "Z%C3%BCrich"),
        ("", "%22%22?json=1"),
        ("..", "%22..%22?json=1"),
        (("a", 1), "%5B%22a%22%2C1%5D?json=1"),
    ],
)
def test_keys_in_paths(key: Key, path: str) -> None:
    assert path_of_key(key) == path


@pytest.mark.parametrize("key", ["\ud800", ("\ud800",), object()])
def test_a_key_that_no_path_can_express_is_refused(key: Key) -> None:
    with pytest.raises(ParameterError, match="key"):
        path_of_key(key)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "\ud800", 7, None])
def test_a_name_that_would_change_the_path_is_refused(name: str) -> None:
    with pytest.raises(ParameterError):
        path_of_name(name)
