"""Parameters, bodies and answers over ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

import pytest

from api.errors import RequestError
from api.http import (
    MOST_PARAMETERS,
    ClientGoneError,
    check_known,
    check_path,
    flag,
    number,
    query,
    read_body,
    received,
    whole_number,
)
from api.push.asgi import Message, Receive


def scope(*headers: tuple[bytes, bytes], parameters: bytes = b"") -> dict[str, Any]:
    return {
        "type": "http",
        "http_version": "1.1",
        "headers": list(headers),
        "query_string": parameters,
    }


def arriving(*messages: Message) -> Receive:
    coming = iter(messages)

    async def receive() -> Message:
        return next(coming)

    return receive


def part(body: bytes, *, more: bool = True) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def body_of(
    *messages: Message, most: int = 10, headers: Iterable[tuple[bytes, bytes]] = ()
) -> bytes:
    return asyncio.run(read_body(scope(*headers), arriving(*messages), most))


def test_a_body_is_put_together_from_its_parts() -> None:
    assert body_of(part(b"ab", more=False)) == b"ab"
    assert body_of(part(b"ab"), part(b""), part(b"cd", more=False)) == b"abcd"


def test_a_body_may_be_as_long_as_allowed_and_no_longer() -> None:
    assert body_of(part(b"x" * 10, more=False)) == b"x" * 10
    for messages in ([part(b"x" * 11, more=False)], [part(b"x" * 6), part(b"x" * 6)]):
        with pytest.raises(RequestError) as error:
            body_of(*messages)
        assert error.value.status == 413


def test_a_body_that_is_announced_as_too_long_is_not_read() -> None:
    with pytest.raises(RequestError):
        body_of(headers=[(b"content-length", b"11")])


@pytest.mark.parametrize("coding", [b"gzip", b"GZIP", b"br", b"identity, gzip"])
def test_a_compressed_body_is_not_read(coding: bytes) -> None:
    with pytest.raises(RequestError) as error:
        body_of(headers=[(b"content-encoding", coding)])
    assert error.value.status == 415


def test_a_body_may_say_that_it_is_not_compressed() -> None:
    assert body_of(part(b"ab", more=False), headers=[(b"content-encoding", b"identity")]) == b"ab"


async def test_a_body_that_was_read_is_received_once_more_before_other_messages() -> None:
    gone = {"type": "http.disconnect"}
    receive = received(b"ab", arriving(gone))
    assert (await receive(), await receive()) == (part(b"ab", more=False), gone)


def test_a_client_that_disconnects_is_not_waited_for() -> None:
    gone = {"type": "http.disconnect"}
    for messages in ([gone], [part(b"ab"), gone]):
        with pytest.raises(ClientGoneError):
            body_of(*messages)


def test_parameters_are_read_and_checked() -> None:
    found = query(scope(parameters=b"a=1&b=2.5&c&d=True&e=0&a=%33"))
    assert found == {"a": "3", "b": "2.5", "c": "", "d": "True", "e": "0"}
    assert whole_number(found, "a", 1, least=0, most=5) == 3
    assert number(found, "b", 0.0, least=0, most=5) == 2.5
    assert number(found, "z", 7.0, least=0, most=5) == 7.0
    assert (flag(found, "d"), flag(found, "e"), flag(found, "z")) == (True, False, False)
    for wrong in (
        lambda: whole_number(found, "b", 0, least=0, most=5),
        lambda: number(found, "a", 0, least=4, most=5),
        lambda: number({"a": "nan"}, "a", 0, least=0, most=5),
        lambda: number({"a": "inf"}, "a", 0, least=0, most=5),
        lambda: flag(found, "a"),
        lambda: flag(found, "c"),
        lambda: check_known(found, ("a", "b", "c")),
    ):
        with pytest.raises(RequestError) as error:
            wrong()
        assert error.value.status == 422


def test_a_query_has_a_bounded_number_of_parameters() -> None:
    assert query(scope(parameters=b"&".join([b"a=1"] * MOST_PARAMETERS))) == {"a": "1"}
    with pytest.raises(RequestError) as error:
        query(scope(parameters=b"&".join([b"a=1"] * (MOST_PARAMETERS + 1))))
    assert error.value.status == 422


@pytest.mark.parametrize(
    ("raw", "is_good"),
    [(b"/a", True), (b"/%EF%BF%BD", True), (b"/\xef\xbf\xbd", True), (b"/%FF", False)],
)
def test_a_path_that_is_not_utf8_differs_from_one_with_replacement_characters(
    raw: bytes, is_good: bool
) -> None:
    path = {"path": unquote(raw.decode()), "raw_path": raw}
    if is_good:
        check_path(path)
    else:
        with pytest.raises(RequestError) as error:
            check_path(path)
        assert error.value.status == 422
