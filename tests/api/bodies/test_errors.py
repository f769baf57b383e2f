"""Each error says what to do, and has its data as attributes."""

from __future__ import annotations

import pytest

from api.bodies.errors import (
    BodyError,
    InvalidKeyError,
    MalformedBodyError,
    NotAcceptableError,
    RefusedRowError,
    TooManyRowsError,
    UnsupportedColumnError,
    UnsupportedContentTypeError,
)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UnsupportedContentTypeError(["a/b", "c/d"]), "send updates as a/b or c/d, with "),
        (MalformedBodyError("it is no JSON", 3), "it is no JSON, at byte 3"),
        (MalformedBodyError("it is no JSON"), "it is no JSON"),
        (TooManyRowsError(7), "the body has more than 7 updates; send them in several requests"),
        (UnsupportedColumnError(2, "cast it"), "column 2: cast it"),
        (UnsupportedColumnError(None, "add one"), "add one"),
        (RefusedRowError("too long"), "too long"),
        (InvalidKeyError("too long"), "too long"),
        (NotAcceptableError(["a/b"]), "the service can answer with a/b"),
    ],
)
def test_the_message_says_what_to_do(error: BodyError, message: str) -> None:
    assert isinstance(error, BodyError)
    assert str(error).startswith(message)


def test_the_data_is_on_attributes() -> None:
    assert MalformedBodyError("no", 3).position == 3
    assert TooManyRowsError(7).limit == 7
    assert UnsupportedColumnError(2, "cast it").column == 2
    assert UnsupportedContentTypeError(["a/b"]).supported == ("a/b",)
    assert NotAcceptableError(["a/b"]).available == ("a/b",)
    assert RefusedRowError("too long").reason == "too long"
