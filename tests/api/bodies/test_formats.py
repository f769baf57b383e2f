"""Content types of bodies, and the choice among those of answers."""

from __future__ import annotations

import pytest

from api.bodies.errors import NotAcceptableError, UnsupportedContentTypeError
from api.bodies.formats import Format, choose_answer, format_of

from .examples import ARROW, JSON, MESSAGEPACK, NDJSON


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        (None, Format.JSON),
        ("", Format.JSON),
        (JSON, Format.JSON),
        ("Application/JSON ; Charset=UTF-8", Format.JSON),
        ('application/json; charset="utf-8"', Format.JSON),
        (NDJSON, Format.NDJSON),
        ("application/ndjson", Format.NDJSON),
        ("application/jsonl;charset=us-ascii", Format.NDJSON),
        (MESSAGEPACK, Format.MESSAGEPACK),
        ("application/x-msgpack", Format.MESSAGEPACK),
        ("application/vnd.msgpack", Format.MESSAGEPACK),
        (ARROW, Format.ARROW),
    ],
)
def test_a_body_is_read_by_its_content_type(content_type: str | None, expected: Format) -> None:
    assert format_of(content_type) is expected


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "json", ";", "application/json; charset=x"],
)
def test_another_content_type_is_not_supported(content_type: str) -> None:
    with pytest.raises(UnsupportedContentTypeError) as raised:
        format_of(content_type)
    assert raised.value.supported == (JSON, NDJSON, MESSAGEPACK, ARROW)


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (None, JSON),
        ("", JSON),
        (",", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        (NDJSON, NDJSON),
        ("APPLICATION/X-NDJSON", NDJSON),
        ("application/jsonl", "application/jsonl"),
        ("application/x-msgpack", "application/x-msgpack"),
        (f"{ARROW}, */*", ARROW),
        (f"*/*, {ARROW}", ARROW),
        (f"{MESSAGEPACK}, {JSON}", MESSAGEPACK),
        (f"{JSON}, {MESSAGEPACK}", JSON),
        (f"{MESSAGEPACK};q=0.5, {JSON};q=0.6", JSON),
        (f"{MESSAGEPACK};q=0.5, */*;q=0.6", JSON),
        (f"{JSON};q=0, */*", NDJSON),
        (f"{JSON};q=0, application/*;q=0.1", NDJSON),
        (f"{MESSAGEPACK};version=1;q=0.5, text/html", MESSAGEPACK),
        (f"{MESSAGEPACK};q=x, {NDJSON};q=0.1", NDJSON),
        (f"{MESSAGEPACK};q=7, {NDJSON};q=0.1", NDJSON),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", JSON),
    ],
)
def test_the_answer_has_the_content_type_of_the_highest_quality(
    accept: str | None, content_type: str
) -> None:
    assert choose_answer(accept).content_type == content_type


def test_an_answer_by_another_name_is_of_the_same_format() -> None:
    assert choose_answer("application/x-msgpack").format is Format.MESSAGEPACK


@pytest.mark.parametrize(
    "accept", ["text/html", "image/*", f"{JSON};q=0", "*/*;q=0", f"{JSON};q=nan", f"{NDJSON};q=-1"]
)
def test_an_accept_header_without_a_known_type_is_an_error(accept: str) -> None:
    with pytest.raises(NotAcceptableError) as raised:
        choose_answer(accept)
    assert raised.value.available == (JSON, NDJSON, MESSAGEPACK, ARROW)
